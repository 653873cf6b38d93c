package ingest

import (
	"slices"

	"tailrace"
)

// Changes of a keyed table are folded by key. For each key that a group of transactions touches, an entry holds the row versions that are there at
// the moment. It begins with the stored row, which was looked up, and each change moves versions:
//
//	insert k           a new version comes to k
//	delete k           the version leaves k
//	update j -> k      the version leaves j, and one made from it comes to k
//
// Inside a transaction a deferrable key may be there twice for a while. Two keys swapped, by UPDATE t SET id = 3 - id:
//
//	                    1: [a]        2: [b]
//	a moves 1 -> 2      1: []         2: [b a']
//	b moves 2 -> 1      1: [b']       2: [a']      the oldest leaves first: a' was only just made, and one UPDATE changes no row twice
//
// A version remembers the one it was made from, for the cells that the source did not send. At the end of each transaction the key was
// unique again, so an entry gives at most one row out and one in.

// version is a row: update row of batch, with the columns that batch names.
type version struct {
	batch *tailrace.Batch
	row   int32
	cells []tailrace.SourceCell // of it that are not in batch but as in from
	from  *version
}

// entry is a key and its versions, of which there is seldom more than one.
type entry struct {
	first   *version   // the oldest, nil when there is none
	rest    []*version // younger ones
	touched int        // number of the transaction that touched it last
}

// newest is the youngest version, nil when there is none.
func (e *entry) newest() *version {
	if n := len(e.rest); n > 0 {
		return e.rest[n-1]
	}
	return e.first
}

// set makes v the only version; nil leaves none.
func (e *entry) set(v *version) { e.first, e.rest = v, nil }

// touch is what a transaction did to an entry: what was there before it.
type touch struct {
	entry  *entry
	before *version
}

// keyFold folds the changes of one table.
type keyFold struct {
	entries map[string]*entry
	txn     int // number of the transaction being folded
	touches []touch
}

func newKeyFold() keyFold { return keyFold{entries: map[string]*entry{}} }

// keptRoom is the most entries that a map is kept for: clearing it takes as long as it was large.
const keptRoom = 4096

// forget drops all entries.
func (f *keyFold) forget() {
	switch n := len(f.entries); {
	case n > keptRoom:
		f.entries = map[string]*entry{}
	case n > 0:
		clear(f.entries)
	}
}

// begin starts the next transaction.
func (f *keyFold) begin() {
	f.txn++
	f.touches = f.touches[:0]
}

// touch returns the entry of key, marked as part of the transaction.
func (f *keyFold) touch(key []byte) *entry {
	e := f.entries[string(key)]
	if e.touched != f.txn {
		e.touched = f.txn
		f.touches = append(f.touches, touch{entry: e, before: e.newest()})
	}
	return e
}

// leave takes the oldest version from key; nil when there is none.
func (f *keyFold) leave(key []byte) *version {
	e := f.touch(key)
	v := e.first
	e.first = nil
	if len(e.rest) > 0 {
		e.first, e.rest = e.rest[0], e.rest[1:]
	}
	return v
}

// come puts v at key.
func (f *keyFold) come(key []byte, v *version) {
	e := f.touch(key)
	if e.first == nil {
		e.first = v
		return
	}
	e.rest = append(e.rest, v)
}

// each calls emit with every row that the transaction took out (-1) and brought in (+1), and leaves one version at most at each key.
func (f *keyFold) each(emit func(v *version, d tailrace.Diff) error) error {
	for _, t := range f.touches {
		after := t.entry.newest()
		t.entry.set(after)
		if after == t.before {
			continue
		}
		if t.before != nil {
			if err := emit(t.before, -1); err != nil {
				return err
			}
		}
		if after != nil {
			if err := emit(after, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// value finds where the value of column id is: in v, or in the version that it was left as in. known is false when nothing told it. col is nil
// when the row is from before the column.
func (v *version) value(id tailrace.ColumnID) (col *tailrace.Column, row int, known bool) {
	for v != nil {
		at := slices.Index(v.batch.IDs, id)
		if at < 0 {
			return nil, -1, true
		}
		if !slices.ContainsFunc(v.cells, func(c tailrace.SourceCell) bool { return c.Col == int32(at) }) {
			return &v.batch.Cols[at], int(v.row), true
		}
		v = v.from
	}
	return nil, -1, false
}
