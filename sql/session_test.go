package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tailrace"
	"tailrace/format"
)

// execute runs one extended-protocol cycle with text parameters.
func (c *client) execute(text string, params ...string) ([]string, error) {
	ctx := context.Background()
	c.lines = nil
	p, err := c.Prepare(ctx, text, nil)
	if err != nil {
		c.Fail(err)
		return nil, err
	}
	var vals []Param
	for _, v := range params {
		vals = append(vals, Param{Value: []byte(v)})
	}
	b, err := c.Bind(ctx, p, vals)
	if err != nil {
		c.Fail(err)
		return nil, err
	}
	run := c.Execute
	if c.last {
		run = c.ExecuteLast
	}
	r, err := run(ctx, b)
	if err == nil {
		err = c.deliver(ctx, r, "")
	}
	if err != nil {
		c.Fail(err)
		return nil, err
	}
	return c.lines, c.Sync(ctx)
}

func TestExtendedProtocolInfersParameters(t *testing.T) {
	c := newWorld(t).client()
	c.must("CREATE TABLE t (a int PRIMARY KEY, b text, n numeric(8,2), at timestamptz DEFAULT now())")
	for _, step := range []struct {
		sql    string
		params []string
		types  string
		want   []string
	}{
		{"INSERT INTO t (a, b, n) VALUES ($1, $2, $3)", []string{"1", "one", "1.5"}, "integer text numeric", []string{"INSERT 0 1"}},
		{"INSERT INTO t (a, b) VALUES ($1, upper($2))", []string{"2", "two"}, "integer text", []string{"INSERT 0 1"}},
		{"SELECT b, n FROM t WHERE a = $1", []string{"1"}, "integer", []string{"-- b:text n:numeric(8,2)", "one|1.50", "SELECT 1"}},
		{"UPDATE t SET n = n + $1 WHERE a = $2", []string{"2.25", "1"}, "numeric integer", []string{"UPDATE 1"}},
		{"UPDATE t SET b = $1 WHERE b = $2", []string{"three", "TWO"}, "text text", []string{"UPDATE 1"}},
		{"SELECT a, b, n FROM t WHERE b > $1 ORDER BY a", []string{"a"}, "text", []string{"-- a:integer b:text n:numeric(8,2)", "1|one|3.75", "2|three|NULL", "SELECT 2"}},
		{"DELETE FROM t WHERE a IN ($1, $2)", []string{"1", "2"}, "integer integer", []string{"DELETE 2"}},
		{"SHOW TimeZone", nil, "", []string{"-- TimeZone:text", "UTC", "SHOW"}},
	} {
		p, err := c.Prepare(context.Background(), step.sql, nil)
		if err != nil {
			t.Errorf("%s: prepare: got %v, want no error", step.sql, err)
			continue
		}
		var types []string
		for _, ty := range p.Params {
			types = append(types, ty.String())
		}
		if got := strings.Join(types, " "); got != step.types {
			t.Errorf("%s: parameters %q, want %q", step.sql, got, step.types)
		}
		got, err := c.execute(step.sql, step.params...)
		if err != nil {
			t.Errorf("%s: got %v, want no error", step.sql, err)
		} else if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", step.sql, diff)
		}
	}
	for sql, code := range map[string]string{
		"SELECT 1; SELECT 2": "42601", "SELECT $1::nosuch": "42704", "INSERT INTO t VALUES ($1, $2, $3, $4, $5)": "42601", "SELECT * FROM nosuch WHERE a = $1": "42P01",
	} {
		_, err := c.Prepare(context.Background(), sql, nil)
		if got := tailrace.Code(err); got != code {
			t.Errorf("%s: got %s (%v), want %s", sql, got, err, code)
		}
		c.Fail(err)
	}
	if s := c.Status(); s != 'I' {
		t.Errorf("status %c after preparing, want I", s)
	}
}

// TestSingleStatementsNeverConflict has clients update one row at the same time, in both protocols: each statement runs again until it is first.
func TestSingleStatementsNeverConflict(t *testing.T) {
	w := newWorld(t)
	w.client().must("CREATE TABLE t (a int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0)")
	const clients, rounds = 4, 15
	var wait sync.WaitGroup
	for i := range clients {
		c := w.client()
		wait.Go(func() {
			for range rounds {
				var lines []string
				err := error(nil)
				if i%2 == 0 {
					lines = c.query("UPDATE t SET n = n + 1 WHERE a = 1", "")
				} else {
					lines, err = c.execute("UPDATE t SET n = n + $1 WHERE a = 1", "1")
				}
				if err != nil || len(lines) != 1 || lines[0] != "UPDATE 1" {
					t.Errorf("client %d: got %v %v, want UPDATE 1", i, lines, err)
				}
			}
		})
	}
	wait.Wait()
	got := w.client().must("SELECT n FROM t WHERE a = 1")
	if want := fmt.Sprint(clients * rounds); got[1] != want {
		t.Errorf("after %s increments: got %s", want, got[1])
	}
}

func TestStatementTimeoutAndCancel(t *testing.T) {
	w := newWorld(t)
	c := w.client()
	c.must("CREATE TABLE t (a int)")
	c.must("SET statement_timeout = '50ms'")
	got := c.query("SUBSCRIBE t", "")
	if last := got[len(got)-1]; last != "ERROR 57014: canceling statement due to statement timeout" {
		t.Errorf("timeout: got %s", last)
	}
	c.must("RESET statement_timeout")
	ctx, cancel := context.WithCancel(context.Background())
	sts, err := c.Parse("SUBSCRIBE t")
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Run(ctx, sts[0], true)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	_, err = r.Rows.Next(ctx)
	if got := tailrace.Code(err); got != "57014" {
		t.Errorf("cancel: got %v, want 57014", err)
	}
	r.Close()
	c.Fail(err)
	if got := c.must("SELECT 1"); got[1] != "1" {
		t.Errorf("after a cancel: got %v, want a session that works", got)
	}
	if left := len(w.engine.Tail.List()); left != 0 {
		t.Errorf("%d subscriptions are left", left)
	}
}

// rowsOnly drops what is not a row, and the timestamp of each row.
func rowsOnly(lines []string) []string {
	var out []string
	for _, l := range lines {
		if ts, rest, ok := strings.Cut(l, "|"); ok && len(ts) == 16 {
			out = append(out, rest)
		}
	}
	return out
}

func TestCursorFollowsChanges(t *testing.T) {
	w := newWorld(t)
	a, b := w.client(), w.client()
	a.must("CREATE TABLE t (a int PRIMARY KEY, b text); INSERT INTO t VALUES (1, 'one'), (2, 'two')")
	b.must("BEGIN; DECLARE c CURSOR FOR SUBSCRIBE t")
	check := func(fetch string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, rowsOnly(b.must(fetch))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", fetch, diff)
		}
	}
	check("FETCH 2 c", "1|1|one", "1|2|two")
	a.must("INSERT INTO t VALUES (3, 'three')")
	check("FETCH 1 c", "1|3|three")
	a.must("UPDATE t SET b = 'uno' WHERE a = 1")
	check("FETCH 2 c WITH (TIMEOUT = '5s')", "-1|1|one", "1|1|uno")
	check("FETCH ALL c WITH (TIMEOUT = '0s')")
	a.must("DROP TABLE t")
	lines := b.query("FETCH 1 c", "")
	if last := lines[len(lines)-1]; !strings.Contains(last, "42704") || !strings.Contains(last, "was dropped") {
		t.Errorf("FETCH after DROP: got %s, want 42704 was dropped", last)
	}
}

func TestSubscribeBetweenTimes(t *testing.T) {
	w := newWorld(t)
	c := w.client()
	c.must("CREATE TABLE t (a int PRIMARY KEY); INSERT INTO t VALUES (1)")
	at := c.must("SELECT mz_now()")[1]
	c.must("INSERT INTO t VALUES (2)")
	up := c.must("SELECT mz_now()")[1]
	for sql, want := range map[string][]string{
		"SUBSCRIBE t AS OF " + at + " UP TO " + up:                                                            {"1|1"},
		"SUBSCRIBE t AS OF '" + at + "' UP TO " + up + "::numeric + 1":                                        {"1|1", "1|2"},
		"SUBSCRIBE t WITH (SNAPSHOT = false) AS OF " + at + " UP TO " + up + " + 1":                           {"1|2"},
		"SUBSCRIBE (SELECT * FROM t) WITH (SNAPSHOT = false) AS OF " + at + " UP TO " + at:                    nil,
		"SUBSCRIBE t ENVELOPE UPSERT (KEY (a)) WITH (SNAPSHOT = false) AS OF " + at + " UP TO " + up + " + 1": {"upsert|2"},
	} {
		if diff := cmp.Diff(want, rowsOnly(c.must(sql))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", sql, diff)
		}
	}
	out := c.must("COPY (SUBSCRIBE t WITH (PROGRESS) AS OF " + up + " UP TO " + up + " + 1) TO STDOUT")
	if !strings.HasPrefix(out[0], up+"\tt\t\\N\t\\N") || !strings.HasPrefix(out[1], up+"\tf\t1\t1") {
		t.Errorf("COPY of a subscription: got %q", out)
	}
}

func TestSubscriptionsSeeThemselves(t *testing.T) {
	w := newWorld(t)
	a, b := w.client(), w.client()
	a.must("CREATE TABLE t (a int)")
	a.must("BEGIN; DECLARE c CURSOR FOR SUBSCRIBE mz_internal.mz_subscriptions")
	own := rowsOnly(a.must("FETCH ALL c"))
	if len(own) != 1 || !strings.Contains(own[0], a.uuid) {
		t.Errorf("first rows: got %q, want the subscription itself", own)
	}
	b.must("BEGIN; DECLARE d CURSOR FOR SUBSCRIBE t; FETCH 0 d")
	if rows := rowsOnly(a.must("FETCH 1 c WITH (TIMEOUT = '10s')")); len(rows) != 1 || !strings.HasPrefix(rows[0], "1|") || !strings.Contains(rows[0], b.uuid) {
		t.Errorf("another subscription: got %q, want +1 with session %s", rows, b.uuid)
	}
	b.must("COMMIT")
	a.must("COMMIT")
	if got := a.must("SELECT count(*) FROM mz_internal.mz_subscriptions"); got[1] != "0" {
		t.Errorf("after COMMIT: got %s subscriptions, want 0", got[1])
	}
}

// TestCopyInIsAtomicAndBounded loads more rows than one inline record holds, and again with a duplicate at the end, which leaves nothing.
func TestCopyInIsAtomicAndBounded(t *testing.T) {
	c := newWorld(t).client()
	c.must("CREATE TABLE t (a int PRIMARY KEY, b text)")
	load := func(from, to int, more string) string {
		sts, err := c.Parse("COPY t FROM STDIN")
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		r, err := c.Run(ctx, sts[0], true)
		if err != nil {
			t.Fatal(err)
		}
		for i := from; i < to && err == nil; i++ {
			err = r.CopyIn.Write(ctx, fmt.Appendf(nil, "%d\trow number %d\n", i, i))
		}
		if err == nil {
			err = r.CopyIn.Write(ctx, []byte(more))
		}
		n := int64(0)
		if err == nil {
			n, err = r.CopyIn.Done(ctx)
		}
		if err != nil {
			r.CopyIn.Fail()
			r.Close()
			c.Fail(err)
			return tailrace.Code(err)
		}
		tag, err := r.Finish(ctx, n)
		if err != nil {
			c.Fail(err)
			return tailrace.Code(err)
		}
		return tag
	}
	if got := load(0, 30_000, ""); got != "COPY 30000" {
		t.Errorf("first load: got %s", got)
	}
	if got := load(30_000, 60_000, "17\tagain\n"); got != "23505" {
		t.Errorf("load with a duplicate: got %s, want 23505", got)
	}
	if got := load(30_000, 31_000, "30500\tagain\n"); got != "23505" {
		t.Errorf("load with a duplicate of its own: got %s, want 23505", got)
	}
	if got := c.must("SELECT count(*), min(a), max(a) FROM t"); got[1] != "30000|0|29999" {
		t.Errorf("rows: got %s, want 30000|0|29999", got[1])
	}
}

func TestReadOnlyFollowerOfTimes(t *testing.T) {
	w := newWorld(t)
	c := w.client()
	c.must("CREATE TABLE t (a int)")
	sts, err := c.Parse("SUBSCRIBE t WITH (PROGRESS)")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	r, err := c.Run(ctx, sts[0], true)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Streaming {
		t.Error("a direct SUBSCRIBE does not stream")
	}
	last := ""
	for range 2 { // the second comes with the next tick
		b, err := r.Rows.Next(ctx)
		if errors.Is(err, io.EOF) || err != nil {
			t.Fatal(err)
		}
		now := string(format.AppendText(nil, r.Columns[0].Type, &b.Cols[0], b.N-1, c.Format()))
		if now <= last {
			t.Errorf("progress went from %s to %s", last, now)
		}
		last = now
	}
	r.Close()
	c.Fail(failure("57014", "stop"))
}

func TestDatabaseAndStartSettings(t *testing.T) {
	e := newWorld(t).engine
	_, err := e.NewSession(SessionOptions{Database: "nosuch"})
	if got := tailrace.Code(err); got != "3D000" {
		t.Errorf("unknown database: got %v, want 3D000", err)
	}
	s, err := e.NewSession(SessionOptions{User: "u", Params: map[string]string{"application_name": "x", "options": "-c DateStyle=SQL --timezone=Asia/Tokyo"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got := map[string]string{}
	for _, kv := range s.Reported() {
		got[kv[0]] = kv[1]
	}
	for name, want := range map[string]string{"application_name": "x", "DateStyle": "SQL, MDY", "TimeZone": "Asia/Tokyo", "server_encoding": "UTF8", "session_authorization": "u"} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	if _, err := e.NewSession(SessionOptions{Params: map[string]string{"nosuch": "1"}}); tailrace.Code(err) != "42704" {
		t.Errorf("unknown start setting: got %v, want 42704", err)
	}
}
