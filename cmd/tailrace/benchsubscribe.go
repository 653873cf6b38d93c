package main

import (
	"context"
	"fmt"
	"os"
	"slices"
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
	WriteRate int      `help:"Rows a second that are written in the scenarios writes and kill." default:"1000"`
}

// Run lets many clients subscribe at once, with a server of its own on a temporary folder for every round.
func (c *BenchStormCmd) Run(ctx context.Context) error {
	if c.List {
		printScenarios(bench.StormScenarios)
		return nil
	}
	if err := knownScenarios("storm", bench.StormScenarios, c.Scenario); err != nil {
		return err
	}
	b := bench.Storm{Clients: c.Clients, Scenarios: c.Scenario, Rows: c.Rows, Rounds: c.Rounds, WriteRate: c.WriteRate}
	report, err := b.Run(ctx, os.Stderr)
	if err != nil {
		return err
	}
	return show(report, c.JSON)
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
	JSON     bool          `help:"Print one JSON object as the last line of stdout."`
	List     bool          `help:"Print the scenarios and what each is, and measure nothing."`
	Clients  []int         `help:"Numbers of clients." default:"2000,8000"`
	Rate     []int         `help:"Rows a second, one a transaction; each is measured with each number of clients." default:"10,100,1000"`
	Scenario []string      `help:"Scenarios to run. All but stall when left out."`
	Seconds  time.Duration `help:"Length of one run; in the scenario stall, what follows the stall." default:"10s"`
	Rounds   int           `help:"Interleaved rounds; medians are reported. 3 when left out, and 5 in the scenario stall."`
	Stall    time.Duration `help:"Run the scenario stall, with a client stopped for so long. If only the scenario is named: 60s." placeholder:"DURATION"`
	NATS     string        `name:"nats" help:"NATS server to fan out the same rows, in turns: nats-server -a 127.0.0.1 -p 4222, then nats://127.0.0.1." placeholder:"URL"`
}

// Run lets many clients follow a table, with a server of its own on a temporary folder for every round.
func (c *BenchLiveCmd) Run(ctx context.Context) error {
	b := c.live()
	if c.List {
		printScenarios(b.List())
		return nil
	}
	if err := knownScenarios("live", b.List(), c.Scenario); err != nil {
		return err
	}
	report, err := b.Run(ctx, os.Stderr)
	if err != nil {
		return err
	}
	return show(report, c.JSON)
}

func (c *BenchLiveCmd) live() bench.Live {
	return bench.Live{Clients: c.Clients, Rates: c.Rate, Scenarios: c.Scenario, Seconds: c.Seconds, Rounds: c.Rounds, Stall: c.Stall, NATS: c.NATS}
}

func printScenarios(all [][2]string) {
	for _, s := range all {
		fmt.Printf("%-14s %s\n", s[0], s[1])
	}
}

// knownScenarios tells of a name that no scenario has.
func knownScenarios(command string, all [][2]string, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(all, func(s [2]string) bool { return s[0] == name }) {
			return fmt.Errorf("there is no scenario %q: tailrace bench %s --list shows them", name, command)
		}
	}
	return nil
}

// BenchStormClientsCmd is a process of clients of a storm.
type BenchStormClientsCmd struct{}

// Run does the job that comes on stdin.
func (c *BenchStormClientsCmd) Run() error { return bench.StormClients(os.Stdin, os.Stdout) }

// BenchBareWritesCmd is the bare loop of a storm.
type BenchBareWritesCmd struct{}

// Run does the job that comes on stdin.
func (c *BenchBareWritesCmd) Run() error { return bench.BareWrites(os.Stdin, os.Stdout) }
