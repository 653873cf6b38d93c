package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"tailrace"
)

// recorder keeps what a feed did to its target: the loading of its tables, then from start on each connection's transactions.
type recorder struct {
	mu      sync.Mutex
	started bool
	loads   []tailrace.SinkStep
	conns   []*[]recorded
	ended   int       // transactions
	first   time.Time // when the first of them began
	last    time.Time // when the last one ended
}

// recorded is a transaction of a feed. It began after the first so many of all had ended, and may wait for no others: so rows of one key keep their order.
type recorded struct {
	steps []tailrace.SinkStep
	after int
	rank  int // among all, by their ends
}

func (r *recorder) start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = true
}

// count is how many transactions there were.
func (r *recorder) count() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		n += len(*c)
	}
	return n
}

// took is from when the first transaction began until the last one ended.
func (r *recorder) took() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.Sub(r.first)
}

// recordingSink is a target whose connections tell a recorder what they do.
type recordingSink struct {
	tailrace.Sink
	to *recorder
}

func (s *recordingSink) Connect(ctx context.Context) (tailrace.SinkConn, error) {
	c, err := s.Sink.Connect(ctx)
	if err != nil {
		return nil, err
	}
	s.to.mu.Lock()
	defer s.to.mu.Unlock()
	mine := &[]recorded{}
	s.to.conns = append(s.to.conns, mine)
	return &recordingConn{SinkConn: c, to: s.to, mine: mine}, nil
}

type recordingConn struct {
	tailrace.SinkConn
	to   *recorder
	mine *[]recorded
}

func (c *recordingConn) Apply(ctx context.Context, txn *tailrace.SinkTxn) error {
	c.to.mu.Lock()
	after := c.to.ended
	if c.to.started && c.to.first.IsZero() && len(txn.Steps) > 0 {
		c.to.first = time.Now()
	}
	c.to.mu.Unlock()
	err := c.SinkConn.Apply(ctx, txn)
	c.to.mu.Lock()
	defer c.to.mu.Unlock()
	if err == nil && c.to.started && len(txn.Steps) > 0 {
		*c.mine = append(*c.mine, recorded{steps: txn.Steps, after: after, rank: c.to.ended})
		c.to.ended++
		c.to.last = time.Now()
	}
	return err
}

func (c *recordingConn) Load(ctx context.Context, t *tailrace.SinkTarget, rows *tailrace.Batch, progress []tailrace.SinkProgress) error {
	err := c.SinkConn.Load(ctx, t, rows, progress)
	c.to.mu.Lock()
	defer c.to.mu.Unlock()
	if err == nil {
		c.to.loads = append(c.to.loads, tailrace.SinkStep{Target: t, Rows: rows})
	}
	return err
}

// plainFeed is the name under which the plain loader prepares the target; it keeps no progress there.
const plainFeed = "bench plain"

// empty drops the target's tables.
func (f *feeding) empty(ctx context.Context) (err error) {
	s, conn, err := f.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(), s.Forget(ctx, plainFeed), s.Close()) }()
	for _, t := range feedTables {
		st := &tailrace.SinkTable{Schema: "public", Name: t.name, Columns: &tailrace.Schema{}}
		if err := conn.Alter(ctx, &tailrace.SinkAlter{Kind: tailrace.SinkDropTable, Before: st, After: st}); err != nil {
			return fmt.Errorf("drop %s of the target: %w", t.name, err)
		}
	}
	return nil
}

func (f *feeding) connect(ctx context.Context) (tailrace.Sink, tailrace.SinkConn, error) {
	s, err := f.Open(f.Kind, f.URL, "")
	if err != nil {
		return nil, nil, err
	}
	if _, err := s.Prepare(ctx, plainFeed, 1); err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	conn, err := s.Connect(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, conn, nil
}

// plain makes the tables and their rows as they were at the start, and then sends what each connection of the feed sent, over as many connections.
func (f *feeding) plain(ctx context.Context) (took, cpu time.Duration, err error) {
	s, conn, err := f.connect(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, conn.Close(), s.Forget(ctx, plainFeed), s.Close()) }()
	targets := map[string]*tailrace.SinkTarget{}
	find := func(t *tailrace.SinkTarget) (*tailrace.SinkTarget, error) {
		if targets[t.Name] == nil {
			found, err := s.Table(ctx, t.Table, true)
			if err != nil {
				return nil, err
			}
			targets[t.Name] = found
		}
		return targets[t.Name], nil
	}
	for _, l := range f.taken.loads {
		t, err := find(l.Target)
		if err == nil {
			err = conn.Load(ctx, t, l.Rows, nil)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	for _, c := range f.taken.conns {
		for _, txn := range *c {
			for i := range txn.steps {
				if txn.steps[i].Target, err = find(txn.steps[i].Target); err != nil {
					return 0, 0, err
				}
			}
		}
	}
	conns := make([]tailrace.SinkConn, len(f.taken.conns))
	for i := range conns {
		if conns[i], err = s.Connect(ctx); err != nil {
			return 0, 0, err
		}
		defer conns[i].Close()
	}
	began := time.Now()
	cpu = cpuUsed()
	group, groupCtx := errgroup.WithContext(ctx)
	done := newPrefix(f.taken.count())
	defer context.AfterFunc(groupCtx, done.giveUp)()
	for i, c := range f.taken.conns {
		group.Go(func() error {
			for _, txn := range *c {
				if !done.wait(txn.after) {
					return groupCtx.Err()
				}
				if err := conns[i].Apply(groupCtx, &tailrace.SinkTxn{Steps: txn.steps}); err != nil {
					return err
				}
				done.add(txn.rank)
			}
			return nil
		})
	}
	err = group.Wait()
	return time.Since(began), cpuUsed() - cpu, err
}

// prefix counts how many of the first transactions are done, without a gap.
type prefix struct {
	mu      sync.Mutex
	changed *sync.Cond
	done    []bool
	n       int
	over    bool
}

func newPrefix(n int) *prefix {
	p := &prefix{done: make([]bool, n)}
	p.changed = sync.NewCond(&p.mu)
	return p
}

func (p *prefix) add(rank int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done[rank] = true
	for p.n < len(p.done) && p.done[p.n] {
		p.n++
	}
	p.changed.Broadcast()
}

// wait waits until the first n are done; false when they will not be.
func (p *prefix) wait(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.n < n && !p.over {
		p.changed.Wait()
	}
	return p.n >= n
}

func (p *prefix) giveUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.changed.Broadcast()
}
