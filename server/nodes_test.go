package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

// pipes is a listener without sockets: each dial makes a net.Pipe.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// shared is a node on stores that others use too, in this process, without files and sockets.
type shared struct {
	t     *testing.T
	door  *pipes
	gate  *sim.Gate
	stop  context.CancelFunc
	ended chan error
}

// join starts a node on the stores.
func join(t *testing.T, consensus tailrace.Consensus, blob tailrace.Blob, number int) *shared {
	t.Helper()
	s := &shared{t: t, door: newPipes(), gate: &sim.Gate{}, ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	ready := make(chan Addresses, 1)
	o := Options{
		Drain: time.Second, QueryMemory: MinQueryMemory, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Ready: func(a Addresses) { ready <- a },
		Stores: &Stores{
			Consensus: &sim.GatedConsensus{Under: consensus, Gate: s.gate}, Blob: &sim.GatedBlob{Under: blob, Gate: s.gate},
			Shared: true, Session: fmt.Sprintf("%016x", number), Listen: func() (net.Listener, error) { return s.door, nil },
		},
	}
	go func() { s.ended <- Run(ctx, o) }()
	select {
	case <-ready:
	case err := <-s.ended:
		t.Fatalf("node %d: got %v, want it to start", number, err)
	}
	return s
}

func (s *shared) connect() *pgx.Conn {
	s.t.Helper()
	config, err := pgx.ParseConfig("postgres://tester@pipe/postgres?sslmode=disable")
	if err != nil {
		s.t.Fatal(err)
	}
	config.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"127.0.0.1"}, nil }
	config.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return s.door.dial(ctx) }
	conn, err := pgx.ConnectConfig(context.Background(), config)
	if err != nil {
		s.t.Fatalf("connect: got %v, want none", err)
	}
	return conn
}

func (s *shared) leave() {
	s.t.Helper()
	s.stop()
	if err := <-s.ended; err != nil {
		s.t.Errorf("run: got %v, want none", err)
	}
}

func mustExec(t *testing.T, c *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := c.Exec(context.Background(), sql, args...); err != nil {
		t.Fatalf("%s: got %v, want none", sql, err)
	}
}

func count(t *testing.T, c *pgx.Conn, sql string) (n int) {
	t.Helper()
	if err := c.QueryRow(context.Background(), sql).Scan(&n); err != nil {
		t.Fatalf("%s: got %v, want none", sql, err)
	}
	return n
}

// What is acknowledged by one node is read by the next statement on another, and both count up the same row.
func TestTwoNodesAreOneDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		consensus, blob := sim.NewConsensus(), sim.NewBlob()
		a, b := join(t, consensus, blob, 1), join(t, consensus, blob, 2)
		on := []*pgx.Conn{a.connect(), b.connect()}
		mustExec(t, on[0], "CREATE TABLE t (id int PRIMARY KEY, n int)")
		mustExec(t, on[1], "INSERT INTO t VALUES (0, 0)")
		for i := 1; i <= 20; i++ {
			mustExec(t, on[i%2], "INSERT INTO t VALUES ($1, 0)", i)
			if got := count(t, on[(i+1)%2], "SELECT count(*) FROM t"); got != i+1 {
				t.Fatalf("rows on the other node: got %d, want %d", got, i+1)
			}
		}
		var wg sync.WaitGroup
		for _, c := range []*pgx.Conn{a.connect(), b.connect(), a.connect(), b.connect()} {
			wg.Go(func() {
				for range 10 {
					mustExec(t, c, "UPDATE t SET n = n + 1 WHERE id = 0")
				}
				c.Close(context.Background())
			})
		}
		wg.Wait()
		for i, c := range on {
			if got := count(t, c, "SELECT n FROM t WHERE id = 0"); got != 40 {
				t.Errorf("node %d: 40 updates of one row: got %d", i, got)
			}
			c.Close(context.Background())
		}
		a.leave()
		b.leave()
	})
}

// A subscriber of one node gets what another commits.
func TestSubscriberSeesAnotherNodesCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		consensus, blob := sim.NewConsensus(), sim.NewBlob()
		a, b := join(t, consensus, blob, 1), join(t, consensus, blob, 2)
		writer, reader := a.connect(), b.connect()
		mustExec(t, writer, "CREATE TABLE t (id int PRIMARY KEY)")
		mustExec(t, reader, "BEGIN")
		mustExec(t, reader, "DECLARE c CURSOR FOR SUBSCRIBE t")
		for i := range 5 {
			mustExec(t, writer, "INSERT INTO t VALUES ($1)", i)
		}
		got := 0
		for got < 5 {
			rows, err := reader.Query(context.Background(), "FETCH 1 c")
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
				got++
			}
			if rows.Err() != nil {
				t.Fatal(rows.Err())
			}
		}
		writer.Close(context.Background())
		reader.Close(context.Background())
		a.leave()
		b.leave()
	})
}

// A node is stopped while it keeps house and has sessions. Another takes over after the lease; the first wakes up, commits nothing, and says why it ends.
func TestStoppedNodeIsReplacedAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		consensus, blob := sim.NewConsensus(), sim.NewBlob()
		a := join(t, consensus, blob, 1)
		old := a.connect()
		mustExec(t, old, "CREATE TABLE t (id int PRIMARY KEY)")
		b := join(t, consensus, blob, 2)
		fresh := b.connect()
		mustExec(t, old, "BEGIN")
		mustExec(t, old, "INSERT INTO t VALUES (1)")
		a.gate.Shut()
		committed := make(chan error, 1)
		go func() {
			_, err := old.Exec(context.Background(), "COMMIT")
			committed <- err
		}()
		pause(context.Background(), log.LeaseTime+2*time.Second) // fake time
		mustExec(t, fresh, "INSERT INTO t VALUES (2)")
		page, err := consensus.Scan(context.Background(), "log", 0, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		a.gate.Open()
		if err := <-committed; err == nil {
			t.Errorf("COMMIT on the node that was stopped: got none, want an error")
		}
		err = <-a.ended
		if !errors.Is(err, log.ErrEnded) || !strings.Contains(err.Error(), "start it again") {
			t.Errorf("run: got %v, want ErrEnded and what to do", err)
		}
		rest, err := consensus.Scan(context.Background(), "log", page[len(page)-1].Seq+1, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range rest {
			if _, _, by, err := log.DecodeEntry(v.Value); err != nil || by != fmt.Sprintf("%016x", 2) {
				t.Errorf("entry %d after the lease: got session %s %v, want 2's", v.Seq, by, err)
			}
		}
		if got := count(t, fresh, "SELECT count(*) FROM t WHERE id = 1"); got != 0 {
			t.Errorf("the row that was not committed: got %d, want 0", got)
		}
		fresh.Close(context.Background())
		_ = old.PgConn().Conn().Close()
		b.leave()
	})
}
