package query

import (
	"tailrace"
	"tailrace/format"
)

// compound reports whether values of type t are more than their kind: casts of arrays and enums go their own way.
func compound(t tailrace.Type) bool { return t.Kind == kArray || t.Kind == kEnum }

// convertCompound casts from or to an array or an enum. e has a type.
func (p *planner) convertCompound(e expr, t tailrace.Type, explicit bool) (expr, error) {
	out := expr{typ: t, loc: e.loc, fixed: e.fixed}
	from, to := e.typ, t
	switch {
	case sameType(from, to) && (from.Mod == to.Mod || to.Mod < 0):
		out.sql, out.table, out.attr = e.sql, e.table, e.attr
		return out, nil
	case from.Kind == kArray && to.Kind == kArray:
		return p.elementwise(e, t, explicit)
	case category(to.Kind) == 'S' && compound(from):
		out.sql, out.typ = e.sql, textType
		if from.Kind == kArray {
			out.sql = outSQL(e)
		}
		return p.convert(out, t, explicit)
	case category(from.Kind) == 'S' && compound(to):
		text, err := p.convert(e, textType, true)
		out.sql = inSQL(text.sql, t, 0)
		return out, err
	}
	return out, p.fail(e.loc, codeCannotCast, "cannot cast type %s to %s", typeName(from), typeName(to))
}

// elementwise casts the elements of an array.
func (p *planner) elementwise(e expr, t tailrace.Type, explicit bool) (expr, error) {
	v := p.alias("v")
	one, err := p.convert(expr{sql: valueSQL(v, e.typ.Element()), typ: e.typ.Element(), loc: e.loc}, t.Element(), explicit)
	if tailrace.Code(err) == codeCannotCast {
		return one, p.fail(e.loc, codeCannotCast, "cannot cast type %s to %s", typeName(e.typ), typeName(t))
	}
	if err != nil {
		return one, err
	}
	list := "tr_array_list(" + e.sql + ")"
	sql := "tr_array_like(" + e.sql + ", list_transform(" + list + ", lambda " + v + ": " + rawSQL(one) + "))"
	return expr{sql: sql, typ: t, loc: e.loc, fixed: e.fixed}, nil
}

// inSQL reads text as a value of type t; position is that of a literal in the statement, 0 for a value's.
func inSQL(sql string, t tailrace.Type, position int) string {
	enum := "CAST(" + itoa(int(t.ID)) + " AS BIGINT), " + quote(t.Name) + ", " + itoa(position) + ")"
	switch t.Kind {
	case kArray:
		return "tr_in_array(" + runMark + ", " + sql + ", " + itoa(int(t.Elem)) + ", " + itoa(int(t.Mod)) + ", " + enum
	case kEnum:
		return "tr_in_enum(" + runMark + ", " + sql + ", " + enum
	}
	return "tr_in_" + kindNames[t.Kind] + "(" + runMark + ", " + sql + ", " + itoa(int(t.Mod)) + ", " + itoa(position) + ")"
}

// outSQL prints a value.
func outSQL(e expr) string {
	switch e.typ.Kind {
	case kArray:
		if e.typ.Vector() {
			return "tr_array_to_string(" + runMark + ", " + itoa(int(e.typ.Elem)) + ", " + e.sql + ", ' ', CAST(NULL AS VARCHAR))"
		}
		return "tr_out_array(" + runMark + ", " + itoa(int(e.typ.Elem)) + ", " + e.sql + ")"
	case kEnum:
		return e.sql
	}
	return "tr_out_" + kindNames[e.typ.Kind] + "(" + runMark + ", " + e.sql + ")"
}

// settings are those that literals are read by while planning: PostgreSQL's own, and the labels of enums.
func (p *planner) settings() *format.Settings {
	s := format.Default()
	s.Labels = p.resolver.Labels
	return s
}
