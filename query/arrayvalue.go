package query

import (
	"bytes"
	"slices"

	"tailrace"
)

const (
	codeSubscript = "2202E"
	codeNullValue = "22004"
	codeTooBig    = "54000"
)

// array is a stored array taken apart, its elements still stored.
type array struct {
	dims []tailrace.Dim
	rows [][]byte // nil for NULL
}

func readArray(raw []byte) (array, error) {
	dims, elements, err := tailrace.ReadArray(kBytea, raw)
	if err != nil {
		return array{}, err
	}
	a := array{dims: dims, rows: make([][]byte, 0, elements.Left)}
	for elements.Left > 0 {
		value, null := elements.Next()
		switch {
		case null:
			value = nil
		case value == nil:
			value = []byte{}
		}
		a.rows = append(a.rows, value)
	}
	return a, nil
}

// flat is a one-dimensional array of rows.
func flat(rows [][]byte) array {
	return array{dims: []tailrace.Dim{{Length: len(rows), Lower: 1}}, rows: rows}
}

// put adds the array in its stored form.
func (a array) put(dst []byte) []byte {
	if len(a.rows) == 0 {
		return tailrace.AppendArray(dst, nil)
	}
	dst = tailrace.AppendArray(dst, a.dims)
	for _, r := range a.rows {
		if r == nil {
			dst = tailrace.AppendNullElement(dst)
		} else {
			dst = tailrace.AppendElement(dst, r)
		}
	}
	return dst
}

// arrayEntries are the Go functions that make arrays of lists and compare them. An element comes as its stored bytes, with its kind in front as
// an integer where it matters.
var arrayEntries = []entry{
	{name: "tr_array_list", args: "y", ret: "L", impl: same},
	{name: "tr_array", args: "L", ret: "y", impl: same},
	{name: "tr_array_like", args: "yL", ret: "y", impl: arrayLike},
	{name: "tr_array_nest", args: "L", ret: "y", impl: nest},
	{name: "tr_array_stack", args: "L", ret: "y", impl: stack},
	{name: "tr_array_distinct", args: "iiybbL", ret: "L", impl: distinctElements},
	{name: "tr_key_array", args: "iy", ret: "y", impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		t := tailrace.ArrayOf(tailrace.TypeOf(kind(i32(a[0]))))
		if t.Elem == kJSONB {
			return jsonsKey(f, dst, a[1])
		}
		return tailrace.AppendKey(dst, t, f.column(kArray, a[1]), 0), nil
	}},
	{name: "tr_key_enums", args: "yy", ret: "y", impl: enumsKey},
}

// same is for a list and the array of its elements, which look the same to implementations.
func same(_ *frame, dst []byte, a [][]byte) ([]byte, error) { return append(dst, a[0]...), nil }

// arrayLike gives the elements a[1] the dimensions of a[0].
func arrayLike(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	of, err := readArray(a[0])
	if err != nil {
		return nil, err
	}
	list, err := readArray(a[1])
	if err != nil {
		return nil, err
	}
	return array{dims: of.dims, rows: list.rows}.put(dst), nil
}

// nest is ARRAY[a, b, ...] of arrays.
func nest(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	list, err := readArray(a[0])
	if err != nil {
		return nil, err
	}
	return join(dst, list.rows, func() error {
		return raise(codeSubscript, "multidimensional arrays must have array expressions with matching dimensions")
	})
}

// stack is array_agg of arrays.
func stack(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	list, err := readArray(a[0])
	if err != nil {
		return nil, err
	}
	for i, r := range list.rows {
		if r == nil {
			return nil, raise(codeNullValue, "cannot accumulate null arrays")
		}
		if i > 0 {
			continue
		}
		if first, err := readArray(r); err != nil {
			return nil, err
		} else if len(first.rows) == 0 {
			return nil, raise(codeSubscript, "cannot accumulate empty arrays")
		}
	}
	return join(dst, list.rows, func() error {
		return raise(codeSubscript, "cannot accumulate arrays of different dimensionality")
	})
}

// join makes arrays of the same dimensions the elements of an array of one dimension more. Arrays that are all empty or NULL make the empty one.
func join(dst []byte, parts [][]byte, differ func() error) ([]byte, error) {
	var out array
	empty := 0
	for _, raw := range parts {
		part := array{}
		if raw != nil {
			var err error
			if part, err = readArray(raw); err != nil {
				return nil, err
			}
		}
		switch {
		case len(part.rows) == 0:
			empty++
			continue
		case out.dims == nil:
			out.dims = append([]tailrace.Dim{{Length: len(parts), Lower: 1}}, part.dims...)
		case !slices.Equal(out.dims[1:], part.dims):
			return nil, differ()
		}
		out.rows = append(out.rows, part.rows...)
	}
	if empty > 0 && out.dims != nil {
		return nil, differ()
	}
	if len(out.dims) > tailrace.MaxDims {
		return nil, raise(codeTooBig, "number of array dimensions (%d) exceeds the maximum allowed (%d)", len(out.dims), tailrace.MaxDims)
	}
	return out.put(dst), nil
}

// distinctElements sorts a list, as PostgreSQL does to find the equal ones, and keeps one of each: a[0] is the kind, a[1] that of
// an array's elements, a[2] an enum's labels, a[3] whether the order is descending, a[4] whether NULL comes first.
func distinctElements(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	list, err := readArray(a[5])
	if err != nil {
		return nil, err
	}
	labels, err := readArray(a[2])
	if err != nil {
		return nil, err
	}
	keys := elementKeys{f: f, k: kind(i32(a[0])), elem: kind(i32(a[1])), labels: labels.rows}
	desc, first := a[3][0] != 0, a[4][0] != 0
	type keyed struct{ key, raw []byte }
	all := make([]keyed, len(list.rows))
	for i, r := range list.rows {
		all[i].raw = r
		if r != nil {
			all[i].key = keys.of(nil, r)
		}
	}
	slices.SortStableFunc(all, func(x, y keyed) int {
		switch {
		case x.raw == nil && y.raw == nil:
			return 0
		case x.raw == nil || y.raw == nil:
			if (x.raw == nil) == first {
				return -1
			}
			return 1
		case desc:
			return bytes.Compare(y.key, x.key)
		}
		return bytes.Compare(x.key, y.key)
	})
	all = slices.CompactFunc(all, func(x, y keyed) bool { return (x.raw == nil) == (y.raw == nil) && bytes.Equal(x.key, y.key) })
	rows := make([][]byte, len(all))
	for i := range all {
		rows[i] = all[i].raw
	}
	return flat(rows).put(dst), nil
}
