package duckdb

import (
	"unsafe"

	capi "github.com/duckdb/duckdb-go-bindings"
)

// Type is a DuckDB type.
type Type = capi.Type

// The types that values cross the boundary as.
const (
	Boolean  = capi.TypeBoolean
	SmallInt = capi.TypeSmallInt
	Integer  = capi.TypeInteger
	BigInt   = capi.TypeBigInt
	UInteger = capi.TypeUInteger
	HugeInt  = capi.TypeHugeInt
	Float    = capi.TypeFloat
	Double   = capi.TypeDouble
	Varchar  = capi.TypeVarchar
	Blob     = capi.TypeBlob
)

// MaxRows is the most rows that a vector holds.
const MaxRows = 2048

// Vector is one column of a chunk in DuckDB's memory. It is valid during the call that was given it, or until the chunk is replaced.
type Vector struct {
	v     capi.Vector
	data  unsafe.Pointer
	valid unsafe.Pointer // of words of 64 rows; nil: no row is NULL
}

func vectorOf(v capi.Vector) *Vector {
	return &Vector{v: v, data: capi.VectorGetData(v), valid: capi.VectorGetValidity(v)}
}

// IsNull reports whether row i is NULL.
func (v *Vector) IsNull(i int) bool {
	return v.valid != nil && *v.word(i)&(1<<(i&63)) == 0
}

// word holds the validity of row i.
func (v *Vector) word(i int) *uint64 { return (*uint64)(unsafe.Add(v.valid, i>>6<<3)) }

// HasNulls reports whether any row may be NULL.
func (v *Vector) HasNulls() bool { return v.valid != nil }

// SetNull makes row i NULL.
func (v *Vector) SetNull(i int) {
	if v.valid == nil {
		capi.VectorEnsureValidityWritable(v.v)
		v.valid = capi.VectorGetValidity(v.v)
	}
	*v.word(i) &^= 1 << (i & 63)
}

// SetValidity writes the validity of rows [0, n) from a bitmap in Arrow's layout, starting at its row from.
func (v *Vector) SetValidity(bitmap []byte, from, n int) {
	for i := range n {
		if r := from + i; bitmap[r>>3]&(1<<(r&7)) == 0 {
			v.SetNull(i)
		}
	}
}

// Values is the first n rows of a vector of a fixed-width type.
func Values[T any](v *Vector, n int) []T { return unsafe.Slice((*T)(v.data), n) }

// Fixed is the memory of the first n rows of a vector whose values take width bytes.
func (v *Vector) Fixed(width, n int) []byte { return unsafe.Slice((*byte)(v.data), width*n) }

// text is DuckDB's string: up to 12 bytes are inline, longer ones have their first four bytes and a pointer.
type text struct {
	length uint32
	prefix [4]byte
	p      unsafe.Pointer
}

const inlineText = 12

// Bytes is row i of a Varchar or Blob vector, a view of DuckDB's memory; meaningless when it is NULL.
func (v *Vector) Bytes(i int) []byte {
	t := (*text)(unsafe.Add(v.data, uintptr(i)*unsafe.Sizeof(text{})))
	if t.length <= inlineText {
		return unsafe.Slice(&t.prefix[0], int(t.length))
	}
	return unsafe.Slice((*byte)(t.p), int(t.length))
}

// SetBytes copies value into row i of a Varchar or Blob vector. For many rows SetTexts is quicker.
func (v *Vector) SetBytes(i int, value []byte) {
	capi.UnsafeVectorAssignStringElementLen(v.v, capi.IdxT(i), value)
}

// SetTexts writes rows [0, len(offsets)-1) of a Varchar or Blob vector: row i is data[offsets[i]:offsets[i+1]], copied. It crosses into C
// once: the bytes are copied as one long string, and the rows point into it.
func (v *Vector) SetTexts(data []byte, offsets []int32) {
	n := len(offsets) - 1
	if n <= 0 {
		return
	}
	whole := data[offsets[0]:offsets[n]]
	rows := Values[text](v, n)
	var start unsafe.Pointer
	if len(whole) > inlineText {
		v.SetBytes(0, whole)
		start = rows[0].p
	}
	for i := range rows {
		from, to := int(offsets[i]-offsets[0]), int(offsets[i+1]-offsets[0])
		t := text{length: uint32(to - from)}
		if t.length <= inlineText {
			copy(unsafe.Slice(&t.prefix[0], inlineText), whole[from:to])
		} else {
			copy(t.prefix[:], whole[from:])
			t.p = unsafe.Add(start, from)
		}
		rows[i] = t
	}
}
