package main

import (
	"context"
	"os"

	"tailrace/internal/bench"
)

// BenchLoadCmd is `tailrace bench load`.
type BenchLoadCmd struct {
	Postgres  string   `help:"URL of a PostgreSQL to load the same files into, in turns. The user must be allowed to CHECKPOINT." placeholder:"URL"`
	JSON      bool     `help:"Print one JSON object as the last line of stdout."`
	RowsScale float64  `help:"Times as many rows as the shapes have." default:"1"`
	Runs      int      `help:"Interleaved rounds; medians are reported." default:"5"`
	Shape     []string `help:"Shapes to measure: wide, text, ints, narrow, shuffled. All when left out."`
}

// Run loads files of several shapes into servers on temporary folders and into DuckDB, then measures the stages of a load in this process.
func (c *BenchLoadCmd) Run(ctx context.Context) error {
	report, err := bench.Load{Shapes: c.Shape, Scale: c.RowsScale, Runs: c.Runs, Postgres: c.Postgres}.Run(ctx, os.Stderr)
	if err != nil {
		return err
	}
	return show(report, c.JSON)
}

// BenchDuckDBCmd is bench.DuckCommand.
type BenchDuckDBCmd struct{}

// Run is the DuckDB of a load: the job comes on stdin.
func (c *BenchDuckDBCmd) Run() error { return bench.RunDuckDB(os.Stdin, os.Stdout) }
