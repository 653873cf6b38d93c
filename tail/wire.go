package tail

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"tailrace"
	"tailrace/format"
)

// wire is a shape in one encoding: subscribers with the same wire send the same bytes for the same updates.
type wire struct {
	key     wireKey
	shape   *shape
	readers int // guarded by the tail's mutex

	mu       sync.Mutex
	encoder  *format.Encoder
	scratch  []byte
	progress []byte        // the progress row that was encoded last,
	at       tailrace.Time // and its time
}

// wireKey is everything that the bytes of rows depend on.
type wireKey struct {
	table                              tailrace.CollectionID
	shape, columns                     string
	layout                             format.Layout
	copy                               format.CopyFormat
	location                           *time.Location // the same zone is the same pointer, or else it is merely not shared
	dateStyle, dateOrder, intervalText string
	byteaHex                           bool
	floatDigits                        int
}

func keyOf(table tailrace.CollectionID, sh *shape, e *format.Encoder) wireKey {
	set := e.Settings
	if set == nil {
		set = format.Default()
	}
	terms := make([]Term, len(sh.sort))
	copy(terms, sh.sort)
	return wireKey{
		table:   table,
		shape:   fmt.Sprint(sh.schema.Version, sh.schema.Fields, sh.schema.Key, sh.sel.text(), sh.envelope, sh.progress, sh.key, terms),
		columns: fmt.Sprint(e.Columns), layout: e.Layout, copy: e.Copy,
		location: set.Location, dateStyle: set.DateStyle, dateOrder: set.DateOrder, intervalText: set.IntervalStyle,
		byteaHex: set.ByteaHex, floatDigits: set.ExtraFloatDigits,
	}
}

// shareable says that rows of sh have the same bytes for everybody with the same wireKey, now and later: no column prints names of the catalog, and
// no order is that of an enum's labels, which may get more.
func shareable(sh *shape) bool {
	for _, t := range sh.sort {
		if t.Labels != nil {
			return false
		}
	}
	for _, c := range sh.columns {
		kind := c.Type.Kind
		if kind == tailrace.KindArray {
			kind = c.Type.Elem
		}
		switch kind {
		case tailrace.KindRegclass, tailrace.KindRegtype, tailrace.KindRegproc, tailrace.KindRegnspace, tailrace.KindRegrole:
			return false
		}
	}
	return true
}

// encode returns the rows as messages, in memory of their own.
func (w *wire) encode(rows *tailrace.Batch) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scratch = w.encoder.AppendBatch(w.scratch[:0], rows, 0, rows.N)
	out := bytes.Clone(w.scratch)
	if cap(w.scratch) > BatchBytes {
		w.scratch = nil
	}
	return out
}

// progressAt returns the progress row at t as a message, in memory that nobody changes. Those who are up to date want the same one.
func (w *wire) progressAt(t tailrace.Time) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.progress == nil || w.at != t {
		rows := w.shape.newRows()
		w.shape.appendProgress(rows, t)
		w.progress, w.at = w.encoder.AppendBatch(nil, rows, 0, 1), t
	}
	return w.progress
}

// Encode makes NextEncoded possible: rows as messages of e, of which a copy is kept. It reports false when the subscription's rows can not be shared; then
// there is Next alone. It is called at most once.
func (s *Subscription) Encode(e *format.Encoder) bool {
	if !shareable(s.shape) {
		return false
	}
	key := keyOf(s.table.ID, s.shape, e)
	t := s.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.wires[key]
	if w == nil {
		w = &wire{key: key, shape: s.shape, encoder: &format.Encoder{Layout: e.Layout, Columns: e.Columns, Settings: e.Settings, Copy: e.Copy}}
		t.wires[key] = w
	}
	w.readers++
	s.wire = w
	return true
}

// leaveWire gives up the subscription's wire, and with its last reader the frames.
func (s *Subscription) leaveWire() {
	w, t := s.wire, s.tail
	if w == nil {
		return
	}
	s.wire = nil
	t.mu.Lock()
	w.readers--
	last := w.readers == 0
	if last {
		delete(t.wires, w.key)
	}
	t.mu.Unlock()
	if last {
		t.cache.forget(func(f *frame) bool { return f.wire == w })
	}
}

// Encoded is one delivery: whole messages that others may be sending too, then rows that are still to be encoded.
type Encoded struct {
	Messages [][]byte        // not to be changed; there until the next call
	Rows     *tailrace.Batch // may be empty
	N        int             // rows in both
}

// NextEncoded is Next after Encode. Its rows are those that Next would give, from the same place on.
func (s *Subscription) NextEncoded(ctx context.Context) (Encoded, error) {
	out, err := s.next(ctx, s.wire)
	if err != nil {
		return Encoded{}, err
	}
	clear(s.given)
	e := Encoded{Rows: out.Batch, N: out.N + out.framed, Messages: s.given[:0]}
	for _, f := range out.frames {
		e.Messages = append(e.Messages, f.bytes)
	}
	if out.progress != nil {
		e.Messages = append(e.Messages, out.progress)
	}
	s.given = e.Messages
	return e, nil
}
