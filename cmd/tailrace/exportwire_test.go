package main

import (
	"context"
	"encoding/binary"
	"testing"

	"tailrace"
	"tailrace/format"
)

// wireTypes are of every way that receive goes.
var wireTypes = []tailrace.Type{
	tailrace.TypeOf(tailrace.KindInt4), tailrace.TypeOf(tailrace.KindText), tailrace.TypeOf(tailrace.KindNumeric), tailrace.ArrayOf(tailrace.TypeOf(tailrace.KindInt8)),
	tailrace.TypeOf(tailrace.KindJSONB), tailrace.TypeOf(tailrace.KindTimestamptz),
}

// reader is a wireReader whose batches can be looked at.
func reader() *wireReader {
	w := &wire{types: wireTypes, batches: make(chan *tailrace.Batch, 2), given: make(chan struct{})}
	return &wireReader{ctx: context.Background(), wire: w}
}

// messages are the rows of b as the server sends them.
func messages(b *tailrace.Batch) [][]byte {
	e := &format.Encoder{Layout: format.CopyBinary}
	for _, t := range wireTypes {
		e.Columns = append(e.Columns, format.Col{Type: t})
	}
	out := [][]byte{append(e.AppendStart(nil)[copyHead:], e.AppendRow(nil, b, 0)[copyHead:]...)}
	for i := 1; i < b.N; i++ {
		out = append(out, e.AppendRow(nil, b, i)[copyHead:])
	}
	return append(out, e.AppendEnd(nil)[copyHead:])
}

func rows(t testing.TB) *tailrace.Batch {
	b := &tailrace.Batch{N: 2}
	for i, values := range [][]string{{"1", "-5"}, {"é", ""}, {"1.50", "NaN"}, {"{1,NULL}", "{}"}, {`{"a": 1}`, "null"}, {"2020-01-01 00:00:00+00", "infinity"}} {
		c := tailrace.MakeColumn(wireTypes[i].Kind, 2)
		for _, v := range values {
			if err := format.ParseText(&c, wireTypes[i], v, format.Default()); err != nil {
				t.Fatal(err)
			}
		}
		b.Cols = append(b.Cols, c)
	}
	return b
}

func TestWireReadsWhatTheServerSends(t *testing.T) {
	r, want := reader(), rows(t)
	for _, m := range messages(want) {
		if _, err := r.Write(m); err != nil {
			t.Fatal(err)
		}
	}
	if r.batch.N != want.N {
		t.Fatalf("got %d rows, want %d", r.batch.N, want.N)
	}
	for c := range wireTypes {
		for i := range want.N {
			if got := r.batch.Cols[c].Bytes(i); string(got) != string(want.Cols[c].Bytes(i)) {
				t.Errorf("%s, row %d: got %x, want %x", wireTypes[c], i, got, want.Cols[c].Bytes(i))
			}
		}
	}
}

// FuzzWire: whatever a server sends is a row or an error.
func FuzzWire(f *testing.F) {
	for _, m := range messages(rows(f)) {
		f.Add(m)
	}
	f.Add([]byte(copySignature))
	f.Add(binary.BigEndian.AppendUint32([]byte{0, 6}, 1<<31-1))
	f.Fuzz(func(t *testing.T, message []byte) {
		for _, begun := range []bool{false, true} {
			r := reader()
			r.begun = begun
			if _, err := r.Write(message); err == nil && r.batch != nil {
				for c := range wireTypes {
					if r.batch.Cols[c].N != r.batch.N {
						t.Fatalf("column %d has %d values of %d rows", c, r.batch.Cols[c].N, r.batch.N)
					}
				}
			}
		}
	})
}
