package query

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// indirection plans subscripts behind an expression: a[1], a[2:3], j['key'].
func (p *planner) indirection(s *scope, n *pg_query.A_Indirection) (expr, error) {
	e, err := p.expr(s, n.GetArg())
	if err != nil {
		return e, err
	}
	var indices []*pg_query.A_Indices
	for _, i := range n.GetIndirection() {
		if f, ok := pairField(e, i); ok {
			return f, nil
		}
		if i.GetAIndices() == nil {
			if e.typ.Kind == kRow {
				return e, p.refuse(location(n.GetArg()), "a field of a row value")
			}
			return e, p.fail(location(n.GetArg()), "42809", "column notation .%s applied to type %s, which is not a composite type", i.GetString_().GetSval(), typeName(e.typ))
		}
		indices = append(indices, i.GetAIndices())
	}
	switch e.typ.Kind {
	case kJSONB:
		return p.jsonSubscript(s, e, indices)
	case kArray:
	default:
		return e, p.fail(location(n.GetArg()), codeMismatch, "cannot subscript type %s because it does not support subscripting", typeName(e.typ))
	}
	if len(indices) > tailrace.MaxDims {
		return e, p.fail(location(n.GetArg()), codeTooBig, "number of array dimensions (%d) exceeds the maximum allowed (%d)", len(indices), tailrace.MaxDims)
	}
	slice := false
	for _, i := range indices {
		slice = slice || i.GetIsSlice()
	}
	lowers, uppers := make([]expr, len(indices)), make([]expr, len(indices))
	for k, i := range indices {
		if lowers[k], err = p.subscript(s, i.GetLidx(), i.GetIsSlice()); err != nil {
			return e, err
		}
		if uppers[k], err = p.subscript(s, i.GetUidx(), i.GetIsSlice()); err != nil {
			return e, err
		}
		if slice && !i.GetIsSlice() { // among slices, n is 1:n
			lowers[k] = expr{sql: "CAST(1 AS INTEGER)", typ: tailrace.TypeOf(kInt4)}
		}
	}
	out := expr{loc: e.loc, fixed: e.fixed}
	if slice {
		out.sql, out.typ = "tr_array_slice("+e.sql+", "+listSQL(lowers)+", "+listSQL(uppers)+")", e.typ
		return out, nil
	}
	out.typ = e.typ.Element()
	out.sql = valueSQL("tr_array_get("+e.sql+", "+listSQL(uppers)+")", out.typ)
	return out, nil
}

// subscript plans one bound; a bound that is left out is an empty BLOB.
func (p *planner) subscript(s *scope, n *pg_query.Node, slice bool) (expr, error) {
	if n == nil {
		return expr{sql: "CAST('' AS BLOB)", typ: tailrace.TypeOf(kBytea)}, nil
	}
	e, err := p.expr(s, n)
	if err != nil {
		return e, err
	}
	to := tailrace.TypeOf(kInt4)
	if !e.untyped() && category(e.typ.Kind) != 'N' {
		return e, p.fail(e.loc, codeMismatch, "array subscript must have type integer")
	}
	return p.convert(e, to, false)
}

// subscriptEntries are the Go functions of subscripts; the bounds come as lists of integers.
var subscriptEntries = []entry{
	{name: "tr_array_get", args: "yL", ret: "y", impl: subscripted},
	{name: "tr_array_slice", args: "yLL", ret: "y", impl: sliced},
	{name: "tr_trim_array", args: "yi", ret: "y", impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		v, err := readArray(a[0])
		if err != nil {
			return nil, err
		}
		length, n := 0, int(i32(a[1]))
		if len(v.dims) > 0 {
			length = v.dims[0].Length
		}
		if n < 0 || n > length {
			return nil, raise(codeSubscript, "number of elements to trim must be between 0 and %d", length)
		}
		if length == 0 {
			return v.put(dst), nil
		}
		return v.slice([]int32{v.dims[0].Lower}, []int32{v.dims[0].Lower + int32(length-n) - 1}).put(dst), nil
	}},
}

// subscripted is one element; subscripts outside of the array, or not as many as it has dimensions, give NULL.
func subscripted(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	v, err := readArray(a[0])
	if err != nil {
		return nil, err
	}
	subs, err := readArray(a[1])
	if err != nil {
		return nil, err
	}
	if len(subs.rows) != len(v.dims) {
		return nil, errNull
	}
	at := 0
	for i, d := range v.dims {
		if subs.rows[i] == nil {
			return nil, errNull
		}
		n := int64(i32(subs.rows[i])) - int64(d.Lower)
		if n < 0 || n >= int64(d.Length) {
			return nil, errNull
		}
		at = at*d.Length + int(n)
	}
	if v.rows[at] == nil {
		return nil, errNull
	}
	return append(dst, v.rows[at]...), nil
}

// sliced cuts a stretch of each dimension out. A bound that is left out is the dimension's own.
func sliced(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	v, err := readArray(a[0])
	if err != nil {
		return nil, err
	}
	bounds := [2][]int32{}
	for side := range bounds {
		list, err := readArray(a[1+side])
		if err != nil {
			return nil, err
		}
		for i, r := range list.rows {
			switch {
			case r == nil:
				return nil, errNull
			case len(r) == 4:
				bounds[side] = append(bounds[side], i32(r))
			case i >= len(v.dims):
				bounds[side] = append(bounds[side], 0)
			case side == 0:
				bounds[side] = append(bounds[side], v.dims[i].Lower)
			default:
				bounds[side] = append(bounds[side], v.dims[i].Lower+int32(v.dims[i].Length)-1)
			}
		}
	}
	return v.slice(bounds[0], bounds[1]).put(dst), nil
}

// slice is the part of the array within the bounds, which cover its first dimensions; the lower bounds of the result are 1.
func (a array) slice(lowers, uppers []int32) array {
	if len(a.dims) < len(lowers) || len(a.dims) == 0 {
		return array{}
	}
	out := array{}
	from := make([]int, len(a.dims))
	for i, d := range a.dims {
		length := d.Length
		if i < len(lowers) {
			lo := max(int64(lowers[i]), int64(d.Lower))
			hi := min(int64(uppers[i]), int64(d.Lower)+int64(d.Length)-1)
			if lo > hi {
				return array{}
			}
			from[i], length = int(lo-int64(d.Lower)), int(hi-lo+1)
		}
		out.dims = append(out.dims, tailrace.Dim{Length: length, Lower: 1})
	}
	a.cut(&out, from, 0, 0)
	return out
}

// cut adds to out the elements below the position at of the dimensions before dim.
func (a array) cut(out *array, from []int, dim, at int) {
	if dim == len(a.dims) {
		out.rows = append(out.rows, a.rows[at])
		return
	}
	for i := range out.dims[dim].Length {
		a.cut(out, from, dim+1, at*a.dims[dim].Length+from[dim]+i)
	}
}
