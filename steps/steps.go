package steps

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"

	"tailrace"
)

// Of are the steps that bring the target from before updates to after them: at most a delete and an upsert, or an insert for a table without a key.
//
// updates are of one or more whole times, or of all updates of some of their keys, in time order; Times and Diffs are set, columns are those of the target's table.
// The steps keep no reference to it. An error says that the updates are of no table with such a key: two rows have one key at one time.
func Of(target *tailrace.SinkTarget, updates *tailrace.Batch) ([]tailrace.SinkStep, error) {
	if len(target.Table.Columns.Key) == 0 {
		return ofBag(target, updates), nil
	}
	rows := newRows(updates.N)
	key := make([]byte, 0, 64)
	for i := range updates.N {
		key = AppendKey(key[:0], target.Table.Columns, updates, i)
		r := rows.find(key)
		if err := r.take(updates, i); err != nil {
			return nil, fmt.Errorf("%s: %w", target.Name, err)
		}
	}
	var deleted, upserted []int32
	for i := range rows.all {
		r := &rows.all[i]
		switch {
		case r.now < 0 && r.before >= 0:
			deleted = append(deleted, r.before)
		case r.now >= 0:
			if r.before >= 0 && moves(target, updates, r.before, r.now) {
				deleted = append(deleted, r.before)
			}
			upserted = append(upserted, r.now)
		}
	}
	return list(target, tailrace.SinkUpsert, plain(updates, deleted), plain(updates, upserted)), nil
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

// plain is rows of b without times and diffs.
func plain(b *tailrace.Batch, rows []int32) *tailrace.Batch {
	bare := *b
	bare.Times, bare.Diffs = nil, nil
	return bare.Gather(rows)
}

// moves tells that a row gives up a value of a unique key.
func moves(target *tailrace.SinkTarget, b *tailrace.Batch, before, now int32) bool {
	for _, unique := range target.Unique {
		if tailrace.CompareStored(unique, b, int(before), b, int(now)) != 0 {
			return true
		}
	}
	return false
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
	before, now int32         // updates: the row before all of them, and after them; -1: it is not there
	added       bool          // at time
	sum         tailrace.Diff
}

func newRows(n int) *rows {
	return &rows{byHash: make(map[uint64]int32, n)}
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
	r.all = append(r.all, row{key: r.bytes[start:len(r.bytes):len(r.bytes)], next: first, before: -1, now: -1})
	r.byHash[h] = int32(len(r.all) - 1)
	return &r.all[len(r.all)-1]
}

// take takes in update i of a keyed row. At one time its old and its new version come in any order.
func (r *row) take(b *tailrace.Batch, i int) error {
	t, d := b.Times[i], b.Diff(i)
	if r.first == 0 {
		r.first = t
	}
	if t != r.time {
		r.time, r.added = t, false
	}
	switch {
	case d == 1 && !r.added:
		r.now, r.added = int32(i), true
		return nil
	case d != -1:
		return fmt.Errorf("a row with a key is there more than once at %d", t)
	}
	if t == r.first {
		r.before = int32(i)
	}
	if !r.added {
		r.now = -1
	}
	return nil
}

// ofBag are the steps of a table without a key: each row as often as its diffs sum up to.
func ofBag(target *tailrace.SinkTarget, updates *tailrace.Batch) []tailrace.SinkStep {
	rows := newRows(updates.N)
	var stored []byte
	for i := range updates.N {
		stored = AppendStored(stored[:0], updates, i)
		r := rows.find(stored)
		if r.now < 0 {
			r.now = int32(i)
		}
		r.sum += updates.Diff(i)
	}
	var deleted, added []int32
	var less, more []tailrace.Diff
	for i := range rows.all {
		switch r := &rows.all[i]; {
		case r.sum < 0:
			deleted, less = append(deleted, r.now), append(less, -r.sum)
		case r.sum > 0:
			added, more = append(added, r.now), append(more, r.sum)
		}
	}
	out, in := plain(updates, deleted), plain(updates, added)
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
