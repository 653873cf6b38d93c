package changefeed

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"tailrace"
	"tailrace/catalog"
	"tailrace/log"
	"tailrace/shard"
)

const (
	// firstBackoff is the pause before a target that failed is tried again for the first time; it doubles from there.
	firstBackoff = 100 * time.Millisecond
	// giveTime bounds how long a runner that stops tries to note how far it is and to give its claim up.
	giveTime = 2 * time.Second
)

// runner feeds one sink as the catalog has it; an altered one gets another runner.
type runner struct {
	f       *Feeds
	sink    *catalog.Sink
	counts  *counts
	claim   log.Claim                  // run sets it
	group   *errgroup.Group            // of what runs while this node has the claim
	redoing atomic.Pointer[redoBranch] // nil: there is none, or not yet
	cancel  context.CancelFunc
	done    chan struct{}
	state   state
}

// start begins to feed s; stop ends it.
func start(ctx context.Context, f *Feeds, s *catalog.Sink, c *counts) *runner {
	ctx, cancel := context.WithCancel(ctx)
	r := &runner{f: f, sink: s, counts: c, cancel: cancel, done: make(chan struct{})}
	r.state.set("starting", nil)
	go func() {
		defer close(r.done)
		r.run(ctx)
	}()
	return r
}

// stop ends the runner and waits for it.
func (r *runner) stop() {
	r.cancel()
	<-r.done
}

// ended reports whether the runner ended by itself.
func (r *runner) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// run feeds the sink, on the one node that has its claim, until ctx is done or the sink has failed for good.
func (r *runner) run(ctx context.Context) {
	for r.take(ctx) {
		err := r.hold(ctx)
		r.give(ctx)
		if ctx.Err() != nil || errors.Is(err, errFailed) {
			return
		}
		r.f.o.Logger.Warn("sink failed, will be tried again", "sink", r.sink.Name, "error", err)
		r.state.set("failing", explained(err))
		if wait(ctx, firstBackoff) != nil {
			return
		}
	}
}

// hold feeds the sink while this node has its claim: the redo log all the time, the target again and again.
func (r *runner) hold(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	r.group = group
	r.redoing.Store(nil)
	group.Go(func() error { return r.limitLag(ctx) })
	if !r.sink.Paused {
		group.Go(func() error { return r.feeds(ctx) })
	}
	return group.Wait()
}

// limitLag fails the sink when it is too far behind while no feed runs that would know: it is paused, or the target cannot be reached.
func (r *runner) limitLag(ctx context.Context) error {
	for {
		if err := wait(ctx, r.f.o.Checkpoint); err != nil {
			return err
		}
		cat := r.f.o.Catalog.Current()
		if _, _, f := r.state.get(); f != nil || cat.Sinks[r.sink.ID] != r.sink {
			continue
		}
		newest := r.f.o.Log.Newest()
		for _, id := range r.sink.Tables {
			span, there := cat.SinkProgress[r.sink.ID][id]
			if lag := lagOf(newest, span.Time); there && lag > r.sink.MaxLag+idleCheckpoint {
				f := &feed{runner: r, cat: cat}
				return f.tooFarBehind(ctx, id, lag, r.state.why())
			}
		}
	}
}

// feeds feeds the target until ctx is done, the sink has failed for good, or it has another holder.
func (r *runner) feeds(ctx context.Context) error {
	pause := firstBackoff
	for {
		began := time.Now()
		err := r.feed(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errFailed), errors.Is(err, tailrace.ErrSinkFenced), errors.Is(err, log.ErrFenced):
			return err
		case !errors.Is(err, tailrace.ErrSinkMoved):
			r.f.o.Logger.Warn("sink failed, will be tried again", "sink", r.sink.Name, "error", err)
			r.state.set("failing", explained(err))
		}
		if time.Since(began) > r.f.o.Backoff {
			pause = firstBackoff
		}
		if err := wait(ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, r.f.o.Backoff)
	}
}

// redo is the sink's redo log while it runs.
func (r *runner) redo() *redoBranch { return r.redoing.Load() }

// errFailed ends a runner whose sink has failed for good: the catalog says why.
var errFailed = errors.New("the sink has failed")

func claimName(sink catalog.ID) string { return fmt.Sprintf("sink/%d", sink) }

// take waits until this node has the sink's claim; false when ctx ends first or nothing is committed here any more.
func (r *runner) take(ctx context.Context) bool {
	for {
		if session, held := r.f.o.Log.ClaimHolder(claimName(r.sink.ID)); held && session != r.f.o.Log.Session() {
			r.state.set("standby", nil)
		}
		claim, err := r.f.o.Log.TakeClaim(ctx, claimName(r.sink.ID))
		if err == nil {
			r.claim = claim
			return true
		}
		if ctx.Err() != nil || errors.Is(err, log.ErrClosed) || errors.Is(err, log.ErrEnded) {
			return false
		}
		r.state.set("failing", explained(err))
		if wait(ctx, firstBackoff) != nil {
			return false
		}
	}
}

// give lets another node have the claim at once.
func (r *runner) give(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveTime)
	defer cancel()
	if err := r.f.o.Log.GiveClaim(ctx, r.claim); err != nil {
		r.f.o.Logger.Debug("give up a sink's claim", "sink", r.sink.Name, "error", err) // it ends with the session
	}
}

// open returns the adapter for a sink's target.
func (f *Feeds) open(cat *catalog.Catalog, s *catalog.Sink) (tailrace.Sink, error) {
	password := ""
	if s.Password != "" {
		secret := cat.SecretNamed(s.Password)
		if secret == nil {
			return nil, &tailrace.Error{
				Code: "42704", Message: fmt.Sprintf("secret %q does not exist", s.Password), Hint: fmt.Sprintf("CREATE SECRET %s AS 'env:NAME';", s.Password),
			}
		}
		var err error
		if password, err = f.o.Secret(secret.Value); err != nil {
			return nil, &tailrace.Error{
				Code: "22023", Message: fmt.Sprintf("secret %q: %v", s.Password, err), Err: err, Hint: "The server itself reads it: check its environment and files.",
			}
		}
	}
	return f.o.Open(s.Kind, s.URL, password)
}

// freeHolds gives up holds of sinks that are gone.
func (f *Feeds) freeHolds(ctx context.Context, cat *catalog.Catalog) {
	known := map[string]bool{}
	for _, s := range cat.Sinks {
		known[s.HoldName()] = true
	}
	var records []log.Record
	for _, h := range f.o.Shards.Holds("sink/") {
		if !known[h.Name] {
			records = append(records, shard.FreeRecord(h.Collection, h.Name))
		}
	}
	if len(records) == 0 {
		return
	}
	if _, err := f.o.Log.Commit(ctx, log.Txn{ReadTime: f.o.Log.Newest(), Records: records}); err != nil && ctx.Err() == nil {
		f.o.Logger.Warn("give up holds of dropped sinks", "error", err)
	}
}

// explained is err as a user sees it.
func explained(err error) *tailrace.Error {
	var e *tailrace.Error
	if errors.As(err, &e) {
		return e
	}
	return &tailrace.Error{Code: "XX000", Message: fmt.Sprint(err), Err: err, Hint: "It is tried again by itself; see the server's log."}
}

// wait returns nil after d, or ctx's error.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
