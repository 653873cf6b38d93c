package changefeed

import (
	"bytes"
	"context"
	"iter"
	"time"

	"tailrace"
	"tailrace/schedule"
	"tailrace/steps"
	"tailrace/tail"
)

// openTime is how long what a reader has open stays so when nobody reads on. Open history holds decoded runs, and a part of the node's share for reading it: a table
// whose target does not take its rows must not keep that from others.
const openTime = time.Second

// reader reads the changes of one table, forward from a position, in one version of its columns at a time. It keeps what it has open between two slices, so that a
// span that is behind decodes its history once.
type reader struct {
	tail   *tail.Tail
	id     tailrace.CollectionID
	schema *tailrace.Schema

	at    schedule.Position // everything at or before it was taken
	until tailrace.Time     // how far what is open reaches; everything up to it was taken when batch is nil
	next  func() (*tailrace.Batch, error, bool)
	stop  func()
	batch *tailrace.Batch // from row on it is still to be taken
	row   int
	ahead *tailrace.Batch // what comes after batch, without what is of batch's last key
	skip  uint64          // updates of the first time that were taken before
}

// open begins at r.at and goes up to and including until.
func (r *reader) open(ctx context.Context, until tailrace.Time) {
	after := r.at.Time
	if r.skip = r.at.Ordinal; r.skip > 0 {
		after--
	}
	id, schema, t := r.id, r.schema, r.tail
	r.until = until
	r.next, r.stop = iter.Pull2(func(yield func(*tailrace.Batch, error) bool) {
		err := t.Changes(ctx, id, schema, after, until, func(b *tailrace.Batch) error {
			if !yield(b, nil) {
				return context.Canceled
			}
			return nil
		})
		if err != nil {
			yield(nil, err) // nobody hears it after close
		}
	})
}

// close gives up what is open; it is opened again where r is.
func (r *reader) close() {
	if r.stop != nil {
		r.stop()
	}
	r.next, r.stop, r.batch, r.ahead, r.row = nil, nil, nil, nil, 0
}

// peek is the time of the next update at or before until; ok is false when there is none. ctx must live until close.
func (r *reader) peek(ctx context.Context, until tailrace.Time) (t tailrace.Time, ok bool, err error) {
	for {
		if r.batch != nil && r.row < r.batch.N {
			t = r.batch.Times[r.row]
			return t, t <= until, nil
		}
		if r.next == nil {
			if r.at.Ordinal == 0 && r.at.Time >= until {
				return 0, false, nil
			}
			r.open(ctx, until)
			if r.ahead, err = r.pull(); err != nil {
				return 0, false, err
			}
		}
		if err := r.advance(); err != nil {
			return 0, false, err
		}
		if r.batch == nil {
			at := schedule.Position{Time: max(r.at.Time, r.until)}
			r.close()
			r.at = at
		}
	}
}

// advance makes what is ahead the batch at hand. Updates of one key at one time come to be in one batch.
func (r *reader) advance() (err error) {
	r.batch, r.row, r.ahead = r.ahead, 0, nil
	if r.batch == nil {
		return nil
	}
	if r.ahead, err = r.pull(); err != nil || r.ahead == nil {
		return err
	}
	n, last := 0, r.batch.N-1
	for n < r.ahead.N && sameKeyOf(r.schema, r.batch, last, r.ahead, n) {
		n++
	}
	if n > 0 {
		joined := section(r.batch, 0, r.batch.N)
		appendSection(joined, r.ahead, 0, n)
		r.batch, r.ahead = joined, section(r.ahead, n, r.ahead.N)
	}
	return nil
}

// pull returns the next batch that is not empty, without what was taken before; nil at the end.
func (r *reader) pull() (*tailrace.Batch, error) {
	for {
		b, err, more := r.next()
		if !more {
			return nil, nil
		}
		if err != nil {
			r.close()
			return nil, err
		}
		n := int(min(r.skip, uint64(b.N)))
		r.skip -= uint64(n)
		if n == b.N {
			continue
		}
		if n > 0 {
			b = section(b, n, b.N)
		}
		return b, nil
	}
}

// take returns the next updates, which peek has found: those of the batch at hand at or before until, at most limit of them, but never a part of a key's at one time.
// from is the ordinal of the first within its time.
func (r *reader) take(until tailrace.Time, limit int) (b *tailrace.Batch, from, to int) {
	b, from = r.batch, r.row
	for to = from; to < b.N && b.Times[to] <= until; to++ {
		if to-from >= limit && !sameKey(r.schema, b, to-1, to) {
			break
		}
	}
	r.row = to
	last := b.Times[to-1]
	if r.at.Ordinal == 0 || r.at.Time != last {
		r.at = schedule.Position{Time: last}
	}
	for i := to - 1; i >= from && b.Times[i] == last; i-- {
		r.at.Ordinal++
	}
	return b, from, to
}

// rowSize is about what an update of the batch at hand takes, in bytes.
func (r *reader) rowSize() int64 { return int64(r.batch.Size()/r.batch.N + itemBytes) }

// sizeAt is about what the updates at t take that are next in the batch at hand, in bytes.
func (r *reader) sizeAt(t tailrace.Time) int64 {
	if r.batch == nil {
		return 0
	}
	n := r.row
	for n < r.batch.N && r.batch.Times[n] == t {
		n++
	}
	return int64(n-r.row) * r.rowSize()
}

// sameKey tells that two updates are of one key at one time.
func sameKey(s *tailrace.Schema, b *tailrace.Batch, i, j int) bool { return sameKeyOf(s, b, i, b, j) }

func sameKeyOf(s *tailrace.Schema, a *tailrace.Batch, i int, b *tailrace.Batch, j int) bool {
	if len(s.Key) == 0 || a.Times[i] != b.Times[j] {
		return false
	}
	return bytes.Equal(steps.AppendKey(nil, s, a, i), steps.AppendKey(nil, s, b, j))
}

// section is updates [from, to) of b as a batch of its own.
func section(b *tailrace.Batch, from, to int) *tailrace.Batch {
	out := &tailrace.Batch{IDs: b.IDs, Cols: make([]tailrace.Column, len(b.Cols))}
	for c := range b.Cols {
		out.Cols[c] = tailrace.Column{Width: b.Cols[c].Width}
		if b.Cols[c].Width == 0 {
			out.Cols[c].Offsets = []int32{0}
		}
	}
	appendSection(out, b, from, to)
	return out
}

// appendSection adds updates [from, to) of src, with times and diffs, to dst.
func appendSection(dst, src *tailrace.Batch, from, to int) {
	for c := range dst.Cols {
		dst.Cols[c].AppendRange(&src.Cols[c], from, to)
	}
	for i := from; i < to; i++ {
		dst.Times, dst.Diffs = append(dst.Times, src.Times[i]), append(dst.Diffs, src.Diff(i))
	}
	dst.N += to - from
}
