package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"time"

	"tailrace"
	"tailrace/internal/bench"
	"tailrace/internal/bench/feedsim"
	"tailrace/server"
)

// BenchFeedCmd is `tailrace bench feed`.
type BenchFeedCmd struct {
	Virtual bool          `help:"In virtual time instead: the scheduler beside two others, with targets that are slow or hang."`
	Full    bool          `help:"With --virtual: all scenarios."`
	Seed    uint64        `help:"With --virtual: of the workload." default:"1"`
	Target  string        `help:"The database to feed: mysql://user:password@host:3306/db or postgres://... . Tables called feed_* there are dropped." placeholder:"URL"`
	JSON    bool          `help:"Print one JSON object as the last line of stdout."`
	Rows    int           `help:"Changed rows of a round." default:"200000"`
	Rounds  int           `help:"Interleaved rounds; medians are reported." default:"3"`
	Rate    int           `help:"Rows a second while the lag is measured." default:"2000"`
	Seconds time.Duration `help:"How long the lag is measured." default:"10s"`
}

// Run simulates, or feeds the target from a server in this process.
func (c *BenchFeedCmd) Run() error {
	switch {
	case c.Virtual:
		return c.simulate()
	case c.Target == "":
		return &tailrace.Error{Code: "22023", Message: "bench feed needs a target", Hint: "Give --target URL, or --virtual for a simulation that needs none."}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	kind, err := targetKind(c.Target)
	if err != nil {
		return err
	}
	report, err := bench.Feed{
		URL: c.Target, Kind: kind, Rows: c.Rows, Rounds: c.Rounds, Rate: c.Rate, Seconds: c.Seconds, Open: server.OpenTarget, Serve: serveHere,
	}.Run(ctx, os.Stderr)
	if err != nil {
		return err
	}
	return show(report, c.JSON)
}

// simulate prints the figures of the simulation, the criteria last.
func (c *BenchFeedCmd) simulate() error {
	r := (&feedsim.Bench{Full: c.Full, Seed: c.Seed}).Run(os.Stderr)
	out := os.Stdout
	if c.JSON {
		out = os.Stderr
	}
	fmt.Fprintln(out, r.Settings)
	for _, k := range r.Criteria {
		verdict := "met"
		if !k.Met {
			verdict = "NOT MET"
		}
		fmt.Fprintf(out, "%-64s %8.3g  %-8s %s\n", k.Name, k.Value, k.Want, verdict)
	}
	if !c.JSON {
		return nil
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// serveHere runs a server in this process, on a temporary folder, that opens targets with open.
func serveHere(ctx context.Context, open func(kind, url, password string) (tailrace.Sink, error)) (address string, stop func() error, err error) {
	dir, err := os.MkdirTemp("", "tailrace-bench-")
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ready, ended := make(chan server.Addresses, 1), make(chan error, 1)
	go func() {
		ended <- server.Run(ctx, server.Options{
			Data: dir, Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0", Drain: time.Second, Version: version(), OpenTarget: open,
			Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Ready: func(a server.Addresses) { ready <- a },
		})
	}()
	stop = func() error {
		cancel()
		return errors.Join(<-ended, os.RemoveAll(dir))
	}
	select {
	case a := <-ready:
		return "postgres://" + a.Postgres + "/postgres", stop, nil
	case err := <-ended:
		cancel()
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
}
