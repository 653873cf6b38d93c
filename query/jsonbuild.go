package query

import (
	"strings"

	"tailrace"
)

// jsonSQL is the value as JSON text, a NULL as NULL.
func jsonSQL(e expr) string {
	switch e.typ.Kind {
	case kRow:
		return rowJSON(e)
	case kJSON, kJSONB:
		return e.sql
	case kUnknown:
		e.typ = textType
	}
	kind := "CAST(" + itoa(int(e.typ.Kind)) + " AS INTEGER), CAST(" + itoa(int(e.typ.Elem)) + " AS INTEGER)"
	return "tr_json_of(" + runMark + ", " + kind + ", " + rawSQL(e) + ")"
}

// rawJSON is jsonSQL as a BLOB, for lists.
func rawJSON(e expr) string { return "tr_raw_text(" + jsonSQL(e) + ")" }

// jsonList is a DuckDB list of values as JSON.
func jsonList(es []expr) string {
	var parts []string
	for _, e := range es {
		parts = append(parts, rawJSON(e))
	}
	return "CAST([" + strings.Join(parts, ", ") + "] AS BLOB[])"
}

// jsonMakers are the functions that make JSON of other values.
var jsonMakers = []entry{
	{name: "to_json", args: "?", ret: "j", sql: "tr_value_text({j1})"},
	{name: "to_jsonb", args: "?", ret: "J", sql: "tr_jsonb({j1})"},
	{name: "row_to_json", args: "W", ret: "j", sql: "tr_value_text({j1})"},
	{name: "json_build_array", ret: "j", sql: "'[]'"},
	{name: "json_build_array", args: "?*", ret: "j", sql: "tr_json_agg({*:j}, FALSE)"},
	{name: "jsonb_build_array", ret: "J", sql: "'[]'"},
	{name: "jsonb_build_array", args: "?*", ret: "J", sql: "tr_jsonb_agg({*:j})"},
	{name: "json_build_object", ret: "j", sql: "'{}'"},
	{name: "json_build_object", args: "?*", ret: "j", sql: "tr_json_build_object({*:j})"},
	{name: "jsonb_build_object", ret: "J", sql: "'{}'"},
	{name: "jsonb_build_object", args: "?*", ret: "J", sql: "tr_jsonb_build_object({*:j})"},
	{name: "json_object", args: "[t", ret: "j", impl: objectOf(false)},
	{name: "jsonb_object", args: "[t", ret: "J", impl: objectOf(true)},
}

// jsonbImplementations are the Go functions that the tables of JSON functions name. JSON in lists is text.
var jsonbImplementations = []entry{
	{name: "tr_json_of", args: "iiy", ret: "t", env: true, impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		return f.appendJSON(dst, tailrace.Type{Kind: kind(i32(a[0])), Mod: -1, Elem: kind(i32(a[1]))}, a[2])
	}},
	{name: "tr_jsonb", args: "y", ret: "J", impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) { return canonical(f, dst, a[0]) }},
	{name: "tr_json_agg", args: "Lb", ret: "j", impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) { return appendItems(dst, a[0], a[1][0] != 0) }},
	{name: "tr_jsonb_agg", args: "L", ret: "J", impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		text, err := appendItems(nil, a[0], false)
		if err != nil {
			return nil, err
		}
		return canonical(f, dst, text)
	}},
	{name: "tr_json_build_object", args: "L", ret: "j", impl: builtObject(false)},
	{name: "tr_jsonb_build_object", args: "L", ret: "J", impl: builtObject(true)},
	{name: "tr_json_object_agg", args: "LL", ret: "j", impl: collectedObject(false)},
	{name: "tr_jsonb_object_agg", args: "LL", ret: "J", impl: collectedObject(true)},
	{name: "tr_json_row", args: "LL", ret: "t", impl: rowObject},
	{name: "tr_json_path", args: "tL", ret: "t", impl: follow(false)},
	{name: "tr_json_path_text", args: "tL", ret: "t", impl: follow(true)},
	{name: "tr_json_items", args: "tt", ret: "L", impl: itemsOf},
	{name: "tr_json_names", args: "tt", ret: "L", impl: namesOfObject},
	{name: "tr_json_pairs", args: "tt", ret: "L", impl: pairsOf},
	{name: "tr_json_text", args: "y", ret: "t", impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) { return found(dst, a[0], true) }},
}

// appendItems adds a list of JSON texts as an array.
func appendItems(dst, list []byte, lines bool) ([]byte, error) {
	v, err := readArray(list)
	if err != nil {
		return nil, err
	}
	dst = append(dst, '[')
	for i, r := range v.rows {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if r == nil {
			dst = append(dst, "null"...)
			continue
		}
		if lines && i > 0 {
			dst = append(dst, "\n "...)
		}
		dst = append(dst, r...)
	}
	return append(dst, ']'), nil
}

// appendName adds the name of a member: the text of a scalar.
func appendName(dst, json []byte) []byte {
	if json[0] == '"' {
		return append(dst, json...)
	}
	return append(append(append(dst, '"'), json...), '"')
}

// appendMember adds "name" : value. position is the argument's, for errors.
func appendMember(dst, name, value []byte) []byte {
	dst = append(appendName(dst, name), " : "...)
	if value == nil {
		return append(dst, "null"...)
	}
	return append(dst, value...)
}

func builtObject(binary bool) implementation {
	name := "json_build_object"
	if binary {
		name = "jsonb_build_object"
	}
	return func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		v, err := readArray(a[0])
		if err != nil {
			return nil, err
		}
		if len(v.rows)%2 != 0 {
			e := raise(codeInvalid, "argument list must have even number of elements")
			e.Hint = "The arguments of " + name + "() must consist of alternating keys and values."
			return nil, e
		}
		text := []byte{'{'}
		for i := 0; i < len(v.rows); i += 2 {
			switch r := v.rows[i]; {
			case r == nil && binary:
				return nil, raise(codeInvalid, "argument %d: key must not be null", i+1)
			case r == nil:
				e := raise(codeInvalid, "argument %d cannot be null", i+1)
				e.Hint = "Object keys should be text."
				return nil, e
			case r[0] == '{' || r[0] == '[':
				return nil, raise(codeInvalid, "key value must be scalar, not array, composite, or json")
			}
			if i > 0 {
				text = append(text, ", "...)
			}
			text = appendMember(text, v.rows[i], v.rows[i+1])
		}
		return finishObject(f, dst, text, binary, "}")
	}
}

// collectedObject is json_object_agg: lists of names and of values.
func collectedObject(binary bool) implementation {
	return func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		names, err := readArray(a[0])
		if err != nil {
			return nil, err
		}
		values, err := readArray(a[1])
		if err != nil {
			return nil, err
		}
		text := []byte("{ ")
		for i, r := range names.rows {
			switch {
			case r == nil && binary:
				return nil, raise(codeInvalid, "field name must not be null")
			case r == nil:
				return nil, raise(codeInvalid, "field name must not be null")
			case r[0] == '{' || r[0] == '[':
				return nil, raise(codeInvalid, "key value must be scalar, not array, composite, or json")
			}
			if i > 0 {
				text = append(text, ", "...)
			}
			text = appendMember(text, r, values.rows[i])
		}
		return finishObject(f, dst, text, binary, " }")
	}
}

func finishObject(f *frame, dst, text []byte, binary bool, end string) ([]byte, error) {
	text = append(text, end...)
	if binary {
		return canonical(f, dst, text)
	}
	return append(dst, text...), nil
}

// rowObject is a row as JSON: a list of names as text, one of values as JSON.
func rowObject(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	names, err := readArray(a[0])
	if err != nil {
		return nil, err
	}
	values, err := readArray(a[1])
	if err != nil {
		return nil, err
	}
	dst = append(dst, '{')
	for i, r := range values.rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendQuoted(dst, string(names.rows[i])), ':')
		if r == nil {
			r = []byte("null")
		}
		dst = append(dst, r...)
	}
	return append(dst, '}'), nil
}

// objectOf is json_object: names and values by turns, or in rows of two.
func objectOf(binary bool) implementation {
	return func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		v, err := readArray(a[0])
		if err != nil {
			return nil, err
		}
		switch {
		case len(v.dims) > 2:
			return nil, raise(codeSubscript, "wrong number of array subscripts")
		case len(v.dims) == 2 && v.dims[1].Length != 2:
			return nil, raise(codeSubscript, "array must have two columns")
		case len(v.rows)%2 != 0:
			return nil, raise(codeSubscript, "array must have even number of elements")
		}
		text := []byte{'{'}
		for i := 0; i < len(v.rows); i += 2 {
			if v.rows[i] == nil {
				return nil, raise(codeNullValue, "null value not allowed for object key")
			}
			if i > 0 {
				text = append(text, ", "...)
			}
			var value []byte
			if v.rows[i+1] != nil {
				value = appendQuoted(nil, string(v.rows[i+1]))
			}
			text = appendMember(text, appendQuoted(nil, string(v.rows[i])), value)
		}
		return finishObject(f, dst, text, binary, "}")
	}
}
