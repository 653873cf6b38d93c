package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"

	"tailrace"
)

// cli is every command. Kong fills it in.
type cli struct {
	Serve   ServeCmd   `cmd:"" help:"Serve a data folder to PostgreSQL clients."`
	Demo    DemoCmd    `cmd:"" help:"Try it: a server in a temporary folder with a small live table. Ctrl-C leaves nothing."`
	Attach  AttachCmd  `cmd:"" help:"Follow the tables of a PostgreSQL."`
	Sink    SinkCmd    `cmd:"" help:"Keep another database equal to tables here."`
	User    UserCmd    `cmd:"" help:"Say who may log in."`
	Inspect InspectCmd `cmd:"" help:"Show and check what a data folder, a backup or a part holds."`
	Backup  BackupCmd  `cmd:"" help:"Copy everything as of one time, while the server runs."`
	Restore RestoreCmd `cmd:"" help:"Make a data folder of a backup."`
	Load    LoadCmd    `cmd:"" help:"Copy a file into a table: CSV, text, binary or Parquet."`
	Export  ExportCmd  `cmd:"" help:"Write a table to Parquet or CSV files, all of one time."`
	Redo    RedoCmd    `cmd:"" help:"Bring a database to the state that a changefeed's redo log tells."`
	Bench   BenchCmd   `cmd:"" help:"Measure it on this machine."`
	Version VersionCmd `cmd:"" help:"Print the version."`
}

const description = `Tailrace keeps a durable, columnar copy of tables and streams it: a snapshot, then every change, to any PostgreSQL client.

  tailrace demo                              try it
  tailrace serve --data ./data               serve
  tailrace attach postgres://user@host/db    follow the tables of a PostgreSQL
  tailrace sink create copy --from orders --to mysql://user@host/shop

Then watch a table:

  psql postgres://127.0.0.1:6875/postgres -c "COPY (SUBSCRIBE orders) TO STDOUT"`

func main() {
	// The first signal asks for a proper end, the second ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	signal.Ignore(syscall.SIGXFSZ) // so that a file that would be larger than ulimit -f is an error of the write, and not the end of the process
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tailrace: "+explain(err))
		os.Exit(exitCode(err))
	}
}

// newParser reads command lines into c.
func newParser(c *cli, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(c, append(options, kong.Name("tailrace"), kong.Description(description), kong.ShortUsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))...)
}

// run parses args and runs the command. Usage errors end the process with 80 and a hint, as kong has it.
func run(ctx context.Context, args []string) error {
	var c cli
	parser, err := newParser(&c, kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	parser.FatalIfErrorf(err)
	return parsed.Run()
}

// explain is err for a person at a terminal: a user's error with its place, detail and hint.
func explain(err error) string {
	var e *tailrace.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := err.Error()
	if e.Where != "" {
		text += "\n  at: " + e.Where
	}
	if e.Detail != "" {
		text += "\n  detail: " + e.Detail
	}
	if e.Hint != "" {
		text += "\n  hint: " + e.Hint
	}
	return text
}

// version is the module's version, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (v == "" || v == "(devel)") {
			v = s.Value[:min(12, len(s.Value))]
		}
	}
	if v == "" {
		v = "(devel)"
	}
	return v
}

// VersionCmd is `tailrace version`.
type VersionCmd struct{}

// Run prints the version.
func (c *VersionCmd) Run() error {
	fmt.Println("tailrace", version())
	return nil
}
