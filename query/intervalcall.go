package query

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// intervalParts are the names of make_interval's arguments, all of which may be left out or be named.
var intervalParts = []string{"years", "months", "weeks", "days", "hours", "mins", "secs"}

// intervalCall plans make_interval(...).
func (p *planner) intervalCall(s *scope, n *pg_query.FuncCall) (expr, error) {
	args := make([]expr, len(intervalParts))
	for i := range args {
		args[i] = expr{sql: "CAST(0 AS INTEGER)", typ: tailrace.TypeOf(kInt4), fixed: true}
	}
	args[6] = expr{sql: "CAST(0 AS DOUBLE)", typ: tailrace.TypeOf(kFloat8), fixed: true}
	if len(n.GetArgs()) > len(args) {
		given, err := p.exprs(s, n.GetArgs())
		if err != nil {
			return expr{}, err
		}
		return expr{}, p.noFunction("make_interval", given, n.GetLocation())
	}
	for i, a := range n.GetArgs() {
		at := i
		if named := a.GetNamedArgExpr(); named != nil {
			if at = slices.Index(intervalParts, named.GetName()); at < 0 {
				return expr{}, p.fail(n.GetLocation(), codeNoFunction, "function make_interval(%s => ...) does not exist", named.GetName())
			}
			a = named.GetArg()
		}
		e, err := p.expr(s, a)
		if err != nil {
			return e, err
		}
		args[at] = e
	}
	return p.function("make_interval", args, n.GetLocation())
}
