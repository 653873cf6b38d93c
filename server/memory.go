package server

import (
	"context"

	"tailrace/budget"
	"tailrace/query"
	"tailrace/sql"
)

// budget cuts the node's memory.
func (o Options) budget() (*budget.Node, error) {
	shares := map[string]int64{}
	if o.QueryMemory > 0 {
		shares[budget.Query] = max(o.QueryMemory, MinQueryMemory)
	}
	if o.SubscribeSpill > 0 {
		shares[budget.Subscribe] = o.SubscribeSpill
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

// openQuery starts the query engine within its shares, which show what it takes, and what files take beside it.
func (n *node) openQuery(files *sql.Files) (*query.Engine, error) {
	memory, spill := n.budget.Share(budget.Query), n.budget.Share(budget.Spill)
	o := query.Options{MemoryBytes: memory.Limit(0) - memory.Limit(0)/queryMargin, Threads: queryThreads(), TempDir: n.tempDir(), TempBytes: spill.Limit(0)}
	if files != nil {
		o.MemoryBytes -= o.MemoryBytes / filesPart
		o.TempBytes -= o.TempBytes / filesPart
	}
	engine, err := query.NewEngine(o)
	if err != nil {
		return nil, err
	}
	memory.Measure(func() int64 {
		used, _ := engine.Usage(context.Background())
		more, _ := fileUsage(files)
		return used + more
	})
	spill.Measure(func() int64 {
		_, used := engine.Usage(context.Background())
		_, more := fileUsage(files)
		return used + more
	})
	return engine, nil
}
