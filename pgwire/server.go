package pgwire

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tailrace/budget"
	"tailrace/sql"
)

// Options say what a Server serves.
type Options struct {
	Engine         *sql.Engine // sessions; its Catalog also says who may log in
	Logger         *slog.Logger
	MaxConnections int // sessions at once; 0 is DefaultConnections; SetMaxConnections changes it
	// TLS gives the certificate to show to the next client, nil for none; a nil func has none. The config has one certificate, with its Leaf.
	TLS func() *tls.Config
	// RequireTLS refuses sessions in the clear.
	RequireTLS func() bool
}

// Stats counts since the start, except Sessions.
type Stats struct {
	Sessions       int64 // open now
	Accepted       int64 // connections
	Refused        int64 // connections told that there are too many
	Garbage        int64 // connections closed because of bytes that are no protocol
	AuthFailures   int64
	Cancels        int64 // cancel requests with the right secret
	Panics         int64
	Errors         int64 // ErrorResponses sent
	Statements     int64 // Query and Execute messages
	BytesSent      int64
	Writes         int64 // that sent them
	BytesReceived  int64
	RowsSent       int64
	StreamsStarted int64 // statements that streamed
}

// Server accepts connections. It may serve several listeners.
type Server struct {
	engine    *sql.Engine
	logger    *slog.Logger
	max       atomic.Int64
	tls       func() *tls.Config
	onlyTLS   func() bool
	large     *budget.Share // messages of LargeMessage or more
	mock      mockSecret
	drainOnce sync.Once
	draining  chan struct{} // closed when the server drains

	mu     sync.Mutex
	conns  map[int32]*conn // all that are connected, by process ID
	nextID int32

	sessions, accepted, refused, garbage, authFailures, cancels, panics atomic.Int64
	errors, statements, sent, writes, received, rows, streams           atomic.Int64
}

// New returns a server; Serve runs it.
func New(o Options) *Server {
	s := &Server{
		engine: o.Engine, logger: o.Logger, tls: o.TLS, onlyTLS: o.RequireTLS, large: o.Engine.Budget.Share(budget.Messages),
		mock: newMockSecret(), draining: make(chan struct{}), conns: map[int32]*conn{},
	}
	if s.large == nil {
		s.large = budget.NewShare(budget.Messages, LargeMessages)
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if s.tls == nil {
		s.tls = func() *tls.Config { return nil }
	}
	if s.onlyTLS == nil {
		s.onlyTLS = func() bool { return false }
	}
	s.SetMaxConnections(o.MaxConnections)
	return s
}

// SetMaxConnections says how many sessions there may be at once from now on; 0 is DefaultConnections. Those that are open stay.
func (s *Server) SetMaxConnections(n int) {
	if n <= 0 {
		n = DefaultConnections
	}
	s.max.Store(int64(n))
}

// Stats are the counts now.
func (s *Server) Stats() Stats {
	return Stats{
		Sessions: s.sessions.Load(), Accepted: s.accepted.Load(), Refused: s.refused.Load(), Garbage: s.garbage.Load(),
		AuthFailures: s.authFailures.Load(), Cancels: s.cancels.Load(), Panics: s.panics.Load(), Errors: s.errors.Load(),
		Statements: s.statements.Load(), BytesSent: s.sent.Load(), Writes: s.writes.Load(), BytesReceived: s.received.Load(), RowsSent: s.rows.Load(),
		StreamsStarted: s.streams.Load(),
	}
}

// Drain stops accepting and ends idle sessions with 57P01. The others end when their statement or transaction does.
func (s *Server) Drain() { s.drainOnce.Do(func() { close(s.draining) }) }

// Serve accepts connections from ln, which it closes, until Drain is called or ctx is done, and returns when every session has ended: after
// Drain when they are done by themselves, after the end of ctx within CloseGrace.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	accepting, stop := context.WithCancel(ctx)
	defer stop()
	var sessions sync.WaitGroup
	sessions.Go(func() {
		select {
		case <-s.draining:
		case <-accepting.Done():
		}
		_ = ln.Close() // wakes Accept; closing twice is fine
	})
	err := s.accept(ctx, ln, &sessions)
	stop()
	ended := make(chan struct{})
	go func() { sessions.Wait(); close(ended) }()
	select {
	case <-ended:
		return err
	case <-ctx.Done():
	}
	s.each(func(c *conn) { c.interrupt(errShutdown) })
	grace := time.NewTimer(CloseGrace)
	defer grace.Stop()
	select {
	case <-ended:
	case <-grace.C:
		s.each(func(c *conn) { _ = c.peer.Close() }) // a client that does not read
		<-ended
	}
	return err
}

// accept runs a session for each connection until ln is closed.
func (s *Server) accept(ctx context.Context, ln net.Listener, sessions *sync.WaitGroup) error {
	for {
		nc, err := ln.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			s.logger.Warn("accept a connection", "error", err) // out of file descriptors, mostly: wait for some to be closed
			select {
			case <-time.After(100 * time.Millisecond):
				continue
			case <-ctx.Done():
				return nil
			}
		}
		s.accepted.Add(1)
		c, ok := s.register(nc)
		if !ok {
			s.refused.Add(1)
			_ = nc.Close() // a flood: not even told why
			continue
		}
		sessions.Go(func() {
			defer s.unregister(c)
			c.serve(ctx)
		})
	}
}

// register gives a connection its process ID.
func (s *Server) register(nc net.Conn) (*conn, bool) {
	c := newConn(s, nc)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) >= int(s.max.Load())+StartupConnections {
		return nil, false
	}
	for {
		s.nextID = max(1, s.nextID+1) // wraps to negative, then to 1
		if s.conns[s.nextID] == nil {
			break
		}
	}
	c.id = s.nextID
	s.conns[c.id] = c
	return c, true
}

func (s *Server) unregister(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c.id)
}

// each calls fn with every connection, the oldest first, outside the lock.
func (s *Server) each(fn func(*conn)) {
	s.mu.Lock()
	all := make([]*conn, 0, len(s.conns))
	for _, c := range s.conns {
		all = append(all, c)
	}
	s.mu.Unlock()
	slices.SortFunc(all, func(a, b *conn) int { return cmp.Compare(a.id, b.id) })
	for _, c := range all {
		fn(c)
	}
}

// cancel interrupts the statement of the session that id and secret name.
func (s *Server) cancel(id int32, secret []byte) {
	s.mu.Lock()
	c := s.conns[id]
	s.mu.Unlock()
	if c == nil || !c.secretIs(secret) {
		s.logger.Info("cancel request for no session", "id", id)
		return
	}
	s.cancels.Add(1)
	c.cancelStatement()
}
