package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"time"

	"tailrace/internal/bench"
)

// BenchCmd groups the benchmarks.
type BenchCmd struct {
	Base   BenchBaseCmd   `cmd:"" help:"Bulk load, whole snapshot, commits and keyed updates, beside a PostgreSQL when one is given."`
	Start  BenchStartCmd  `cmd:"" help:"How long the server takes to be ready after many commits."`
	Lookup BenchLookupCmd `cmd:"" help:"Random keys of a table that does not fit the cache, also beside keyed updates."`
	Load   BenchLoadCmd   `cmd:"" help:"Files of several shapes through COPY, beside DuckDB, and a PostgreSQL when one is given; and the stages of it."`

	Snapshot BenchSnapshotCmd `cmd:"" help:"How soon one client of a large table has its first rows, and all of them."`
	Live     BenchLiveCmd     `cmd:"" help:"Many clients that follow a table while rows are written, beside a bare loop that writes the same bytes."`
	Storm    BenchStormCmd    `cmd:"" help:"Many clients that subscribe at the same moment, beside a bare loop that writes the same bytes."`

	Feed BenchFeedCmd `cmd:"" help:"A changefeed into a real database, beside a plain loader of the same statements; or in virtual time."`

	DuckDBLoad   BenchDuckDBCmd       `cmd:"" name:"duckdb-load" hidden:"" help:"The DuckDB of a load."`
	StormClients BenchStormClientsCmd `cmd:"" hidden:"" help:"A process of clients of a storm."`
	BareWrites   BenchBareWritesCmd   `cmd:"" hidden:"" help:"The bare loop of a storm."`
}

// BenchBaseCmd is `tailrace bench base`.
type BenchBaseCmd struct {
	Postgres string        `help:"URL of a PostgreSQL to run the same statements on, in turns." placeholder:"URL"`
	JSON     bool          `help:"Print one JSON object as the last line of stdout."`
	Rows     int           `help:"Rows of the loaded table." default:"1000000"`
	Rounds   int           `help:"Interleaved rounds; medians are reported." default:"3"`
	Seconds  time.Duration `help:"Length of one commit or update run." default:"3s"`
	Writers  []int         `help:"Connections of the commit and update runs." default:"1,32,256"`
	RowRate  int           `help:"Transactions a second while rows are timed on their way to a SUBSCRIBE." default:"1000"`
}

// Run starts a server on a temporary folder and measures it.
func (c *BenchBaseCmd) Run() error {
	b := bench.Base{Rows: c.Rows, Rounds: c.Rounds, Seconds: c.Seconds, Writers: c.Writers, RowRate: c.RowRate}
	return measure(c.Postgres, c.JSON, func(ctx context.Context, targets []*bench.Target) (*bench.Report, error) {
		return b.Run(ctx, targets, os.Stderr)
	})
}

// BenchStartCmd is `tailrace bench start`.
type BenchStartCmd struct {
	JSON    bool `help:"Print one JSON object as the last line of stdout."`
	Commits int  `help:"Transactions before the starts." default:"1000000"`
	Writers int  `help:"Connections that make them." default:"256"`
	Rounds  int  `help:"Starts of each kind; medians are reported." default:"5"`
}

// Run starts a server on a temporary folder and measures it.
func (c *BenchStartCmd) Run() error {
	b := bench.Start{Commits: c.Commits, Writers: c.Writers, Rounds: c.Rounds}
	return measure("", c.JSON, func(ctx context.Context, targets []*bench.Target) (*bench.Report, error) {
		return b.Run(ctx, targets[0], os.Stderr)
	})
}

// BenchLookupCmd is `tailrace bench lookup`.
type BenchLookupCmd struct {
	Postgres string        `help:"URL of a PostgreSQL to run the same statements on, afterwards." placeholder:"URL"`
	JSON     bool          `help:"Print one JSON object as the last line of stdout."`
	Rows     int           `help:"Rows of the table." default:"10000000"`
	Updates  int           `help:"Keyed updates a second beside the lookups." default:"60000"`
	Seconds  time.Duration `help:"Length of one run." default:"10s"`
	Clients  int           `help:"Connections that look up." default:"4"`
	Depth    int           `help:"Statements that a connection sends at once." default:"100"`
}

// Run measures lookups in this process, then through a server on a temporary folder.
func (c *BenchLookupCmd) Run() error {
	b := bench.Lookup{Rows: c.Rows, Updates: c.Updates, Seconds: c.Seconds, Clients: c.Clients, Depth: c.Depth}
	return measure(c.Postgres, c.JSON, func(ctx context.Context, targets []*bench.Target) (*bench.Report, error) {
		return b.Run(ctx, targets, os.Stderr)
	})
}

// measure runs a benchmark on a server of its own on a temporary folder, beside a PostgreSQL when its URL is given, and shows the report. Ctrl-C ends it.
func measure(postgres string, asJSON bool, run func(context.Context, []*bench.Target) (*bench.Report, error)) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ours, err := bench.StartTailrace()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.Stop()) }()
	targets := []*bench.Target{ours}
	if postgres != "" {
		targets = append(targets, &bench.Target{Name: "postgres", URL: postgres})
	}
	report, err := run(ctx, targets)
	if err != nil {
		return err
	}
	return show(report, asJSON)
}

// show prints a report on stdout, or as JSON there and as a table on stderr.
func show(report *bench.Report, asJSON bool) error {
	report.Command = strings.Join(append([]string{"tailrace"}, os.Args[1:]...), " ")
	if !asJSON {
		return report.Print(os.Stdout)
	}
	if err := report.Print(os.Stderr); err != nil {
		return err
	}
	return report.JSON(os.Stdout)
}
