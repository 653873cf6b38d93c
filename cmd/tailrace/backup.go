package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tailrace"
	"tailrace/server"
)

// BackupCmd is `tailrace backup`.
type BackupCmd struct {
	Data string `xor:"from" required:"" placeholder:"DIR" help:"The data folder, when no server runs on it."`
	URL  string `xor:"from" required:"" placeholder:"URL" help:"The server that runs, for example postgres://127.0.0.1:6875/postgres; it must be on this machine, or see the folder --to under the same name."`
	To   string `required:"" placeholder:"DIR" help:"Folder for the backup; it must not exist or be empty."`
}

// Help is shown by --help.
func (c *BackupCmd) Help() string {
	return `A backup holds everything as of one time. The server goes on meanwhile; parts that the backup needs stay until it has them. On the same file system they are
hard links and take no space, until the server lets go of them: for a backup that survives the disk, choose a folder on another. Every part is checked as it is copied.

A backup holds secrets and password verifiers as the data folder does: keep it as safe.

What to type next:

  tailrace inspect DIR --parts           check it
  tailrace restore --from DIR --data NEW`
}

// Run makes the backup.
func (c *BackupCmd) Run(ctx context.Context) error {
	to, err := filepath.Abs(c.To)
	if err != nil {
		return err
	}
	var last server.BackupProgress
	meter := newMeter(os.Stderr, "copied")
	told := func(p server.BackupProgress) {
		last = p
		meter.show(p)
	}
	if c.URL != "" {
		err = backupOver(ctx, c.URL, to, told)
	} else {
		err = server.Backup(ctx, server.Options{Data: c.Data, Version: version()}, to, told)
	}
	var locked *server.LockedError
	if errors.As(err, &locked) {
		return fmt.Errorf("a server (process %s) uses %s: let it make the backup: tailrace backup --url postgres://127.0.0.1:6875/postgres --to %s", locked.PID, locked.Dir, c.To)
	}
	if err != nil {
		return err
	}
	fmt.Printf("backup of %s as of %d in %s: %d parts, %s\n", timeText(last.Time), last.Time, to, last.Parts, bytesText(last.Bytes))
	return nil
}

// backupOver lets a server make the backup.
func backupOver(ctx context.Context, url, to string, told func(server.BackupProgress)) error {
	conn, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, "BACKUP TO '"+strings.ReplaceAll(to, "'", "''")+"'")
	if err != nil {
		return asError(err)
	}
	var p server.BackupProgress
	_, err = pgx.ForEachRow(rows, []any{(*uint64)(&p.Time), &p.Parts, &p.AllParts, &p.Bytes, &p.AllBytes}, func() error {
		told(p)
		return nil
	})
	return asError(err)
}

// RestoreCmd is `tailrace restore`.
type RestoreCmd struct {
	From          string `required:"" placeholder:"DIR" help:"The backup."`
	Data          string `required:"" placeholder:"DIR" help:"The new data folder; it must not exist or be empty."`
	ResumeSources bool   `help:"Leave sources running. Only when the server that was backed up is gone: a replication slot serves one."`
}

// Help is shown by --help.
func (c *RestoreCmd) Help() string {
	return `Every byte of the backup is checked on its way. The new folder has exactly the rows of the backup's time, tables, history, users and secrets. Sources are paused unless
--resume-sources is given, sinks always.

What to type next:

  tailrace serve --data DIR
  psql postgres://127.0.0.1:6875/postgres -c "ALTER SOURCE shop RESUME"`
}

// Run restores the backup.
func (c *RestoreCmd) Run(ctx context.Context) error {
	meter := newMeter(os.Stderr, "restored")
	o := server.RestoreOptions{Options: server.Options{Data: c.Data, Version: version()}, ResumeSources: c.ResumeSources}
	restored, err := server.Restore(ctx, o, c.From, meter.show)
	if err != nil {
		return err
	}
	m := restored.Manifest
	fmt.Printf("restored %s as of %d into %s: %d parts, %s\n", timeText(m.Time), m.Time, c.Data, len(m.Parts), bytesText(m.PartBytes))
	for _, name := range restored.PausedSources {
		fmt.Printf("source %s is paused: ALTER SOURCE %s RESUME, once the server that was backed up follows it no more\n", name, pgx.Identifier{name}.Sanitize())
	}
	for _, name := range restored.PausedSinks {
		fmt.Printf("sink %s is paused: ALTER SINK %s RESUME compares its tables with the target and makes them equal, once the server that was backed up feeds it no more\n", name, pgx.Identifier{name}.Sanitize())
	}
	fmt.Printf("serve it: tailrace serve --data %s\n", c.Data)
	return nil
}

// meter tells a person how far a copy is, each second.
type meter struct {
	to   io.Writer
	verb string
	last time.Time
}

func newMeter(to io.Writer, verb string) *meter { return &meter{to: to, verb: verb, last: time.Now()} }

func (m *meter) show(p server.BackupProgress) {
	done := p.Parts == p.AllParts
	if !done && time.Since(m.last) < time.Second {
		return
	}
	m.last = time.Now()
	fmt.Fprintf(m.to, "%s %d of %d parts, %s of %s\n", m.verb, p.Parts, p.AllParts, bytesText(p.Bytes), bytesText(p.AllBytes))
}

// bytesText is a size for people.
func bytesText(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	v, i := float64(n)/1024, 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	return fmt.Sprintf("%.1f %ciB", v, units[i])
}

// timeText is a log time for people: UTC.
func timeText(t tailrace.Time) string {
	if t == 0 {
		return "-"
	}
	return time.UnixMicro(int64(t)).UTC().Format("2006-01-02 15:04:05.000000Z")
}
