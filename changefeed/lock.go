package changefeed

import (
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"

	"tailrace"
	"tailrace/steps"
)

// lock is a value that an item must not meet in another lane: of a unique key, or of a key that others refer to.
type lock struct {
	hash  uint64
	write bool // false: it only refers to the value; such items do not mind each other
	ties  bool // items of one time that share it go into one transaction
}

// locksOf are the locks of an item: updates [from, to) of b.
func (tb *table) locksOf(b *tailrace.Batch, from, to int) []lock {
	var out []lock
	add := func(id tailrace.CollectionID, kind, key int, columns []int, i int, write, ties bool) {
		h, ok := valueHash(id, kind, key, tb.reader.schema, b, columns, i)
		if !ok {
			return
		}
		for k := range out {
			if out[k].hash == h {
				out[k].write, out[k].ties = out[k].write || write, out[k].ties || ties
				return
			}
		}
		out = append(out, lock{h, write, ties})
	}
	if len(tb.target.Unique) > 0 { // a tie may have put another version of the row into another lane
		add(tb.id, 2, 0, tb.reader.schema.Key, from, true, false)
	}
	for i := from; i < to; i++ {
		for k, columns := range tb.target.Unique {
			add(tb.id, 0, k, columns, i, true, true)
		}
		for _, f := range tb.refers {
			add(f.parent.id, 1, f.key, f.columns, i, false, false)
		}
	}
	for k, columns := range tb.referee {
		if to-from == 2 && tailrace.CompareStored(columns, b, from, b, from+1) == 0 {
			continue // who refers to the row does not mind the change
		}
		for i := from; i < to; i++ {
			add(tb.id, 1, k, columns, i, true, false)
		}
	}
	return out
}

// valueHash is the hash of a value of a key; ok is false when it has a NULL, which is like no other.
func valueHash(id tailrace.CollectionID, kind, key int, s *tailrace.Schema, b *tailrace.Batch, columns []int, i int) (h uint64, ok bool) {
	raw := binary.LittleEndian.AppendUint64(make([]byte, 0, 64), uint64(id))
	raw = append(raw, byte(kind), byte(key))
	for _, c := range columns {
		if b.Cols[c].IsNull(i) {
			return 0, false
		}
		raw = tailrace.AppendKey(raw, s.Fields[c].Type, &b.Cols[c], i)
	}
	return xxh3.Hash(raw), true
}

// locks is who holds which lock: items in lanes.
type locks map[uint64]*holders

type holders struct {
	lanes   []int // of each holder
	writers []int // of each that writes
}

// free tells that an item may go into its lane: whom it conflicts with is in front of it there.
func (l locks) free(it *item) bool {
	for _, k := range it.locks {
		h := l[k.hash]
		if h == nil {
			continue
		}
		among := h.writers
		if k.write {
			among = h.lanes
		}
		if slices.ContainsFunc(among, func(n int) bool { return n != it.lane }) {
			return false
		}
	}
	return true
}

func (l locks) take(it *item) {
	for _, k := range it.locks {
		h := l[k.hash]
		if h == nil {
			h = &holders{}
			l[k.hash] = h
		}
		h.lanes = append(h.lanes, it.lane)
		if k.write {
			h.writers = append(h.writers, it.lane)
		}
	}
}

func (l locks) give(it *item) {
	for _, k := range it.locks {
		h := l[k.hash]
		h.lanes = without(h.lanes, it.lane)
		if k.write {
			h.writers = without(h.writers, it.lane)
		}
		if len(h.lanes) == 0 {
			delete(l, k.hash)
		}
	}
}

// without is list with one n less.
func without(list []int, n int) []int {
	i := slices.Index(list, n)
	return slices.Delete(list, i, i+1)
}

// arrange puts the items of one time, from the first on, in the order in which a target takes them, and ties together those that share a value of a unique key: they
// go to one lane, where no transaction parts them.
func (s *span) arrange(out *slice, first int) {
	items := out.items[first:]
	if len(s.tables) > 1 {
		rank := map[*table]int{}
		for i, tb := range s.tables {
			rank[tb] = i
		}
		slices.SortStableFunc(items, func(a, b *item) int { return s.stage(a, rank) - s.stage(b, rank) })
		for i := range items {
			items[i].ordinal = uint64(i + 1)
		}
	}
	if len(s.lanes) == 1 || s.serial {
		return
	}
	root := map[uint64]int{} // lock to lane
	for again := true; again; {
		again = false
		for i := range items {
			for _, k := range items[i].locks {
				if !k.ties {
					continue
				}
				if n, there := root[k.hash]; !there || items[i].lane < n {
					root[k.hash] = items[i].lane
					again = again || there
				} else if n < items[i].lane {
					items[i].lane, again = n, true
				}
			}
		}
	}
}

// stage is where an item comes among those of its time: deletes of children first, upserts of parents first, then deletes of rows that others may have referred to.
func (s *span) stage(it *item, rank map[*table]int) int {
	tb, n := it.table(), len(s.tables)
	if !it.deletes() {
		return n + rank[tb]
	}
	if steps.Late(tb.target, len(tb.referee) > 0) {
		return 3*n - rank[tb]
	}
	return n - 1 - rank[tb]
}

// deletes tells that the row is not there after the item.
func (it *item) deletes() bool {
	b := it.slice.parts[it.part].batch
	for i := it.from; i < it.to; i++ {
		if b.Diff(i) > 0 {
			return false
		}
	}
	return true
}
