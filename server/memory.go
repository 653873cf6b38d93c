package server

import (
	"context"

	"tailrace/budget"
	"tailrace/query"
)

// budget cuts the node's memory.
func (o Options) budget() (*budget.Node, error) {
	shares := map[string]int64{}
	if o.QueryMemory > 0 {
		shares[budget.Query] = max(o.QueryMemory, MinQueryMemory)
	}
	for name, bytes := range o.Shares {
		shares[name] = bytes
	}
	return budget.New(o.Memory, shares)
}

// GoMemory is what the Go runtime of a process that runs such a node should keep its memory below (debug.SetMemoryLimit), in bytes.
func (o Options) GoMemory() (int64, error) {
	n, err := o.budget()
	if err != nil {
		return 0, err
	}
	return n.GoLimit(), nil
}

// queryMargin is which part of its share DuckDB is not told of: it goes a little beyond its limit.
const queryMargin = 32

// openQuery starts the query engine within its shares, which show what it takes.
func (n *node) openQuery() (*query.Engine, error) {
	memory, spill := n.budget.Share(budget.Query), n.budget.Share(budget.Spill)
	engine, err := query.NewEngine(query.Options{
		MemoryBytes: memory.Limit(0) - memory.Limit(0)/queryMargin, Threads: queryThreads(), TempDir: n.tempDir(), TempBytes: spill.Limit(0),
	})
	if err != nil {
		return nil, err
	}
	memory.Measure(func() int64 {
		used, _ := engine.Usage(context.Background())
		return used
	})
	spill.Measure(func() int64 {
		_, used := engine.Usage(context.Background())
		return used
	})
	return engine, nil
}
