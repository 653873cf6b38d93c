package query

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

var negativeCodes = map[string]string{"LIMIT": "2201W", "OFFSET": "2201X"}

// limit plans LIMIT and OFFSET: what stands behind ORDER BY and, for WITH TIES, before it.
func (p *planner) limit(n *pg_query.SelectStmt, order []sortKey) (before, behind string, err error) {
	count, err := p.rowCount("LIMIT", n.GetLimitCount())
	if err != nil {
		return "", "", err
	}
	offset, err := p.rowCount("OFFSET", n.GetLimitOffset())
	if err != nil {
		return "", "", err
	}
	if n.GetLimitOption() == pg_query.LimitOption_LIMIT_OPTION_WITH_TIES && count != "" {
		if len(n.GetDistinctClause()) > 0 {
			return "", "", p.refuse(-1, "WITH TIES with DISTINCT")
		}
		return ties(count, offset, order), "", nil
	}
	if count != "" {
		behind = " LIMIT " + count
	}
	if offset != "" {
		behind += " OFFSET " + offset
	}
	return "", behind, nil
}

// ties keeps a row whose first peer in the order is among the first count rows behind the offset.
func ties(count, offset string, order []sortKey) string {
	over := "() OVER (" + strings.TrimSpace(orderSQL(order)) + ")"
	if offset == "" {
		return " QUALIFY rank" + over + " <= " + count
	}
	return " QUALIFY rank" + over + " <= " + count + " + " + offset + " AND row_number" + over + " > " + offset
}

// rowCount plans the number behind word, "" when there is none.
func (p *planner) rowCount(word string, node *pg_query.Node) (string, error) {
	if node == nil || node.GetAConst().GetIsnull() {
		return "", nil
	}
	if c := columnIn(node); c != nil {
		return "", p.fail(location(c), codeInvalidRef, "argument of %s must not contain variables", word)
	}
	e, err := p.expr(&scope{clause: word}, node)
	if err != nil {
		return "", err
	}
	if category(e.typ.Kind) == 'N' { // assigned, so that 1.5 is rounded
		e, err = p.convert(e, tailrace.TypeOf(kInt8), false)
	} else {
		e, err = p.implicitly(e, kInt8, word)
	}
	if err != nil {
		return "", err
	}
	if c := node.GetAConst(); c.GetIval() != nil {
		if c.GetIval().GetIval() < 0 {
			return "", raise(negativeCodes[word], "%s must not be negative", word)
		}
		return itoa(int(c.GetIval().GetIval())), nil
	}
	return "(SELECT tr_" + strings.ToLower(word) + "(" + e.sql + "))", nil
}
