package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"tailrace/internal/sim"
)

// powered is a machine whose power is cut again and again: its disks, and what clients of the servers on it were told.
type powered struct {
	seed      uint64
	rng       *rand.Rand
	consensus *sim.Consensus
	blob      *sim.Blob

	mu    sync.Mutex
	acked map[int]bool // true: acknowledged; false: sent, outcome unknown
	large map[int]bool // statements of many rows, likewise
}

// life starts a server on what the disks hold.
func (p *powered) life(t *testing.T) *shared {
	s := &shared{t: t, door: newPipes(), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	ready := make(chan Addresses, 1)
	o := Options{
		Drain: time.Second, QueryMemory: MinQueryMemory, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Ready: func(a Addresses) { ready <- a },
		Stores: &Stores{Consensus: p.consensus, Blob: p.blob, Listen: func() (net.Listener, error) { return s.door, nil }},
	}
	go func() { s.ended <- Run(ctx, o) }()
	select {
	case <-ready:
	case err := <-s.ended:
		t.Fatalf("seed %d: start after a power cut: got %v, want none", p.seed, err)
	}
	return s
}

const largeRows = 3000 // of 200 bytes: more than a transaction carries inline, so it goes to parts

// write inserts rows one by one, and sometimes many in a statement, until the power is cut. Before that it opens a transaction that never commits.
func (p *powered) write(c *pgx.Conn, client int, rng *rand.Rand) {
	ctx := context.Background()
	for i := 0; ; i++ {
		id := client<<20 | rng.IntN(1<<20)
		isLarge := rng.IntN(12) == 0
		sent, sql := p.acked, fmt.Sprintf("INSERT INTO t VALUES (%d, 'one')", id)
		if isLarge {
			sent, sql = p.large, fmt.Sprintf("INSERT INTO big SELECT %d, g, repeat('x', 200) FROM generate_series(1, %d) g", id, largeRows)
		}
		p.mu.Lock()
		_, again := sent[id]
		if !again {
			sent[id] = false
		}
		p.mu.Unlock()
		if again {
			continue
		}
		if _, err := c.Exec(ctx, sql); err != nil {
			return
		}
		p.mu.Lock()
		sent[id] = true
		p.mu.Unlock()
		pause(ctx, time.Duration(rng.IntN(2000))*time.Millisecond) // fake time: so that checkpoints, flushes and merges come
	}
}

// check compares what a new server reads with what clients were told.
func (p *powered) check(t *testing.T, c *pgx.Conn) {
	t.Helper()
	rows, err := c.Query(context.Background(), "SELECT id FROM t")
	if err != nil {
		t.Fatal(err)
	}
	there := map[int]bool{}
	var id int
	if _, err := pgx.ForEachRow(rows, []any{&id}, func() error {
		if _, sent := p.acked[id]; !sent || there[id] {
			t.Errorf("seed %d: row %d is there; sent %v, twice %v", p.seed, id, sent, there[id])
		}
		there[id] = true
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for id, acked := range p.acked {
		if acked && !there[id] {
			t.Errorf("seed %d: row %d was acknowledged and is not there", p.seed, id)
		}
		if !there[id] {
			delete(p.acked, id) // decided: it is not there and must not come back
		} else {
			p.acked[id] = true
		}
	}
	for id, acked := range p.large {
		switch n := count(t, c, fmt.Sprintf("SELECT count(*) FROM big WHERE id = %d", id)); {
		case n != 0 && n != largeRows, acked && n == 0:
			t.Errorf("seed %d: statement %d of %d rows (acknowledged %v): got %d", p.seed, id, largeRows, acked, n)
		case n == 0:
			delete(p.large, id)
		default:
			p.large[id] = true
		}
	}
	if n := count(t, c, "SELECT count(*) FROM t WHERE note = 'open'"); n != 0 {
		t.Errorf("seed %d: rows of transactions that did not commit: got %d, want 0", p.seed, n)
	}
}

// The whole server survives power cuts: unsynced writes are lost, acknowledged rows are not, transactions are whole.
func TestAcknowledgedRowsSurvivePowerCuts(t *testing.T) {
	seeds := uint64(2)
	if os.Getenv("TAILRACE_LONG") != "" {
		seeds = 200
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			p := &powered{seed: seed, rng: rand.New(rand.NewPCG(seed, 5)), consensus: sim.NewConsensus(), blob: sim.NewBlob(), acked: map[int]bool{}, large: map[int]bool{}}
			p.consensus.SyncTime, p.blob.SyncTime = 200*time.Microsecond, 700*time.Microsecond
			for life := range 3 {
				s := p.life(t)
				c := s.connect()
				if life == 0 {
					mustExec(t, c, "CREATE TABLE t (id int PRIMARY KEY, note text)")
					mustExec(t, c, "CREATE TABLE big (id int, n int, filler text)")
				}
				p.check(t, c)
				mustExec(t, c, "BEGIN")
				mustExec(t, c, "INSERT INTO t VALUES (-1, 'open')")
				mustExec(t, c, "INSERT INTO big SELECT -1, g, repeat('y', 200) FROM generate_series(1, 3000) g")
				var wg sync.WaitGroup
				for client := range 3 {
					conn := s.connect()
					rng := rand.New(rand.NewPCG(seed, uint64(10*life+client)))
					wg.Go(func() { p.write(conn, client, rng) })
				}
				pause(context.Background(), time.Duration(p.rng.IntN(100_000))*time.Millisecond)
				consensus, blob := p.consensus.PowerCut(p.rng), p.blob.PowerCut(p.rng)
				s.stop()
				<-s.ended // with whatever a server says whose disks are gone
				_ = c.PgConn().Conn().Close()
				wg.Wait()
				p.consensus, p.blob = consensus, blob
			}
			s := p.life(t)
			c := s.connect()
			p.check(t, c)
			if len(p.acked) == 0 || len(p.large) == 0 {
				t.Errorf("seed %d: got %d rows and %d large statements, want some of each", seed, len(p.acked), len(p.large))
			}
			_ = c.Close(context.Background())
			s.leave()
			if seed == 0 && !hasCheckpoint(p.blob) {
				t.Errorf("seed %d: got no checkpoint, want one", seed)
			}
		})
	}
}

func hasCheckpoint(b *sim.Blob) bool {
	for key := range b.List(context.Background(), "checkpoint/") {
		return strings.HasPrefix(key, "checkpoint/")
	}
	return false
}
