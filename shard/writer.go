package shard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"

	"tailrace"
	"tailrace/budget"
	"tailrace/log"
	"tailrace/stripe"
)

const (
	// InlineBytes is the most, in bytes of values, that a transaction's updates of one collection take within a log entry; more go to parts.
	InlineBytes = 256 << 10
	// GroupBytes of values are a page group, however few rows have them.
	GroupBytes = 8 << 20
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
// A stripe's worth at a time, 131,072 rows or 64 MiB of values, is cut and written (loader) while the next is appended: where the data alone decides, unless
// the node's memory for transactions has no more (room). The bytes of the parts do not depend on anything else.
type Writer struct {
	set   *Set
	id    tailrace.CollectionID
	l     *layout
	opts  WriteOptions
	rows  groups  // that were not cut
	lent  bool    // others may have seen them: their memory is not used again
	load  *loader // nil until something is cut
	cuts  int
	keys  map[uint64]struct{}
	whole bool
	key   []byte
	grant budget.Grant // of the share for transactions
}

// WriteOptions are how a transaction's rows are written. The zero value means the defaults.
type WriteOptions struct {
	Workers int            // goroutines at a time that work for one Writer, its caller's included; 0: all of Options.Pool, 1: serial
	Stripe  stripe.Options // what the bytes of its parts depend on beside the rows; limits of stripes apart from StripeBytes are not taken
}

// NewWriter returns a Writer of rows of schema, the one that the transaction's statements were planned with.
func (s *Set) NewWriter(id tailrace.CollectionID, schema *tailrace.Schema, opts WriteOptions) *Writer {
	w := &Writer{set: s, id: id, l: newLayout(schema), opts: opts}
	w.rows = s.newGroups(w.l)
	w.grant = s.shares.transactions.Grant()
	w.whole = !w.l.keyed()
	return w
}

// Append adds updates. b has columns of the schema; it is copied.
func (w *Writer) Append(ctx context.Context, b *tailrace.Batch) error {
	if !w.fits(b) {
		b = b.Project(w.l.schema)
	}
	for from := 0; from < b.N; {
		n := w.rows.add(b, from, min(b.N, from+PieceRows))
		w.note(b, from, from+n)
		if err := w.appended(ctx); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// Take is Append of a batch whose memory is the Writer's from now on. One of a whole page group, PieceRows rows, is not copied. See Spare.
func (w *Writer) Take(ctx context.Context, b *tailrace.Batch) error {
	if b.N != w.rows.groupRows || b.Times != nil || !w.fits(b) || w.rows.open != nil {
		return w.Append(ctx, b)
	}
	if raw := w.l.rawSize(b, 0, b.N); w.rows.rows > 0 && w.rows.raw+raw > int64(w.set.limits.cut) {
		if err := w.cut(ctx); err != nil { // it would pass what a stripe may have
			return err
		}
	}
	w.rows.take(b)
	w.note(b, 0, b.N)
	if w.load != nil {
		if err := w.load.poll(ctx); err != nil {
			return w.failed(err)
		}
	}
	return w.appended(ctx)
}

// Spare returns a batch that was given to Take, or is like one, and that nobody needs any more: its columns have memory to be used again and contents without
// meaning. nil when there is none.
func (w *Writer) Spare() *tailrace.Batch {
	if w.load == nil {
		return nil
	}
	return w.load.take()
}

// fits tells that b has the schema's columns in its order.
func (w *Writer) fits(b *tailrace.Batch) bool {
	return slices.EqualFunc(b.IDs, w.l.schema.Fields, func(id tailrace.ColumnID, f tailrace.Field) bool { return id == f.ID })
}

// appended cuts when a stripe is full, and takes what memory there is for what was appended.
func (w *Writer) appended(ctx context.Context) error {
	if w.rows.rows >= w.set.limits.stripe || w.rows.raw >= int64(w.set.limits.cut) {
		if err := w.cut(ctx); err != nil {
			return err
		}
	}
	return w.claim(ctx)
}

// cut gives what is gathered to the loader.
func (w *Writer) cut(ctx context.Context) error {
	w.rows.end()
	if len(w.rows.full) == 0 {
		return nil
	}
	if w.load == nil {
		w.load = w.set.newLoader(w.l, w.opts)
	}
	err := w.load.cut(ctx, w.rows.full, w.lent)
	w.rows.clear()
	w.lent = false
	w.cuts++
	if err != nil {
		return w.failed(err)
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
	n := 8*len(w.keys) + refBytes*w.cuts
	if size := w.rows.bytes(); size > w.set.limits.inline {
		n += refBytes
	} else {
		n += size
	}
	return n
}

// Cut puts all that was appended into parts, however little it is.
func (w *Writer) Cut(ctx context.Context) error {
	if err := w.cut(ctx); err != nil {
		return err
	}
	return w.settle(ctx)
}

// settle waits until all that was cut is in Blob.
func (w *Writer) settle(ctx context.Context) error {
	if w.load == nil {
		return nil
	}
	if err := w.load.settle(ctx); err != nil {
		return w.failed(err)
	}
	return nil
}

// Records returns what to commit, nil when nothing changed. The keys that change are named in the first record. Nothing may be appended afterwards.
func (w *Writer) Records(ctx context.Context) ([]log.Record, error) {
	defer w.grant.Free()
	if w.rows.bytes() > w.set.limits.inline {
		if err := w.cut(ctx); err != nil {
			return nil, err
		}
	}
	if err := w.settle(ctx); err != nil {
		return nil, err
	}
	var out []log.Record
	if b := w.inline(); b != nil {
		out = append(out, log.Record{Kind: log.KindData, Collection: w.id, Payload: tailrace.AppendBatch(nil, b)})
	}
	if w.load != nil {
		w.load.close()
		if ref := (refRecord{runs: w.load.written()}); len(ref.runs) > 0 {
			out = append(out, log.Record{Kind: log.KindRef, Collection: w.id, Payload: ref.encode()})
		}
	}
	if len(out) > 0 {
		out[0].Whole = w.whole
		out[0].Keys = slices.AppendSeq(make([]uint64, 0, len(w.keys)), maps.Keys(w.keys))
		slices.Sort(out[0].Keys)
	}
	return out, nil
}

// inline is what was not cut, as the updates of a log entry: in order and added up. nil when that comes to nothing.
func (w *Writer) inline() *tailrace.Batch {
	all := w.rows.all()
	if len(all) == 0 {
		return nil
	}
	b := all[0]
	if len(all) > 1 {
		b = tailrace.NewBatch(w.l.schema, w.rows.rows)
		for _, x := range all {
			appendBatch(b, x)
		}
	}
	if b = w.l.consolidated(w.l.sorted(b)); b.N == 0 {
		return nil
	}
	return b
}

// Abort deletes the parts written. It must not be called once the records may have been committed.
func (w *Writer) Abort(ctx context.Context) {
	if w.load != nil {
		w.load.abort(ctx)
		w.load = nil
	}
	w.rows.clear()
	w.grant.Free()
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

// Each calls fn with the updates so far, as Pending returns them but a batch at a time.
func (w *Writer) Each(ctx context.Context, fn func(*tailrace.Batch) error) error {
	if w.load != nil {
		if err := w.load.each(ctx, fn); err != nil {
			return w.failed(err)
		}
	}
	for _, b := range w.lend() {
		if err := fn(b); err != nil {
			return err
		}
	}
	return nil
}

// lend is what was not cut, to be read by others while more is appended.
func (w *Writer) lend() []*tailrace.Batch {
	w.lent = true
	return w.rows.all()
}

// notCommitted reports whether a commit's error means that the transaction is not in the log and never will be.
func notCommitted(err error) bool {
	return errors.Is(err, log.ErrConflict) || errors.Is(err, log.ErrTooLarge) || errors.Is(err, log.ErrEnded) || errors.Is(err, log.ErrFenced) ||
		errors.Is(err, tailrace.ErrFull)
}
