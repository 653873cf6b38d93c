package duckdb

import (
	"errors"
	"unsafe"

	capi "github.com/duckdb/duckdb-go-bindings"
)

// listBit marks the type of lists of the type without it. DuckDB's own type numbers are small.
const listBit Type = 1 << 16

// ListOf is the type of lists of t, which is no list itself.
func ListOf(t Type) Type { return t | listBit }

// logicalType makes DuckDB's form of t; the caller destroys it.
func logicalType(t Type) capi.LogicalType {
	if t&listBit == 0 {
		return capi.CreateLogicalType(t)
	}
	element := capi.CreateLogicalType(t &^ listBit)
	defer capi.DestroyLogicalType(&element)
	return capi.CreateListType(element)
}

// listEntry is a row of a list vector: a stretch of its elements.
type listEntry struct{ from, length uint64 }

// List is row i of a list vector: elements [from, from+n) of Elements.
func (v *Vector) List(i int) (from, n int) {
	e := Values[listEntry](v, i+1)[i]
	return int(e.from), int(e.length)
}

// Elements holds the elements of all rows of a list vector, any number of them. Its Fixed and Values take one more than the highest index read.
func (v *Vector) Elements() *Vector { return vectorOf(capi.ListVectorGetChild(v.v)) }

// SetLists writes rows [0, len(ends)) of a list vector whose elements are Varchar or Blob: row i has the elements before ends[i] that no row
// before it has. Element k is data[offsets[k]:offsets[k+1]], or NULL where null(k).
func (v *Vector) SetLists(ends []int, data []byte, offsets []int32, null func(k int) bool) error {
	n := len(offsets) - 1
	if capi.ListVectorReserve(v.v, capi.IdxT(n)) == capi.StateError || capi.ListVectorSetSize(v.v, capi.IdxT(n)) == capi.StateError {
		return errors.New("DuckDB has no room for the elements of a list")
	}
	entries := unsafe.Slice((*listEntry)(v.data), len(ends))
	from := 0
	for i, end := range ends {
		entries[i] = listEntry{from: uint64(from), length: uint64(end - from)}
		from = end
	}
	elements := v.Elements()
	elements.SetTexts(data, offsets)
	for k := range n {
		if null(k) {
			elements.SetNull(k)
		}
	}
	return nil
}
