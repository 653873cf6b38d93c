package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/sys/unix"

	"tailrace"
)

// tableState is a row of mz_internal.mz_source_tables.
type tableState struct {
	schema, name   string
	state          string
	reason, hint   string
	rows, estimate int64
}

// sourceExists asks the server whether it has a source of that name.
func (a *AttachCmd) sourceExists(ctx context.Context, conn *pgx.Conn, source string) (bool, error) {
	rows, err := conn.Query(ctx, "SELECT name FROM mz_internal.mz_sources WHERE name = "+literal(source))
	if err != nil {
		return false, asError(err)
	}
	found := rows.Next()
	rows.Close()
	return found, asError(rows.Err())
}

// follow shows how far the source's snapshot is, until all of its tables are live or one of them is not going to be.
func follow(ctx context.Context, conn *pgx.Conn, source, server string) error {
	show := progressLines(os.Stdout)
	if isTerminal(os.Stdout) {
		show = progressBar(ctx, os.Stdout)
	}
	defer show.end()
	said := ""
	for {
		state, why, hint, err := sourceState(ctx, conn, source)
		if err != nil {
			return err
		}
		tables, err := tableStates(ctx, conn, source)
		if err != nil {
			return err
		}
		if why != "" && why != said {
			said = why
			show.say(fmt.Sprintf("%s: %s", state, why))
			if hint != "" {
				show.say("  " + hint)
			}
		}
		switch state {
		case "lost":
			return &tailrace.Error{Code: "55000", Message: why, Hint: hint}
		case "paused":
			return &tailrace.Error{
				Code: "55000", Message: fmt.Sprintf("source %s is paused", source),
				Hint: fmt.Sprintf("At the Tailrace server: ALTER SOURCE %s RESUME; then run this command again.", pgx.Identifier{source}.Sanitize()),
			}
		case "":
			return &tailrace.Error{Code: "42704", Message: fmt.Sprintf("source %s was dropped", source), Hint: "Run this command again to create it anew."}
		}
		show.update(tables)
		if state == "live" && len(tables) > 0 && settled(tables) {
			show.end()
			return conclude(os.Stdout, tables, server)
		}
		if err := pause(ctx, statusEvery); err != nil {
			return err
		}
	}
}

func settled(tables []tableState) bool {
	for _, t := range tables {
		if t.state == "snapshot" {
			return false
		}
	}
	return true
}

// conclude says what to type next. Tables in error make it an error.
func conclude(w io.Writer, tables []tableState, server string) error {
	var first *tableState
	var bad []string
	for i, t := range tables {
		switch {
		case t.state == "error":
			bad = append(bad, t.schema+"."+t.name)
			fmt.Fprintf(w, "error      %s.%s: %s\n           %s\n", t.schema, t.name, t.reason, t.hint)
		case first == nil || t.rows > first.rows:
			first = &tables[i]
		}
	}
	if first != nil {
		name := pgx.Identifier{first.schema, first.name}.Sanitize()
		if plainName(first.name) && first.schema == "public" {
			name = first.name
		}
		fmt.Fprintf(w, "Live: %d. Watch one:\n\n  psql %s -c %s\n\n", len(tables)-len(bad), server, shellQuote("COPY (SUBSCRIBE "+name+") TO STDOUT"))
	}
	if len(bad) > 0 {
		return &tailrace.Error{Code: "55000", Message: "not live: " + strings.Join(bad, ", "), Hint: "See the lines above for what mends each."}
	}
	return nil
}

func plainName(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_0123456789") == ""
}

func shellQuote(s string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, `$`, `\$`).Replace(s) + `"`
}

func sourceState(ctx context.Context, conn *pgx.Conn, source string) (state, reason, hint string, err error) {
	rows, err := conn.Query(ctx, "SELECT state, coalesce(reason, ''), coalesce(hint, '') FROM mz_internal.mz_sources WHERE name = "+literal(source))
	if err != nil {
		return "", "", "", asError(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&state, &reason, &hint); err != nil {
			return "", "", "", err
		}
	}
	return state, reason, hint, asError(rows.Err())
}

func tableStates(ctx context.Context, conn *pgx.Conn, source string) ([]tableState, error) {
	rows, err := conn.Query(ctx, `SELECT schema, table_name, state, coalesce(reason, ''), coalesce(hint, ''), coalesce(rows_done, 0), coalesce(rows_estimate, -1)
		FROM mz_internal.mz_source_tables WHERE source = `+literal(source)+" ORDER BY schema, table_name")
	if err != nil {
		return nil, asError(err)
	}
	defer rows.Close()
	var out []tableState
	for rows.Next() {
		var t tableState
		if err := rows.Scan(&t.schema, &t.name, &t.state, &t.reason, &t.hint, &t.rows, &t.estimate); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, asError(rows.Err())
}

// shower is a way to show progress.
type shower struct {
	update func([]tableState)
	say    func(string)
	end    func()
}

// totals sums the rows of all tables. A table that is live is done, whatever the estimate was.
func totals(tables []tableState) (rows, estimate int64) {
	for _, t := range tables {
		rows += t.rows
		if t.state == "snapshot" {
			estimate += max(t.estimate, t.rows)
		} else {
			estimate += t.rows
		}
	}
	return rows, estimate
}

// progressLines prints a line at every 10 %.
func progressLines(w io.Writer) *shower {
	last := -1
	return &shower{
		update: func(tables []tableState) {
			rows, estimate := totals(tables)
			if len(tables) == 0 {
				return
			}
			tenth := 10
			if estimate > 0 {
				tenth = int(10 * rows / estimate)
			}
			switch {
			case !settled(tables) && estimate == 0:
				tenth = 0
			case !settled(tables):
				tenth = min(tenth, 9) // only live tables make it complete
			}
			if tenth > last {
				last = tenth
				fmt.Fprintf(w, "snapshot   %3d %%  %d rows\n", 10*tenth, rows)
			}
		},
		say: func(line string) { fmt.Fprintln(w, line) },
		end: func() {},
	}
}

// progressBar draws a bar.
func progressBar(ctx context.Context, w io.Writer) *shower {
	p := mpb.NewWithContext(ctx, mpb.WithOutput(w), mpb.WithWidth(50))
	bar := p.AddBar(1, mpb.PrependDecorators(decor.Name("snapshot ")),
		mpb.AppendDecorators(decor.CurrentNoUnit("%d rows"), decor.Name("  "), decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO), "")))
	return &shower{
		update: func(tables []tableState) {
			rows, estimate := totals(tables)
			done := settled(tables) && len(tables) > 0
			if !done {
				estimate = max(estimate, rows+1) // only live tables make it complete
			}
			bar.SetTotal(estimate, done)
			bar.SetCurrent(rows)
		},
		say: func(line string) { _, _ = p.Write([]byte(line + "\n")) }, // a terminal that is gone shows nothing
		end: func() {
			bar.Abort(false)
			p.Wait()
		},
	}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
