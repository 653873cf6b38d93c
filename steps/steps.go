package steps

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"

	"tailrace"
)

// Updates are updates [From, To) of a batch, all at one time if it has no Times, whose columns are those of a target's table.
type Updates struct {
	Batch    *tailrace.Batch
	From, To int
}

// All are the updates of a batch.
func All(b *tailrace.Batch) Updates { return Updates{Batch: b, To: b.N} }

// Of are the steps that bring the target from before updates to after them: at most a delete and two upserts, or an insert for a table without a key;
// more deletes where rows refer to others of the table.
//
// The updates are of one or more whole times, or all updates of some of the keys of these, in time order. The steps keep no reference to them. An error says that the
// updates are of no table with such a key: two rows have one key at one time.
func Of(target *tailrace.SinkTarget, updates ...Updates) ([]tailrace.SinkStep, error) {
	if len(target.Table.Columns.Key) == 0 {
		return ofBag(target, updates), nil
	}
	rows := newRows(updates)
	key := make([]byte, 0, 64)
	for n := range updates {
		u := &updates[n]
		for i := u.From; i < u.To; i++ {
			key = AppendKey(key[:0], target.Table.Columns, u.Batch, i)
			if err := rows.find(key).take(u.Batch, place{n, i}); err != nil {
				return nil, fmt.Errorf("%s: %w", target.Name, err)
			}
		}
	}
	given := givenUp(target, updates, rows)
	var deleted, upserted, takers []place
	for i := range rows.all {
		r := &rows.all[i]
		switch {
		case r.now == nowhere:
			if r.before != nowhere {
				deleted = append(deleted, r.before)
			}
		case given.takes(target, updates, r):
			if r.before != nowhere {
				deleted = append(deleted, r.before)
			}
			takers = append(takers, r.now)
		default:
			upserted = append(upserted, r.now)
		}
	}
	schema := target.Table.Columns
	out := list(target, tailrace.SinkUpsert, gather(schema, updates, deleted), gather(schema, updates, upserted))
	if len(takers) > 0 {
		out = append(out, tailrace.SinkStep{Kind: tailrace.SinkUpsert, Target: target, Rows: gather(schema, updates, takers)})
	}
	return orderSelf(target, out), nil
}

// AppendKey appends the bytes by which the key of row i is told from others.
func AppendKey(dst []byte, s *tailrace.Schema, b *tailrace.Batch, i int) []byte {
	for _, k := range s.Key {
		dst = tailrace.AppendKey(dst, s.Fields[k].Type, &b.Cols[k], i)
	}
	return dst
}

// list is a delete and what adds rows, each if it has any.
func list(target *tailrace.SinkTarget, adds tailrace.SinkStepKind, deleted, added *tailrace.Batch) []tailrace.SinkStep {
	var out []tailrace.SinkStep
	if deleted.N > 0 {
		out = append(out, tailrace.SinkStep{Kind: tailrace.SinkDelete, Target: target, Rows: deleted})
	}
	if added.N > 0 {
		out = append(out, tailrace.SinkStep{Kind: adds, Target: target, Rows: added})
	}
	return out
}

// place is an update: of which part, and its row there.
type place struct{ part, row int }

// nowhere is the place of no update.
var nowhere = place{-1, -1}

// gather is the rows at places as a batch of their own, each column in memory of the right size.
func gather(schema *tailrace.Schema, updates []Updates, places []place) *tailrace.Batch {
	out := tailrace.NewBatch(schema, len(places))
	for c := range out.Cols {
		dst := &out.Cols[c]
		if dst.Width == 0 {
			size := 0
			for _, p := range places {
				src := &updates[p.part].Batch.Cols[c]
				size += int(src.Offsets[p.row+1] - src.Offsets[p.row])
			}
			dst.Data = make([]byte, 0, size)
		}
		for _, p := range places {
			dst.AppendFrom(&updates[p.part].Batch.Cols[c], p.row)
		}
	}
	out.N = len(places)
	return out
}

// rows finds what belongs together by bytes.
type rows struct {
	all    []row
	byHash map[uint64]int32 // the first with the hash; others follow by next
	bytes  []byte           // of all keys
}

// row is what happens to one key, or to one row of a table without a key.
type row struct {
	key         []byte
	next        int32         // with the same hash, -1: none
	first, time tailrace.Time // of the updates taken so far
	before, now place         // the row before all of them, and after them
	added       bool          // at time
	sum         tailrace.Diff
}

func newRows(updates []Updates) *rows {
	n := 0
	for i := range updates {
		n += updates[i].To - updates[i].From
	}
	return &rows{all: make([]row, 0, n), byHash: make(map[uint64]int32, n)}
}

// find returns the row for key, made if it is new. It is valid until the next call.
func (r *rows) find(key []byte) *row {
	h := xxh3.Hash(key)
	first, there := r.byHash[h]
	if !there {
		first = -1
	}
	for i := first; i >= 0; i = r.all[i].next {
		if bytes.Equal(r.all[i].key, key) {
			return &r.all[i]
		}
	}
	start := len(r.bytes)
	r.bytes = append(r.bytes, key...) // an older array stays with the keys that are in it
	r.all = append(r.all, row{key: r.bytes[start:len(r.bytes):len(r.bytes)], next: first, before: nowhere, now: nowhere})
	r.byHash[h] = int32(len(r.all) - 1)
	return &r.all[len(r.all)-1]
}

// take takes in an update of a keyed row. At one time its old and its new version come in any order.
func (r *row) take(b *tailrace.Batch, at place) error {
	t, d := b.Time(at.row, 1), b.Diff(at.row)
	if r.first == 0 {
		r.first = t
	}
	if t != r.time {
		r.time, r.added = t, false
	}
	switch {
	case d == 1 && !r.added:
		r.now, r.added = at, true
		return nil
	case d != -1:
		return fmt.Errorf("a row with a key is there more than once at %d", t)
	}
	if t == r.first {
		r.before = at
	}
	if !r.added {
		r.now = nowhere
	}
	return nil
}

// ofBag are the steps of a table without a key: each row as often as its diffs sum up to.
func ofBag(target *tailrace.SinkTarget, updates []Updates) []tailrace.SinkStep {
	rows := newRows(updates)
	var stored []byte
	for n := range updates {
		u := &updates[n]
		for i := u.From; i < u.To; i++ {
			stored = AppendStored(stored[:0], u.Batch, i)
			r := rows.find(stored)
			if r.now == nowhere {
				r.now = place{n, i}
			}
			r.sum += u.Batch.Diff(i)
		}
	}
	var deleted, added []place
	var less, more []tailrace.Diff
	for i := range rows.all {
		switch r := &rows.all[i]; {
		case r.sum < 0:
			deleted, less = append(deleted, r.now), append(less, -r.sum)
		case r.sum > 0:
			added, more = append(added, r.now), append(more, r.sum)
		}
	}
	schema := target.Table.Columns
	out, in := gather(schema, updates, deleted), gather(schema, updates, added)
	out.Diffs, in.Diffs = less, more
	return list(target, tailrace.SinkInsert, out, in)
}

// AppendStored appends the stored bytes of row i: rows without a key are the same when these are.
func AppendStored(dst []byte, b *tailrace.Batch, i int) []byte {
	for c := range b.Cols {
		if b.Cols[c].IsNull(i) {
			dst = append(dst, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		raw := b.Cols[c].Bytes(i)
		dst = append(binary.LittleEndian.AppendUint32(dst, uint32(len(raw))), raw...)
	}
	return dst
}
