package shard

import (
	"bytes"

	"tailrace"
)

// Ascending follows rows for as long as each one's primary key is above every key before it. Such rows are sorted as they come, and no two have one
// key: a COPY of them needs neither a sort nor a set of keys.
type Ascending struct {
	l         *layout
	last, buf []byte // the head key of the last row, nil before the first; memory for the next
}

// NewAscending returns an Ascending of rows of schema, which has a primary key.
func NewAscending(schema *tailrace.Schema) *Ascending { return &Ascending{l: newLayout(schema)} }

// Take reports whether rows [from, to) of b, which has the columns of the schema, go on in order, and remembers the last. Once it was false the rest is
// no more known.
func (a *Ascending) Take(b *tailrace.Batch, from, to int) bool {
	if from >= to {
		return true
	}
	first := a.l.appendHead(a.buf[:0], b, from)
	if a.last != nil && bytes.Compare(a.last, first) >= 0 {
		return false
	}
	a.last, a.buf = first, a.last
	if v, ok := a.l.headInts(b); ok {
		for i := from + 1; i < to; i++ {
			if v[i-1] >= v[i] {
				return false
			}
		}
		a.last = a.l.appendHead(a.last[:0], b, to-1)
		return true
	}
	return a.takeKeys(b, from+1, to)
}

// takeKeys is Take for any type: the plain form.
func (a *Ascending) takeKeys(b *tailrace.Batch, from, to int) bool {
	for i := from; i < to; i++ {
		a.buf = a.l.appendHead(a.buf[:0], b, i)
		if bytes.Compare(a.last, a.buf) >= 0 {
			return false
		}
		a.last, a.buf = a.buf, a.last
	}
	return true
}

// headInts is the head key as integers that order as the keys do, when it is one int8 column, or one that is stored like it, without NULLs.
func (l *layout) headInts(b *tailrace.Batch) ([]int64, bool) {
	c := &b.Cols[l.order[0]]
	if l.head != 1 || c.HasNulls() {
		return nil, false
	}
	switch l.schema.Fields[l.order[0]].Type.Kind {
	case tailrace.KindInt8, tailrace.KindTime, tailrace.KindTimestamp, tailrace.KindTimestamptz:
		return c.Int64s(), true
	}
	return nil, false
}

// Above reports whether key, the tailrace.AppendKey bytes of a whole primary key, is surely above the key of every row that the collection has, or had, as far
// as it is applied now. Then the keys from it on have no rows. It reads no part; false may be wrong.
func (sh *Shard) Above(key []byte) (bool, error) {
	m, release := sh.pin()
	defer release()
	l := newLayout(m.schema)
	for _, runs := range [][]*run{m.state, m.history} {
		for _, r := range runs {
			if n := len(r.parts); n > 0 && (!l.leads(r) || !r.parts[n-1].endsBelow(key)) {
				return false, nil
			}
		}
	}
	if len(m.mem) == 0 {
		return true, nil
	}
	x := &sh.index
	x.mu.Lock()
	defer x.mu.Unlock()
	ok, err := x.cover(m, l)
	return ok && err == nil && bytes.Compare(x.highest, key) < 0, err
}
