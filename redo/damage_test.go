package redo

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"tailrace"
	"tailrace/internal/sim"
)

// copyOf is a copy of blob in which one value is another, or gone if nil.
func copyOf(t testing.TB, blob tailrace.Blob, key string, value []byte) *sim.Blob {
	t.Helper()
	out := sim.NewBlob()
	for _, k := range keys(t, blob) {
		raw, err := blob.Get(context.Background(), k, 0, -1)
		if k == key {
			raw = value
		}
		if err == nil && raw != nil {
			err = out.Put(context.Background(), k, raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// small is a log with some of everything.
func small(t *testing.T) *sim.Blob {
	blob := sim.NewBlob()
	w, stop := open(t, blob, options(1))
	table := tableOf(7, "t", 0, "id:int name:text")
	add(t, w, 7, Piece{Kind: Snapshot, Table: table, Rows: batchOf(table, []update{{5, 1, "1|a"}}), To: Position{Time: 5}})
	settled(t, w)
	flushed(t, w, 6)
	add(t, w, 7, Piece{Kind: Alter, Alter: &tailrace.SinkAlter{Kind: tailrace.SinkTruncate, Before: table, After: table}, To: Position{Time: 7}})
	settled(t, w)
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return blob
}

// readAll reads a log as Apply does, and as Info does.
func readAll(blob tailrace.Blob) (applied error, r *Report, info error) {
	ctx := context.Background()
	l, err := readLog(ctx, blob, "f")
	if err == nil {
		for span, places := range l.places {
			c := &cursor{blob: blob, span: span, places: places, window: 1 << 20}
			for err = c.start(ctx, Position{}); err == nil && c.kind != 0; {
				if err = c.open(ctx); err == nil {
					err = c.take(ctx, c.left())
				}
			}
			if err != nil {
				break
			}
		}
	}
	r, info = Info(ctx, blob, "f")
	return err, r, info
}

func TestDamageIsFoundAndNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := small(t)
		check := func(what, key string, value []byte) {
			t.Helper()
			applied, r, err := readAll(copyOf(t, whole, key, value))
			if err == nil && len(r.Damage) > 0 {
				err = errors.New(r.Damage[0].Object + ": " + r.Damage[0].Error)
			}
			if err == nil || !strings.Contains(err.Error(), key) {
				t.Errorf("info of a log with %s %s: got %v, want an error with its name", key, what, err)
			}
			inHead := strings.Contains(key, segmentRoom) && strings.HasSuffix(what, "in the head")
			if !inHead && (!errors.Is(applied, tailrace.ErrCorrupt) || !strings.Contains(applied.Error(), key)) {
				t.Errorf("apply of a log with %s %s: got %v, want ErrCorrupt with its name", key, what, applied)
			}
		}
		all := keys(t, whole)
		newest := all[len(all)-1-strings.Count(strings.Join(all, " "), segmentRoom)]
		for _, key := range all {
			raw, err := whole.Get(context.Background(), key, 0, -1)
			if err != nil {
				t.Fatal(err)
			}
			if key != newest { // a store without the newest manifest is the store of before it
				check("missing", key, nil)
			}
			for i := range raw {
				flipped := append([]byte(nil), raw...)
				flipped[i] ^= 0x10
				what := "flipped"
				if i < segmentHead {
					what = "flipped in the head"
				}
				check(what, key, flipped)
				if i > segmentHead {
					check("cut", key, raw[:i])
				}
			}
		}
	})
}

func TestInfoOfAWholeLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blob := small(t)
		_, r, err := readAll(blob)
		if err != nil {
			t.Fatal(err)
		}
		s := r.Spans[0]
		if r.Rows != 2 || r.Segments != 3 || len(r.Damage) != 0 || r.Frontier.Text != "1970-01-01T00:00:00.000007Z" || s.Table != "public.t" || s.First.Micros != 5 || s.Last.Micros != 7 {
			t.Errorf("got %+v", r)
		}
		if _, err := Info(context.Background(), blob, "g"); !errors.Is(err, tailrace.ErrNotFound) {
			t.Errorf("info of a feed that is not there: got %v, want ErrNotFound", err)
		}
	})
}

func FuzzRecord(f *testing.F) {
	table := tableOf(7, "t", 1, "id:int name:text")
	d := &draft{region: region{span: 7}}
	d.table([]byte(`{"Collection":7,"Schema":"public","Name":"t","Columns":{"Fields":[],"Key":[0]}}`))
	f.Add(d.bytes)
	d.bytes = nil
	d.add(Changes, batchOf(table, []update{{5, 1, "1|a"}}), 0)
	f.Add(d.bytes)
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := &cursor{span: 7, table: table}
		for len(raw) > 0 {
			r, rest, err := readRecord(raw)
			if err == nil {
				err = c.read(&r)
			}
			if err != nil {
				if !errors.Is(err, tailrace.ErrCorrupt) {
					t.Fatalf("got %v, want ErrCorrupt", err)
				}
				return
			}
			raw = rest
		}
	})
}

// FuzzRecordPayload gets past the checksum.
func FuzzRecordPayload(f *testing.F) {
	table := tableOf(7, "t", 1, "id:int name:text")
	f.Add(byte(Changes), tailrace.AppendBatch(nil, batchOf(table, []update{{5, 1, "1|a"}})))
	f.Add(byte(kindTable), []byte(`{"Columns":{"Fields":[],"Key":[0]}}`))
	f.Add(byte(Alter), []byte(`{"Before":{"Columns":{"Fields":[]}}}`))
	f.Fuzz(func(t *testing.T, kind byte, payload []byte) {
		raw := appendRecord(nil, Kind(kind), 7, 5, func(dst []byte) []byte { return append(dst, payload...) })
		r, _, err := readRecord(raw)
		if err == nil {
			err = (&cursor{span: 7, table: table}).read(&r)
		}
		if err != nil && !errors.Is(err, tailrace.ErrCorrupt) {
			t.Fatalf("got %v, want ErrCorrupt", err)
		}
	})
}

func FuzzManifest(f *testing.F) {
	for _, m := range exampleManifests() {
		f.Add(m.encode()[frameHead:])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, magic := range []string{manifestMagic, pageMagic} {
			raw := endFrame(append(beginFrame(magic, 0), body...))
			m, err := decodeManifest(raw)
			if magic == pageMagic {
				_, err = decodePage(raw)
			}
			if err != nil && !errors.Is(err, tailrace.ErrCorrupt) {
				t.Fatalf("got %v, want ErrCorrupt", err)
			}
			if m != nil && magic == manifestMagic {
				if _, err := decodeManifest(m.encode()); err != nil {
					t.Fatalf("what was read and written again: got %v", err)
				}
			}
		}
	})
}
