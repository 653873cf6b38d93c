package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"tailrace/server"
)

// InspectCmd is `tailrace inspect`.
type InspectCmd struct {
	Path  string `arg:"" help:"A data folder, a backup, or the file of one part."`
	Parts bool   `help:"Of a folder: show every part's columns and encodings too. With --json they are there in any case."`
	Fast  bool   `help:"Check that everything is there, and not every byte of it; JSON then has no parts."`
	JSON  bool   `name:"json" help:"Print one JSON object: docs/operation.md has its fields."`
}

// Help is shown by --help.
func (c *InspectCmd) Help() string {
	return `It shows format, log, checkpoint, sessions, claims, catalog and what each collection is made of, and changes nothing. A server may run on the folder: what is shown is then
what a crash at that moment would have left. Times are in UTC, and as the number that AS OF takes.

Every checksum is checked, and every page decoded, unless --fast is given. Damage is listed by part, column and page, and the exit status is 1.

  tailrace inspect ./data                              everything, and whether it is whole
  tailrace inspect ./data/blob/part/5e.../3            one part: columns, encodings, sizes, statistics
  tailrace inspect ./data --json | jq '.parts[].columns[] | [.name, .type, .bytes, .sha256]'`
}

// errDamage ends the command with status 1 after what it printed.
var errDamage = errors.New("damaged: restore a backup, or ask for help with the lines above")

// Run shows what is there.
func (c *InspectCmd) Run(ctx context.Context) error {
	st, err := os.Stat(c.Path)
	if err != nil {
		return err
	}
	if !st.IsDir() {
		return c.part(ctx)
	}
	in, err := server.Inspect(ctx, c.Path, server.InspectOptions{Parts: !c.Fast})
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(os.Stdout).Encode(in)
	} else {
		if !c.Parts {
			in.Parts = nil
		}
		err = showInspection(os.Stdout, in)
	}
	if err == nil && len(in.Damage) > 0 {
		err = errDamage
	}
	return err
}

// part shows one part.
func (c *InspectCmd) part(ctx context.Context) error {
	if !server.IsPart(c.Path) {
		return fmt.Errorf("%s is no part: name a data folder, a backup, or a file below its blob/part", c.Path)
	}
	p, err := server.InspectPart(ctx, c.Path, c.Fast)
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(os.Stdout).Encode(p)
	} else {
		err = table(os.Stdout, func(w io.Writer) {
			showPart(w, p)
			showDamage(w, p.Damage)
		})
	}
	if err == nil && len(p.Damage) > 0 {
		err = errDamage
	}
	return err
}

// table aligns the columns that fn separates with tabs.
func table(to io.Writer, fn func(io.Writer)) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fn(w)
	return w.Flush()
}

// showInspection prints everything as text.
func showInspection(to io.Writer, in *server.Inspection) error {
	for _, section := range []func(io.Writer){
		func(w io.Writer) { showHead(w, in) },
		func(w io.Writer) { showCatalog(w, &in.Catalog) },
		func(w io.Writer) { showCollections(w, in.Collections) },
		func(w io.Writer) {
			for _, p := range in.Parts {
				showPart(w, p)
			}
		},
		func(w io.Writer) { showDamage(w, in.Damage) },
	} {
		if err := table(to, section); err != nil {
			return err
		}
	}
	return nil
}

func showHead(w io.Writer, in *server.Inspection) {
	f := in.Format
	switch {
	case f.Major == 0:
		fmt.Fprintf(w, "%s folder\t%s\nformat\tof before there was a FORMAT file\n", in.Kind, in.Folder)
	default:
		fmt.Fprintf(w, "%s folder\t%s\nformat\t%d.%d, written by %s\nenvironment\t%s\n", in.Kind, in.Folder, f.Major, f.Minor, f.WrittenBy, f.Environment)
	}
	if l := in.Log; l != nil {
		fmt.Fprintf(w, "log\tentry %d to %d, %d transactions and %d ticks, %s, on disk %s\n", l.Oldest, l.Head, l.Transactions, l.Ticks, bytesText(l.Bytes), bytesText(l.FromFolder))
		fmt.Fprintf(w, "\t%s (%d)\n\t%s (%d)\n", timeText(l.OldestTime), l.OldestTime, timeText(l.HeadTime), l.HeadTime)
	}
	if c := in.Checkpoint; c != nil {
		fmt.Fprintf(w, "checkpoint\tentry %d, %s (%d), %s\n", c.Seq, timeText(c.Time), c.Time, bytesText(c.Bytes))
	} else {
		fmt.Fprintln(w, "checkpoint\tnone")
	}
	fmt.Fprintf(w, "shown\t%s (%d)\n", timeText(in.Time), in.Time)
	fmt.Fprintf(w, "sessions\t%d open%s, %d ended\n", len(in.Sessions.Open), listed(in.Sessions.Open), in.Sessions.Ended)
	for _, c := range in.Sessions.Claims {
		fmt.Fprintf(w, "claim\t%s, session %s since %s\n", c.Name, c.Session, timeText(c.Epoch))
	}
	fmt.Fprintf(w, "local index\t%s\n", bytesText(in.IndexBytes))
}

// listed is names after a colon.
func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

func showCatalog(w io.Writer, c *server.CatalogSummary) {
	fmt.Fprintln(w, "\nCATALOG")
	for _, group := range []struct {
		what  string
		names []string
	}{
		{"schemas", c.Schemas}, {"views", c.Views}, {"types", c.Types}, {"connections", c.Connections}, {"secrets", c.Secrets}, {"users", c.Users},
	} {
		if len(group.names) > 0 {
			fmt.Fprintf(w, "%s\t%s\n", group.what, strings.Join(group.names, ", "))
		}
	}
	for _, s := range c.Sources {
		state := "running"
		switch {
		case s.Error != "":
			state = "error: " + s.Error
		case s.Paused:
			state = "paused"
		}
		fmt.Fprintf(w, "source\t%s (%s), %s, position %s\n", s.Name, s.Kind, state, s.Position)
	}
	fmt.Fprintf(w, "tables\t%d\n", len(c.Tables))
	for _, t := range c.Tables {
		of := ""
		if t.Source != "" {
			of = fmt.Sprintf(", of source %s, %s", t.Source, t.State)
		}
		fmt.Fprintf(w, "\t%s (%d), %d columns%s\n", t.Name, t.ID, t.Columns, of)
	}
}

func showCollections(w io.Writer, all []server.CollectionExtent) {
	fmt.Fprintln(w, "\nCOLLECTIONS")
	for i := range all {
		c := &all[i]
		name := c.Name
		if name == "" {
			name = "(no table)"
		}
		fmt.Fprintf(w, "%s\tid %d, keeps %s, %d merges\n", name, c.ID, c.Retain, c.Merges)
		fmt.Fprintf(w, "\tsince %s (%d)\n\tflushed %s (%d)\n\tfolded %s (%d)\n", timeText(c.Since), c.Since, timeText(c.Flushed), c.Flushed, timeText(c.Folded), c.Folded)
		fmt.Fprintf(w, "\tmemtable %d batches, %s", c.MemtableBatches, bytesText(c.MemtableBytes))
		if c.MemtableBatches > 0 {
			fmt.Fprintf(w, ", %s to %s", timeText(c.MemtableFrom), timeText(c.MemtableTo))
		}
		fmt.Fprintln(w)
		for _, name := range slices.Sorted(maps.Keys(c.Holds)) {
			fmt.Fprintf(w, "\thold %s at %s (%d)\n", name, timeText(c.Holds[name]), c.Holds[name])
		}
		showRuns(w, "state", c.State)
		showRuns(w, "history", c.History)
	}
}

func showRuns(w io.Writer, kind string, runs []server.RunExtent) {
	for _, r := range runs {
		span := "up to " + timeText(max(r.Upper, 1)-1)
		if kind == "history" {
			span = fmt.Sprintf("%s to %s", timeText(r.Lower), timeText(max(r.Upper, 1)-1))
		}
		fmt.Fprintf(w, "\t%s %s: %d rows, %s in %d parts\n", kind, span, r.Rows, bytesText(r.Bytes), len(r.Parts))
		for _, p := range r.Parts {
			fmt.Fprintf(w, "\t  %s  %d rows, %s\n", p.Key, p.Rows, bytesText(p.Bytes))
		}
	}
}
