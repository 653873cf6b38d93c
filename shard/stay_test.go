package shard

import (
	"context"
	"testing"

	"tailrace"
)

// TestKeptPartsOutliveWhatLetsThemGo: while someone keeps parts, neither merges nor drops nor collections that begin meanwhile lose one, and another node is told; then
// they go.
func TestKeptPartsOutliveWhatLetsThemGo(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 5, true)
	sh := w.shard()
	w.write(ctx, 1000)
	w.try("flush", sh.flush(ctx, w.commit, 1))
	at := w.set.Upper()
	release := w.set.KeepParts()
	kept := map[string]bool{}
	for key := range sh.current().parts() {
		kept[key] = true
	}
	for range 4 {
		w.write(ctx, 500)
		w.try("flush", sh.flush(ctx, w.commit, 1))
		w.try("merge", sh.merge(ctx, w.commit))
		w.set.collect(ctx)
	}
	if got, want := w.set.ReadsFrom(), at-1; got > want {
		t.Errorf("promise to other nodes while parts are kept: got %d, want at most %d", got, want)
	}
	w.set.Drop(table, w.now)
	w.set.collect(ctx)
	w.try("sweep", w.set.sweep(ctx))
	there := map[string]bool{}
	for key, err := range w.store.List(ctx, "part/") {
		if err != nil {
			t.Fatal(err)
		}
		there[key] = true
	}
	for key := range kept {
		if !there[key] {
			t.Errorf("part %s is gone while it was kept", key)
		}
	}
	release()
	w.set.collect(ctx)
	for key := range w.store.List(ctx, "part/") {
		t.Errorf("part %s is left after it was kept", key)
	}
	if got := w.set.ReadsFrom(); got < at || got == tailrace.MaxTime {
		t.Errorf("promise after: got %d, want %d at least", got, at)
	}
}

// TestDescriptionAddsUp: what Describe says of runs and memtable is what the manifest has.
func TestDescriptionAddsUp(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, 6, true)
	sh := w.shard()
	w.write(ctx, 1000)
	w.try("flush", sh.flush(ctx, w.commit, 1))
	w.try("merge", sh.merge(ctx, w.commit))
	w.write(ctx, 10)
	d := w.set.Describe()
	m := sh.current()
	if len(d) != 1 || d[0].ID != table || d[0].Since != m.since || d[0].MemtableBatches != len(m.mem) || len(d[0].State) != len(m.state) || len(d[0].History) != len(m.history) {
		t.Fatalf("description: got %+v", d)
	}
	parts := m.parts()
	for _, runs := range [][]RunDescription{d[0].State, d[0].History} {
		for _, r := range runs {
			rows, bytes := int64(0), int64(0)
			for _, p := range r.Parts {
				rows, bytes = rows+p.Rows, bytes+p.Bytes
				if parts[p.Key] == nil || parts[p.Key].size != p.Bytes {
					t.Errorf("part %s: got %d bytes, the manifest has %+v", p.Key, p.Bytes, parts[p.Key])
				}
				delete(parts, p.Key)
			}
			if rows != r.Rows || bytes != r.Bytes {
				t.Errorf("run: got %d rows and %d bytes, its parts have %d and %d", r.Rows, r.Bytes, rows, bytes)
			}
		}
	}
	if len(parts) > 0 {
		t.Errorf("parts left out: %v", parts)
	}
}
