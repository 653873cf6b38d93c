package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"tailrace/changefeed"
	"tailrace/ingest"
	"tailrace/log"
	"tailrace/pgwire"
	"tailrace/query"
	"tailrace/sql"
)

// restartPause is how long a node that lost its place in the log waits before it starts again.
const restartPause = time.Second

// Run serves the data folder until ctx is done, then drains and returns nil. An error is why it could not start or go on. A node that was so slow
// that the log was cut off before its place starts again from the checkpoint; its clients come back.
func Run(ctx context.Context, o Options) error {
	o = o.withDefaults()
	for {
		err := run(ctx, o)
		switch {
		case errors.Is(err, log.ErrEnded):
			return fmt.Errorf("stop: other nodes did not hear of this one for too long and ended its session; what was not acknowledged is not committed; "+
				"start it again: %w", err)
		case !errors.Is(err, log.ErrTruncated) || ctx.Err() != nil:
			return err
		}
		o.Logger.Warn("start again from the checkpoint", "error", err)
		pause(ctx, restartPause)
	}
}

// hungTime is how long sessions and upkeep that were ended may take to do so, before the log is stopped under them.
const hungTime = 5 * time.Second

// run is Run, once.
func run(ctx context.Context, o Options) (err error) {
	n, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	if err := n.openIndex(ctx); err != nil {
		return err
	}
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
	feeds    *changefeed.Feeds
	pg       *pgwire.Server
	draining atomic.Bool
}

// serve opens the edges, runs them until ctx is done, and drains them.
func (n *node) serve(ctx context.Context) (err error) {
	files, err := n.openFiles()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFiles(files)) }()
	var engine *query.Engine
	if !n.stores.NoQuery {
		engine, err = n.openQuery(files)
		if err != nil {
			return fmt.Errorf("start the query engine: %w", err)
		}
		defer engine.Close()
	}
	e := &edges{query: engine}
	e.ingest = ingest.New(ingest.Options{Budget: n.budget, Log: n.log, Catalog: n.catalog, Shards: n.shards, Logger: n.options.Logger, Open: n.openSource})
	n.ingest.Store(e.ingest)
	e.feeds = n.newFeeds()
	n.feeds.Store(e.feeds)
	e.pg = pgwire.New(pgwire.Options{
		Logger: n.options.Logger, MaxConnections: n.options.MaxConnections,
		TLS: func() *tls.Config { return n.live.Load().tls }, RequireTLS: func() bool { return n.live.Load().requireTLS },
		Engine: &sql.Engine{
			Budget: n.budget,
			Log:    n.log, Catalog: n.catalog, Shards: n.shards, Tail: n.tail, Query: engine, Files: files, Pool: n.pool,
			Sources: &sources{ingest: e.ingest, catalog: n.catalog}, Sinks: &sinks{feeds: e.feeds}, Backup: n.startBackup, Logger: n.options.Logger, Started: time.Now(),
		},
	})
	pgListener, httpListener, err := n.listen(ctx)
	if err != nil {
		return err
	}
	return n.runEdges(ctx, e, pgListener, httpListener)
}

// listen opens the ports. Beyond loopback it does so only once somebody can be asked for a password. web is nil when given stores go without.
func (n *node) listen(ctx context.Context) (pg, web net.Listener, err error) {
	if open := n.stores.Listen; open != nil {
		pg, err = open()
	} else {
		pg, err = n.listenOn(ctx, "PostgreSQL clients", n.options.Listen)
	}
	if err != nil || n.options.Stores != nil && n.options.HTTP == "" {
		return pg, nil, err
	}
	if web, err = n.listenOn(ctx, "HTTP", n.options.HTTP); err != nil {
		_ = pg.Close() // nobody connected yet
		return nil, nil, err
	}
	return pg, web, nil
}

// listenOn opens one port.
func (n *node) listenOn(ctx context.Context, what, addr string) (net.Listener, error) {
	local, err := loopback(addr)
	if err != nil {
		return nil, err
	}
	if !local && len(n.catalog.Current().Users) == 0 {
		return nil, fmt.Errorf("refuse to listen on %s: no user exists, so anybody who reaches it could come in; "+
			"make one first: tailrace user add NAME --data %s", addr, n.options.Data)
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w", what, err)
	}
	return l, nil
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
	var hung *time.Timer
	sessionsEnded := make(chan struct{})
	group.Go(func() error {
		defer close(sessionsEnded)
		return e.pg.Serve(sessions, pgListener)
	})
	group.Go(func() error {
		if httpListener == nil {
			return nil
		}
		if err := web.Serve(httpListener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve HTTP: %w", err)
		}
		return nil
	})
	group.Go(func() error { return ended(e.ingest.Run(upkeep)) })
	group.Go(func() error { return ended(e.feeds.Run(upkeep)) })
	if n.options.Pool == nil {
		group.Go(func() error { return ended(n.pool.Run(upkeep)) })
	}
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error { return ended(n.tail.Push(upkeep)) })
	}
	group.Go(func() error { return n.keepHouse(upkeep) })
	group.Go(func() error { return ended(n.shards.Maintain(upkeep, n.keep)) })
	group.Go(func() error { return n.checkpoints(upkeep) })
	group.Go(func() error { return n.reloads(upkeep, e.pg) })
	group.Go(func() error {
		<-groupCtx.Done()
		hung = n.drain(e, sessionsEnded, endSessions)
		endUpkeep()
		return ended(web.Shutdown(kept)) // health says "draining" to the end; its requests are short
	})
	if n.options.Ready != nil {
		at := Addresses{Postgres: pgListener.Addr().String()}
		if httpListener != nil {
			at.HTTP = httpListener.Addr().String()
		}
		n.options.Ready(at)
	}
	err := group.Wait()
	hung.Stop()
	return err
}

// drainMargin is which part of the drain time is left when the last subscription is told to end, so that its client hears of it.
const drainMargin = 4

// drain ends the sessions: idle ones at once, with what to do next, subscriptions evenly over the time, the others when they are done or the time is up.
// Unless the timer that it returns is stopped, the log ends a while later: a commit whose store does not answer, of a session or of the node's upkeep, waits for that.
func (n *node) drain(e *edges, sessionsEnded <-chan struct{}, endSessions context.CancelFunc) (hung *time.Timer) {
	within := n.live.Load().drain
	n.options.Logger.Info("draining", "sessions", e.pg.Stats().Sessions, "within", within)
	e.draining.Store(true)
	e.pg.Drain()
	timer := time.NewTimer(within)
	defer timer.Stop()
	subscriptions, endSubscriptions := context.WithCancel(context.Background())
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		n.tail.Drain(subscriptions, within-within/drainMargin)
	}()
	select {
	case <-sessionsEnded:
	case <-timer.C:
		n.options.Logger.Warn("drain time is over: ending sessions that still run", "sessions", e.pg.Stats().Sessions)
	}
	endSubscriptions()
	<-drained
	endSessions()
	hung = time.AfterFunc(hungTime, n.stopLog)
	<-sessionsEnded
	return hung
}
