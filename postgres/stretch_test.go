package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"tailrace"
	"tailrace/internal/pgtest"
)

func TestStretchesAreTheWholeTable(t *testing.T) {
	for _, blocks := range []int64{0, 1, minStretch - 1, minStretch, 2*minStretch - 1, 2 * minStretch, 5*minStretch + 3, 1 << 40} {
		got := appendStretches(nil, 7, blocks)
		next := int64(0)
		for i, st := range got {
			if st.table != 7 || st.lane != i || st.from != next || st.to == 0 != (i == len(got)-1) {
				t.Errorf("%d blocks: stretch %d is %+v, want lane %d from %d", blocks, i, st, i, next)
			}
			next = st.to
		}
		if want := int(max(1, min(lanes, blocks/minStretch))); len(got) != want {
			t.Errorf("%d blocks: got %d stretches, want %d", blocks, len(got), want)
		}
	}
}

// TestLargeTableIsReadInLanes reads a table of more than two stretches, from which rows are gone and in which rows have moved, beside one that is
// inherited from and one that is partitioned: every row comes once.
func TestLargeTableIsReadInLanes(t *testing.T) {
	srv := pgtest.Start(t, "wal_level=logical")
	srv.Exec(t, `CREATE TABLE large(id text PRIMARY KEY, pad text); ALTER TABLE large ALTER pad SET STORAGE PLAIN; 
		INSERT INTO large SELECT g, repeat('x', 7000) FROM generate_series(0, 9000) g;
		DELETE FROM large WHERE id::int % 3 = 0; UPDATE large SET pad = 'moved' WHERE id::int % 5 = 0;
		CREATE TABLE heir() INHERITS (large); ALTER TABLE heir ADD PRIMARY KEY (id); INSERT INTO heir VALUES ('-1', 'heir');
		CREATE TABLE root(id text PRIMARY KEY) PARTITION BY RANGE (id);
		CREATE TABLE leaf PARTITION OF root FOR VALUES FROM ('0') TO ('9'); INSERT INTO root VALUES ('1')`)
	s := New(configOf(srv, "postgres"))
	ctx := context.Background()
	tables, err := s.Tables(ctx, tailrace.Selection{All: true})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	got, used, done := map[string][]string{}, map[string]bool{}, map[string]int{}
	err = s.Snapshot(ctx, tables, tailrace.SnapshotTo{
		Waiting: func(*tailrace.Error) {}, Begin: func([]byte) error { return nil },
		Rows: func(_ context.Context, table, lane int, b *tailrace.Batch) error {
			mu.Lock()
			defer mu.Unlock()
			name := tables[table].Name
			used[fmt.Sprint(name, lane)] = true
			for i := range b.N {
				got[name] = append(got[name], fmt.Sprintf("%s %.5s", b.Cols[0].Bytes(i), b.Cols[len(b.Cols)-1].Bytes(i)))
			}
			return nil
		},
		Done: func(_ context.Context, table int, err *tailrace.Error) error {
			mu.Lock()
			defer mu.Unlock()
			done[tables[table].Name]++
			if err != nil {
				return err
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, sql := range map[string]string{
		"large": "SELECT id || ' ' || left(pad, 5) FROM ONLY large", "heir": "SELECT id || ' ' || left(pad, 5) FROM heir", "root": "SELECT id || ' ' || id FROM root",
	} {
		var want []string
		for _, row := range srv.Query(t, sql) {
			want = append(want, row[0])
		}
		slices.Sort(got[name])
		slices.Sort(want)
		if !slices.Equal(got[name], want) {
			t.Errorf("%s: got %d rows, want %d: those that are there, each once", name, len(got[name]), len(want))
		}
		if done[name] != 1 {
			t.Errorf("%s: told done %d times, want once", name, done[name])
		}
	}
	if want := map[string]bool{"large0": true, "large1": true, "heir0": true, "root0": true}; len(used) != len(want) {
		t.Errorf("lanes: got %v, want %v", used, want)
	}
}
