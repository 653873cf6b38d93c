package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"tailrace/ingest"
	"tailrace/pgwire"
	"tailrace/query"
	"tailrace/sql"
)

// Run serves the data folder until ctx is done, then drains and returns nil. An error is why it could not start or go on.
func Run(ctx context.Context, o Options) (err error) {
	n, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	return n.inside(ctx, func(ctx context.Context) error {
		if _, err := n.log.Sync(ctx); err != nil {
			return fmt.Errorf("catch up with the log: %w", err)
		}
		return n.serve(ctx)
	})
}

// edges are what a node has besides its folds: the ways in and out.
type edges struct {
	query    *query.Engine
	ingest   *ingest.Ingest
	pg       *pgwire.Server
	draining atomic.Bool
}

// serve opens the edges, runs them until ctx is done, and drains them.
func (n *node) serve(ctx context.Context) error {
	engine, err := query.NewEngine(query.Options{
		MemoryBytes: n.options.QueryMemory, Threads: queryThreads(), TempDir: n.folder.path("tmp"),
	})
	if err != nil {
		return fmt.Errorf("start the query engine: %w", err)
	}
	defer engine.Close()
	e := &edges{query: engine}
	e.ingest = ingest.New(ingest.Options{Log: n.log, Catalog: n.catalog, Shards: n.shards, Logger: n.options.Logger, Open: n.openSource})
	e.pg = pgwire.New(pgwire.Options{
		Logger: n.options.Logger, MaxConnections: n.options.MaxConnections,
		Engine: &sql.Engine{
			Log: n.log, Catalog: n.catalog, Shards: n.shards, Tail: n.tail, Query: engine,
			Sources: &sources{ingest: e.ingest, catalog: n.catalog}, Logger: n.options.Logger,
		},
	})
	pgListener, httpListener, err := n.listen(ctx)
	if err != nil {
		return err
	}
	return n.runEdges(ctx, e, pgListener, httpListener)
}

// listen opens the ports. Beyond loopback it does so only once somebody can be asked for a password.
func (n *node) listen(ctx context.Context) (pg, web net.Listener, err error) {
	for _, addr := range []string{n.options.Listen, n.options.HTTP} {
		local, err := loopback(addr)
		if err != nil {
			return nil, nil, err
		}
		if !local && len(n.catalog.Current().Users) == 0 {
			return nil, nil, fmt.Errorf("refuse to listen on %s: no user exists, so anybody who reaches it could come in; "+
				"make one first: tailrace user add NAME --data %s", addr, n.options.Data)
		}
	}
	var config net.ListenConfig
	if pg, err = config.Listen(ctx, "tcp", n.options.Listen); err != nil {
		return nil, nil, fmt.Errorf("listen for PostgreSQL clients: %w", err)
	}
	if web, err = config.Listen(ctx, "tcp", n.options.HTTP); err != nil {
		_ = pg.Close() // nobody connected yet
		return nil, nil, fmt.Errorf("listen for HTTP: %w", err)
	}
	return pg, web, nil
}

// loopback reports whether only this machine reaches addr.
func loopback(addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, fmt.Errorf("listen address %q: %w: give it as host:port, for example 127.0.0.1:6875", addr, err)
	}
	if host == "localhost" {
		return true, nil
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback(), nil
}

// runEdges runs everything that works on the folds. When ctx is done it stops the edges from the outside in.
func (n *node) runEdges(ctx context.Context, e *edges, pgListener, httpListener net.Listener) error {
	web := &http.Server{Handler: n.handler(e), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 64 << 10, IdleTimeout: time.Minute}
	group, groupCtx := errgroup.WithContext(ctx) // ends with ctx, or when an edge gives up
	kept := context.WithoutCancel(ctx)
	sessions, endSessions := context.WithCancel(kept)
	defer endSessions()
	upkeep, endUpkeep := context.WithCancel(kept)
	defer endUpkeep()
	sessionsEnded := make(chan struct{})
	group.Go(func() error {
		defer close(sessionsEnded)
		return e.pg.Serve(sessions, pgListener)
	})
	group.Go(func() error {
		if err := web.Serve(httpListener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve HTTP: %w", err)
		}
		return nil
	})
	group.Go(func() error { return ended(e.ingest.Run(upkeep)) })
	group.Go(func() error { return ended(n.shards.Maintain(upkeep, n.log.Commit)) })
	group.Go(func() error { return n.checkpoints(upkeep) })
	group.Go(func() error {
		<-groupCtx.Done()
		n.drain(e, sessionsEnded, endSessions)
		endUpkeep()
		return ended(web.Shutdown(kept)) // health says "draining" to the end; its requests are short
	})
	if n.options.Ready != nil {
		n.options.Ready(Addresses{Postgres: pgListener.Addr().String(), HTTP: httpListener.Addr().String()})
	}
	return group.Wait()
}

// drain ends the sessions: idle ones and subscriptions at once, with what to do next, the others when they are done or the time is up.
func (n *node) drain(e *edges, sessionsEnded <-chan struct{}, endSessions context.CancelFunc) {
	n.options.Logger.Info("draining", "sessions", e.pg.Stats().Sessions, "within", n.options.Drain)
	e.draining.Store(true)
	e.pg.Drain()
	n.tail.Drain()
	timer := time.NewTimer(n.options.Drain)
	defer timer.Stop()
	select {
	case <-sessionsEnded:
	case <-timer.C:
		n.options.Logger.Warn("drain time is over: ending sessions that still run", "sessions", e.pg.Stats().Sessions)
	}
	endSessions()
	<-sessionsEnded
}
