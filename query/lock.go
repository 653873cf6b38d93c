package query

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

var lockWords = map[pg_query.LockClauseStrength]string{
	pg_query.LockClauseStrength_LCS_FORUPDATE: "FOR UPDATE", pg_query.LockClauseStrength_LCS_FORNOKEYUPDATE: "FOR NO KEY UPDATE",
	pg_query.LockClauseStrength_LCS_FORSHARE: "FOR SHARE", pg_query.LockClauseStrength_LCS_FORKEYSHARE: "FOR KEY SHARE",
}

// locks checks FOR UPDATE and its like, which then do nothing: transactions here are serializable without them, and one that read what
// another has changed since fails at its commit with 40001.
func (p *planner) locks(n *pg_query.SelectStmt, s *scope) error {
	for _, c := range n.GetLockingClause() {
		clause := c.GetLockingClause()
		word := lockWords[clause.GetStrength()]
		without := ""
		switch {
		case n.GetOp() != pg_query.SetOperation_SETOP_NONE:
			without = "UNION/INTERSECT/EXCEPT"
		case len(n.GetDistinctClause()) > 0:
			without = "DISTINCT clause"
		case len(n.GetGroupClause()) > 0:
			without = "GROUP BY clause"
		case n.GetHavingClause() != nil:
			without = "HAVING clause"
		case s != nil && s.group != nil:
			without = "aggregate functions"
		case slices.ContainsFunc(n.GetTargetList(), windowIn):
			without = "window functions"
		}
		if without != "" {
			return p.fail(-1, codeUnsupported, "%s is not allowed with %s", word, without)
		}
		for _, r := range clause.GetLockedRels() {
			name := r.GetRangeVar().GetRelname()
			if s == nil || s.item == nil || !slices.ContainsFunc(s.item.rels, func(r *rel) bool { return r.alias == name }) {
				return p.fail(r.GetRangeVar().GetLocation(), codeNoTable, "relation \"%s\" in %s clause not found in FROM clause", name, word)
			}
		}
	}
	return nil
}

// windowIn reports whether a window function is called in n, subqueries apart.
func windowIn(n *pg_query.Node) bool {
	found := false
	walk(n, func(m *pg_query.Node) bool {
		found = found || m.GetFuncCall().GetOver() != nil
		return !found && m.GetSelectStmt() == nil
	})
	return found
}
