package redo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"tailrace"
)

// Defaults of Options.
const (
	FlushBytes = 8 << 20
	FlushEvery = 2 * time.Second
)

// Options say how a feed is written.
type Options struct {
	Feed  string
	Epoch uint64 // of the feed's holder: an earlier one is fenced
	// FlushBytes is how much is collected before it is put, in bytes of batches (tailrace.Batch.Size); 0 is FlushBytes. Twice as much waits at most.
	FlushBytes int
	// FlushEvery is how long an update or a frontier waits at most before it is put; 0 is FlushEvery.
	FlushEvery time.Duration
	Logger     *slog.Logger // nil is slog.Default
	// Acked, if not nil, is told of each span how many bytes of its batches became durable with a manifest, and how far the span is in it. It must not wait.
	Acked func(span tailrace.CollectionID, bytes int64, to Position)
	// State, if not nil, is told each error of the store, and nil when it works again, by any goroutine. It must not wait.
	State func(err error)
}

// withDefaults fills in what was left out.
func (o Options) withDefaults() Options {
	if o.FlushBytes <= 0 {
		o.FlushBytes = FlushBytes
	}
	if o.FlushEvery <= 0 {
		o.FlushEvery = FlushEvery
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Acked == nil {
		o.Acked = func(tailrace.CollectionID, int64, Position) {}
	}
	if o.State == nil {
		o.State = func(error) {}
	}
	return o
}

// ErrClosed is returned by Add after Close.
var ErrClosed = errors.New("the redo log is closed")

// Writer writes the redo log of a feed. All methods may be called by any goroutine; the pieces of one span come in order. What is added becomes durable only while Run
// runs.
type Writer struct {
	blob   tailrace.Blob
	o      Options
	folder string
	nonce  uint64

	committed *state // of what is durable; owned by Run
	count     uint64 // of objects that were given a name; owned by Run

	mu        sync.Mutex
	spans     map[tailrace.CollectionID]*span
	durable   map[tailrace.CollectionID]Position
	open      *gathering
	unflushed int64
	flush     bool          // somebody asked for it
	changed   chan struct{} // closed, and made anew, when what a waiter may wait for has changed
	closed    bool
	running   bool
	done      chan struct{} // closed when Run has ended
	err       error         // why it has
}

// span is what the writer knows of a span.
type span struct {
	to    Position            // of the newest piece
	table *tailrace.SinkTable // of the rows that follow; nil: not told yet
	raw   []byte              // the table as its record says it
}

// gathering is what is collected for the next segment and its manifest.
type gathering struct {
	since  time.Time // when the first of it came
	drafts map[tailrace.CollectionID]*draft
	to     map[tailrace.CollectionID]Position
	bytes  map[tailrace.CollectionID]int64
	total  int64
}

func newGathering() *gathering {
	return &gathering{drafts: map[tailrace.CollectionID]*draft{}, to: map[tailrace.CollectionID]Position{}, bytes: map[tailrace.CollectionID]int64{}}
}

// Frontiers are how far each span is durable: where it goes on.
func (w *Writer) Frontiers() map[tailrace.CollectionID]Position {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.durable)
}

// Unflushed is how many bytes of batches were added and are not durable.
func (w *Writer) Unflushed() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.unflushed
}

// Flush asks for what was added to be put now. It does not wait.
func (w *Writer) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush = true
	w.signal()
}

// signal wakes everybody who waits. The caller holds mu.
func (w *Writer) signal() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// Add adds a piece of a span. It waits while more than twice Options.FlushBytes are not durable yet. It keeps p.Table and p.Alter, which are immutable, and nothing of
// p.Rows. An error says that the writer has ended, or that the piece cannot be: a bug of the caller.
func (w *Writer) Add(ctx context.Context, id tailrace.CollectionID, p Piece) error {
	if err := w.waitForRoom(ctx); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ended(); err != nil {
		return err
	}
	if err := w.add(id, &p); err != nil {
		return fmt.Errorf("add to span %d of the redo log: %w", id, err)
	}
	w.signal()
	return nil
}

// waitForRoom returns when a piece may be added.
func (w *Writer) waitForRoom(ctx context.Context) error {
	for {
		w.mu.Lock()
		full, changed, err := w.unflushed > 2*int64(w.o.FlushBytes), w.changed, w.ended()
		w.mu.Unlock()
		if err != nil || !full {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ended is the error of a writer that takes no more. The caller holds mu.
func (w *Writer) ended() error {
	if w.err == nil && w.closed {
		return ErrClosed
	}
	return w.err
}

// add writes p into what is collected. The caller holds mu.
func (w *Writer) add(id tailrace.CollectionID, p *Piece) error {
	s := w.span(id)
	table, raw := s.table, s.raw
	if p.Table != nil && p.Table != table {
		var err error
		if table = p.Table; !isTable(table) {
			return errors.New("the table has no columns")
		}
		if raw, err = json.Marshal(table); err != nil {
			return err
		}
	}
	if err := p.check(table, s.to); err != nil {
		return err
	}
	g := w.open
	g.begin()
	d := g.draft(id)
	if string(raw) != string(s.raw) {
		d.tabled = false
	}
	s.table, s.raw = table, raw
	if err := s.write(d, p); err != nil {
		return err
	}
	if p.Rows != nil {
		size := int64(p.Rows.Size())
		g.bytes[id] += size
		g.total += size
		w.unflushed += size
	}
	s.to = p.To
	if p.Kind == Alter && p.Alter.Kind == tailrace.SinkDropTable {
		s.to = Position{Time: tailrace.MaxTime}
	}
	g.to[id] = s.to
	return nil
}

// write puts the records of p into d.
func (s *span) write(d *draft, p *Piece) error {
	switch {
	case p.Kind == Alter:
		d.extend(p.To.Time, p.To.Time)
		s.table, s.raw = nil, nil
		if after := p.Alter.After; after != nil {
			raw, err := json.Marshal(after)
			if err != nil {
				return err
			}
			s.table, s.raw = after, raw
		}
		return d.alter(p.Alter, p.To.Time)
	case p.Kind == Snapshot:
		d.extend(p.To.Time, p.To.Time)
		d.table(s.raw)
		rows := p.Rows
		if rows == nil {
			rows = tailrace.NewBatch(s.table.Columns, 0)
		}
		d.add(Snapshot, rows, p.To.Time)
	case p.Rows != nil && p.Rows.N > 0:
		d.extend(p.Rows.Times[0], p.Rows.Times[p.Rows.N-1])
		d.table(s.raw)
		d.add(Changes, p.Rows, 0)
	}
	return nil
}

// Resolved says that nothing more of a span comes at or before t. A span counts from its first piece or its first Resolved on, which holds the redo frontier at t.
func (w *Writer) Resolved(id tailrace.CollectionID, t tailrace.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, known := w.spans[id]
	if !known {
		s = w.span(id)
	}
	if to := (Position{Time: t}); !known || s.to.Before(to) {
		w.open.begin()
		s.to, w.open.to[id] = to, to
		w.signal()
	}
}

// span is what is known of a span. The caller holds mu.
func (w *Writer) span(id tailrace.CollectionID) *span {
	s := w.spans[id]
	if s == nil {
		s = &span{}
		w.spans[id] = s
	}
	return s
}

// begin notes the time of the first thing.
func (g *gathering) begin() {
	if g.since.IsZero() {
		g.since = time.Now()
	}
}

func (g *gathering) draft(id tailrace.CollectionID) *draft {
	d := g.drafts[id]
	if d == nil {
		d = &draft{region: region{span: id}}
		g.drafts[id] = d
	}
	return d
}

// Close has Run put what was added, end with nil, and waits for that. Without Run nothing is put.
func (w *Writer) Close() error {
	w.mu.Lock()
	w.closed = true
	running := w.running
	w.signal()
	w.mu.Unlock()
	if !running {
		return nil
	}
	<-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
