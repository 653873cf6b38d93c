package query

import (
	"math"
	"strings"

	"tailrace"
	"tailrace/duckdb"
)

// Arrays pass through DuckDB as BLOBs in their stored form, which says nothing of the elements' type: the planner knows it. Where DuckDB has to
// look at the elements, an array becomes a list of BLOBs, each an element's stored bytes, and back:
//
//	tr_array_list(array)         the elements, whatever the array's dimensions
//	tr_raw_int4(value)           a value's stored bytes
//	tr_value_int4(bytes)         and back
//	tr_array(list)               a one-dimensional array
//	tr_array_like(array, list)   an array with the dimensions of another one
//
// Lists exist within an expression only; no column is one.

// Kinds that tables of functions have besides PostgreSQL's.
const (
	kArrays = tailrace.Kind(128) // kArrays + k: arrays of k
	kRow    = tailrace.Kind(252) // a row as a value, see row.go
	kList   = tailrace.Kind(253) // a DuckDB list of BLOBs, which implementations see, and make, as a stored array
)

func isArray(k kind) bool { return k > kArrays && k < kRow }

// kindOf is the kind of t as tables of functions have it.
func kindOf(t tailrace.Type) kind {
	if t.Kind == kArray {
		return kArrays + t.Elem
	}
	return t.Kind
}

// typeOfKind is the type without a modifier of a kind in a table of functions.
func typeOfKind(k kind) tailrace.Type {
	if isArray(k) {
		return tailrace.ArrayOf(tailrace.TypeOf(k - kArrays))
	}
	return tailrace.TypeOf(k)
}

// sameType reports whether values of both types are alike, apart from modifiers.
func sameType(a, b tailrace.Type) bool { return a.Kind == b.Kind && a.Elem == b.Elem && a.ID == b.ID }

// plainType is t without its modifier.
func plainType(t tailrace.Type) tailrace.Type {
	t.Mod = -1
	return t
}

// rawName is the name by which a kind's values become bytes; empty: they are bytes already.
func rawName(k kind) string {
	switch engineType(k) {
	case duckdb.Blob:
		return ""
	case duckdb.Varchar:
		return "text"
	}
	return kindNames[k]
}

// rawSQL is the stored bytes of e as a BLOB.
func rawSQL(e expr) string {
	if n := rawName(e.typ.Kind); n != "" {
		return "tr_raw_" + n + "(" + e.sql + ")"
	}
	return e.sql
}

// valueSQL is the value of type t that the stored bytes sql are.
func valueSQL(sql string, t tailrace.Type) string {
	if n := rawName(t.Kind); n != "" {
		return "tr_value_" + n + "(" + sql + ")"
	}
	return sql
}

// listSQL is a DuckDB list of the values' bytes.
func listSQL(es []expr) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = rawSQL(e)
	}
	return "CAST([" + strings.Join(parts, ", ") + "] AS BLOB[])"
}

// arrayConversions are tr_raw_k and tr_value_k of all kinds that are not BLOBs.
func arrayConversions() []entry {
	var out []entry
	for letter, k := range letters {
		if k == kAny || k == kHuge || k == kList || k == kRow || rawName(k) == "" || rawName(k) == "text" && k != kText {
			continue
		}
		width := width(k)
		out = append(
			out,
			entry{name: "tr_raw_" + rawName(k), args: string(letter), ret: "y", impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
				return append(dst, a[0]...), nil
			}},
			entry{name: "tr_value_" + rawName(k), args: "y", ret: string(letter), impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
				if width > 0 && len(a[0]) != width {
					return nil, tailrace.ErrCorrupt
				}
				return append(dst, a[0]...), nil
			}},
		)
	}
	return out
}

// packList makes row i of a list vector a stored array.
func packList(dst []byte, v, elements *duckdb.Vector, i int) []byte {
	from, n := v.List(i)
	if n == 0 {
		return tailrace.AppendArray(dst, nil)
	}
	dst = tailrace.AppendArray(dst, []tailrace.Dim{{Length: n, Lower: 1}})
	for k := from; k < from+n; k++ {
		if elements.IsNull(k) {
			dst = tailrace.AppendNullElement(dst)
		} else {
			dst = tailrace.AppendElement(dst, elements.Bytes(k))
		}
	}
	return dst
}

// unpackLists writes stored arrays, data[offsets[i]:offsets[i+1]] for row i, as the rows of a list vector. A NULL row has no bytes.
func unpackLists(out *duckdb.Vector, data []byte, offsets []int32) error {
	var ends []int
	var bytes []byte
	var nulls []bool
	cuts := []int32{0}
	for i := range len(offsets) - 1 {
		if raw := data[offsets[i]:offsets[i+1]]; len(raw) > 0 {
			_, elements, err := tailrace.ReadArray(kBytea, raw)
			if err != nil {
				return carry(err)
			}
			for elements.Left > 0 {
				value, null := elements.Next()
				bytes = append(bytes, value...)
				if len(bytes) > math.MaxInt32 {
					return carry(raise("54000", "the values of one column are longer than 2 GiB"))
				}
				cuts, nulls = append(cuts, int32(len(bytes))), append(nulls, null)
			}
		}
		ends = append(ends, len(nulls))
	}
	return out.SetLists(ends, bytes, cuts, func(k int) bool { return nulls[k] })
}

// arrayKey is SQL of bytes that compare as arrays of type t do.
func arrayKey(sql string, t tailrace.Type) string {
	if t.Elem == kEnum {
		return "tr_key_enums(" + mark(markLabels, int(t.ID)) + ", " + sql + ")"
	}
	return "tr_key_array(CAST(" + itoa(int(t.Elem)) + " AS INTEGER), " + sql + ")"
}

// enumKey is SQL of the number of a label among its enum's.
func enumKey(sql string, enum tailrace.CollectionID) string {
	return "list_position(" + mark(markNames, int(enum)) + ", " + sql + ")"
}
