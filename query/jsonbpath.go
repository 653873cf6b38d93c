package query

import (
	"math"
	"slices"
	"strconv"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// follow is value #> path, and #>> as text.
func follow(asText bool) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		n, err := parseNode(a[0])
		if err != nil {
			return nil, err
		}
		path, err := readArray(a[1])
		if err != nil {
			return nil, err
		}
		for _, name := range path.rows {
			ok := name != nil
			if ok {
				n, ok = n.step(name)
			}
			if !ok {
				return nil, errNull
			}
		}
		return found(dst, n.text, asText)
	}
}

// What a change at a path's end does.
type pathChange int

const (
	pathReplace pathChange = iota // what is there
	pathCreate                    // what is there, or add it
	pathBefore                    // insert before what is there
	pathAfter
	pathDelete
)

func (c pathChange) adds() bool { return c == pathCreate || c == pathBefore || c == pathAfter }

// put changes the value at the end of a path.
func put(f *frame, dst, text, steps, value []byte, change pathChange) ([]byte, error) {
	path, err := readArray(steps)
	if err != nil {
		return nil, err
	}
	if len(path.dims) > 1 {
		return nil, raise(codeSubscript, "wrong number of array subscripts")
	}
	n, err := parseNode(text)
	if err != nil {
		return nil, err
	}
	if !n.container() {
		if change == pathDelete {
			return nil, raise(codeInvalid, "cannot delete path in scalar")
		}
		return nil, raise(codeInvalid, "cannot set path in scalar")
	}
	if len(path.rows) == 0 || len(n.items) == 0 && !change.adds() {
		return append(dst, text...), nil
	}
	w := pathWriter{path: path.rows, change: change}
	if value != nil {
		if w.value, err = parseNode(value); err != nil {
			return nil, err
		}
	}
	if n, err = w.at(n, 0); err != nil {
		return nil, err
	}
	return canonical(f, dst, n.write(nil))
}

// pathWriter walks down a path and makes the changed value on its way back.
type pathWriter struct {
	path   [][]byte
	change pathChange
	value  node
}

// at changes n, which is level steps down the path.
func (w *pathWriter) at(n node, level int) (node, error) {
	if n.container() && w.path[level] == nil {
		return n, raise(codeNullValue, "path element at position %d is null", level+1)
	}
	switch n.kind {
	case '{':
		return w.object(n, level)
	case '[':
		return w.list(n, level)
	}
	return n, nil
}

func (w *pathWriter) object(n node, level int) (node, error) {
	name, last := string(w.path[level]), level == len(w.path)-1
	i := slices.Index(n.names, name)
	switch {
	case i < 0 && last && w.change.adds():
		n.names, n.items = append(n.names, name), append(n.items, w.value)
	case i < 0:
	case !last:
		inner, err := w.at(n.items[i], level+1)
		if err != nil {
			return n, err
		}
		n.items[i] = inner
	case w.change == pathDelete:
		n.names, n.items = slices.Delete(n.names, i, i+1), slices.Delete(n.items, i, i+1)
	case w.change == pathBefore || w.change == pathAfter:
		e := raise(codeInvalid, "cannot replace existing key")
		e.Hint = "Try using the function jsonb_set to replace key value."
		return n, e
	default:
		n.items[i] = w.value
	}
	return n, nil
}

func (w *pathWriter) list(n node, level int) (node, error) {
	last := level == len(w.path)-1
	i64, err := strconv.ParseInt(string(w.path[level]), 10, 32)
	if err != nil {
		return n, raise(codeBadText, "path element at position %d is not an integer: \"%s\"", level+1, w.path[level])
	}
	i := int(i64)
	if i < 0 {
		if i += len(n.items); i < 0 {
			i = math.MinInt
		}
	}
	switch {
	case last && w.change.adds() && i == math.MinInt:
		n.items = slices.Insert(n.items, 0, w.value)
	case i < 0:
	case i >= len(n.items):
		if last && w.change.adds() {
			n.items = append(n.items, w.value)
		}
	case !last:
		inner, err := w.at(n.items[i], level+1)
		if err != nil {
			return n, err
		}
		n.items[i] = inner
	case w.change == pathDelete:
		n.items = slices.Delete(n.items, i, i+1)
	case w.change == pathBefore:
		n.items = slices.Insert(n.items, i, w.value)
	case w.change == pathAfter:
		n.items = slices.Insert(n.items, i+1, w.value)
	default:
		n.items[i] = w.value
	}
	return n, nil
}

// jsonSubscript plans j['a'][0], which is j #> '{a,0}'.
func (p *planner) jsonSubscript(s *scope, e expr, indices []*pg_query.A_Indices) (expr, error) {
	var path []expr
	for _, i := range indices {
		if i.GetIsSlice() {
			return e, p.fail(location(i.GetUidx()), codeMismatch, "jsonb subscript does not support slices")
		}
		at, err := p.expr(s, i.GetUidx())
		if err != nil {
			return e, err
		}
		k := at.typ.Kind
		if k != kUnknown && category(k) != 'S' && k != kInt4 && k != kInt2 {
			err := p.fail(at.loc, codeMismatch, "subscript type %s is not supported", typeName(at.typ))
			err.Hint = "jsonb subscript must be coercible to either integer or text."
			return e, err
		}
		if at, err = p.convert(at, textType, true); err != nil {
			return e, err
		}
		path = append(path, at)
	}
	return expr{sql: "tr_json_path(" + e.sql + ", " + listSQL(path) + ")", typ: tailrace.TypeOf(kJSONB), loc: e.loc}, nil
}
