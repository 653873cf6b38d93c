package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"tailrace/internal/bench"
)

// BenchStormCmd is `tailrace bench storm`.
type BenchStormCmd struct {
	JSON      bool     `help:"Print one JSON object as the last line of stdout."`
	List      bool     `help:"Print the scenarios and what each is, and measure nothing."`
	Clients   []int    `help:"Numbers of clients; every scenario is run with each." default:"256,1024,2048,8000"`
	Scenario  []string `help:"Scenarios to run. All when left out."`
	Rows      int      `help:"Rows of the table, of 64 bytes." default:"10000"`
	Rounds    int      `help:"Interleaved rounds; medians are reported." default:"3"`
	WriteRate int      `help:"Rows a second that are written in the scenario writes." default:"1000"`
}

// Run starts a server on a temporary folder and lets many clients subscribe at once.
func (c *BenchStormCmd) Run() error {
	if c.List {
		for _, s := range bench.StormScenarios {
			fmt.Printf("%-10s %s\n", s[0], s[1])
		}
		return nil
	}
	for _, name := range c.Scenario {
		known := false
		for _, s := range bench.StormScenarios {
			known = known || s[0] == name
		}
		if !known {
			return fmt.Errorf("there is no scenario %q: tailrace bench storm --list shows them", name)
		}
	}
	b := bench.Storm{Clients: c.Clients, Scenarios: c.Scenario, Rows: c.Rows, Rounds: c.Rounds, WriteRate: c.WriteRate}
	return measure("", c.JSON, func(ctx context.Context, targets []*bench.Target) (*bench.Report, error) {
		return b.Run(ctx, targets[0], os.Stderr)
	})
}

// BenchSnapshotCmd is `tailrace bench snapshot`.
type BenchSnapshotCmd struct {
	Postgres string `help:"URL of a PostgreSQL whose COPY TO is measured in turns." placeholder:"URL"`
	JSON     bool   `help:"Print one JSON object as the last line of stdout."`
	Rows     int    `help:"Rows of the table, of 64 bytes." default:"1000000"`
	Rounds   int    `help:"Interleaved rounds; medians are reported." default:"5"`
}

// Run starts a server on a temporary folder and measures one client.
func (c *BenchSnapshotCmd) Run() error {
	b := bench.Snapshot{Rows: c.Rows, Rounds: c.Rounds}
	return measure(c.Postgres, c.JSON, func(ctx context.Context, targets []*bench.Target) (*bench.Report, error) {
		return b.Run(ctx, targets, os.Stderr)
	})
}

// BenchLiveCmd is `tailrace bench live`.
type BenchLiveCmd struct {
	JSON    bool          `help:"Print one JSON object as the last line of stdout."`
	Clients []int         `help:"Numbers of clients." default:"2000,8000"`
	Rate    []int         `help:"Rows a second, one a transaction; each is measured with each number of clients." default:"10,100,1000"`
	Seconds time.Duration `help:"Length of one run." default:"10s"`
	Rounds  int           `help:"Medians of so many are reported." default:"3"`
}

// Run starts a server on a temporary folder and lets many clients follow a table.
func (c *BenchLiveCmd) Run() error {
	b := bench.Live{Clients: c.Clients, Rates: c.Rate, Seconds: c.Seconds, Rounds: c.Rounds}
	return measure("", c.JSON, func(ctx context.Context, targets []*bench.Target) (*bench.Report, error) {
		return b.Run(ctx, targets[0], os.Stderr)
	})
}

// BenchStormClientsCmd is a process of clients of a storm.
type BenchStormClientsCmd struct{}

// Run does the job that comes on stdin.
func (c *BenchStormClientsCmd) Run() error { return bench.StormClients(os.Stdin, os.Stdout) }

// BenchBareWritesCmd is the bare loop of a storm.
type BenchBareWritesCmd struct{}

// Run does the job that comes on stdin.
func (c *BenchBareWritesCmd) Run() error { return bench.BareWrites(os.Stdin, os.Stdout) }
