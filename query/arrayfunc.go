package query

import (
	"fmt"
	"slices"

	"tailrace"
)

// arrayFunctions are the Go functions of PostgreSQL's array functions and operators, called by their tables in polymorph.go.
var arrayFunctions = []entry{
	{name: "tr_array_append", args: "yy", ret: "y", nulls: true, impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) { return pushed(dst, a[0], a[1], false) }},
	{name: "tr_array_prepend", args: "yy", ret: "y", nulls: true, impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) { return pushed(dst, a[1], a[0], true) }},
	{name: "tr_array_cat", args: "yy", ret: "y", nulls: true, impl: concatenated},
	{name: "tr_array_remove", args: "iyy", ret: "y", nulls: true, impl: removed},
	{name: "tr_array_replace", args: "iyyy", ret: "y", nulls: true, impl: replaced},
	{name: "tr_array_position", args: "iyyi", ret: "i", nulls: true, impl: firstPosition},
	{name: "tr_array_positions", args: "iyy", ret: "y", nulls: true, impl: positions},
	{name: "tr_array_length", args: "yi", ret: "i", impl: ofDimension(func(d tailrace.Dim) int32 { return int32(d.Length) })},
	{name: "tr_array_lower", args: "yi", ret: "i", impl: ofDimension(func(d tailrace.Dim) int32 { return d.Lower })},
	{name: "tr_array_upper", args: "yi", ret: "i", impl: ofDimension(func(d tailrace.Dim) int32 { return d.Lower + int32(d.Length) - 1 })},
	{name: "tr_array_ndims", args: "y", ret: "i", impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		v, err := readArray(a[0])
		if err == nil && len(v.dims) == 0 {
			err = errNull
		}
		return put32(dst, int32(len(v.dims))), err
	}},
	{name: "tr_array_dims", args: "y", ret: "t", impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		v, err := readArray(a[0])
		if err == nil && len(v.dims) == 0 {
			err = errNull
		}
		for _, d := range v.dims {
			dst = fmt.Appendf(dst, "[%d:%d]", d.Lower, d.Lower+int32(d.Length)-1)
		}
		return dst, err
	}},
	{name: "tr_cardinality", args: "y", ret: "i", impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		v, err := readArray(a[0])
		return put32(dst, int32(len(v.rows))), err
	}},
	{name: "tr_array_contains", args: "iyy", ret: "b", impl: contained(true)},
	{name: "tr_array_overlaps", args: "iyy", ret: "b", impl: contained(false)},
	{name: "tr_array_fill", args: "yyy", ret: "y", nulls: true, impl: filled},
}

// pushed is array raw with one element more at its end, or its front.
func pushed(dst, raw, element []byte, front bool) ([]byte, error) {
	v := array{}
	if raw != nil {
		var err error
		if v, err = readArray(raw); err != nil {
			return nil, err
		}
	}
	switch len(v.dims) {
	case 0:
		return flat([][]byte{element}).put(dst), nil
	case 1:
	default:
		return nil, raise("22000", "argument must be empty or one-dimensional array")
	}
	v.dims[0].Length++
	if front {
		v.rows = slices.Insert(v.rows, 0, element)
	} else {
		v.rows = append(v.rows, element)
	}
	return v.put(dst), nil
}

// concatenated is a || b: of two arrays of the same shape, or of an array and one of its slices.
func concatenated(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	switch {
	case a[0] == nil && a[1] == nil:
		return nil, errNull
	case a[0] == nil:
		return append(dst, a[1]...), nil
	case a[1] == nil:
		return append(dst, a[0]...), nil
	}
	l, err := readArray(a[0])
	if err != nil {
		return nil, err
	}
	r, err := readArray(a[1])
	if err != nil {
		return nil, err
	}
	switch {
	case len(l.dims) == 0:
		return append(dst, a[1]...), nil
	case len(r.dims) == 0:
		return append(dst, a[0]...), nil
	}
	out := array{rows: append(l.rows, r.rows...)}
	ok := false
	detail := "Arrays with differing element dimensions are not compatible for concatenation."
	switch len(l.dims) - len(r.dims) {
	case 0:
		out.dims, ok = slices.Clone(l.dims), slices.Equal(l.dims[1:], r.dims[1:])
		out.dims[0].Length += r.dims[0].Length
	case 1:
		out.dims, ok = slices.Clone(l.dims), slices.Equal(l.dims[1:], r.dims)
		out.dims[0].Length++
		detail = "Arrays with differing dimensions are not compatible for concatenation."
	case -1:
		out.dims, ok = slices.Clone(r.dims), slices.Equal(r.dims[1:], l.dims)
		out.dims[0].Length++
		detail = "Arrays with differing dimensions are not compatible for concatenation."
	default:
		detail = fmt.Sprintf("Arrays of %d and %d dimensions are not compatible for concatenation.", len(l.dims), len(r.dims))
	}
	if !ok {
		e := raise(codeSubscript, "cannot concatenate incompatible arrays")
		e.Detail = detail
		return nil, e
	}
	return out.put(dst), nil
}

func ofDimension(what func(tailrace.Dim) int32) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		v, err := readArray(a[0])
		if err != nil {
			return nil, err
		}
		n := int(i32(a[1]))
		if n < 1 || n > len(v.dims) {
			return nil, errNull
		}
		return put32(dst, what(v.dims[n-1])), nil
	}
}

// filled is array_fill: a[0] over and over, a[1] the lengths of the dimensions, a[2] their lower bounds.
func filled(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	if a[1] == nil || a[2] == nil {
		return nil, raise(codeNullValue, "dimension array or low bound array cannot be null")
	}
	lengths, err := readArray(a[1])
	if err != nil {
		return nil, err
	}
	lowers, err := readArray(a[2])
	if err != nil {
		return nil, err
	}
	if len(lengths.rows) > tailrace.MaxDims {
		return nil, raise(codeTooBig, "number of array dimensions (%d) exceeds the maximum allowed (%d)", len(lengths.rows), tailrace.MaxDims)
	}
	if len(lowers.rows) > 0 && len(lowers.rows) != len(lengths.rows) {
		e := raise(codeSubscript, "wrong number of array subscripts")
		e.Detail = "Low bound array has different size than dimensions array."
		return nil, e
	}
	out, total := array{}, int64(1)
	for i, r := range lengths.rows {
		d := tailrace.Dim{Lower: 1}
		if r == nil || len(lowers.rows) > 0 && lowers.rows[i] == nil {
			return nil, raise(codeNullValue, "dimension values cannot be null")
		}
		if len(lowers.rows) > 0 {
			d.Lower = i32(lowers.rows[i])
		}
		d.Length = int(i32(r))
		out.dims = append(out.dims, d)
		if total *= int64(d.Length); d.Length < 0 || total*int64(len(a[0])+1) > maxFillBytes {
			return nil, raise(codeTooBig, "array size exceeds the maximum allowed (%d)", maxElements)
		}
	}
	if total == 0 || len(out.dims) == 0 {
		return tailrace.AppendArray(dst, nil), nil
	}
	dst = tailrace.AppendArray(dst, out.dims)
	for range total {
		if a[0] == nil {
			dst = tailrace.AppendNullElement(dst)
		} else {
			dst = tailrace.AppendElement(dst, a[0])
		}
	}
	return dst, nil
}

// maxElements is the most elements of an array, PostgreSQL's MaxArraySize; maxFillBytes bounds what array_fill makes of a few bytes.
const (
	maxElements  = 134217727
	maxFillBytes = 64 << 20
)
