package dataflow

import (
	"bytes"
	"cmp"
	"slices"

	"tailrace"
)

// Envelope is the shape that changes are given in.
type Envelope uint8

// The envelopes. EnvelopeNone gives rows with mz_diff.
const (
	EnvelopeNone Envelope = iota
	EnvelopeUpsert
	EnvelopeDebezium
)

// Term is one term of WITHIN TIMESTAMP ORDER BY: a column of the query by its place, or mz_diff for -1.
type Term struct {
	Column           int
	Desc, NullsFirst bool
	Labels           func() []string // of an enum, in order; nil for other columns
}

// consolidated adds up equal rows of one time and sorts them as they are given out.
func consolidated(s *tailrace.Schema, b *tailrace.Batch) *tailrace.Batch {
	order := s.SortOrder()
	keys := make([][]byte, b.N)
	rows := make([]int32, b.N)
	for i := range rows {
		rows[i], keys[i] = int32(i), tailrace.AppendRowKey(nil, s, order, b, i)
	}
	compare := func(x, y int32) int {
		if c := bytes.Compare(keys[x], keys[y]); c != 0 {
			return c
		}
		return tailrace.CompareStored(order, b, int(x), b, int(y))
	}
	slices.SortFunc(rows, compare)
	var kept []int32
	var diffs []tailrace.Diff
	for i := 0; i < len(rows); {
		first, sum := rows[i], tailrace.Diff(0)
		for ; i < len(rows) && compare(first, rows[i]) == 0; i++ {
			sum += b.Diff(int(rows[i]))
		}
		if sum != 0 {
			kept, diffs = append(kept, first), append(diffs, sum)
		}
	}
	out := b.Gather(kept)
	out.Times, out.Diffs = nil, diffs
	return out
}

// ordered sorts updates of one time by terms; ties keep their order.
func ordered(s *tailrace.Schema, terms []Term, b *tailrace.Batch) *tailrace.Batch {
	rows := make([]int32, b.N)
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortStableFunc(rows, func(x, y int32) int {
		for _, t := range terms {
			if c := t.compare(s, b, int(x), int(y)); c != 0 {
				return c
			}
		}
		return 0
	})
	return b.Gather(rows)
}

func (t *Term) compare(s *tailrace.Schema, b *tailrace.Batch, x, y int) int {
	var c int
	switch {
	case t.Column < 0:
		c = cmp.Compare(b.Diff(x), b.Diff(y))
	case b.Cols[t.Column].IsNull(x) || b.Cols[t.Column].IsNull(y):
		nx, ny := b.Cols[t.Column].IsNull(x), b.Cols[t.Column].IsNull(y)
		switch {
		case nx == ny:
			return 0
		case nx == t.NullsFirst:
			return -1
		}
		return 1
	case t.Labels != nil:
		labels := t.Labels()
		place := func(i int) int { return slices.Index(labels, string(b.Cols[t.Column].Bytes(i))) }
		c = cmp.Compare(place(x), place(y))
	default:
		typ := s.Fields[t.Column].Type
		c = bytes.Compare(tailrace.AppendKey(nil, typ, &b.Cols[t.Column], x), tailrace.AppendKey(nil, typ, &b.Cols[t.Column], y))
	}
	if t.Desc {
		return -c
	}
	return c
}

// change is what happened to one key at one time. before and after are updates, -1 for none.
type change struct {
	row           int // any of the key
	before, after int
	state         string
}

// judged says what updates of one time mean for each key.
func judged(s *tailrace.Schema, key []int, envelope Envelope, b *tailrace.Batch) []change {
	groups, found := map[string][]int{}, []string{}
	for i := range b.N {
		k := string(tailrace.AppendRowKey(nil, s, key, b, i))
		if groups[k] == nil {
			found = append(found, k)
		}
		groups[k] = append(groups[k], i)
	}
	slices.Sort(found)
	out := make([]change, 0, len(found))
	for _, k := range found {
		c := change{row: groups[k][0], before: -1, after: -1}
		good := true
		for _, i := range groups[k] {
			switch d := b.Diff(i); {
			case d == 1 && c.after < 0:
				c.after = i
			case d == -1 && c.before < 0:
				c.before = i
			default:
				good = false
			}
		}
		switch {
		case !good:
			c.before, c.after, c.state = -1, -1, "key_violation"
		case c.after < 0:
			c.state = "delete"
		case envelope == EnvelopeDebezium && c.before < 0:
			c.state = "insert"
		default:
			c.state = "upsert"
		}
		if c.after >= 0 {
			c.row = c.after
		}
		out = append(out, c)
	}
	return out
}
