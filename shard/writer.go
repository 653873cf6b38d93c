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
	// ListedKeys is how many changed keys a transaction names; beyond it stands for all.
	ListedKeys = 4096
	// refBytes is about what one part's reference takes in an entry.
	refBytes = 512
)

// KeyHash is the hash by which the log knows a key: of the tailrace.AppendKey bytes of the key columns in key order.
func KeyHash(key []byte) uint64 { return xxh3.Hash(key) }

// Writer gathers the updates of one transaction to one collection: the one way in for SQL, COPY and sources. Small ones become a data record,
// large ones parts, already in Blob, and a ref record. It is used by one goroutine. Whoever does not commit its records must call Abort.
type Writer struct {
	set   *Set
	id    tailrace.CollectionID
	l     *layout
	buf   *tailrace.Batch // updates not in a part
	parts []*runWriter    // finished, one part each
	runs  []*run
	keys  map[uint64]struct{}
	whole bool
	key   []byte
}

// NewWriter returns a Writer of rows of schema, the one that the transaction's statements were planned with.
func (s *Set) NewWriter(id tailrace.CollectionID, schema *tailrace.Schema) *Writer {
	w := &Writer{set: s, id: id, l: newLayout(schema), keys: map[uint64]struct{}{}}
	w.buf = tailrace.NewBatch(schema, 0)
	w.whole = !w.l.keyed()
	return w
}

// Append adds updates. b has columns of the schema; it is copied.
func (w *Writer) Append(ctx context.Context, b *tailrace.Batch) error {
	b = b.Project(w.l.schema)
	for from := 0; from < b.N; from += PieceRows {
		to := min(b.N, from+PieceRows)
		for c := range w.buf.Cols {
			w.buf.Cols[c].AppendRange(&b.Cols[c], from, to)
		}
		appendDiffs(w.buf, b, from, to)
		w.note(b, from, to)
		if w.buf.Size() >= w.set.limits.cut {
			if err := w.Cut(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// note remembers which keys change.
func (w *Writer) note(b *tailrace.Batch, from, to int) {
	for i := from; i < to && !w.whole; i++ {
		w.key = w.l.appendHead(w.key[:0], b, i)
		w.keys[KeyHash(w.key)] = struct{}{}
		if len(w.keys) > ListedKeys {
			w.whole, w.keys = true, nil
		}
	}
}

// Size is about how many bytes of a log entry the records take. A transaction whose writers pass log.MaxEntry together calls Cut on some.
func (w *Writer) Size() int {
	n := 8*len(w.keys) + refBytes*len(w.runs)
	if size := w.buf.Size(); size > w.set.limits.inline {
		n += refBytes
	} else {
		n += size
	}
	return n
}

// Cut puts what is buffered into a part, whatever its size.
func (w *Writer) Cut(ctx context.Context) error {
	b := w.l.consolidated(w.l.sorted(w.buf), false)
	if b.N > 0 {
		rw := w.set.newRunWriter(w.l, 0, 1, true)
		w.parts = append(w.parts, rw)
		err := rw.append(ctx, b)
		var r *run
		if err == nil {
			r, err = rw.finish(ctx)
		}
		if err != nil {
			return fmt.Errorf("write rows of collection %d: %w", w.id, err)
		}
		w.runs = append(w.runs, r)
	}
	w.buf = tailrace.NewBatch(w.l.schema, 0)
	return nil
}

// Records returns what to commit, nil when nothing changed. The keys that change are named in the first record.
func (w *Writer) Records(ctx context.Context) ([]log.Record, error) {
	w.buf = w.l.consolidated(w.l.sorted(w.buf), false)
	if w.buf.Size() > w.set.limits.inline {
		if err := w.Cut(ctx); err != nil {
			return nil, err
		}
	}
	var out []log.Record
	if w.buf.N > 0 {
		out = append(out, log.Record{Kind: log.KindData, Collection: w.id, Payload: tailrace.AppendBatch(nil, w.buf)})
	}
	if len(w.runs) > 0 {
		ref := refRecord{runs: w.runs}
		out = append(out, log.Record{Kind: log.KindRef, Collection: w.id, Payload: ref.encode()})
	}
	if len(out) > 0 {
		out[0].Whole = w.whole
		out[0].Keys = slices.Sorted(maps.Keys(w.keys))
	}
	return out, nil
}

// Abort deletes the parts written. It must not be called once the records may have been committed.
func (w *Writer) Abort(ctx context.Context) {
	for _, rw := range w.parts {
		rw.abort(ctx, nil)
	}
	w.parts, w.runs = nil, nil
	w.buf = tailrace.NewBatch(w.l.schema, 0)
}

// Pending returns the updates so far, for reads within the transaction; parts are read back. The batches are only read.
func (w *Writer) Pending(ctx context.Context) ([]*tailrace.Batch, error) {
	var out []*tailrace.Batch
	for _, r := range w.runs {
		rr := w.set.readRun(r, w.l)
		for {
			c, err := rr.next(ctx)
			if err != nil {
				return nil, fmt.Errorf("read back rows of collection %d: %w", w.id, err)
			}
			if c == nil {
				break
			}
			out = append(out, c.b)
		}
	}
	if w.buf.N > 0 {
		view := *w.buf
		view.Cols = append([]tailrace.Column(nil), w.buf.Cols...)
		out = append(out, &view)
	}
	return out, nil
}

// notCommitted reports whether a commit's error means that the transaction is not in the log and never will be.
func notCommitted(err error) bool {
	return errors.Is(err, log.ErrConflict) || errors.Is(err, log.ErrTooLarge) || errors.Is(err, log.ErrEnded) || errors.Is(err, tailrace.ErrFull)
}
