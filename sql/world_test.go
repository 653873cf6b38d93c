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

	"go.uber.org/goleak"

	"tailrace"
	"tailrace/catalog"
	"tailrace/format"
	"tailrace/internal/sim"
	"tailrace/log"
	"tailrace/pool"
	"tailrace/query"
	"tailrace/shard"
	"tailrace/tail"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a node without a server around it: the real log, catalog, shards, tail and query engine over stores in memory.
type world struct {
	t      testing.TB
	engine *Engine
	blob   *sim.Blob
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldWith(t, nil)
}

// newWorldWith is newWorld with a pool, which somebody else runs or not.
func newWorldWith(t testing.TB, p *pool.Pool) *world {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	blob := sim.NewBlob()
	l, _, err := log.Open(ctx, log.Options{Consensus: sim.NewConsensus(), Blob: blob, Session: "00000000000000aa"})
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{Log: l, Catalog: catalog.NewFold(), Shards: shard.New(blob, "00000000000000aa", shard.Options{Pool: p}), Pool: p}
	e.Tail = tail.New(tail.Options{Shards: e.Shards})
	if e.Query, err = query.NewEngine(query.Options{MemoryBytes: 256 << 20, Threads: 1, TempDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() { follow(ctx, t, e) })
	wait.Go(func() { _ = l.Run(ctx) }) // it ends with ctx
	t.Cleanup(func() {
		stop()
		wait.Wait()
		if err := e.Query.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := l.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	return &world{t, e, blob}
}

// follow applies the log as the server's loop does.
func follow(ctx context.Context, t testing.TB, e *Engine) {
	for entry, err := range e.Log.Follow(ctx, 0) {
		if err != nil {
			if ctx.Err() == nil {
				t.Error(err)
			}
			return
		}
		changes, err := e.Catalog.Apply(entry)
		if err != nil {
			t.Error(err)
		}
		for _, c := range changes {
			if c.After != nil {
				e.Shards.Define(c.After.ID, c.After.Columns, c.After.Retain, c.Time)
			} else {
				e.Shards.Drop(c.Before.ID, c.Time)
			}
		}
		if err := e.Shards.Apply(entry); err != nil {
			t.Error(err)
		}
		e.Tail.Apply(entry, changes)
		e.Log.Applied(entry)
	}
}

// client is a session and what it was told.
type client struct {
	*Session
	t     testing.TB
	lines []string
	last  bool // Sync follows each Execute at once
}

func (w *world) client() *client {
	w.t.Helper()
	c := &client{t: w.t}
	s, err := w.engine.NewSession(SessionOptions{User: "tester", Database: "postgres", Notice: func(e *tailrace.Error) {
		c.lines = append(c.lines, fmt.Sprintf("%s %s: %s", e.Severity, e.Code, e.Message))
	}, Report: func(name, value string) { c.lines = append(c.lines, fmt.Sprintf("report %s=%s", name, value)) }})
	if err != nil {
		w.t.Fatal(err)
	}
	c.Session = s
	w.t.Cleanup(s.Close)
	return c
}

// query runs a simple query as the protocol does and returns what came back, line by line. data is what COPY FROM STDIN reads.
func (c *client) query(text, data string) []string {
	c.lines = nil
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	sts, err := c.Parse(text)
	if err != nil {
		c.failed(err)
		return c.lines
	}
	for i, st := range sts {
		r, err := c.Run(ctx, st, i == len(sts)-1)
		if err == nil {
			err = c.deliver(ctx, r, data)
		}
		if err != nil {
			c.failed(err)
			break
		}
	}
	return c.lines
}

func (c *client) failed(err error) {
	c.Fail(err)
	var e *tailrace.Error
	if !errors.As(err, &e) {
		c.lines = append(c.lines, "ERROR XX000: "+err.Error())
		return
	}
	line := fmt.Sprintf("ERROR %s: %s", e.Code, e.Message)
	if e.Position > 0 {
		line += fmt.Sprintf(" (at %d)", e.Position)
	}
	if e.Detail != "" {
		line += " | " + e.Detail
	}
	c.lines = append(c.lines, line)
}

// deliver prints rows as they would go out, and the tag.
func (c *client) deliver(ctx context.Context, r *Result, data string) error {
	defer r.Close()
	sent := int64(0)
	if r.CopyIn != nil {
		for i := 0; i < len(data); i += 7 { // cut where it hurts
			if err := r.CopyIn.Write(ctx, []byte(data[i:min(i+7, len(data))])); err != nil {
				return err
			}
		}
		n, err := r.CopyIn.Done(ctx)
		if err != nil {
			return err
		}
		sent = n
	}
	if r.Rows != nil && r.CopyOut == nil {
		var names []string
		for _, col := range r.Columns {
			names = append(names, col.Name+":"+col.Type.String())
		}
		c.lines = append(c.lines, "-- "+strings.Join(names, " "))
	}
	for r.Rows != nil {
		b, err := r.Rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		for i := range b.N {
			c.lines = append(c.lines, c.rowText(r, b, i))
		}
		sent += int64(b.N)
	}
	tag, err := r.Finish(ctx, sent)
	if err == nil {
		c.lines = append(c.lines, tag)
	}
	return err
}

func (c *client) rowText(r *Result, b *tailrace.Batch, i int) string {
	if r.CopyOut != nil {
		return strings.TrimSuffix(string(r.CopyOut.Encoder.AppendRow(nil, b, i)[5:]), "\n")
	}
	var vals []string
	for k, col := range r.Columns {
		if b.Cols[k].IsNull(i) {
			vals = append(vals, "NULL")
			continue
		}
		vals = append(vals, string(format.AppendText(nil, col.Type, &b.Cols[k], i, c.Format())))
	}
	return strings.Join(vals, "|")
}

// must is query for statements that have to succeed.
func (c *client) must(text string) []string {
	c.t.Helper()
	lines := c.query(text, "")
	for _, l := range lines {
		if strings.HasPrefix(l, "ERROR") {
			c.t.Fatalf("%s: %s", text, l)
		}
	}
	return lines
}
