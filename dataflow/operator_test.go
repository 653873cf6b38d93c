package dataflow

import (
	"testing"

	"tailrace"
)

// TestUnionIsLinear: what comes out of some updates together is what comes out of each, and constants come once.
func TestUnionIsLinear(t *testing.T) {
	schema := &tailrace.Schema{Version: 1, Fields: []tailrace.Field{{ID: 1, Name: "a", Type: tailrace.TypeOf(tailrace.KindInt4)}}}
	batch := func(diff tailrace.Diff, values ...int32) *tailrace.Batch {
		b := tailrace.NewBatch(schema, 0)
		for _, v := range values {
			b.Cols[0].Append([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
			b.AppendDiff(diff)
		}
		return b
	}
	x, y := &Scan{Table: 1, Schema: schema}, &Scan{Table: 2, Schema: schema}
	u := &Union{In: []Operator{x, y, &Constant{Schema: schema, Batch: batch(1, 9)}}, Schema: schema}
	apply := func(first bool, of map[*Scan]*tailrace.Batch) *tailrace.Batch {
		out, err := u.Apply(&Input{First: first, Of: func(o *Scan) *tailrace.Batch { return of[o] }})
		if err != nil {
			t.Fatal(err)
		}
		return consolidated(schema, out)
	}
	if out := apply(true, map[*Scan]*tailrace.Batch{x: batch(1, 1, 2), y: batch(1, 2)}); out.N != 3 || out.Diff(1) != 2 {
		t.Fatalf("the first: %d rows, diffs %v; want 1, 2 twice, 9", out.N, out.Diffs)
	}
	if out := apply(false, map[*Scan]*tailrace.Batch{x: batch(-1, 2), y: batch(1, 2)}); out.N != 0 {
		t.Fatalf("a row that moves from one table to the other: %d updates, want none", out.N)
	}
	if got := Scans(u); len(got) != 2 || got[0] != x || got[1] != y {
		t.Fatalf("tables of the union: %v", got)
	}
}
