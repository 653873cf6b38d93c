package shard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"

	"tailrace"
	"tailrace/log"
)

const (
	// InlineBytes is the most, in bytes of values, that a transaction's updates of one collection take within a log entry; more go to parts.
	InlineBytes = 256 << 10
	// CutBytes of values are buffered, then sorted into a part.
	CutBytes = 32 << 20
	// HandBytes of values that come in order are buffered, then written on.
	HandBytes = 8 << 20
	// ListedKeys is how many changed keys a transaction names; beyond it stands for all.
	ListedKeys = 4096
	// refBytes is about what one part's reference takes in an entry.
	refBytes = 512
)

// KeyHash is the hash by which the log knows a key: of the tailrace.AppendKey bytes of the key columns in key order.
func KeyHash(key []byte) uint64 { return xxh3.Hash(key) }

// Writer gathers the updates of one transaction to one collection: the one way in for SQL, COPY and sources. Small ones become a data record,
// large ones parts, already in Blob, and a ref record. It is used by one goroutine. Whoever does not commit its records must call Abort.
//
// Rows that come in the order of the primary key are written as they come, in pieces of HandBytes, to one run; others are sorted, CutBytes of them to
// a run. Either is done while the next ones are appended.
type Writer struct {
	set     *Set
	id      tailrace.CollectionID
	l       *layout
	buf     *tailrace.Batch // updates that were not handed to the cutter
	order   *Ascending      // of buf's rows; nil when they are in no order
	follows bool            // buf's rows are above all that was handed over before
	lent    bool            // buf may have been seen by others, and its memory is not used again
	handed  int             // buffers
	cut     cutter
	keys    map[uint64]struct{}
	whole   bool
	key     []byte
	room    room
}

// NewWriter returns a Writer of rows of schema, the one that the transaction's statements were planned with.
func (s *Set) NewWriter(id tailrace.CollectionID, schema *tailrace.Schema) *Writer {
	w := &Writer{set: s, id: id, l: newLayout(schema)}
	w.cut = cutter{set: s, l: w.l}
	w.room.grant = s.shares.transactions.Grant()
	w.begin(w.cut.buffer())
	w.whole = !w.l.keyed()
	return w
}

// begin makes buf, which is empty, the buffer, for rows in any order.
func (w *Writer) begin(buf *tailrace.Batch) {
	w.buf, w.order, w.follows, w.lent = buf, nil, false, false
	if w.l.keyed() {
		w.order = &Ascending{l: w.l}
	}
}

// Append adds updates. b has columns of the schema; it is copied.
func (w *Writer) Append(ctx context.Context, b *tailrace.Batch) error {
	if !sameColumns(b, w.buf) {
		b = b.Project(w.l.schema)
	}
	for from := 0; from < b.N; from += PieceRows {
		to := min(b.N, from+PieceRows)
		for c := range w.buf.Cols {
			w.buf.Cols[c].AppendRange(&b.Cols[c], from, to)
		}
		appendDiffs(w.buf, b, from, to)
		if w.order != nil && !w.order.Take(b, from, to) {
			w.order = nil
		}
		w.note(b, from, to)
		if w.buf.Size() >= w.limit() {
			if err := w.hand(ctx); err != nil {
				return err
			}
		}
		if err := w.claim(ctx); err != nil {
			return err
		}
	}
	return nil
}

// sameColumns tells that two batches have the same columns in the same order.
func sameColumns(a, b *tailrace.Batch) bool { return slices.Equal(a.IDs, b.IDs) }

// hand gives the buffer to the cutter and begins another.
func (w *Writer) hand(ctx context.Context) error {
	order := w.order
	size := int64(w.buf.Size())
	next, err := w.cut.hand(ctx, w.buf, order != nil, order != nil && w.follows, w.lent)
	if err != nil {
		return w.failed(err)
	}
	w.handed++
	w.room.largest = max(w.room.largest, size)
	w.room.handed += size
	w.begin(next)
	if order != nil {
		w.order, w.follows = order, true
	}
	return nil
}

func (w *Writer) failed(err error) error {
	return fmt.Errorf("write rows of collection %d: %w", w.id, err)
}

// note remembers which keys change.
func (w *Writer) note(b *tailrace.Batch, from, to int) {
	for i := from; i < to && !w.whole; i++ {
		w.key = w.l.appendHead(w.key[:0], b, i)
		if w.keys == nil {
			w.keys = make(map[uint64]struct{}, to-from)
		}
		w.keys[KeyHash(w.key)] = struct{}{}
		if len(w.keys) > ListedKeys {
			w.whole, w.keys = true, nil
		}
	}
}

// Size is about how many bytes of a log entry the records take. A transaction whose writers pass log.MaxEntry together calls Cut on some.
func (w *Writer) Size() int {
	n := 8*len(w.keys) + refBytes*w.handed
	if size := w.buf.Size(); size > w.set.limits.inline {
		n += refBytes
	} else {
		n += size
	}
	return n
}

// Cut puts what is buffered into a part, whatever its size.
func (w *Writer) Cut(ctx context.Context) error {
	if w.buf.N > 0 {
		if err := w.hand(ctx); err != nil {
			return err
		}
	}
	if err := w.cut.settle(ctx); err != nil {
		return w.failed(err)
	}
	w.follows = false
	return nil
}

// Records returns what to commit, nil when nothing changed. The keys that change are named in the first record. Nothing may be appended afterwards.
func (w *Writer) Records(ctx context.Context) ([]log.Record, error) {
	defer w.room.grant.Free()
	if w.order == nil {
		w.buf = w.l.consolidated(w.l.sorted(w.buf), false)
	}
	if w.buf.Size() > w.set.limits.inline {
		next, err := w.cut.hand(ctx, w.buf, true, w.order != nil && w.follows, w.lent)
		if err != nil {
			return nil, w.failed(err)
		}
		w.buf = next
	}
	if err := w.cut.settle(ctx); err != nil {
		return nil, w.failed(err)
	}
	var out []log.Record
	if w.buf.N > 0 {
		out = append(out, log.Record{Kind: log.KindData, Collection: w.id, Payload: tailrace.AppendBatch(nil, w.buf)})
	}
	if len(w.cut.runs) > 0 {
		ref := refRecord{}
		for _, rw := range w.cut.runs {
			ref.runs = append(ref.runs, &rw.out)
		}
		out = append(out, log.Record{Kind: log.KindRef, Collection: w.id, Payload: ref.encode()})
	}
	if len(out) > 0 {
		out[0].Whole = w.whole
		out[0].Keys = slices.AppendSeq(make([]uint64, 0, len(w.keys)), maps.Keys(w.keys))
		slices.Sort(out[0].Keys)
	}
	return out, nil
}

// Abort deletes the parts written. It must not be called once the records may have been committed.
func (w *Writer) Abort(ctx context.Context) {
	w.cut.abort(ctx)
	w.begin(w.cut.buffer())
	w.room.largest, w.room.handed = 0, 0
	w.room.grant.Free()
}

// Pending returns the updates so far, for reads within the transaction; parts are read back. The batches are only read.
func (w *Writer) Pending(ctx context.Context) ([]*tailrace.Batch, error) {
	var out []*tailrace.Batch
	err := w.Each(ctx, func(b *tailrace.Batch) error {
		out = append(out, b)
		return nil
	})
	return out, err
}

// Each calls fn with the updates so far, as Pending returns them but a piece at a time.
func (w *Writer) Each(ctx context.Context, fn func(*tailrace.Batch) error) error {
	w.follows = false
	if err := w.cut.each(ctx, fn); err != nil {
		return w.failed(err)
	}
	if w.buf.N == 0 {
		return nil
	}
	return fn(w.lend())
}

// notCommitted reports whether a commit's error means that the transaction is not in the log and never will be.
func notCommitted(err error) bool {
	return errors.Is(err, log.ErrConflict) || errors.Is(err, log.ErrTooLarge) || errors.Is(err, log.ErrEnded) || errors.Is(err, log.ErrFenced) ||
		errors.Is(err, tailrace.ErrFull)
}
