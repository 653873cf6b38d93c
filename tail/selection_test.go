package tail

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"tailrace"
	"tailrace/log"
	"tailrace/shard"
)

// follow subscribes to the table, until the test ends.
func (w *world) follow(r Request) *Subscription {
	w.t.Helper()
	r.Table, r.Now = w.table, w.tail.Newest()
	s, err := w.tail.Subscribe(context.Background(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.Close() })
	return s
}

// randomSelection is some columns of the table (a, b, tc) and a condition on b, or nil.
func randomSelection(rng *rand.Rand, table *tailrace.Schema) *Selection {
	if rng.IntN(2) == 0 {
		return nil
	}
	sel := &Selection{}
	for _, c := range rng.Perm(3)[:1+rng.IntN(3)] {
		sel.Columns, sel.Names = append(sel.Columns, c), append(sel.Names, table.Fields[c].Name)
	}
	if rng.IntN(4) == 0 {
		sel.Columns, sel.Names = []int{0, 1, 2}, []string{"a", "b", "tc"}
	}
	if b := rng.Int64N(5); rng.IntN(3) > 0 {
		where(sel, table, b, rng.IntN(2) == 0)
	}
	return sel
}

// where makes sel follow the rows whose b is n, or (not equal) those whose b is another.
func where(sel *Selection, table *tailrace.Schema, n int64, equal bool) {
	sel.ID, sel.Reads = fmt.Sprint("b ", n, equal), []int{1}
	sel.Where = func(b *tailrace.Batch, i int) (bool, error) { return (b.Cols[1].Int64s()[i] == n) == equal, nil }
	if !equal {
		return
	}
	c := tailrace.MakeColumn(table.Fields[1].Type.Kind, 1)
	c.AppendInt64(n)
	key := tailrace.AppendKey(nil, table.Fields[1].Type, &c, 0)
	sel.Equal = &Equal{Field: 1, Key: string(key)}
	sel.Ranges = []shard.Range{{Column: table.Fields[1].ID, Type: table.Fields[1].Type, Spans: []shard.Span{{Low: key, High: key}}}}
}

// TestSelectionIsThePartOfTheWhole: what a selection gives is what is left of the whole table's rows, as the whole changes: many routed readers, some behind the window.
func TestSelectionIsThePartOfTheWhole(t *testing.T) {
	for seed := range uint64(20) {
		ctx := context.Background()
		rng := rand.New(rand.NewPCG(seed, 11))
		w := newWorld(t, &datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "a"}, {Key: "b"}, {Key: "tc"}, {Key: "pieces", Vals: []string{"7"}}}})
		s := *w.table.Columns
		s.Key = []int{0}
		w.table.Columns = &s
		w.shards.Define(7, &s, w.table.Retain, 1)
		commit := func(_ context.Context, txn log.Txn) (tailrace.Time, error) {
			at := w.tail.Newest() + 1
			w.apply(at, txn.Records, nil)
			return at, nil
		}
		model := map[int64]string{}
		for range 10 {
			w.randomCommit(rng, model, commit)
		}
		whole := w.follow(Request{Snapshot: true})
		parts := make([][]*reading, 5) // by b; enough of each for one reading of the snapshot for all
		for b := range parts {
			for range 4 {
				sel := &Selection{Columns: []int{1, 0, 2}, Names: []string{"b", "a", "tc"}}
				where(sel, w.table.Columns, int64(b), true)
				r := Request{Snapshot: true, Selection: sel}
				parts[b] = append(parts[b], &reading{s: w.follow(r), r: r})
			}
		}
		for range 60 {
			switch rng.IntN(5) {
			case 0:
				w.run(&datadriven.TestData{Cmd: "evict"})
			case 1:
				if err := w.shards.Flush(ctx, commit); err != nil {
					t.Fatal(err)
				}
			case 2:
				of := parts[rng.IntN(len(parts))]
				of[rng.IntN(len(of))].fetch(t, rng.IntN(30))
			default:
				w.randomCommit(rng, model, commit)
			}
		}
		all := &reading{s: whole}
		all.fetch(t, -1)
		want := make([][]string, 5)
		for _, row := range all.rows { // time diff a b tc
			f := strings.SplitN(row, " ", 5)
			f[2], f[3] = f[3], f[2]
			b := f[2][0] - '0'
			want[b] = append(want[b], strings.Join(f, " "))
		}
		for b, of := range parts {
			for i, rd := range of {
				rd.fetch(t, -1)
				if got, exp := strings.Join(rd.rows, "\n"), strings.Join(want[b], "\n"); got != exp {
					t.Fatalf("seed %d, b = %d, reader %d:\ngot  %s\nwant %s", seed, b, i, got, exp)
				}
			}
		}
		if w.tail.Frames().Buses == 0 {
			t.Fatalf("seed %d: no snapshot was read for many", seed)
		}
	}
}
