package query

import (
	"slices"
)

// removed is array_remove.
func removed(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	if a[1] == nil {
		return nil, errNull
	}
	v, err := readArray(a[1])
	if err != nil {
		return nil, err
	}
	if len(v.dims) > 1 {
		return nil, raise(codeUnsupported, "removing elements from multidimensional arrays is not supported")
	}
	keys := elementKeys{f: f, k: kind(i32(a[0]))}
	v.rows = slices.DeleteFunc(v.rows, func(r []byte) bool { return keys.equal(r, a[2]) })
	if len(v.rows) > 0 {
		v.dims[0].Length = len(v.rows)
	}
	return v.put(dst), nil
}

func replaced(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	if a[1] == nil {
		return nil, errNull
	}
	v, err := readArray(a[1])
	if err != nil {
		return nil, err
	}
	keys := elementKeys{f: f, k: kind(i32(a[0]))}
	for i, r := range v.rows {
		if keys.equal(r, a[2]) {
			v.rows[i] = a[3]
		}
	}
	return v.put(dst), nil
}

// firstPosition is the subscript of the first element that is equal to a[2], not before a[3].
func firstPosition(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	v, err := searched(a[1])
	if err != nil {
		return nil, err
	}
	if a[3] == nil {
		return nil, raise(codeNullValue, "initial position must not be null")
	}
	keys := elementKeys{f: f, k: kind(i32(a[0]))}
	for i, r := range v.rows {
		at := v.dims[0].Lower + int32(i)
		if at >= i32(a[3]) && keys.equal(r, a[2]) {
			return put32(dst, at), nil
		}
	}
	return nil, errNull
}

func positions(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	v, err := searched(a[1])
	if err != nil {
		return nil, err
	}
	keys := elementKeys{f: f, k: kind(i32(a[0]))}
	var out [][]byte
	for i, r := range v.rows {
		if keys.equal(r, a[2]) {
			out = append(out, put32(nil, v.dims[0].Lower+int32(i)))
		}
	}
	return flat(out).put(dst), nil
}

// searched is an array to look for an element in.
func searched(raw []byte) (array, error) {
	if raw == nil {
		return array{}, errNull
	}
	v, err := readArray(raw)
	if err == nil && len(v.dims) > 1 {
		err = raise(codeUnsupported, "searching for elements in multidimensional arrays is not supported")
	}
	return v, err
}

// contained tells whether all (or any) elements of a[2] are in a[1]. NULL is in no array.
func contained(all bool) implementation {
	return func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		in, err := readArray(a[1])
		if err != nil {
			return nil, err
		}
		of, err := readArray(a[2])
		if err != nil {
			return nil, err
		}
		keys := elementKeys{f: f, k: kind(i32(a[0]))}
		has := map[string]bool{}
		for _, r := range in.rows {
			if r != nil {
				has[string(keys.of(nil, r))] = true
			}
		}
		for _, r := range of.rows {
			if found := r != nil && has[string(keys.of(nil, r))]; found != all {
				return putBool(dst, !all), nil
			}
		}
		return putBool(dst, all), nil
	}
}
