package ingest_test

import (
	"testing"

	"tailrace/budget"
)

// TestSourcesStayInTheirShare: a transaction that is several times what may be read ahead is applied whole, keys that it changes twice among it.
func TestSourcesStayInTheirShare(t *testing.T) {
	w := newWorld(t)
	w.stop()
	var err error
	w.budget, err = budget.New(budget.Least, map[string]int64{budget.Ingest: 1 << 20, budget.Transactions: 4 << 20, budget.Memtables: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	w.start()
	w.exec("CREATE TABLE big (id int PRIMARY KEY, a int, b text)")
	source := w.attach("big")
	w.live(source)
	w.exec("INSERT INTO big SELECT g, 0, repeat('x', 200) FROM generate_series(1, 40000) g; UPDATE big SET a = 1 WHERE id % 2 = 0; DELETE FROM big WHERE id % 3 = 0")
	w.exec("UPDATE big SET b = 'y' || b")
	w.caughtUp(source)
	w.same("big")
	w.stop()
	for _, name := range []string{budget.Ingest, budget.Transactions} {
		if u := w.budget.Share(name).Usage(); u.Used != 0 || u.Peak > u.Limit || u.Peak < u.Limit/4 {
			t.Errorf("got %+v, want it used up to its limit and given back", u)
		}
	}
}
