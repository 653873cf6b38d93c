package duckdb

import (
	"errors"
	"unsafe"

	capi "github.com/duckdb/duckdb-go-bindings"
)

// listEntry is a row of a list vector: a stretch of its elements.
type listEntry struct{ from, length uint64 }

// List is row i of a list vector: elements [from, from+n) of Elements.
func (v *Vector) List(i int) (from, n int) {
	e := Values[listEntry](v, i+1)[i]
	return int(e.from), int(e.length)
}

// Elements holds the elements of all rows of a list vector, any number of them. Its Fixed and Values take one more than the highest index read.
func (v *Vector) Elements() *Vector { return vectorOf(capi.ListVectorGetChild(v.v)) }

// MakeLists writes rows [0, len(ends)) of a list vector: row i has the elements before ends[i] that no row before it has. It returns the vector for
// the elements, with room for all of them.
func (v *Vector) MakeLists(ends []int) (elements *Vector, err error) {
	n := 0
	if len(ends) > 0 {
		n = ends[len(ends)-1]
	}
	if capi.ListVectorReserve(v.v, capi.IdxT(n)) == capi.StateError || capi.ListVectorSetSize(v.v, capi.IdxT(n)) == capi.StateError {
		return nil, errors.New("DuckDB has no room for the elements of a list")
	}
	entries := unsafe.Slice((*listEntry)(v.data), len(ends))
	from := 0
	for i, end := range ends {
		entries[i] = listEntry{from: uint64(from), length: uint64(end - from)}
		from = end
	}
	return v.Elements(), nil
}

// SetLists is MakeLists for elements that are Varchar or Blob: element k is data[offsets[k]:offsets[k+1]], or NULL where null(k).
func (v *Vector) SetLists(ends []int, data []byte, offsets []int32, null func(k int) bool) error {
	elements, err := v.MakeLists(ends)
	if err != nil {
		return err
	}
	elements.SetTexts(data, offsets)
	for k := range len(offsets) - 1 {
		if null(k) {
			elements.SetNull(k)
		}
	}
	return nil
}
