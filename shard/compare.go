package shard

import (
	"bytes"
	"cmp"

	"tailrace"
)

// compareRows orders row i of a and row j of b as a run does: by the values of l's columns, then by stored bytes. It looks at one column after the other and stops at
// the first that differs, so rows that differ early cost little however wide they are. 0 means that they are the same row.
//
// Hot: the plain form, which makes the keys of all columns, is in a test. The buffers of t are used again.
func (t *tie) compareRows(l *layout, a *tailrace.Batch, i int, b *tailrace.Batch, j int) int {
	return t.compareFrom(0, l, a, i, b, j)
}

// tie has the memory of comparisons by key.
type tie struct{ x, y []byte }

// compare is compareRows of rows whose head keys are equal.
func (t *tie) compare(l *layout, a *tailrace.Batch, i int, b *tailrace.Batch, j int) int {
	return t.compareFrom(l.head, l, a, i, b, j)
}

// compareFrom is compareRows of rows that are equal, as SQL values, in the columns before place first of the order.
func (t *tie) compareFrom(first int, l *layout, a *tailrace.Batch, i int, b *tailrace.Batch, j int) int {
	for at := first; at < len(l.order); at++ {
		c := l.order[at]
		if r := t.compareValues(l.by[at], l.schema.Fields[c].Type, &a.Cols[c], i, &b.Cols[c], j); r != 0 {
			return r
		}
	}
	if !l.loose {
		return 0
	}
	return tailrace.CompareStored(l.order, a, i, b, j)
}

// comparison is how two values of a column are compared without making their keys.
type comparison byte

const (
	byKey comparison = iota // by tailrace.AppendKey, where stored bytes differ
	byBytes
	byInt16
	byInt32
	byInt64
	byUint32
)

// comparisonOf is that of a kind. Values of all but byKey are equal in SQL exactly when their stored bytes are.
func comparisonOf(k tailrace.Kind) comparison {
	switch k {
	case tailrace.KindInt2:
		return byInt16
	case tailrace.KindInt4, tailrace.KindDate:
		return byInt32
	case tailrace.KindInt8, tailrace.KindTime, tailrace.KindTimestamp, tailrace.KindTimestamptz:
		return byInt64
	case tailrace.KindOID, tailrace.KindRegclass, tailrace.KindRegtype, tailrace.KindRegproc, tailrace.KindRegnspace, tailrace.KindRegrole:
		return byUint32
	case tailrace.KindBool, tailrace.KindUUID, tailrace.KindText, tailrace.KindVarchar, tailrace.KindBytea, tailrace.KindJSON, tailrace.KindJSONB,
		tailrace.KindForeign, tailrace.KindEnum, tailrace.KindName, tailrace.KindLetter:
		return byBytes
	}
	return byKey
}

// compareValues orders two values of one column, NULL last.
func (t *tie) compareValues(by comparison, typ tailrace.Type, a *tailrace.Column, i int, b *tailrace.Column, j int) int {
	if a.Valid != nil || b.Valid != nil {
		switch x, y := a.IsNull(i), b.IsNull(j); {
		case x && y:
			return 0
		case x:
			return 1
		case y:
			return -1
		}
	}
	switch by {
	case byInt64:
		return cmp.Compare(a.Int64s()[i], b.Int64s()[j])
	case byInt32:
		return cmp.Compare(a.Int32s()[i], b.Int32s()[j])
	case byInt16:
		return cmp.Compare(a.Int16s()[i], b.Int16s()[j])
	case byUint32:
		return cmp.Compare(uint32(a.Int32s()[i]), uint32(b.Int32s()[j]))
	}
	x, y := a.Bytes(i), b.Bytes(j)
	if by == byBytes {
		return bytes.Compare(x, y)
	}
	if bytes.Equal(x, y) {
		return 0
	}
	t.x, t.y = tailrace.AppendKey(t.x[:0], typ, a, i), tailrace.AppendKey(t.y[:0], typ, b, j)
	return bytes.Compare(t.x, t.y)
}

// ascend reports whether rows [from, to) of b, and the one of last that comes before them (nil: none does), go up without two that are the same row.
func (t *tie) ascend(l *layout, last *tailrace.Batch, b *tailrace.Batch, from, to int) bool {
	if from < to && last != nil && t.compareRows(l, last, last.N-1, b, from) >= 0 {
		return false
	}
	for i := from + 1; i < to; i++ {
		if t.compareRows(l, b, i-1, b, i) >= 0 {
			return false
		}
	}
	return true
}
