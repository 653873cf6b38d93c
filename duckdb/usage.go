package duckdb

import (
	"context"
	"fmt"
)

// Usage is what the engine takes now.
type Usage struct {
	Memory int64 // bytes, of Options.MemoryBytes
	Temp   int64 // bytes on disk, of Options.TempBytes
}

// Usage asks the engine what it takes.
func (e *Engine) Usage(ctx context.Context) (Usage, error) {
	rows, err := e.Query(ctx, "SELECT (SELECT coalesce(sum(memory_usage_bytes), 0)::BIGINT FROM duckdb_memory()), "+
		"(SELECT coalesce(sum(size), 0)::BIGINT FROM duckdb_temporary_files())")
	if err != nil {
		return Usage{}, fmt.Errorf("ask the query engine for its memory: %w", err)
	}
	defer rows.Close()
	v, n, err := rows.Next(ctx) // one row: it is a sum
	if err != nil {
		return Usage{}, fmt.Errorf("ask the query engine for its memory: %w", err)
	}
	return Usage{Memory: Values[int64](v[0], n)[0], Temp: Values[int64](v[1], n)[0]}, nil
}
