package query

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// Functions is what a Resolver may know besides relations: functions in FROM whose rows are read as a table's are.
type Functions interface {
	// Function finds the one called name; nil when there is none. args are not planned. params are the types of the statement's parameters, which it may settle and add to.
	Function(name string, args []*pg_query.Node, params *[]tailrace.Type) (*Table, error)
}

// tableFunction plans a call in FROM of a function that the resolver knows; nil when it is none.
func (p *planner) tableFunction(n *pg_query.RangeFunction) (*item, error) {
	known, ok := p.resolver.(Functions)
	if !ok || len(n.GetFunctions()) != 1 {
		return nil, nil
	}
	call := n.GetFunctions()[0].GetList().GetItems()[0].GetFuncCall()
	name, plain := systemName(call.GetFuncname())
	if call == nil || !plain {
		return nil, nil
	}
	t, err := known.Function(name, call.GetArgs(), &p.params)
	if err != nil || t == nil {
		return nil, p.at(call.GetLocation(), err)
	}
	if n.GetOrdinality() {
		return nil, p.refuse(call.GetLocation(), "WITH ORDINALITY of "+name)
	}
	alias := p.alias("t")
	r := &rel{alias: name, name: name, table: t, cols: tableColumns(t, alias)}
	if a := n.GetAlias(); a != nil {
		r.alias = a.GetAliasname()
	}
	if err := p.rename(r.alias, r.cols, n.GetAlias().GetColnames()); err != nil {
		return nil, err
	}
	sql := "tr_scan(" + mark(markScan, len(p.scans)) + ") AS " + alias
	p.scans = append(p.scans, scanRef{table: t, numbed: p.rowRef})
	return single(r, sql), nil
}
