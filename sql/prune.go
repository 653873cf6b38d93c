package sql

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/expr"
	"tailrace/query"
	"tailrace/shard"
)

// ranges turns what WHERE asks of a table's rows into what the shard can use to leave out page groups. A filter that cannot be told exactly here, for example
// since its value is of a type that compares differently, is left out: the query filters all rows anyway.
func (s *Session) ranges(st *statement, schema *tailrace.Schema, filters []query.Filter) []shard.Range {
	var out []shard.Range
	for _, f := range filters {
		field := &schema.Fields[f.Field]
		r := shard.Range{Column: field.ID, Type: field.Type}
		switch f.Op {
		case "null":
			r.Nulls = true
		case "not null":
			r.Spans = []shard.Span{{}}
		default:
			var ok bool
			if r.Spans, ok = s.spans(st, field, f); !ok {
				continue
			}
		}
		out = append(out, r)
	}
	return out
}

// spans are the values that a comparison can be true for.
func (s *Session) spans(st *statement, field *tailrace.Field, f query.Filter) ([]shard.Span, bool) {
	out := []shard.Span{}
	for _, n := range f.Values {
		key, null, ok := s.keyOf(st, field, n, f.Op)
		switch {
		case !ok:
			return nil, false
		case null:
			continue // NULL compares as true with nothing
		case f.Op == "=":
			out = append(out, shard.Span{Low: key, High: key})
		case f.Op == "<", f.Op == "<=":
			out = append(out, shard.Span{High: key})
		default:
			out = append(out, shard.Span{Low: key})
		}
	}
	return out, true
}

// keyOf is the key of a constant as a value of field's type. ok is false when it cannot be compared so.
func (s *Session) keyOf(st *statement, field *tailrace.Field, n *pg_query.Node, op string) (key []byte, null, ok bool) {
	kind := field.Type.Kind
	if !ordered(kind) && (op != "=" || kind != tailrace.KindEnum) {
		return nil, false, false
	}
	to := field.Type
	if kind != tailrace.KindEnum {
		to = tailrace.TypeOf(kind)
	}
	types := append([]tailrace.Type(nil), st.types...)
	sc := &expr.Scope{Params: &types, Settings: s.format, Type: s.namedType}
	e, err := expr.Bind(n, sc)
	if err == nil && e.Type.Kind == tailrace.KindNone {
		e, err = expr.BindAs(n, sc, to, field.Name)
	}
	if err != nil || e.Type.Kind != kind && !comparesAs(e.Type.Kind, kind) || len(types) > len(st.types) {
		return nil, false, false
	}
	v, err := e.Eval(s.row(st.params))
	if err == nil && !v.Null && e.Type.Kind != kind {
		v, err = expr.Convert(v, e.Type, to, false, s.format)
	}
	if err != nil {
		return nil, false, false // the query says so, if it gets to it
	}
	if v.Null {
		return nil, true, true
	}
	c := tailrace.ConstColumn(kind, v.Raw, 1)
	return tailrace.AppendKey(nil, to, &c, 0), false, true
}

// ordered tells the kinds whose keys order as PostgreSQL's comparisons do, with bounds in parts.
func ordered(k tailrace.Kind) bool {
	switch k {
	case tailrace.KindBool, tailrace.KindInt2, tailrace.KindInt4, tailrace.KindInt8, tailrace.KindFloat8, tailrace.KindNumeric, tailrace.KindText, tailrace.KindVarchar, tailrace.KindChar,
		tailrace.KindBytea, tailrace.KindDate, tailrace.KindTime, tailrace.KindTimestamp, tailrace.KindTimestamptz, tailrace.KindUUID:
		return true
	}
	return false
}

// comparesAs tells whether comparing a column of kind column with a value of kind value is the same after the value became the column's kind.
func comparesAs(value, column tailrace.Kind) bool {
	integer := func(k tailrace.Kind) bool {
		return k == tailrace.KindInt2 || k == tailrace.KindInt4 || k == tailrace.KindInt8
	}
	text := func(k tailrace.Kind) bool { return k == tailrace.KindText || k == tailrace.KindVarchar }
	switch {
	case integer(value):
		return integer(column) || column == tailrace.KindNumeric || column == tailrace.KindFloat8 && value != tailrace.KindInt8
	case text(value):
		return text(column)
	case value == tailrace.KindNumeric:
		return column == tailrace.KindFloat8
	case value == tailrace.KindDate:
		return column == tailrace.KindTimestamp || column == tailrace.KindTimestamptz
	case value == tailrace.KindTimestamp:
		return column == tailrace.KindTimestamptz
	}
	return false
}
