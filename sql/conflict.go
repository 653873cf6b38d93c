package sql

import (
	"context"
	"errors"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
)

// onConflict is an ON CONFLICT clause whose names are resolved. The only arbiter here is the primary key.
type onConflict struct {
	update  bool         // DO UPDATE rather than DO NOTHING
	columns []int        // that SET assigns, as indexes of the table's
	values  []*expr.Expr // over the row that is there and, behind its columns, the row proposed
	where   *expr.Expr   // likewise; nil for none

	asked *pairQuery // instead of values and where, when they take the query engine
}

// resolveConflict checks the clause n of an INSERT into table; nil for none, and for a table in which nothing can conflict.
func (s *Session) resolveConflict(ctx context.Context, st *statement, table *catalog.Table, rel *pg_query.RangeVar, n *pg_query.OnConflictClause) (*onConflict, error) {
	if n == nil {
		return nil, nil
	}
	c := &onConflict{update: n.Action == pg_query.OnConflictAction_ONCONFLICT_UPDATE}
	if c.update && n.Infer == nil {
		return nil, &tailrace.Error{
			Code: "42601", Message: "ON CONFLICT DO UPDATE requires inference specification or constraint name", Position: st.pos(n.Location),
			Hint: "For example, ON CONFLICT (column_name).",
		}
	}
	if err := s.arbiter(st, table, rel, n.Infer); err != nil {
		return nil, err
	}
	if !c.update {
		if len(table.Columns.Key) == 0 {
			return nil, nil
		}
		return c, nil
	}
	columns, values, err := s.assignments(st, table, n.TargetList)
	if err != nil {
		return nil, err
	}
	c.columns = columns
	types := append([]tailrace.Type(nil), st.types...)
	if err := s.bindConflict(st, table, rel, c, values, n.WhereClause); passOn(err) == nil || !errors.Is(passOn(err), expr.ErrUnsupported) {
		return c, err
	}
	st.types = types
	c.asked = &pairQuery{table: table, rel: rel, columns: columns, values: values, where: n.WhereClause}
	return c, s.describePairs(ctx, st, c.asked)
}

// bindConflict binds SET and WHERE without the query engine.
func (s *Session) bindConflict(st *statement, table *catalog.Table, rel *pg_query.RangeVar, c *onConflict, values []*pg_query.Node, where *pg_query.Node) error {
	sc := s.conflictScope(st, table, rel.Alias.GetAliasname())
	for i, v := range values {
		f := &table.Columns.Fields[c.columns[i]]
		var e *expr.Expr
		var err error
		if v.GetSetToDefault() != nil {
			e, err = s.defaultOf(f)
		} else {
			e, err = expr.BindAs(v, sc, f.Type, f.Name)
		}
		if err != nil {
			return err
		}
		c.values = append(c.values, e)
	}
	if where == nil {
		return nil
	}
	var err error
	c.where, err = expr.BindCondition(where, sc)
	return err
}

// arbiter is 42P10 when the conflict that is named is not that of the primary key.
func (s *Session) arbiter(st *statement, table *catalog.Table, rel *pg_query.RangeVar, n *pg_query.InferClause) error {
	if n == nil {
		return nil
	}
	if n.Conname != "" {
		if len(table.Columns.Key) > 0 && n.Conname == table.Name+"_pkey" {
			return nil
		}
		return failure("42704", "constraint \"%s\" for table \"%s\" does not exist", n.Conname, table.Name)
	}
	var named []int
	matches := true
	for _, e := range n.IndexElems {
		elem := e.GetIndexElem()
		if elem.Expr != nil || len(elem.Opclass) > 0 || len(elem.Collation) > 0 {
			matches = false
			continue
		}
		i := table.Columns.ByName(elem.Name)
		if i < 0 {
			return at(failure("42703", "column \"%s\" does not exist", elem.Name), st.pos(n.Location))
		}
		if !slices.Contains(named, i) {
			named = append(named, i)
		}
	}
	if n.WhereClause != nil {
		if _, err := expr.BindCondition(n.WhereClause, s.tableScope(st, table, rel.Alias.GetAliasname())); err != nil && !errors.Is(err, expr.ErrUnsupported) {
			return err
		}
	}
	slices.Sort(named)
	key := slices.Sorted(slices.Values(table.Columns.Key))
	if !matches || len(key) == 0 || !slices.Equal(named, key) {
		return failure("42P10", "there is no unique or exclusion constraint matching the ON CONFLICT specification")
	}
	return nil
}

// conflictScope is what names stand for in DO UPDATE: columns of the row that is there, and of EXCLUDED behind them. A name without one of the two before it
// is ambiguous; the query engine says so.
func (s *Session) conflictScope(st *statement, table *catalog.Table, alias string) *expr.Scope {
	sc := s.scope(st)
	if alias == "" {
		alias = table.Name
	}
	sc.Column = func(qualifier, name string) (int, tailrace.Type, bool) {
		i := table.Columns.ByName(name)
		if i < 0 {
			return 0, tailrace.Type{}, false
		}
		switch t := table.Columns.Fields[i].Type; qualifier {
		case alias:
			return i, t, true
		case excluded:
			return len(table.Columns.Fields) + i, t, true
		}
		return 0, tailrace.Type{}, false
	}
	return sc
}

// excluded is the name of the row proposed for insertion.
const excluded = "excluded"
