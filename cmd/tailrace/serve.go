package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"tailrace/server"
)

// ServeCmd is `tailrace serve`. A flag wins over the environment, and that over the file.
type ServeCmd struct {
	Data           string        `required:"" env:"TAILRACE_DATA" placeholder:"DIR" help:"Folder that holds everything; made if it is not there."`
	Listen         string        `default:"127.0.0.1:6875" env:"TAILRACE_LISTEN" help:"Address for PostgreSQL clients. Beyond this machine only once \"tailrace user add\" has made a user."`
	HTTP           string        `name:"http" default:"127.0.0.1:6876" env:"TAILRACE_HTTP" help:"Address for /livez, /readyz and /metrics."`
	Config         string        `env:"TAILRACE_CONFIG" placeholder:"FILE" help:"TOML file with these flags as keys, for example: listen = \"127.0.0.1:7000\"."`
	Drain          time.Duration `default:"10s" env:"TAILRACE_DRAIN" help:"How long statements may go on after SIGTERM."`
	MaxConnections int           `default:"10000" env:"TAILRACE_MAX_CONNECTIONS" help:"Sessions at once."`
	QueryMemory    int64         `env:"TAILRACE_QUERY_MEMORY" placeholder:"BYTES" help:"What SELECT may use before it spills to the data folder; a quarter of the machine's memory when left out."`
	LogLevel       slog.Level    `default:"info" env:"TAILRACE_LOG_LEVEL" help:"debug, info, warn or error."`
}

// Help is shown by --help.
func (c *ServeCmd) Help() string {
	return `When the server is ready it prints one line on stdout, with the addresses to use:

  ready postgres://127.0.0.1:6875/postgres http://127.0.0.1:6876

Logs go to stderr. SIGTERM and Ctrl-C drain: subscriptions end with the place to resume from, statements may finish within --drain.

What to type next:

  psql postgres://127.0.0.1:6875/postgres
  tailrace attach postgres://user@host/db`
}

// Run serves until ctx is done.
func (c *ServeCmd) Run(ctx context.Context) error {
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: c.LogLevel}))
	slog.SetDefault(logger)
	return server.Run(ctx, server.Options{
		Data: c.Data, Listen: c.Listen, HTTP: c.HTTP, Drain: c.Drain, MaxConnections: c.MaxConnections, QueryMemory: c.QueryMemory,
		Version: version(), Logger: logger,
		Ready: func(at server.Addresses) { fmt.Println(readyLine(at)) },
	})
}

// readyLine is what programs that start a server wait for.
func readyLine(at server.Addresses) string {
	return fmt.Sprintf("ready postgres://%s/postgres http://%s", at.Postgres, at.HTTP)
}
