package query

import (
	"encoding/binary"
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// scope is what names mean at one level of a statement. Names not found are looked up in the parent: the query around.
type scope struct {
	parent  *scope
	item    *item                          // FROM; nil when there is none (yet)
	hidden  *item                          // what stands beside a subquery in FROM, which it may not refer to
	ctes    map[string]*relation           // WITH
	windows map[string]*pg_query.WindowDef // WINDOW
	group   *grouping                      // of a grouped SELECT, once its keys are known
	// raw counts the aggregate arguments and group keys that are being planned: there, columns are those of FROM, not of the groups.
	raw int
	// clause is where aggregates and window functions are refused: "WHERE", "GROUP BY", ...; empty where they are allowed.
	clause string
	inAgg  bool // inside an aggregate's arguments
	inDef  bool // inside an OVER clause
	inOver bool // inside a window function's arguments
	// setsAllowed tells that functions that return sets may stand here, sets that one does.
	setsAllowed, sets bool
	setsBarred        string    // inside this form they may not stand
	grouping          *grouping // whose keys are being planned: sets there become part of FROM
	exposes           bool      // the query is to say its order, see relation.order
}

// item is a FROM item: a table, subquery or function, or a join of items.
type item struct {
	sql  string
	rels []*rel   // what qualified names may refer to
	cols []column // what unqualified names and * refer to, in order; a column merged by USING is there once
	from []*rel   // the rel that cols[i] comes from; nil for a merged one
}

// rel is one named member of FROM.
type rel struct {
	alias, schema string
	name          string // the table's own, behind an alias
	cols          []column
	table         *Table // nil for anything but a table
	scalar        bool   // a function that gives one column: its name is a value, not a row
	scan          int    // number of the table's scan, from 1
}

// names returns the parts of a column reference, star telling whether the last one is *.
func names(fields []*pg_query.Node) (parts []string, star bool) {
	for _, f := range fields {
		if f.GetAStar() != nil {
			return parts, true
		}
		parts = append(parts, f.GetString_().GetSval())
	}
	return parts, false
}

// rel finds the member of FROM called alias in s or around it.
func (s *scope) rel(schema, alias string) (*rel, *scope) {
	for ; s != nil; s = s.parent {
		if s.item == nil {
			continue
		}
		for _, r := range s.item.rels {
			if r.alias == alias && (schema == "" || schema == r.schema) {
				return r, s
			}
		}
	}
	return nil, nil
}

// cte finds the WITH query called name in s or around it.
func (s *scope) cte(name string) *relation {
	for ; s != nil; s = s.parent {
		if c := s.ctes[name]; c != nil {
			return c
		}
	}
	return nil
}

// column plans a column reference.
func (p *planner) column(s *scope, n *pg_query.ColumnRef) (expr, error) {
	parts, star := names(n.GetFields())
	switch {
	case star && len(parts) == 1:
		if r, at := s.rel("", parts[0]); r != nil {
			return p.wholeRow(at, r, n.GetLocation())
		}
		return expr{}, p.noRel(s, parts[0], n.GetLocation())
	case star:
		return expr{}, p.refuse(n.GetLocation(), "a row as a value")
	case len(parts) == 1:
		return p.unqualified(s, parts[0], n.GetLocation())
	case len(parts) > 3:
		return expr{}, p.refuse(n.GetLocation(), "a reference to another database")
	}
	name, alias, schema := parts[len(parts)-1], parts[len(parts)-2], ""
	if len(parts) == 3 {
		schema = parts[0]
	}
	r, at := s.rel(schema, alias)
	if r == nil {
		return expr{}, p.noRel(s, alias, n.GetLocation())
	}
	found := -1
	for i := range r.cols {
		if r.cols[i].name != name {
			continue
		}
		if found >= 0 {
			return expr{}, p.fail(n.GetLocation(), codeAmbiguous, "column reference \"%s\" is ambiguous", name)
		}
		found = i
	}
	if found < 0 && name == "tableoid" && r.table != nil {
		return expr{sql: stored(kOID, binary.LittleEndian.AppendUint32(nil, r.table.oid())), typ: tailrace.TypeOf(kOID), loc: n.GetLocation()}, nil
	}
	if found < 0 {
		return expr{}, p.fail(n.GetLocation(), codeNoColumn, "column %s.%s does not exist", alias, name)
	}
	return p.refer(at, r, r.cols[found], n.GetLocation())
}

// noRel is the error for a table that FROM does not have, at least not by this name.
func (p *planner) noRel(s *scope, alias string, loc int32) error {
	for ; s != nil; s = s.parent {
		if s.hidden != nil && slices.ContainsFunc(s.hidden.rels, func(r *rel) bool { return r.alias == alias }) {
			e := p.fail(loc, codeNoTable, "invalid reference to FROM-clause entry for table \"%s\"", alias)
			e.Detail = fmt.Sprintf("There is an entry for table \"%s\", but it cannot be referenced from this part of the query.", alias)
			e.Hint = "To reference that table, you must mark this subquery with LATERAL."
			return e
		}
		if s.item == nil {
			continue
		}
		for _, r := range s.item.rels {
			if r.name == alias {
				e := p.fail(loc, codeNoTable, "invalid reference to FROM-clause entry for table \"%s\"", alias)
				e.Hint = fmt.Sprintf("Perhaps you meant to reference the table alias \"%s\".", r.alias)
				return e
			}
		}
	}
	return p.fail(loc, codeNoTable, "missing FROM-clause entry for table \"%s\"", alias)
}

func (p *planner) unqualified(s *scope, name string, loc int32) (expr, error) {
	for at := s; at != nil; at = at.parent {
		if at.item == nil {
			continue
		}
		found := -1
		for i := range at.item.cols {
			if at.item.cols[i].name != name {
				continue
			}
			if found >= 0 {
				return expr{}, p.fail(loc, codeAmbiguous, "column reference \"%s\" is ambiguous", name)
			}
			found = i
		}
		if found >= 0 {
			return p.refer(at, at.item.from[found], at.item.cols[found], loc)
		}
	}
	if r, at := s.rel("", name); r != nil {
		if r.scalar {
			return p.refer(at, r, r.cols[0], loc)
		}
		return p.wholeRow(at, r, loc)
	}
	return expr{}, p.fail(loc, codeNoColumn, "column \"%s\" does not exist", name)
}

// refer is a reference to column c of member r (nil for a merged column), found at scope at.
func (p *planner) refer(at *scope, r *rel, c column, loc int32) (expr, error) {
	e := expr{sql: c.sql, typ: c.typ, table: c.table, attr: c.attr, loc: loc}
	if at.group == nil || at.raw > 0 {
		return e, nil
	}
	return p.grouped(at, r, c, e)
}

// star expands * and alias.*.
func (p *planner) star(s *scope, n *pg_query.ColumnRef) ([]target, error) {
	parts, _ := names(n.GetFields())
	var cols []column
	var from []*rel
	switch {
	case len(parts) == 0 && s.item == nil:
		return nil, p.fail(n.GetLocation(), codeSyntax, "SELECT * with no tables specified is not valid")
	case len(parts) == 0:
		cols, from = s.item.cols, s.item.from
	default:
		schema := ""
		if len(parts) == 2 {
			schema = parts[0]
		}
		r, _ := s.rel(schema, parts[len(parts)-1])
		if r == nil {
			return nil, p.noRel(s, parts[len(parts)-1], n.GetLocation())
		}
		cols = r.cols
		for range cols {
			from = append(from, r)
		}
	}
	var out []target
	for i, c := range cols {
		out = append(out, target{name: c.name, column: &cols[i], rel: from[i], loc: n.GetLocation()})
	}
	return out, nil
}

// tableColumns are the columns of a table as DuckDB's alias sees them.
func tableColumns(t *Table, alias string) []column {
	var out []column
	for i, f := range t.Columns.Fields {
		out = append(out, column{
			name: f.Name, sql: alias + ".c" + itoa(i), typ: f.Type, table: t.ID, attr: int16(f.ID),
		})
	}
	return out
}

// queryColumns are the columns of a planned query as DuckDB's alias sees them.
func queryColumns(q relation, alias string) []column {
	out := make([]column, len(q.columns))
	for i, c := range q.columns {
		c.sql = alias + "." + output(i)
		out[i] = c
	}
	return out
}

// rename gives columns the names of an alias's column list.
func (p *planner) rename(alias string, cols []column, list []*pg_query.Node) error {
	given := namesOf(list)
	if len(given) > len(cols) {
		return p.fail(-1, codeInvalidRef, "table \"%s\" has %d columns available but %d columns specified", alias, len(cols), len(given))
	}
	for i, n := range given {
		cols[i].name = n
	}
	return nil
}

var textType = tailrace.TypeOf(kText)
