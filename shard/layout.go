package shard

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"tailrace"
	"tailrace/stripe"
)

// layout is the order that a reader wants: a schema and how its rows sort.
type layout struct {
	schema *tailrace.Schema
	order  []int // Schema.SortOrder
	// head is how many columns of order make the head key: the primary key's, or all when there is none. Rows of one snapshot
	// that share a head key are never cut apart.
	head  int
	by    []comparison // of each column of order
	loose bool         // values of some column may be equal in SQL and differ in their bytes
	// fixedRaw is what rawSize counts of every row.
	fixedRaw int64
}

func newLayout(s *tailrace.Schema) *layout {
	l := &layout{schema: s, order: s.SortOrder(), head: len(s.Key)}
	if l.head == 0 {
		l.head = len(l.order)
	}
	l.by, l.fixedRaw = make([]comparison, len(l.order)), stripe.FixedRow(s)
	for i, c := range l.order {
		l.by[i] = comparisonOf(s.Fields[c].Type.Kind)
		l.loose = l.loose || l.by[i] == byKey
	}
	return l
}

// sameSchema tells by their versions that two schemas of one collection are the same.
func sameSchema(a, b *tailrace.Schema) bool { return a == b || a.Version == b.Version }

func (l *layout) keyed() bool { return len(l.schema.Key) > 0 }

// ids lists the columns in sort order: what a run written in this layout has as its order.
func (l *layout) ids() []tailrace.ColumnID {
	out := make([]tailrace.ColumnID, len(l.order))
	for i, c := range l.order {
		out[i] = l.schema.Fields[c].ID
	}
	return out
}

func (l *layout) appendHead(dst []byte, b *tailrace.Batch, i int) []byte {
	return tailrace.AppendRowKey(dst, l.schema, l.order[:l.head], b, i)
}

// shared is how many columns of l's order a run's order begins with, and whether the run is sorted exactly as l asks. Columns that
// the run lacks are the same in all of its rows, so they do not matter.
func (l *layout) shared(r *run) (n int, exact bool) {
	i := 0
	for ; n < len(l.order); n++ {
		id := l.schema.Fields[l.order[n]].ID
		switch {
		case i < len(r.order) && r.order[i] == id:
			i++
		case slices.Contains(r.order, id):
			return n, false
		}
	}
	return n, i == len(r.order)
}

// leads reports whether the run has l's head columns as its first ones, so that a head key finds its place in it.
func (l *layout) leads(r *run) bool {
	return len(r.order) >= l.head && slices.Equal(r.order[:l.head], l.ids()[:l.head])
}

// rowRef is a row while it is sorted: the prefix of its key decides most comparisons.
type rowRef struct {
	prefix uint64
	row    int32
}

// sort returns the rows of b in order: by the columns of l, ties by stored bytes, then by time. nil when they are in order already. Keys are made
// of the head's columns only: the others seldom decide, and then theirs are made for two rows at a time.
func (l *layout) sort(b *tailrace.Batch) []int32 {
	if b.N < 2 {
		return nil
	}
	keys, ends, refs := make([]byte, 0, l.headBytes(b)), make([]int, b.N+1), make([]rowRef, b.N)
	for i := range b.N {
		keys = l.appendHead(keys, b, i)
		ends[i+1] = len(keys)
		refs[i] = rowRef{keyPrefix(keys[ends[i]:]), int32(i)}
	}
	var equal tie
	compare := func(x, y rowRef) int {
		if x.prefix != y.prefix {
			if x.prefix < y.prefix {
				return -1
			}
			return 1
		}
		if r := bytes.Compare(keys[ends[x.row]:ends[x.row+1]], keys[ends[y.row]:ends[y.row+1]]); r != 0 {
			return r
		}
		if r := equal.compare(l, b, int(x.row), b, int(y.row)); r != 0 {
			return r
		}
		return compareTime(b.Time(int(x.row), 0), b.Time(int(y.row), 0))
	}
	if slices.IsSortedFunc(refs, compare) {
		return nil
	}
	slices.SortFunc(refs, compare)
	rows := make([]int32, b.N)
	for i, r := range refs {
		rows[i] = r.row
	}
	return rows
}

// headBytes is about what the head keys of b take, in bytes: three bytes a value beside those of the value.
func (l *layout) headBytes(b *tailrace.Batch) int {
	n := 3 * l.head * b.N
	for _, c := range l.order[:l.head] {
		n += len(b.Cols[c].Data)
	}
	return n
}

// sorted returns b with its rows in order.
func (l *layout) sorted(b *tailrace.Batch) *tailrace.Batch {
	if rows := l.sort(b); rows != nil {
		return b.Gather(rows)
	}
	return b
}

// consolidated adds up updates of sorted b, all taken to be at one time, that are the same row, and drops those that come to nothing. The result has no times.
func (l *layout) consolidated(b *tailrace.Batch) *tailrace.Batch {
	var rows []int32
	var diffs []tailrace.Diff
	for i := 0; i < b.N; {
		sum, j := b.Diff(i), i+1
		for j < b.N && tailrace.CompareStored(l.order, b, i, b, j) == 0 {
			sum += b.Diff(j)
			j++
		}
		if sum != 0 {
			rows, diffs = append(rows, int32(i)), append(diffs, sum)
		}
		i = j
	}
	out := *b
	if len(rows) < b.N {
		out = *b.Gather(rows)
		out.Diffs = diffs
	}
	out.Times = nil
	return &out
}

// keyPrefix is a number that orders as keys do, as far as it goes: the eight bytes after the first one, which tells values from NULL, so that the key of an
// integer is in it whole.
func keyPrefix(key []byte) uint64 {
	switch {
	case len(key) == 0: // of a row without columns
		return 0
	case key[0] != firstOfValue:
		return math.MaxUint64 // NULL, which orders last
	}
	if len(key) > 8 {
		return binary.BigEndian.Uint64(key[1:])
	}
	var buf [8]byte
	copy(buf[:], key[1:])
	return binary.BigEndian.Uint64(buf[:])
}

// firstOfValue is the first byte that tailrace.AppendKey gives a value that is not NULL.
const firstOfValue = 1

func compareTime(a, b tailrace.Time) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
