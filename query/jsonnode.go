package query

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"tailrace"
	"tailrace/format"
)

// node is a JSON value: its text, and its members when it is an object or an array. A jsonb value is stored as the text that PostgreSQL prints for
// it, so a part of one is a part of its text, and changing one is writing text and reading that again.
type node struct {
	kind  byte // '{', '[', '"', '0' for numbers, 't', 'f', 'n'
	text  []byte
	names []string // of an object
	items []node   // of an object or an array
}

// parseNode reads a JSON text, which the input functions have found good. The error is ErrCorrupt.
func parseNode(text []byte) (node, error) {
	r := nodeReader{text: text}
	n, err := r.value(0)
	if err == nil && r.space() != 0 {
		err = r.bad()
	}
	return n, err
}

type nodeReader struct {
	text []byte
	at   int
}

// maxNesting bounds the stack that reading takes; format reads no deeper.
const maxNesting = 10_000

func (r *nodeReader) bad() error {
	return fmt.Errorf("read JSON at byte %d: %w", r.at, tailrace.ErrCorrupt)
}

// space skips blanks and looks at the next byte, 0 at the end.
func (r *nodeReader) space() byte {
	for ; r.at < len(r.text); r.at++ {
		if c := r.text[r.at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

func (r *nodeReader) value(depth int) (node, error) {
	c := r.space()
	start := r.at
	n := node{kind: c}
	var err error
	switch {
	case depth > maxNesting || c == 0:
		return n, r.bad()
	case c == '{' || c == '[':
		err = r.members(&n, depth)
	case c == '"':
		err = r.quoted()
	default:
		for r.at < len(r.text) && strings.IndexByte(",]}: \n\t\r\"[{", r.text[r.at]) < 0 {
			r.at++
		}
		if c == '-' || c >= '0' && c <= '9' {
			n.kind = '0'
		} else if c != 't' && c != 'f' && c != 'n' {
			err = r.bad()
		}
	}
	n.text = r.text[start:r.at]
	return n, err
}

func (r *nodeReader) quoted() error {
	for r.at++; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '\\':
			r.at++
		case '"':
			r.at++
			return nil
		}
	}
	r.at = min(r.at, len(r.text))
	return r.bad()
}

// members reads what is inside of an object or an array.
func (r *nodeReader) members(n *node, depth int) error {
	end := byte(']')
	if n.kind == '{' {
		end = '}'
	}
	r.at++
	if r.space() == end {
		r.at++
		return nil
	}
	for {
		if n.kind == '{' {
			if r.space() != '"' {
				return r.bad()
			}
			start := r.at
			if err := r.quoted(); err != nil {
				return err
			}
			n.names = append(n.names, unquote(r.text[start:r.at]))
			if r.space() != ':' {
				return r.bad()
			}
			r.at++
		}
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
		switch r.space() {
		case ',':
			r.at++
		case end:
			r.at++
			return nil
		default:
			return r.bad()
		}
	}
}

// unquote is the string that a JSON string stands for.
func unquote(text []byte) string {
	if body := text[1 : len(text)-1]; strings.IndexByte(string(body), '\\') < 0 {
		return string(body)
	}
	var s string
	if json.Unmarshal(text, &s) != nil {
		return string(text)
	}
	return s
}

func (n node) container() bool { return n.kind == '{' || n.kind == '[' }

// member is the value of a name, of equal ones the last.
func (n node) member(name string) (node, bool) {
	if n.kind != '{' {
		return node{}, false
	}
	for i := len(n.names) - 1; i >= 0; i-- {
		if n.names[i] == name {
			return n.items[i], true
		}
	}
	return node{}, false
}

// item is element i, from the end when i is negative.
func (n node) item(i int) (node, bool) {
	if i < 0 {
		i += len(n.items)
	}
	if n.kind != '[' || i < 0 || i >= len(n.items) {
		return node{}, false
	}
	return n.items[i], true
}

// step is the member or element that an element of a path leads to.
func (n node) step(name []byte) (node, bool) {
	if n.kind != '[' {
		return n.member(string(name))
	}
	i, err := strconv.ParseInt(strings.TrimLeft(string(name), " \t\n"), 10, 32)
	if err != nil {
		return node{}, false
	}
	return n.item(int(i))
}

// write adds the value as JSON; a container as its members, which may have changed.
func (n node) write(dst []byte) []byte {
	switch n.kind {
	case '{':
		dst = append(dst, '{')
		for i, item := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendQuoted(dst, n.names[i]), ':')
			dst = item.write(dst)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for i, item := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.write(dst)
		}
		return append(dst, ']')
	}
	return append(dst, n.text...)
}

// canonical adds JSON text as the jsonb value it is.
func canonical(f *frame, dst, text []byte) ([]byte, error) {
	c := f.empty(kJSONB)
	if err := format.ParseText(c, tailrace.TypeOf(kJSONB), string(text), format.Default()); err != nil {
		return nil, err
	}
	return append(dst, c.Bytes(0)...), nil
}

// appendQuoted adds s as a JSON string, as PostgreSQL's escape_json.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '"', '\\':
			dst = append(dst, '\\', c)
		default:
			if c < ' ' {
				dst = fmt.Appendf(dst, `\u%04x`, c)
			} else {
				dst = append(dst, c)
			}
		}
	}
	return append(dst, '"')
}
