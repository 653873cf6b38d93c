package query

import (
	"strings"

	"tailrace"
)

// jsonSet plans the functions of json and jsonb that return sets.
func (p *planner) jsonSet(name string, args []expr, loc int32) (rowSet, error) {
	k, what := kJSON, strings.TrimPrefix(name, "json_")
	if rest, ok := strings.CutPrefix(name, "jsonb_"); ok {
		k, what = kJSONB, rest
	}
	if len(args) != 1 || !becomes(args[0].typ.Kind, k) {
		return rowSet{}, p.noFunction(name, args, loc)
	}
	e, err := p.convert(args[0], tailrace.TypeOf(k), false)
	if err != nil {
		return rowSet{}, err
	}
	call := func(f string) string { return f + "(" + e.sql + ", " + quote(name) + ")" }
	json, text := tailrace.TypeOf(k), func(v string) string { return "tr_value_text(" + v + ")" }
	printed := func(v string) string { return "tr_json_text(" + v + ")" }
	value := setColumn{"value", json, text}
	if strings.HasSuffix(what, "_text") {
		value = setColumn{"value", textType, printed}
	}
	switch strings.TrimSuffix(what, "_text") {
	case "array_elements":
		return rowSet{list: call("tr_json_items"), columns: []setColumn{value}, own: true}, nil
	case "object_keys":
		return rowSet{list: call("tr_json_names"), columns: []setColumn{{name, textType, text}}}, nil
	}
	// each: an item is an array of name and value.
	part := func(n string, of func(string) string) func(string) string {
		return func(v string) string { return of("tr_array_list(" + v + ")[" + n + "]") }
	}
	value.of = part("2", value.of)
	return rowSet{list: call("tr_json_pairs"), columns: []setColumn{{"key", textType, part("1", text)}, value}, own: true}, nil
}

// itemsOf lists the elements of an array. The name of the function is for the errors, which are not the same.
func itemsOf(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	n, err := parseNode(a[0])
	if err != nil {
		return nil, err
	}
	name := string(a[1])
	binary := strings.HasPrefix(name, "jsonb_")
	switch {
	case n.kind == '[':
	case n.kind == '{' && binary:
		return nil, raise(codeInvalid, "cannot extract elements from an object")
	case n.kind == '{':
		return nil, raise(codeInvalid, "cannot call %s on a non-array", name)
	case binary:
		return nil, raise(codeInvalid, "cannot extract elements from a scalar")
	default:
		return nil, raise(codeInvalid, "cannot call %s on a scalar", name)
	}
	rows := make([][]byte, len(n.items))
	for i, item := range n.items {
		rows[i] = item.text
	}
	return flat(rows).put(dst), nil
}

func namesOfObject(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	n, err := parseNode(a[0])
	if err != nil {
		return nil, err
	}
	switch n.kind {
	case '{':
	case '[':
		return nil, raise(codeInvalid, "cannot call %s on an array", a[1])
	default:
		return nil, raise(codeInvalid, "cannot call %s on a scalar", a[1])
	}
	rows := make([][]byte, len(n.names))
	for i, name := range n.names {
		rows[i] = []byte(name)
	}
	return flat(rows).put(dst), nil
}

func pairsOf(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	n, err := parseNode(a[0])
	if err != nil {
		return nil, err
	}
	switch binary := strings.HasPrefix(string(a[1]), "jsonb_"); {
	case n.kind == '{':
	case binary:
		return nil, raise(codeInvalid, "cannot call %s on a non-object", a[1])
	case n.kind == '[':
		return nil, raise(codeInvalid, "cannot deconstruct an array as an object")
	default:
		return nil, raise(codeInvalid, "cannot deconstruct a scalar")
	}
	rows := make([][]byte, len(n.names))
	for i, name := range n.names {
		rows[i] = flat([][]byte{[]byte(name), n.items[i].text}).put(nil)
	}
	return flat(rows).put(dst), nil
}
