package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"tailrace"
	"tailrace/file"
	"tailrace/redo"
)

// RedoCmd is `tailrace redo`.
type RedoCmd struct {
	Apply RedoApplyCmd `cmd:"" help:"Bring a database to the state at the redo frontier."`
	Info  RedoInfoCmd  `cmd:"" help:"Show what a redo log has, and whether it is whole."`
}

// redoFrom says which redo log.
type redoFrom struct {
	From string `required:"" placeholder:"DIR" help:"The folder that the feed's REDO option names."`
	Feed string `placeholder:"NAME" help:"The feed; not needed when the folder has one."`
}

// open finds the log. The folder may be in use: nothing in it is changed.
func (c *redoFrom) open(ctx context.Context) (tailrace.Blob, string, error) {
	if st, err := os.Stat(c.From); err != nil {
		return nil, "", err
	} else if !st.IsDir() {
		return nil, "", fmt.Errorf("%s is no folder: give the one that the feed's REDO option names", c.From)
	}
	blob := file.View(c.From)
	feeds, err := redo.Feeds(ctx, blob)
	if err != nil {
		return nil, "", err
	}
	switch {
	case len(feeds) == 0:
		return nil, "", fmt.Errorf("%s has no redo log: give the folder that the feed's REDO option names, which has a folder redo in it", c.From)
	case c.Feed != "" && !slices.Contains(feeds, c.Feed):
		return nil, "", fmt.Errorf("%s has no redo log of a feed %s: give --feed one of %s", c.From, c.Feed, strings.Join(feeds, ", "))
	case c.Feed == "" && len(feeds) > 1:
		return nil, "", fmt.Errorf("%s has the redo logs of several feeds: give --feed one of %s", c.From, strings.Join(feeds, ", "))
	case c.Feed == "":
		return blob, feeds[0], nil
	}
	return blob, c.Feed, nil
}

// RedoApplyCmd is `tailrace redo apply`.
type RedoApplyCmd struct {
	redoFrom
	To        string `required:"" placeholder:"URL" help:"The target: mysql://user@host:3306/database, mariadb://... or postgres://user@host:5432/database."`
	Password  string `env:"TAILRACE_TARGET_PASSWORD" placeholder:"TEXT" help:"The target's password, if it is not in the URL."`
	Overwrite bool   `help:"Empty tables that have rows before the log's rows are loaded. Without it they are an error, and are left as they are."`
}

// Help is shown by --help.
func (c *RedoApplyCmd) Help() string {
	return `When the server and the target are lost, the redo log has what the feed had read: the rows of its start and every change since, with changes of tables. This brings a database to
the exact state at the redo frontier, the time up to which all of the feed's tables are in the log. Nothing but the folder is needed.

How far it came is in the target (database or schema tailrace), in the same transactions: stop it at any moment and type the same again, and it goes on; once more, and it
finds nothing to do. A feed that still runs may write to the folder meanwhile; what it adds later, the next run applies.

  tailrace redo info --from /var/lib/tailrace/redo                       what is there, and is it whole
  tailrace redo apply --from /var/lib/tailrace/redo --to mysql://feed@db2:3306/shop
  tailrace redo apply --from /var/lib/tailrace/redo --feed orders_copy --to postgres://feed@db3/shop`
}

// Run applies the log.
func (c *RedoApplyCmd) Run(ctx context.Context) error {
	blob, feed, err := c.open(ctx)
	if err != nil {
		return err
	}
	sink, err := openTarget(c.To, c.Password)
	if err != nil {
		return err
	}
	defer sink.Close()
	var shown *progress
	var before redo.Progress
	o := redo.ApplyOptions{
		Overwrite: c.Overwrite,
		State:     func(err error) { fmt.Fprintf(os.Stderr, "trying again: %v\n", err) },
		Told: func(p redo.Progress) {
			if shown == nil {
				shown = newProgress(ctx, os.Stderr, "applied", p.Total)
			}
			shown.add(p.Rows-before.Rows, p.Rows-before.Rows, p.Bytes-before.Bytes)
			before = p
		},
	}
	p, err := redo.Apply(ctx, blob, feed, sink, o)
	if shown != nil {
		shown.end()
	}
	if err != nil {
		return cancelledApply(ctx, err)
	}
	if p.Frontier == 0 {
		fmt.Printf("feed %s has no redo frontier yet: a table's first rows are not all in the log; nothing was changed\n", feed)
		return nil
	}
	fmt.Printf("the target has the state of feed %s at %s (%d): %d rows applied\n", feed, frontierText(p.Frontier), p.Frontier, p.Rows)
	return nil
}

// cancelledApply says what a cancelled run left.
func cancelledApply(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return &exitError{exitCancelled, errors.New("cancelled: what was applied stays; type the same again to go on")}
}

// RedoInfoCmd is `tailrace redo info`.
type RedoInfoCmd struct {
	redoFrom
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Help is shown by --help.
func (c *RedoInfoCmd) Help() string {
	return `It reads every byte of the log and changes nothing; the feed may run meanwhile. Times are in UTC, and as microseconds. Damage is listed by object, and the exit status is 1.

  tailrace redo info --from /var/lib/tailrace/redo
  tailrace redo info --from /var/lib/tailrace/redo --json | jq '.redo_frontier.time, .damage'`
}

// Run shows what is there.
func (c *RedoInfoCmd) Run(ctx context.Context) error {
	blob, feed, err := c.open(ctx)
	if err != nil {
		return err
	}
	r, err := redo.Info(ctx, blob, feed)
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(os.Stdout).Encode(r)
	} else {
		err = showRedo(os.Stdout, r)
	}
	if err == nil && len(r.Damage) > 0 {
		err = errors.New("damaged: copy the named objects from another copy of the folder; redo apply stops at the first of them")
	}
	return err
}

// showRedo prints a report as text.
func showRedo(to io.Writer, r *redo.Report) error {
	err := table(to, func(w io.Writer) {
		fmt.Fprintf(w, "feed\t%s, epoch %d, manifest %d\n", r.Feed, r.Epoch, r.Manifest)
		fmt.Fprintf(w, "redo frontier\t%s (%d)\n", r.Frontier.Text, r.Frontier.Micros)
		fmt.Fprintf(w, "holds\t%d rows, %s in %d segments\n", r.Rows, bytesText(r.Bytes), r.Segments)
	})
	if err == nil {
		err = table(to, func(w io.Writer) {
			fmt.Fprintln(w, "\nSPAN\tTABLE\tFRONTIER\tMICROSECONDS\tROWS\tSIZE\tSEGMENTS\tFIRST UPDATE")
			for _, s := range r.Spans {
				name := s.Table
				if name == "" {
					name = "-"
				}
				fmt.Fprintf(w, "%d\t%s\t%s\t%d\t%d\t%s\t%d\t%s\n", s.Span, name, s.Frontier.Text, s.Frontier.Micros, s.Rows, bytesText(s.Bytes), s.Segments, s.First.Text)
			}
		})
	}
	if len(r.Damage) > 0 {
		fmt.Fprintln(to, "\nDAMAGE")
	}
	for _, d := range r.Damage {
		fmt.Fprintf(to, "%s: %s\n", d.Object, d.Error)
	}
	return err
}

// frontierText is a frontier for people.
func frontierText(t tailrace.Time) string {
	if t == tailrace.MaxTime {
		return "its end"
	}
	return timeText(t)
}
