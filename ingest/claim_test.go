package ingest_test

import (
	"fmt"
	"testing"

	"tailrace/catalog"
	"tailrace/ingest"
	"tailrace/internal/pgtest"
	"tailrace/internal/sim"
)

// doing is what a node says of a source.
func (w *world) doing(source catalog.ID) string {
	for _, s := range w.ingest.Status() {
		if s.Source == source {
			return s.State
		}
	}
	return ""
}

// One of two nodes follows a source. It is cut off from the stores while the source's database goes on; the other takes over after the lease, goes on at the
// position committed last, and what the first still had under way is not committed, when it is back.
func TestAnotherNodeGoesOnWithASource(t *testing.T) {
	t.Parallel()
	srv := pgtest.Start(t, settings...)
	first := &world{t: t, srv: srv, db: "postgres", consensus: sim.NewConsensus(), blob: sim.NewBlob(), gate: &sim.Gate{}, changed: make(chan struct{})}
	first.start()
	first.exec("CREATE TABLE t(id int PRIMARY KEY, v text); INSERT INTO t SELECT g, 'old' FROM generate_series(1, 10) g")
	source := first.attach()
	first.live(source)
	second := &world{
		t: t, srv: srv, db: "postgres", consensus: first.consensus, blob: first.blob, gate: &sim.Gate{}, sessions: 100, changed: make(chan struct{}),
	}
	second.start()
	second.until("standing by", func() bool { return second.doing(source) == ingest.Standby })
	first.exec("INSERT INTO t VALUES (11, 'by the first')")
	second.caughtUp(source)
	second.same("t")

	first.gate.Shut()
	first.exec("INSERT INTO t VALUES (12, 'while it was away'); UPDATE t SET v = 'new' WHERE id < 3")
	second.until("the claim", func() bool {
		session, held := second.log.ClaimHolder(fmt.Sprintf("source/%d", source))
		return held && session == second.log.Session()
	})
	first.gate.Open()
	first.stop() // as its process does that finds its session ended; that also frees the slot
	second.caughtUp(source)
	second.same("t")
	second.exec("DELETE FROM t WHERE id = 12")
	second.caughtUp(source)
	second.same("t")
	second.stop()
}
