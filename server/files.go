package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tailrace/budget"
	"tailrace/parquet"
	"tailrace/sql"
)

// filesPart is which part of the query engine's share reading and writing Parquet files takes, when there are files at all.
const filesPart = 4

// openFiles opens the folder that COPY may use, nil when there is none.
func (n *node) openFiles() (*sql.Files, error) {
	if n.options.Files == "" {
		return nil, nil
	}
	dir, err := filepath.Abs(n.options.Files)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of --files: %w", err)
	}
	engine, err := parquet.Open(parquet.Options{
		MemoryBytes: n.budget.Share(budget.Query).Limit(0) / filesPart, Threads: queryThreads(), TempDir: n.tempDir(), TempBytes: n.budget.Share(budget.Spill).Limit(0) / filesPart,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the engine for Parquet files: %w", err), root.Close())
	}
	return &sql.Files{Root: root, Parquet: engine}, nil
}

// closeFiles waits for what uses them.
func closeFiles(f *sql.Files) error {
	if f == nil {
		return nil
	}
	return errors.Join(f.Parquet.Close(), f.Root.Close())
}

// fileUsage is what the engine for files takes: bytes of memory and of disk.
func fileUsage(f *sql.Files) (memory, temp int64) {
	if f == nil {
		return 0, 0
	}
	return f.Parquet.Usage(context.Background())
}
