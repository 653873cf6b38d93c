package query

import (
	"bytes"

	"tailrace"
	"tailrace/format"
)

// arrayTexts are the Go functions that read and print arrays and enums. A type is handed over as the element's kind and modifier, and an enum's
// number and name.
var arrayTexts = []entry{
	{name: "tr_in_array", args: "tiilti", ret: "y", env: true, impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		t := tailrace.ArrayOf(tailrace.Type{Kind: kind(i32(a[1])), Mod: i32(a[2]), ID: tailrace.CollectionID(i64(a[3])), Name: string(a[4])})
		return f.parse(dst, t, a[0], i32(a[5]))
	}},
	{name: "tr_in_enum", args: "tlti", ret: "t", env: true, impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		return f.parse(dst, tailrace.Type{Kind: kEnum, Mod: -1, ID: tailrace.CollectionID(i64(a[1])), Name: string(a[2])}, a[0], i32(a[3]))
	}},
	{name: "tr_out_array", args: "iy", ret: "t", env: true, impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		t := tailrace.ArrayOf(tailrace.TypeOf(kind(i32(a[0]))))
		return format.AppendText(dst, t, f.column(kArray, a[1]), 0, f.settings()), nil
	}},
	{name: "tr_array_to_string", args: "iytt", ret: "t", env: true, nulls: true, impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		if a[1] == nil || a[2] == nil {
			return nil, errNull
		}
		v, err := readArray(a[1])
		if err != nil {
			return nil, err
		}
		k, any := kind(i32(a[0])), false
		for _, r := range v.rows {
			if r == nil && a[3] == nil {
				continue
			}
			if any {
				dst = append(dst, a[2]...)
			}
			any = true
			if r == nil {
				dst = append(dst, a[3]...)
			} else {
				dst = format.AppendText(dst, tailrace.TypeOf(k), f.column(k, r), 0, f.settings())
			}
		}
		return dst, nil
	}},
	{name: "tr_enum_range", args: "ytt", ret: "y", nulls: true, impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		labels, err := readArray(a[0])
		if err != nil {
			return nil, err
		}
		var out [][]byte
		within := a[1] == nil
		for _, l := range labels.rows {
			within = within || bytes.Equal(l, a[1])
			if within {
				out = append(out, l)
			}
			if a[2] != nil && bytes.Equal(l, a[2]) {
				break
			}
		}
		if a[2] != nil && len(out) > 0 && !bytes.Equal(out[len(out)-1], a[2]) {
			out = nil // the last label stands before the first
		}
		return flat(out).put(dst), nil
	}},
}

// parse reads text as a value of type t; position is that of a literal, 0 for a value's text.
func (f *frame) parse(dst []byte, t tailrace.Type, text []byte, position int32) ([]byte, error) {
	c := tailrace.MakeColumn(t.Kind, 1)
	if err := format.ParseText(&c, t, string(text), f.settings()); err != nil {
		return nil, positioned(err, position)
	}
	return append(dst, c.Bytes(0)...), nil
}

// splitEntries are the functions that make arrays of text.
var splitEntries = []entry{
	{name: "string_to_array", args: "tt", ret: "[t", nulls: true, impl: splitText},
	{name: "string_to_array", args: "ttt", ret: "[t", nulls: true, impl: splitText},
	{name: "regexp_split_to_array", args: "tt", ret: "[t", impl: splitPattern},
	{name: "regexp_split_to_array", args: "ttt", ret: "[t", impl: splitPattern},
}

// splitText cuts a[0] at each a[1], or into characters when that is NULL; pieces equal to a[2] become NULL.
func splitText(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	if a[0] == nil {
		return nil, errNull
	}
	var rows [][]byte
	switch {
	case len(a[0]) == 0:
	case a[1] == nil:
		for _, r := range string(a[0]) {
			rows = append(rows, []byte(string(r)))
		}
	case len(a[1]) == 0:
		rows = [][]byte{a[0]}
	default:
		rows = bytes.Split(a[0], a[1])
	}
	if len(a) > 2 && a[2] != nil {
		for i, r := range rows {
			if bytes.Equal(r, a[2]) {
				rows[i] = nil
			}
		}
	}
	return flat(rows).put(dst), nil
}

// splitPattern cuts a[0] at the matches of a regular expression. An empty match at the start, the end, or right behind a match cuts nothing.
func splitPattern(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	o, err := onlyFirst(last(a, 2), "regexp_split_to_array")
	if err != nil {
		return nil, err
	}
	re, err := f.expression(a[1], o.Flags)
	if err != nil {
		return nil, err
	}
	found, err := cuts(re, a[0])
	if err != nil {
		return nil, err
	}
	var rows [][]byte
	from := 0
	for _, m := range found {
		rows = append(rows, a[0][from:m[0]:m[0]])
		from = m[1]
	}
	rows = append(rows, a[0][from:])
	for i, r := range rows {
		if r == nil {
			rows[i] = []byte{}
		}
	}
	return flat(rows).put(dst), nil
}
