package query

import (
	"encoding/json"
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
	{name: "->", args: "ji", ret: "j", impl: elementOf(false, false)},
	{name: "->", args: "Ji", ret: "J", impl: elementOf(false, true)},
	{name: "->>", args: "ji", ret: "t", impl: elementOf(true, false)},
	{name: "->>", args: "Ji", ret: "t", impl: elementOf(true, true)},
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
	{name: "tr_jsonb_numeric", args: "Jt", ret: "n", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		if jsonTypeOf(a[0]) != "number" {
			return nil, raise(codeInvalid, "cannot cast jsonb %s to type %s", jsonTypeOf(a[0]), a[1])
		}
		c := tailrace.MakeColumn(kNumeric, 1)
		if err := format.ParseText(&c, tailrace.TypeOf(kNumeric), string(a[0]), format.Default()); err != nil {
			return nil, err
		}
		return append(d, c.Bytes(0)...), nil
	}},
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
		n, err := parseNode(a[0])
		if err != nil {
			return nil, err
		}
		value, ok := n.member(string(a[1]))
		if !ok {
			return nil, errNull
		}
		return found(dst, value.text, asText)
	}
}

// elementOf is array -> n, from the end when n is negative. A jsonb scalar is an array of itself.
func elementOf(asText, binary bool) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		n, err := parseNode(a[0])
		if err != nil {
			return nil, err
		}
		if binary && !n.container() {
			n = node{kind: '[', items: []node{n}}
		}
		value, ok := n.item(int(i32(a[1])))
		if !ok {
			return nil, errNull
		}
		return found(dst, value.text, asText)
	}
}

func hasMember(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	n, err := parseNode(a[0])
	return putBool(dst, n.has(a[1])), err
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
	n, err := parseNode(a[0])
	switch {
	case err != nil:
		return nil, err
	case n.kind == '{':
		return nil, raise(codeInvalid, "cannot get array length of a non-array")
	case n.kind != '[':
		return nil, raise(codeInvalid, "cannot get array length of a scalar")
	}
	return put32(dst, int32(len(n.items))), nil
}
