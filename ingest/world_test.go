package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"tailrace"
	"tailrace/budget"
	"tailrace/catalog"
	"tailrace/ingest"
	"tailrace/internal/pgtest"
	"tailrace/internal/sim"
	"tailrace/log"
	"tailrace/pool"
	"tailrace/postgres"
	"tailrace/shard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of a test.
const patience = 30 * time.Second

// world is a node without SQL: log, catalog, shards and ingest over stores in memory, and a real PostgreSQL beside it.
type world struct {
	t         testing.TB
	srv       *pgtest.Server
	db        string // at the source
	consensus *sim.Consensus
	blob      *sim.Blob
	gate      *sim.Gate // between it and stores that another node shares; nil when it has them alone
	sessions  int
	budget    *budget.Node // nil: none
	pool      *pool.Pool   // nil: none
	puts      *puts        // what sees the blob's; nil: nothing

	log    *log.Log
	cat    *catalog.Fold
	shards *shard.Set
	ingest *ingest.Ingest
	stop   func() // ends the node as a kill would: nothing is finished

	mu      sync.Mutex
	changed chan struct{} // closed at the next applied entry
}

var settings = []string{"wal_level=logical", "max_replication_slots=60", "max_wal_senders=60", "max_prepared_transactions=5"}

// kept keeps a server running after the test that started it. The server ends with the process.
type kept struct{ testing.TB }

func (kept) Cleanup(func()) {}

var shared struct {
	once      sync.Once
	srv       *pgtest.Server
	databases atomic.Int32
}

// newWorld starts a node beside a database of its own, on a PostgreSQL that the tests share.
func newWorld(t testing.TB) *world {
	t.Helper()
	shared.once.Do(func() { shared.srv = pgtest.Start(kept{t}, settings...) })
	db := fmt.Sprintf("shop%d", shared.databases.Add(1))
	shared.srv.Exec(t, "CREATE DATABASE "+db)
	return worldAt(t, shared.srv, db)
}

// newWorldAlone starts a node beside a PostgreSQL of its own.
func newWorldAlone(t testing.TB) *world {
	t.Helper()
	return worldAt(t, pgtest.Start(t, settings...), "postgres")
}

func worldAt(t testing.TB, srv *pgtest.Server, db string) *world {
	w := &world{t: t, srv: srv, db: db, consensus: sim.NewConsensus(), blob: sim.NewBlob(), changed: make(chan struct{})}
	w.start()
	t.Cleanup(func() { w.stop() })
	return w
}

// exec runs statements at the source.
func (w *world) exec(sql string) {
	w.t.Helper()
	w.query(sql)
}

// query is exec that returns the rows of the last statement.
func (w *world) query(sql string) [][]string {
	w.t.Helper()
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, w.srv.URLOf(w.db))
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close(ctx)
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	var out [][]string
	for _, row := range results[len(results)-1].Rows {
		var cells []string
		for _, v := range row {
			if v == nil {
				v = []byte("NULL")
			}
			cells = append(cells, string(v))
		}
		out = append(out, cells)
	}
	return out
}

// start runs a node over the stores, from whatever is in them.
func (w *world) start() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w.sessions++
	session := fmt.Sprintf("%016x", w.sessions)
	var err error
	o := log.Options{Consensus: w.consensus, Blob: w.blob, Session: session}
	if w.gate != nil {
		o.Consensus, o.Blob = &sim.GatedConsensus{Under: w.consensus, Gate: w.gate}, &sim.GatedBlob{Under: w.blob, Gate: w.gate}
		o.Shared, o.Lease = true, 2*time.Second
		o.Reads = func() tailrace.Time { return w.shards.ReadsFrom() }
	}
	if w.puts != nil {
		o.Blob = w.puts
	}
	w.log, _, err = log.Open(ctx, o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.cat = catalog.NewFold()
	w.shards = shard.New(o.Blob, session, shard.Options{Budget: w.budget, Pool: w.pool, Ended: w.log.Ended, Others: w.log.OthersRead})
	w.ingest = ingest.New(ingest.Options{
		Budget: w.budget, Log: w.log, Catalog: w.cat, Shards: w.shards, Open: w.open, Environment: w.db, IdlePosition: 20 * time.Millisecond, Backoff: 300 * time.Millisecond,
	})
	var wait sync.WaitGroup
	wait.Go(func() { w.apply(ctx) })
	wait.Go(func() { _ = w.log.Run(ctx) })
	wait.Go(func() { _ = w.shards.Maintain(ctx, w.log.Commit) })
	if _, err := w.log.Sync(ctx); err != nil {
		w.t.Fatal(err)
	}
	wait.Go(func() { _ = w.ingest.Run(ctx) })
	w.stop = func() { cancel(); wait.Wait() }
}

// restart ends the node and starts another over the same stores.
func (w *world) restart() {
	w.stop()
	w.start()
}

func (w *world) open(c ingest.Config) (tailrace.Source, error) {
	pc, err := postgres.FromOptions(c.Options)
	if err != nil {
		return nil, err
	}
	pc.Parse = parse
	pc.StatusInterval = 50 * time.Millisecond
	return &witness{Source: postgres.New(pc), w: w}, nil
}

// witness is a source that sees every Confirm and holds it against the catalog: a position may be confirmed only once it is committed here.
type witness struct {
	*postgres.Source
	w *world
}

func (s *witness) Confirm(position []byte) {
	var newest []byte
	for _, p := range s.w.cat.Current().Positions {
		if bytes.Compare(p, newest) > 0 {
			newest = p
		}
	}
	if bytes.Compare(position, newest) > 0 { // PostgreSQL's positions are big-endian
		s.w.t.Errorf("confirmed %s, but only %s is committed", postgres.PositionText(position), postgres.PositionText(newest))
	}
	s.Source.Confirm(position)
}

func (w *world) apply(ctx context.Context) {
	for e, err := range w.log.Follow(ctx, 0) {
		if err != nil {
			return
		}
		changes, err := w.cat.Apply(e)
		if err != nil {
			w.t.Error(err)
			return
		}
		for _, c := range changes {
			if c.After != nil {
				w.shards.Define(c.After.ID, c.After.Columns, c.After.Retain, c.Time)
			} else {
				w.shards.Drop(c.Before.ID, c.Time)
			}
		}
		if err := w.shards.Apply(e); err != nil {
			w.t.Error(err)
			return
		}
		w.log.Applied(e)
		if w.ingest != nil && len(e.Txns) > 0 {
			w.ingest.Wake()
		}
		w.mu.Lock()
		close(w.changed)
		w.changed = make(chan struct{})
		w.mu.Unlock()
	}
}

// until waits for cond, which is looked at after every applied entry, at least every idle tick.
func (w *world) until(what string, cond func() bool) {
	w.t.Helper()
	deadline := time.After(patience)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		w.mu.Lock()
		changed := w.changed
		w.mu.Unlock()
		if cond() {
			return
		}
		select {
		case <-changed:
		case <-look.C:
		case <-deadline:
			w.t.Fatalf("waited %s for %s; status %+v", patience, what, w.ingest.Status())
		}
	}
}

// commit puts catalog objects as SQL would.
func (w *world) commit(changes ...*catalog.Change) {
	w.t.Helper()
	txn := log.Txn{ReadTime: w.log.Newest(), Reads: []log.Read{{Whole: true}}}
	for _, c := range changes {
		txn.Records = append(txn.Records, c.Record())
	}
	if _, err := w.log.Commit(context.Background(), txn); err != nil {
		w.t.Fatal(err)
	}
}

// putSource puts a copy of s.
func (w *world) putSource(s *catalog.Source) {
	w.t.Helper()
	c := *s
	w.commit(&catalog.Change{Source: &c})
}

// attach creates a source "shop" of the tables, all when none are named, and returns its ID.
func (w *world) attach(tables ...string) catalog.ID {
	w.t.Helper()
	id := w.cat.Current().NextID
	w.commit(
		&catalog.Change{Connection: &catalog.Connection{
			ID: id, Name: "shop", Kind: "postgres",
			Options: map[string]string{"host": "127.0.0.1", "port": fmt.Sprint(w.srv.Port()), "database": w.db, "user": "postgres", "ssl mode": "disable"},
		}},
		&catalog.Change{Source: &catalog.Source{ID: id + 1, Name: "shop", Kind: "postgres", Connection: id, Tables: tables, All: len(tables) == 0}},
	)
	w.ingest.Wake()
	return id + 1
}

// live waits until the source has been copied.
func (w *world) live(source catalog.ID) {
	w.t.Helper()
	w.until("the snapshot", func() bool { return w.cat.Current().Positions[source] != nil })
}

// caughtUp waits until everything that was committed at the source is here.
func (w *world) caughtUp(source catalog.ID) {
	w.t.Helper()
	// A message of its own moves the source's log past everything so far, whatever is published.
	end := w.query("SELECT pg_logical_emit_message(true, 'test', 'x'); SELECT pg_current_wal_insert_lsn()")[0][0]
	w.until("position "+end, func() bool { return lsn(postgres.PositionText(w.cat.Current().Positions[source])) >= lsn(end) })
}

func lsn(text string) uint64 {
	var hi, lo uint64
	if _, err := fmt.Sscanf(text, "%X/%X", &hi, &lo); err != nil {
		return 0
	}
	return hi<<32 | lo
}
