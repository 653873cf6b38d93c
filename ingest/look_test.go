package ingest_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"tailrace/catalog"
	"tailrace/shard"
)

// status is the state of the only source, and why.
func (w *world) status() (state, why string) {
	s := w.ingest.Status()
	if len(s) != 1 {
		w.t.Fatalf("sources: got %d, want 1", len(s))
	}
	return s[0].State, s[0].Reason + " / " + s[0].Hint
}

// says waits until the source is in the state, for a reason or with a hint that contains all of words.
func (w *world) says(want string, words ...string) {
	w.t.Helper()
	w.until("state "+want+" with "+strings.Join(words, ", "), func() bool {
		state, why := w.status()
		for _, word := range words {
			if !strings.Contains(why, word) {
				return false
			}
		}
		return state == want
	})
}

// slots counts the replication slots at the source.
func (w *world) slots() string {
	return w.query("SELECT count(*) FROM pg_replication_slots WHERE database = current_database()")[0][0]
}

// table returns a table of ours.
func (w *world) table(name string) *catalog.Table {
	w.t.Helper()
	t := w.cat.Current().Table("public", name)
	if t == nil {
		w.t.Fatalf("got no table %s, want one", name)
	}
	return t
}

// ours is the rows of a table here, as text, sorted.
func (w *world) ours(name string) []string {
	w.t.Helper()
	t := w.table(name)
	ctx := context.Background()
	cursor, err := w.shards.Shard(t.ID).Snapshot(ctx, shard.SnapshotOptions{AsOf: w.log.Newest()})
	if err != nil {
		w.t.Fatal(err)
	}
	defer cursor.Close()
	var out []string
	for {
		b, err := cursor.Next(ctx)
		if errors.Is(err, io.EOF) {
			slices.Sort(out)
			return out
		}
		if err != nil {
			w.t.Fatal(err)
		}
		for i := range b.N {
			var cells []string
			for c, f := range t.Columns.Fields {
				text := "NULL"
				if !b.Cols[c].IsNull(i) {
					text = print(f.Type, &b.Cols[c], i)
				}
				cells = append(cells, f.Name+"="+text)
			}
			for range b.Diff(i) {
				out = append(out, strings.Join(cells, " "))
			}
			if b.Diff(i) < 0 {
				w.t.Fatalf("got %d copies of %v in %s, want none fewer than 0", b.Diff(i), cells, name)
			}
		}
	}
}

// theirs is the rows of a table at the source, as text, sorted, with the columns that we have.
func (w *world) theirs(name string) []string {
	w.t.Helper()
	var cols []string
	for _, f := range w.table(name).Columns.Fields {
		cols = append(cols, `"`+f.Name+`"`)
	}
	const pin = "SET TimeZone='UTC'; SET DateStyle='ISO, MDY'; SET IntervalStyle='postgres'; SET bytea_output='hex'; SET extra_float_digits=3; SET lc_monetary='C';"
	var out []string
	for _, row := range w.query(pin + "SELECT " + strings.Join(cols, ",") + " FROM " + name) {
		var cells []string
		for i, v := range row {
			cells = append(cells, strings.Trim(cols[i], `"`)+"="+v)
		}
		out = append(out, strings.Join(cells, " "))
	}
	slices.Sort(out)
	return out
}

// same fails unless our copies of the tables equal the source's, cell by cell.
func (w *world) same(tables ...string) {
	w.t.Helper()
	for _, name := range tables {
		got, want := w.ours(name), w.theirs(name)
		for i := range max(len(got), len(want)) {
			g, x := "nothing", "nothing"
			if i < len(got) {
				g = got[i]
			}
			if i < len(want) {
				x = want[i]
			}
			if g != x {
				w.t.Fatalf("table %s: got %d rows, want %d; first difference:\n got %.300s\nwant %.300s", name, len(got), len(want), g, x)
			}
		}
	}
}

// state fails unless the table is in the state, and returns why.
func (w *world) state(name string, want catalog.TableState) string {
	w.t.Helper()
	up := w.table(name).Upstream
	if up.State != want {
		w.t.Fatalf("state of %s: got %s (%s), want %s", name, up.State, up.Reason, want)
	}
	return up.Reason + " / " + up.Hint
}
