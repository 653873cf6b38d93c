package sql

import (
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace/system"
)

// memory is how the shares of the node's memory stand, for mz_internal.mz_memory.
func (e *Engine) memory() []system.MemoryShare {
	var out []system.MemoryShare
	for _, u := range e.Budget.Usage() {
		out = append(out, system.MemoryShare(u))
	}
	return out
}

// showsMemory tells SHOW memory_budget.
func showsMemory(n *pg_query.VariableShowStmt) bool {
	return strings.EqualFold(n.Name, "memory_budget")
}

// showMemory runs SHOW memory_budget: what mz_internal.mz_memory has.
func (s *Session) showMemory() *Result {
	var rows [][]string
	for _, u := range s.engine.memory() {
		row := []string{u.Name}
		for _, n := range []int64{u.Used, u.Limit, u.Peak, u.Waits, u.Refusals} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		rows = append(rows, row)
	}
	return textResult("SHOW", []string{"share", "used_bytes", "limit_bytes", "peak_bytes", "waits", "refusals"}, rows...)
}
