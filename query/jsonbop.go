package query

import (
	"bytes"
	"slices"
)

// jsonbEntries are the operators and functions of jsonb, and of json where it has them, that look into a value or make another one of it.
var jsonbEntries = []entry{
	{name: "#>", args: "j[t", ret: "j", impl: follow(false)},
	{name: "#>", args: "J[t", ret: "J", impl: follow(false)},
	{name: "#>>", args: "j[t", ret: "t", impl: follow(true)},
	{name: "#>>", args: "J[t", ret: "t", impl: follow(true)},
	{name: "json_extract_path", args: "jt*", ret: "j", sql: "tr_json_path({1}, {rest:w})"},
	{name: "jsonb_extract_path", args: "Jt*", ret: "J", sql: "tr_json_path({1}, {rest:w})"},
	{name: "json_extract_path_text", args: "jt*", ret: "t", sql: "tr_json_path_text({1}, {rest:w})"},
	{name: "jsonb_extract_path_text", args: "Jt*", ret: "t", sql: "tr_json_path_text({1}, {rest:w})"},
	{name: "@>", args: "JJ", ret: "b", impl: holds},
	{name: "<@", args: "JJ", ret: "b", impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) { return holds(f, dst, [][]byte{a[1], a[0]}) }},
	{name: "?|", args: "J[t", ret: "b", impl: hasMembers(false)},
	{name: "?&", args: "J[t", ret: "b", impl: hasMembers(true)},
	{name: "||", args: "JJ", ret: "J", impl: joined},
	{name: "-", args: "Jt", ret: "J", impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) { return without(f, dst, a[0], [][]byte{a[1]}) }},
	{name: "-", args: "J[t", ret: "J", impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		names, err := readArray(a[1])
		if err != nil {
			return nil, err
		}
		return without(f, dst, a[0], names.rows)
	}},
	{name: "-", args: "Ji", ret: "J", impl: withoutItem},
	{name: "#-", args: "J[t", ret: "J", impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		return put(f, dst, a[0], a[1], nil, pathDelete)
	}},
	{name: "jsonb_set", args: "J[tJ", ret: "J", impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		return put(f, dst, a[0], a[1], a[2], pathCreate)
	}},
	{name: "jsonb_set", args: "J[tJb", ret: "J", impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		if a[3][0] != 0 {
			return put(f, dst, a[0], a[1], a[2], pathCreate)
		}
		return put(f, dst, a[0], a[1], a[2], pathReplace)
	}},
	{name: "jsonb_insert", args: "J[tJ", ret: "J", impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		return put(f, dst, a[0], a[1], a[2], pathBefore)
	}},
	{name: "jsonb_insert", args: "J[tJb", ret: "J", impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		if a[3][0] != 0 {
			return put(f, dst, a[0], a[1], a[2], pathAfter)
		}
		return put(f, dst, a[0], a[1], a[2], pathBefore)
	}},
	{name: "jsonb_strip_nulls", args: "J", ret: "J", impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		n, err := parseNode(a[0])
		if err != nil {
			return nil, err
		}
		return canonical(f, dst, n.stripped().write(nil))
	}},
	{name: "json_strip_nulls", args: "j", ret: "j", impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		n, err := parseNode(a[0])
		return n.stripped().write(dst), err
	}},
	{name: "jsonb_pretty", args: "J", ret: "t", impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		n, err := parseNode(a[0])
		return n.pretty(dst, "\n"), err
	}},
}

// stripped is the value without the members of objects that are null.
func (n node) stripped() node {
	out := node{kind: n.kind, text: n.text}
	for i, item := range n.items {
		if n.kind == '{' {
			if item.kind == 'n' {
				continue
			}
			out.names = append(out.names, n.names[i])
		}
		out.items = append(out.items, item.stripped())
	}
	return out
}

// pretty writes each member on a line of its own; newline is a line's end and the blanks before what stands around.
func (n node) pretty(dst []byte, newline string) []byte {
	if !n.container() {
		return append(dst, n.text...)
	}
	dst = append(dst, n.kind)
	for i, item := range n.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, newline...), "    "...)
		if n.kind == '{' {
			dst = append(appendQuoted(dst, n.names[i]), ": "...)
		}
		dst = item.pretty(dst, newline+"    ")
	}
	return append(append(dst, newline...), n.kind+2) // ] and } are two behind [ and {
}

// holds is a @> b. An array holds an element on its own, too, at the top.
func holds(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	l, err := parseNode(a[0])
	if err != nil {
		return nil, err
	}
	r, err := parseNode(a[1])
	if err != nil {
		return nil, err
	}
	if l.kind == '[' && !r.container() {
		r = node{kind: '[', items: []node{r}}
	}
	return putBool(dst, l.holds(r)), nil
}

func (n node) holds(o node) bool {
	switch {
	case !n.container() || !o.container():
		return n.same(o)
	case n.kind != o.kind:
		return false
	case n.kind == '{':
		for i, name := range o.names {
			if m, ok := n.member(name); !ok || !m.holds(o.items[i]) {
				return false
			}
		}
		return true
	}
	for _, want := range o.items {
		if !slices.ContainsFunc(n.items, func(m node) bool { return m.container() == want.container() && m.holds(want) }) {
			return false
		}
	}
	return true
}

// same reports whether two values are equal.
func (n node) same(o node) bool { return n.kind == o.kind && bytes.Equal(n.key(nil), o.key(nil)) }

// has reports whether name is a member of an object, or a string in an array, or the string itself.
func (n node) has(name []byte) bool {
	switch n.kind {
	case '{':
		_, ok := n.member(string(name))
		return ok
	case '[':
		return slices.ContainsFunc(n.items, func(m node) bool { return m.kind == '"' && unquote(m.text) == string(name) })
	}
	return n.kind == '"' && unquote(n.text) == string(name)
}

func hasMembers(all bool) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		n, err := parseNode(a[0])
		if err != nil {
			return nil, err
		}
		names, err := readArray(a[1])
		if err != nil {
			return nil, err
		}
		for _, name := range names.rows {
			if name != nil && n.has(name) != all {
				return putBool(dst, !all), nil
			}
		}
		return putBool(dst, all), nil
	}
}

// joined is a || b: the members of two objects, or the elements of two arrays; what is no array is an array of itself.
func joined(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	l, err := parseNode(a[0])
	if err != nil {
		return nil, err
	}
	r, err := parseNode(a[1])
	if err != nil {
		return nil, err
	}
	if l.kind == '{' && r.kind == '{' {
		l.names, l.items = append(l.names, r.names...), append(l.items, r.items...)
		return canonical(f, dst, l.write(nil))
	}
	return canonical(f, dst, node{kind: '[', items: append(l.elements(), r.elements()...)}.write(nil))
}

func (n node) elements() []node {
	if n.kind == '[' {
		return n.items
	}
	return []node{n}
}

// without is the value without the members, or the strings in an array, that have one of names.
func without(f *frame, dst, text []byte, names [][]byte) ([]byte, error) {
	n, err := parseNode(text)
	if err != nil {
		return nil, err
	}
	if !n.container() {
		return nil, raise(codeInvalid, "cannot delete from scalar")
	}
	out := node{kind: n.kind}
	for i, item := range n.items {
		name := ""
		switch {
		case n.kind == '{':
			name = n.names[i]
		case item.kind == '"':
			name = unquote(item.text)
		}
		named := n.kind == '{' || item.kind == '"'
		if named && slices.ContainsFunc(names, func(b []byte) bool { return b != nil && string(b) == name }) {
			continue
		}
		if n.kind == '{' {
			out.names = append(out.names, name)
		}
		out.items = append(out.items, item)
	}
	return canonical(f, dst, out.write(nil))
}

func withoutItem(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	n, err := parseNode(a[0])
	if err != nil {
		return nil, err
	}
	switch n.kind {
	case '[':
	case '{':
		return nil, raise(codeInvalid, "cannot delete from object using integer index")
	default:
		return nil, raise(codeInvalid, "cannot delete from scalar")
	}
	i := int(i32(a[1]))
	if i < 0 {
		i += len(n.items)
	}
	if i >= 0 && i < len(n.items) {
		n.items = slices.Delete(n.items, i, i+1)
	}
	return canonical(f, dst, n.write(nil))
}
