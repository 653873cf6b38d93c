package tail

import (
	"bytes"
	"cmp"
	"slices"

	"tailrace"
)

// appendKeyOf adds the envelope key of update i of b as comparable bytes.
func (sh *shape) appendKeyOf(dst []byte, b *tailrace.Batch, i int) []byte {
	return tailrace.AppendRowKey(dst, sh.rows, sh.key, b, i)
}

// appendEnvelope adds one row per key of b, the folded updates of time t: what happened to that key at t.
func (sh *shape) appendEnvelope(dst *tailrace.Batch, t tailrace.Time, b *tailrace.Batch) {
	rows, keys := sh.grouped(b)
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && bytes.Equal(keys[rows[i]], keys[rows[j]]) {
			j++
		}
		before, after, state := judge(b, rows[i:j])
		if sh.envelope == EnvelopeDebezium && state == stateUpsert && before < 0 {
			state = stateInsert
		}
		sh.appendChange(dst, t, b, int(rows[i]), before, after, state)
		i = j
	}
}

// grouped lists b's updates so that those of one key are together, with each update's key.
func (sh *shape) grouped(b *tailrace.Batch) (rows []int32, keys [][]byte) {
	rows, keys = make([]int32, b.N), make([][]byte, b.N)
	for i := range rows {
		rows[i], keys[i] = int32(i), sh.appendKeyOf(nil, b, i)
	}
	if !sh.byKey {
		slices.SortStableFunc(rows, func(x, y int32) int { return bytes.Compare(keys[x], keys[y]) })
	}
	return rows, keys
}

// judge says what the updates of one key at one time mean: the row before and after (-1 for none) and the state. Without a clear meaning
// both are -1 and the state is a violation.
func judge(b *tailrace.Batch, rows []int32) (before, after int, state string) {
	before, after = -1, -1
	for _, r := range rows {
		switch d := b.Diff(int(r)); {
		case d == 1 && after < 0:
			after = int(r)
		case d == -1 && before < 0:
			before = int(r)
		default:
			return -1, -1, stateViolation
		}
	}
	if after < 0 {
		return before, after, stateDelete
	}
	return before, after, stateUpsert
}

// appendChange adds one envelope row. row is any update of the key, for the key's values.
func (sh *shape) appendChange(dst *tailrace.Batch, t tailrace.Time, b *tailrace.Batch, row, before, after int, state string) {
	if after >= 0 {
		row = after // equal keys may differ in bytes: 1.0 and 1.00
	}
	c := sh.appendPrefix(dst, t, 1)
	dst.Cols[c].AppendString(state)
	c++
	put := func(col, from int) {
		if from < 0 {
			dst.Cols[c].AppendNull()
		} else {
			dst.Cols[c].AppendFrom(&b.Cols[col], from)
		}
		c++
	}
	for _, k := range sh.key {
		put(k, row)
	}
	if sh.envelope == EnvelopeDebezium {
		for _, k := range sh.rest {
			put(k, before)
		}
	}
	for _, k := range sh.rest {
		put(k, after)
	}
	dst.N++
}

// sorted returns b ordered by WITHIN TIMESTAMP ORDER BY; ties keep the collection's order.
func (sh *shape) sorted(b *tailrace.Batch) *tailrace.Batch {
	rows := make([]int32, b.N)
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortStableFunc(rows, func(x, y int32) int {
		for _, t := range sh.sort {
			if c := sh.compare(b, t, int(x), int(y)); c != 0 {
				return c
			}
		}
		return 0
	})
	return b.Gather(rows)
}

func (sh *shape) compare(b *tailrace.Batch, t Term, x, y int) int {
	sign := 1
	if t.Desc {
		sign = -1
	}
	if t.Column < 0 {
		switch dx, dy := b.Diff(x), b.Diff(y); {
		case dx < dy:
			return -sign
		case dx > dy:
			return sign
		}
		return 0
	}
	col := &b.Cols[t.Column]
	if nx, ny := col.IsNull(x), col.IsNull(y); nx || ny {
		switch {
		case nx == ny:
			return 0
		case nx == t.NullsFirst:
			return -1
		}
		return 1
	}
	if t.Labels != nil {
		labels := t.Labels()
		at := func(row int) int { return slices.Index(labels, string(col.Bytes(row))) }
		return sign * cmp.Compare(at(x), at(y))
	}
	var kx, ky [64]byte
	typ := sh.rows.Fields[t.Column].Type
	return sign * bytes.Compare(tailrace.AppendKey(kx[:0], typ, col, x), tailrace.AppendKey(ky[:0], typ, col, y))
}
