package query

import (
	"encoding/json"
	"strconv"
	"strings"

	"tailrace"
	"tailrace/format"
)

// jsonEntries are the functions and operators of json and jsonb. A jsonb value is stored as the text that PostgreSQL prints for it, so a
// part of one is a part of its text.
var jsonEntries = []entry{
	{name: "->", args: "jt", ret: "j", impl: member(false)},
	{name: "->", args: "Jt", ret: "J", impl: member(false)},
	{name: "->>", args: "jt", ret: "t", impl: member(true)},
	{name: "->>", args: "Jt", ret: "t", impl: member(true)},
	{name: "->", args: "ji", ret: "j", impl: elementOf(false)},
	{name: "->", args: "Ji", ret: "J", impl: elementOf(false)},
	{name: "->>", args: "ji", ret: "t", impl: elementOf(true)},
	{name: "->>", args: "Ji", ret: "t", impl: elementOf(true)},
	{name: "?", args: "Jt", ret: "b", impl: hasMember},
	{name: "json_typeof", args: "j", ret: "t", impl: jsonType},
	{name: "jsonb_typeof", args: "J", ret: "t", impl: jsonType},
	{name: "json_array_length", args: "j", ret: "i", impl: jsonLength},
	{name: "jsonb_array_length", args: "J", ret: "i", impl: jsonLength},
}

// jsonCasts are the Go functions that casts names for jsonb.
var jsonCasts = []entry{
	{name: "tr_jsonb_bool", args: "J", ret: "b", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		switch string(a[0]) {
		case "true":
			return putBool(d, true), nil
		case "false":
			return putBool(d, false), nil
		}
		return nil, raise(codeInvalid, "cannot cast jsonb %s to type boolean", jsonTypeOf(a[0]))
	}},
	{name: "tr_jsonb_numeric", args: "J", ret: "n", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		if jsonTypeOf(a[0]) != "number" {
			return nil, raise(codeInvalid, "cannot cast jsonb %s to type numeric", jsonTypeOf(a[0]))
		}
		c := tailrace.MakeColumn(kNumeric, 1)
		if err := format.ParseText(&c, tailrace.TypeOf(kNumeric), string(a[0]), format.Default()); err != nil {
			return nil, err
		}
		return append(d, c.Bytes(0)...), nil
	}},
}

// jsonParts are the members of an object, or the elements of an array with their numbers as names; each value is its text.
func jsonParts(text []byte, each func(name string, value []byte)) (object, array bool) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	first, err := d.Token()
	delim, ok := first.(json.Delim)
	if err != nil || !ok {
		return false, false
	}
	for i := 0; d.More(); i++ {
		name := strconv.Itoa(i)
		if delim == '{' {
			t, err := d.Token()
			if err != nil {
				return false, false
			}
			name, _ = t.(string)
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return false, false
		}
		each(name, value)
	}
	return delim == '{', delim == '['
}

// found is the result of -> (as it is) and ->> (a string without quotes, null as NULL).
func found(dst, value []byte, asText bool) ([]byte, error) {
	if !asText {
		return append(dst, value...), nil
	}
	switch {
	case string(value) == "null":
		return nil, errNull
	case len(value) > 0 && value[0] == '"':
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return nil, raise(codeBadText, "invalid input syntax for type json")
		}
		return append(dst, s...), nil
	}
	return append(dst, value...), nil
}

// member is object -> name. Of members with the same name the last one counts.
func member(asText bool) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		var value []byte
		object, _ := jsonParts(a[0], func(name string, v []byte) {
			if name == string(a[1]) {
				value = v
			}
		})
		if !object || value == nil {
			return nil, errNull
		}
		return found(dst, value, asText)
	}
}

// elementOf is array -> n, from the end when n is negative.
func elementOf(asText bool) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		var all [][]byte
		_, array := jsonParts(a[0], func(_ string, v []byte) { all = append(all, v) })
		n := int(i32(a[1]))
		if n < 0 {
			n += len(all)
		}
		if !array || n < 0 || n >= len(all) {
			return nil, errNull
		}
		return found(dst, all[n], asText)
	}
}

func hasMember(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	ok, key := false, string(a[1])
	_, array := jsonParts(a[0], func(name string, v []byte) { ok = ok || name == key })
	if array {
		ok = false
		jsonParts(a[0], func(_ string, v []byte) {
			var s string
			ok = ok || len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil && s == key
		})
	}
	return putBool(dst, ok), nil
}

func jsonTypeOf(text []byte) string {
	t := strings.TrimSpace(string(text))
	switch {
	case t == "":
		return ""
	case t[0] == '{':
		return "object"
	case t[0] == '[':
		return "array"
	case t[0] == '"':
		return "string"
	case t[0] == 't', t[0] == 'f':
		return "boolean"
	case t[0] == 'n':
		return "null"
	}
	return "number"
}

func jsonType(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	return append(dst, jsonTypeOf(a[0])...), nil
}

func jsonLength(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	n := int32(0)
	if _, array := jsonParts(a[0], func(string, []byte) { n++ }); !array {
		if jsonTypeOf(a[0]) == "object" {
			return nil, raise(codeInvalid, "cannot get array length of a non-array")
		}
		return nil, raise(codeInvalid, "cannot get array length of a scalar")
	}
	return put32(dst, n), nil
}
