package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"tailrace"
	"tailrace/internal/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func configOf(srv *pgtest.Server, user string) Config {
	return Config{Host: "127.0.0.1", Port: fmt.Sprint(srv.Port()), Database: "postgres", User: user, SSLMode: "disable", Slot: "tailrace_test", Parse: asText}
}

// check returns a line for each finding.
func check(t *testing.T, c Config, sel tailrace.Selection) string {
	t.Helper()
	r, err := Check(context.Background(), c, sel)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s|%s|%s|%s\n", f.Severity, f.Subject, f.Message, f.Fix)
	}
	return b.String()
}

func TestCheckNamesWhatMendsEachFinding(t *testing.T) {
	srv := pgtest.Start(t, "wal_level=replica", "max_replication_slots=1")
	all := tailrace.Selection{All: true}
	srv.Exec(t, `CREATE ROLE fred LOGIN; CREATE TABLE ok(id int PRIMARY KEY, g int GENERATED ALWAYS AS (id * 2) STORED, v text);
		CREATE TABLE keyless(a int); CREATE TABLE "No"(id int PRIMARY KEY);
		ALTER TABLE "No" REPLICA IDENTITY NOTHING; CREATE UNLOGGED TABLE u(id int PRIMARY KEY); CREATE TABLE bag(a int); ALTER TABLE bag REPLICA IDENTITY FULL;
		CREATE TABLE p(id int PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (9);
		CREATE TABLE df(id int PRIMARY KEY DEFERRABLE);
		CREATE TABLE rls(id int PRIMARY KEY); ALTER TABLE rls ENABLE ROW LEVEL SECURITY; GRANT SELECT ON ok, keyless, "No", u, bag, p, df, rls TO fred;
		CREATE TABLE hidden(id int PRIMARY KEY);
		SELECT pg_create_physical_replication_slot('taken')`)
	want := []string{
		"blocks|wal_level|wal_level is replica, not logical|ALTER SYSTEM SET wal_level = 'logical'; -- then restart PostgreSQL",
		"blocks|max_replication_slots|all 1 replication slots are used|ALTER SYSTEM SET max_replication_slots = 11; -- then restart PostgreSQL",
		"blocks|privilege|fred lacks the attribute REPLICATION|ALTER ROLE fred REPLICATION;",
		`left out|public."No"|table public."No" has no key that its changes could name rows by|ALTER TABLE public."No" REPLICA IDENTITY FULL;`,
		"left out|public.keyless|table public.keyless has no key that its changes could name rows by|ALTER TABLE public.keyless REPLICA IDENTITY FULL;",
		"left out|public.u|table public.u is unlogged: its changes are not in PostgreSQL's log|ALTER TABLE public.u SET LOGGED;",
		"left out|public.df|table public.df has a deferrable primary key, which its changes cannot name rows by|ALTER TABLE public.df REPLICA IDENTITY FULL;",
		"left out|public.hidden|table public.hidden may not be read by fred|GRANT USAGE ON SCHEMA public TO fred; GRANT SELECT ON public.hidden TO fred;",
		"left out|public.rls|table public.rls hides rows from fred by row security|ALTER ROLE fred BYPASSRLS;",
		"note|public.ok|generated columns are not copied, PostgreSQL does not send them: g|",
		"note|public.p|its partitions are copied as one table",
		"note|public.bag|it has no primary key; equal rows are kept as often as they are there|",
		`blocks|publication tailrace|it does not publish public.bag, public.ok, public.p, and fred does not own them|` +
			`CREATE PUBLICATION "tailrace" FOR TABLE "public"."bag", "public"."ok", "public"."p" WITH (publish_via_partition_root = true);`,
	}
	got := check(t, configOf(srv, "fred"), all)
	for _, line := range want {
		if !strings.Contains(got, line) {
			t.Errorf("findings lack %q:\n%s", line, got)
		}
	}
	if strings.Contains(got, "p1") {
		t.Errorf("a partition of its own: got\n%s", got)
	}
	srv.Exec(t, "CREATE PUBLICATION tailrace FOR TABLE ok")
	for sel, line := range map[string]string{
		"ok":   `blocks|publication tailrace|it exists and does not publish all that is needed|ALTER PUBLICATION "tailrace" SET (publish_via_partition_root = true);`,
		"gone": "blocks|public.gone|table public.gone does not exist at the source|",
	} {
		if got := check(t, configOf(srv, "postgres"), tailrace.Selection{Tables: []string{sel}}); !strings.Contains(got, line) {
			t.Errorf("findings for %s lack %q:\n%s", sel, line, got)
		}
	}
	c := configOf(srv, "nobody")
	if got := check(t, c, all); !strings.Contains(got, "blocks|connection|") || !strings.Contains(got, "CREATE ROLE nobody LOGIN REPLICATION") {
		t.Errorf("an unknown role: got\n%s", got)
	}
}

// TestDeadPeerIsNoticed puts a relay between that stops passing anything on, as a host that lost its power would.
func TestDeadPeerIsNoticed(t *testing.T) {
	srv := pgtest.Start(t, "wal_level=logical")
	srv.Exec(t, "CREATE TABLE a(id text PRIMARY KEY)")
	relay := newRelay(t, fmt.Sprintf("127.0.0.1:%d", srv.Port()))
	c := configOf(srv, "postgres")
	_, c.Port, _ = net.SplitHostPort(relay.listener.Addr().String())
	c.StatusInterval, c.DeadAfter = 20*time.Millisecond, 600*time.Millisecond
	s := New(c)
	ctx := context.Background()
	tables, err := s.Tables(ctx, tailrace.Selection{All: true})
	if err != nil {
		t.Fatal(err)
	}
	var position []byte
	err = s.Snapshot(ctx, tables, tailrace.SnapshotTo{
		Waiting: func(*tailrace.Error) {}, Begin: func(p []byte) error { position = p; return nil },
		Rows: func(context.Context, int, int, *tailrace.Batch) error { return nil }, Done: func(_ context.Context, _ int, err *tailrace.Error) error {
			if err != nil {
				return err
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Exec(t, "INSERT INTO a VALUES ('x')")
	began := time.Now()
	err = s.Read(ctx, position, tables, func(p *tailrace.SourcePiece) error {
		if len(p.Changes) > 0 {
			relay.stall()
			began = time.Now()
		}
		return nil
	})
	var own *tailrace.Error
	if !errors.As(err, &own) || own.Code != "08006" {
		t.Fatalf("reading from a dead peer: got %v, want 08006", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("noticed after %s, want about %s", took, c.DeadAfter)
	}
	relay.close()
}

// relay passes TCP connections on until it is told to stall.
type relay struct {
	listener net.Listener
	stalled  chan struct{}
	ended    chan struct{}
}

func newRelay(t *testing.T, to string) *relay {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: l, stalled: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			go r.pass(in, out)
			go r.pass(out, in)
		}
	}()
	return r
}

func (r *relay) pass(from, to net.Conn) {
	defer to.Close()
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		select {
		case <-r.stalled:
			<-r.ended
			return
		default:
		}
		if err != nil {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (r *relay) stall() { close(r.stalled) }

func (r *relay) close() {
	close(r.ended)
	_ = r.listener.Close()
}
