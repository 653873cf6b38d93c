package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"tailrace/server"
)

// ServeCmd is `tailrace serve`. A flag wins over the environment, and that over the file.
type ServeCmd struct {
	Data                string        `required:"" env:"TAILRACE_DATA" placeholder:"DIR" help:"Folder that holds everything; made if it is not there."`
	Listen              string        `default:"127.0.0.1:6875" env:"TAILRACE_LISTEN" help:"Address for PostgreSQL clients. Beyond this machine only once \"tailrace user add\" has made a user."`
	HTTP                string        `name:"http" default:"127.0.0.1:6876" env:"TAILRACE_HTTP" help:"Address for /livez, /readyz and /metrics."`
	Config              string        `env:"TAILRACE_CONFIG" placeholder:"FILE" help:"TOML file with these flags as keys, for example: listen = \"127.0.0.1:7000\"."`
	Drain               time.Duration `default:"10s" env:"TAILRACE_DRAIN" help:"How long statements may go on after SIGTERM."`
	MaxConnections      int           `default:"10000" env:"TAILRACE_MAX_CONNECTIONS" help:"Sessions at once."`
	Memory              int64         `env:"TAILRACE_MEMORY" placeholder:"BYTES" help:"What the node may use, divided into shares: mz_internal.mz_memory. When left out, half of what the machine or the cgroup has, and no more than GOMEMLIMIT."`
	QueryMemory         int64         `env:"TAILRACE_QUERY_MEMORY" placeholder:"BYTES" help:"What SELECT may use before it spills to the data folder, in place of its share of --memory."`
	SubscribeSpillBytes int64         `env:"TAILRACE_SUBSCRIBE_SPILL_BYTES" default:"1073741824" help:"What subscriptions may put into temporary files, all together, when the rows of one timestamp must be together and have no room in memory."`
	Files               string        `env:"TAILRACE_FILES" placeholder:"DIR" help:"Folder below which COPY ... FROM and TO may read and write files. When left out, COPY has no files: it refuses them."`
	TLSCert             string        `name:"tls-cert" env:"TAILRACE_TLS_CERT" placeholder:"FILE" help:"PEM file with the certificate to show to clients; with it they may use TLS. Read again on SIGHUP."`
	TLSKey              string        `name:"tls-key" env:"TAILRACE_TLS_KEY" placeholder:"FILE" help:"PEM file with the certificate's key."`
	RequireTLS          bool          `name:"require-tls" env:"TAILRACE_REQUIRE_TLS" help:"Refuse clients without TLS."`
	LogLevel            slog.Level    `default:"info" env:"TAILRACE_LOG_LEVEL" help:"debug, info, warn or error."`
}

// Help is shown by --help.
func (c *ServeCmd) Help() string {
	return `When the server is ready it prints one line on stdout, with the addresses to use:

  ready postgres://127.0.0.1:6875/postgres http://127.0.0.1:6876

Logs go to stderr. SIGHUP reads the configuration file and the certificate again: tls-cert, tls-key, require-tls, log-level, drain and
max-connections change at once, the rest with the next start. SIGTERM and Ctrl-C drain: subscriptions end with the place to resume from, statements may finish within --drain.

What to type next:

  psql postgres://127.0.0.1:6875/postgres
  tailrace attach postgres://user@host/db`
}

// Run serves until ctx is done.
func (c *ServeCmd) Run(ctx context.Context) error {
	var level slog.LevelVar
	level.Set(c.LogLevel)
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: &level}))
	slog.SetDefault(logger)
	o := c.options(logger)
	if err := limitGo(o); err != nil {
		return err
	}
	o.Ready = func(at server.Addresses) { fmt.Println(readyLine(at)) }
	reload := make(chan server.Options)
	o.Reload = reload
	ctx, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		onHangup(ctx, func() {
			again, err := readAgain()
			if err != nil {
				logger.Error("reload: nothing changes", "error", err)
				return
			}
			level.Set(again.LogLevel)
			select {
			case reload <- again.options(logger):
			case <-ctx.Done():
			}
		})
	})
	defer watch.Wait()
	defer stop()
	return server.Run(ctx, o)
}

// limitGo tells the Go runtime how much of the node's memory is its own, unless GOMEMLIMIT told it already.
func limitGo(o server.Options) error {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return nil
	}
	limit, err := o.GoMemory()
	if err != nil {
		return err
	}
	debug.SetMemoryLimit(limit)
	return nil
}

func (c *ServeCmd) options(logger *slog.Logger) server.Options {
	return server.Options{
		Data: c.Data, Listen: c.Listen, HTTP: c.HTTP, Drain: c.Drain, MaxConnections: c.MaxConnections, Memory: c.Memory, QueryMemory: c.QueryMemory, SubscribeSpill: c.SubscribeSpillBytes, Files: c.Files,
		TLSCert: c.TLSCert, TLSKey: c.TLSKey, RequireTLS: c.RequireTLS, Version: version(), Logger: logger,
	}
}

// onHangup calls fn for each SIGHUP until ctx is done.
func onHangup(ctx context.Context, fn func()) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-hangup:
			fn()
		case <-ctx.Done():
			return
		}
	}
}

// readAgain reads the command line, the environment and the configuration file once more.
func readAgain() (*ServeCmd, error) {
	var c cli
	parser, err := newParser(&c)
	if err != nil {
		return nil, err
	}
	if _, err := parser.Parse(os.Args[1:]); err != nil {
		return nil, err
	}
	return &c.Serve, nil
}

// readyLine is what programs that start a server wait for.
func readyLine(at server.Addresses) string {
	return fmt.Sprintf("ready postgres://%s/postgres http://%s", at.Postgres, at.HTTP)
}
