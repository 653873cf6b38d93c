package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"tailrace/server"
)

// DemoCmd is `tailrace demo`.
type DemoCmd struct {
	Listen string `default:"127.0.0.1:6875" help:"Address for PostgreSQL clients; a free port is taken when this one is in use."`
	HTTP   string `name:"http" default:"127.0.0.1:6876" help:"Address for metrics; a free port is taken when this one is in use."`
}

// Run serves a small table that changes each second until ctx is done, then removes everything.
func (c *DemoCmd) Run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "tailrace-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ready := make(chan server.Addresses, 1)
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return server.Run(groupCtx, server.Options{
			Data: dir, Listen: freeOr(c.Listen), HTTP: freeOr(c.HTTP), Drain: time.Second, Version: version(),
			Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
			Ready:  func(at server.Addresses) { ready <- at },
		})
	})
	group.Go(func() error {
		select {
		case at := <-ready:
			return live(groupCtx, at)
		case <-groupCtx.Done():
			return nil
		}
	})
	return group.Wait()
}

// freeOr is addr if one can listen there, else a free port of the same host.
func freeOr(addr string) string {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		_ = l.Close() // only looked
		return addr
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return addr // the server says what is wrong with it
	}
	return net.JoinHostPort(host, "0")
}

const demoTable = `CREATE TABLE orders (id int PRIMARY KEY, item text NOT NULL, amount numeric(10,2), state text, at timestamptz);
INSERT INTO orders VALUES (1, 'tea', 4.50, 'new', now()), (2, 'bread', 3.20, 'new', now()), (3, 'plums', 7.95, 'new', now())`

const demoText = `
A server runs at %[1]s with a table "orders" that changes each second. In another terminal:

  psql %[1]s -c "SELECT * FROM orders ORDER BY id"

The snapshot, then every change as it happens (time, +1 or -1, the row):
  psql %[1]s -c "COPY (SUBSCRIBE orders) TO STDOUT"

One row per key and change, with progress:
  psql %[1]s -c "COPY (SUBSCRIBE orders ENVELOPE UPSERT (KEY (id)) WITH (PROGRESS)) TO STDOUT"

The last minute again, then on:
  psql %[1]s -c "COPY (SUBSCRIBE orders WITH (SNAPSHOT = false) AS OF AT LEAST now() - interval '1 minute') TO STDOUT"

Metrics:  curl http://%[2]s/metrics

Ctrl-C ends the server and removes everything.
`

// live makes the table, says what to type, and changes the table each second.
func live(ctx context.Context, at server.Addresses) error {
	url := "postgres://" + at.Postgres + "/postgres"
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to the demo's own server: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.PgConn().Exec(ctx, demoTable).ReadAll(); err != nil {
		return fmt.Errorf("make the demo's table: %w", err)
	}
	fmt.Printf(demoText, url, at.HTTP)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for next := int32(4); ; next++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := step(ctx, conn, next); err != nil && ctx.Err() == nil {
			return fmt.Errorf("change the demo's table: %w", err)
		}
	}
}

// step is one second of a small shop: an order comes in, one moves on, an old one goes.
func step(ctx context.Context, conn *pgx.Conn, id int32) error {
	items := []string{"tea", "bread", "plums", "soap", "ink", "rope", "lamp oil"}
	states := []string{"packed", "sent", "paid"}
	older := max(1, id-1-rand.Int32N(5))
	batch := &pgx.Batch{}
	batch.Queue("INSERT INTO orders VALUES ($1, $2, $3, 'new', now())", id, items[rand.IntN(len(items))], fmt.Sprintf("%.2f", 1+20*rand.Float64()))
	batch.Queue("UPDATE orders SET state = $1, at = now() WHERE id = $2", states[rand.IntN(len(states))], older)
	batch.Queue("DELETE FROM orders WHERE id <= $1", id-20)
	return conn.SendBatch(ctx, batch).Close()
}
