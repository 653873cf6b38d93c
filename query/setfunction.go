package query

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// rowSet is a planned call of a function that returns a set: a DuckDB list with an item for each row, and the columns that are made of an item.
type rowSet struct {
	list    string
	columns []setColumn
	// stream tells that list is a call of DuckDB's generate_series with the same arguments for all rows: in FROM it need not be a list in memory.
	stream bool
	own    bool // the columns have names of their own: an alias of the function does not name them
}

type setColumn struct {
	name string
	typ  tailrace.Type
	of   func(item string) string
}

// setCall plans a call of a function that returns a set in a select list: its rows are DuckDB's unnest.
func (p *planner) setCall(s *scope, name string, n *pg_query.FuncCall) (expr, error) {
	if e, ok, err := p.groupedSet(s, name, n); ok || err != nil {
		return e, err
	}
	switch {
	case s.inAgg:
		return expr{}, p.fail(n.GetLocation(), codeUnsupported, "aggregate function calls cannot contain set-returning function calls")
	case s.clause != "":
		return expr{}, p.fail(n.GetLocation(), codeUnsupported, "set-returning functions are not allowed in %s", s.clause)
	case s.setsBarred != "":
		e := p.fail(n.GetLocation(), codeUnsupported, "set-returning functions are not allowed in %s", s.setsBarred)
		e.Hint = "You might be able to move the set-returning function into a LATERAL FROM item."
		return expr{}, e
	case !s.setsAllowed:
		return expr{}, p.refuse(n.GetLocation(), "a set-returning function here")
	}
	sets, err := p.setsOf(s, name, n)
	if err != nil {
		return expr{}, err
	}
	if len(sets) > 1 || len(sets[0].columns) > 1 {
		e := p.refuse(n.GetLocation(), "a row as a value")
		e.Hint = "Call the function in FROM."
		return expr{}, e
	}
	s.sets = true
	c := sets[0].columns[0]
	v := p.alias("v")
	sql := sets[0].list
	if of := c.of(v); of != v {
		sql = "list_transform(" + sql + ", lambda " + v + ": " + of + ")"
	}
	return expr{sql: "unnest(" + sql + ")", typ: c.typ}, nil
}

// barSets refuses functions that return sets inside a form, until the func it returns is called.
func (s *scope) barSets(form string) func() {
	around := s.setsBarred
	s.setsBarred = form
	return func() { s.setsBarred = around }
}

// rangeFunction plans functions in FROM: those that return sets, side by side, or a scalar function as a set of one row.
func (p *planner) rangeFunction(s *scope, n *pg_query.RangeFunction) (*item, error) {
	if it, err := p.tableFunction(n); it != nil || err != nil {
		return it, err
	}
	if len(n.GetColdeflist()) > 0 {
		return nil, p.refuse(-1, "a column definition list")
	}
	// Functions in FROM see what stands before them, LATERAL or not.
	within := &scope{parent: s.parent, item: s.item, clause: "functions in FROM"}
	var sets []rowSet
	for _, f := range n.GetFunctions() {
		more, err := p.rangeSets(within, f.GetList().GetItems()[0])
		if err != nil {
			return nil, err
		}
		sets = append(sets, more...)
	}
	alias := p.alias("t")
	r := &rel{scalar: len(sets) == 1 && len(sets[0].columns) == 1 && !n.GetOrdinality(), alias: p.nameOf(n.GetFunctions()[0].GetList().GetItems()[0])}
	if a := n.GetAlias(); a != nil {
		r.alias = a.GetAliasname()
		if len(sets) == 1 && len(sets[0].columns) == 1 && !sets[0].own {
			sets[0].columns[0].name = a.GetAliasname()
		}
	}
	sql := p.rowsSQL(sets, n.GetOrdinality())
	for _, set := range sets {
		for _, c := range set.columns {
			r.cols = append(r.cols, column{name: c.name, sql: alias + "." + output(len(r.cols)), typ: c.typ})
		}
	}
	if n.GetOrdinality() {
		r.cols = append(r.cols, column{name: "ordinality", sql: alias + "." + output(len(r.cols)), typ: tailrace.TypeOf(kInt8)})
	}
	if err := p.rename(r.alias, r.cols, n.GetAlias().GetColnames()); err != nil {
		return nil, err
	}
	return single(r, "LATERAL ("+sql+") AS "+alias), nil
}

// rangeSets plans one function in FROM.
func (p *planner) rangeSets(s *scope, n *pg_query.Node) ([]rowSet, error) {
	f := n.GetFuncCall()
	if name, ok := systemName(f.GetFuncname()); f != nil && ok && setFunctions[name] {
		return p.setsOf(s, name, f)
	}
	e, err := p.expr(s, n)
	if err != nil {
		return nil, err
	}
	if e, err = p.typed(e); err != nil {
		return nil, err
	}
	return []rowSet{{list: "[" + e.sql + "]", columns: []setColumn{{p.nameOf(n), e.typ, item0}}}}, nil
}

// item0 is a column that is the item itself.
func item0(v string) string { return v }

// rowsSQL gives the rows of sets side by side, NULL where one has ended, and their numbers if asked for. DuckDB's unnest of several lists does so.
func (p *planner) rowsSQL(sets []rowSet, numbered bool) string {
	if len(sets) == 1 && sets[0].stream && !numbered {
		return "SELECT " + sets[0].columns[0].of("generate_series") + " AS c1 FROM " + sets[0].list
	}
	var outs, lists, lengths []string
	for i, set := range sets {
		item := "s" + itoa(i+1)
		for _, c := range set.columns {
			outs = append(outs, c.of(item)+" AS "+output(len(outs)))
		}
		lists = append(lists, "unnest("+set.list+") AS "+item)
		lengths = append(lengths, "len("+set.list+")")
	}
	if numbered {
		outs = append(outs, "n AS "+output(len(outs)))
		lists = append(lists, "unnest(generate_series(CAST(1 AS BIGINT), greatest("+strings.Join(lengths, ", ")+"))) AS n")
	}
	return "SELECT " + strings.Join(outs, ", ") + " FROM (SELECT " + strings.Join(lists, ", ") + ")"
}

// setFunctions are the functions that return sets.
var setFunctions = map[string]bool{
	"generate_series": true, "unnest": true, "generate_subscripts": true, "string_to_table": true, "regexp_split_to_table": true, "regexp_matches": true,
	"json_array_elements": true, "jsonb_array_elements": true, "json_array_elements_text": true, "jsonb_array_elements_text": true,
	"json_object_keys": true, "jsonb_object_keys": true, "json_each": true, "jsonb_each": true, "json_each_text": true, "jsonb_each_text": true, expandArray: true,
}

// setsOf plans a call of one of them. unnest of several arrays is a set for each.
func (p *planner) setsOf(s *scope, name string, n *pg_query.FuncCall) ([]rowSet, error) {
	args, err := p.arguments(s, n)
	if err != nil {
		return nil, err
	}
	loc := n.GetLocation()
	var set rowSet
	switch name {
	case "generate_series":
		set, err = p.seriesOf(args, loc)
	case "unnest":
		var sets []rowSet
		for _, a := range args {
			if a.untyped() && len(args) == 1 {
				return nil, p.notUnique(errAmbiguous, name, args, loc)
			}
			if a.typ.Kind != kArray {
				return nil, p.noFunction(name, args, loc)
			}
			sets = append(sets, elementSet(name, a))
		}
		if len(sets) == 0 {
			return nil, p.noFunction(name, args, loc)
		}
		return sets, nil
	case "generate_subscripts":
		set, err = p.subscriptsOf(args, loc)
	case "regexp_matches":
		set, err = p.matchesOf(args, loc)
	case "string_to_table", "regexp_split_to_table":
		var e expr
		if e, err = p.function(strings.Replace(name, "table", "array", 1), args, loc); err == nil {
			set = elementSet(name, e)
		} else if tailrace.Code(err) == codeNoFunction {
			err = p.noFunction(name, args, loc)
		}
	case expandArray:
		set, err = p.expanded(args, loc)
	default:
		set, err = p.jsonSet(name, args, loc)
	}
	return []rowSet{set}, err
}

// matchesOf plans regexp_matches.
func (p *planner) matchesOf(args []expr, loc int32) (rowSet, error) {
	f, converted, err := p.resolve(matchesFunctions, args)
	if err != nil {
		return rowSet{}, p.notUnique(err, "regexp_matches", args, loc)
	}
	if f == nil {
		return rowSet{}, p.noFunction("regexp_matches", args, loc)
	}
	return rowSet{list: f.expand(f.sql, converted), columns: []setColumn{{"regexp_matches", typeOfKind(f.ret), item0}}}, nil
}

// elementSet is the set of an array's elements.
func elementSet(name string, e expr) rowSet {
	t := e.typ.Element()
	return rowSet{list: "tr_array_list(" + e.sql + ")", columns: []setColumn{{name, t, func(v string) string { return valueSQL(v, t) }}}}
}

// subscriptsOf plans generate_subscripts(array, dimension [, reverse]).
func (p *planner) subscriptsOf(args []expr, loc int32) (rowSet, error) {
	const name = "generate_subscripts"
	if len(args) < 2 || len(args) > 3 || args[0].typ.Kind != kArray {
		return rowSet{}, p.noFunction(name, args, loc)
	}
	wants := []kind{kInt4, kBool}
	for i, a := range args[1:] {
		if !becomes(kindOf(a.typ), wants[i]) {
			return rowSet{}, p.noFunction(name, args, loc)
		}
		var err error
		if args[1+i], err = p.convert(a, tailrace.TypeOf(wants[i]), false); err != nil {
			return rowSet{}, err
		}
	}
	of := args[0].sql + ", " + args[1].sql + ")"
	list := "generate_series(CAST(tr_array_lower(" + of + " AS BIGINT), CAST(tr_array_upper(" + of + " AS BIGINT))"
	if len(args) == 3 {
		list = "CASE WHEN " + args[2].sql + " THEN list_reverse(" + list + ") WHEN NOT " + args[2].sql + " THEN " + list + " END"
	}
	return rowSet{list: list, columns: []setColumn{{name, tailrace.TypeOf(kInt4), func(v string) string { return "CAST(" + v + " AS INTEGER)" }}}}, nil
}

// seriesOf plans generate_series.
func (p *planner) seriesOf(args []expr, loc int32) (rowSet, error) {
	f, args, err := p.resolveSeries(args, loc)
	if err != nil {
		return rowSet{}, err
	}
	stream := true
	for _, a := range args {
		stream = stream && a.fixed
	}
	list, from, _ := strings.Cut(f.sql, " : ")
	of := func(v string) string { return f.expand(from, args, "{v}", v) }
	return rowSet{list: f.expand(list, args), stream: stream, columns: []setColumn{{"generate_series", typeOfKind(f.ret), of}}}, nil
}

func (p *planner) resolveSeries(given []expr, loc int32) (*function, []expr, error) {
	f, args, err := p.resolve(seriesFunctions, given)
	if err != nil {
		return nil, nil, p.notUnique(err, "generate_series", given, loc)
	}
	if f == nil {
		return nil, nil, p.noFunction("generate_series", given, loc)
	}
	return f, args, nil
}
