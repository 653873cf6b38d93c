package sql

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// strayParameter is the error for $1 in a statement that came without parameters, as all of the simple protocol do. PREPARE is what they are for.
func strayParameter(st *statement) error {
	if st.params != nil || st.Tree == nil || st.Tree.GetPrepareStmt() != nil || !strings.Contains(st.Text, "$") {
		return nil
	}
	var stray *tailrace.Error
	hasNode(st.Tree, func(n *pg_query.Node) bool {
		p := n.GetParamRef()
		if p != nil {
			stray = failure("42P02", "there is no parameter $%d", p.GetNumber())
			stray.Position = st.pos(p.GetLocation())
		}
		return p != nil
	})
	if stray == nil {
		return nil
	}
	return stray
}
