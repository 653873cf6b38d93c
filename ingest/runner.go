package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tailrace"
	"tailrace/catalog"
	"tailrace/log"
)

// firstBackoff is the pause before a source that failed is tried again for the first time; it doubles from there.
const firstBackoff = 250 * time.Millisecond

// runner follows one source.
type runner struct {
	i        *Ingest
	id       catalog.ID
	claim    log.Claim // under which everything is committed; run sets it
	cancel   context.CancelFunc
	done     chan struct{}
	progress progress
}

// start begins to follow s; stop ends it.
func start(ctx context.Context, i *Ingest, s *catalog.Source) *runner {
	ctx, cancel := context.WithCancel(ctx)
	r := &runner{i: i, id: s.ID, cancel: cancel, done: make(chan struct{})}
	r.progress.set(Starting, nil)
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

// run follows the source, on the one node that has its claim, until ctx is done, the source is gone, or its position is lost.
func (r *runner) run(ctx context.Context) {
	for r.take(ctx) {
		isFenced := r.repeat(ctx)
		r.give(ctx)
		if !isFenced {
			return
		}
	}
}

// repeat follows the source and tries again after trouble, which is shown. true: the claim has moved on.
//
// Before each new try the claim is taken again. When a source's connection breaks, the commit that was under way is not waited for, and may still come into the
// log: after the position was read that the next try goes on from, and then the same transaction would be committed twice. Under a new epoch it is applied
// before the claim is there, or refused.
func (r *runner) repeat(ctx context.Context) (isFenced bool) {
	pause := firstBackoff
	for ctx.Err() == nil {
		began := time.Now()
		err := r.follow(ctx)
		if ctx.Err() != nil || errors.Is(err, errGone) {
			return false
		}
		if errors.Is(err, log.ErrFenced) {
			return true
		}
		if errors.Is(err, tailrace.ErrLost) {
			if err = r.lose(ctx, explained(err)); err == nil {
				return false
			}
		}
		if errors.Is(err, log.ErrConflict) { // the catalog changed under us: look again at once
			r.i.o.Logger.Info("source looks again at the catalog", "source", r.id)
			if wait(ctx, 10*time.Millisecond) != nil || !r.take(ctx) {
				return false
			}
			continue
		}
		r.i.o.Logger.Warn("source failed, will be tried again", "source", r.id, "error", err)
		r.progress.set(Failing, explained(err))
		if time.Since(began) > r.i.o.Backoff {
			pause = firstBackoff
		}
		if wait(ctx, pause) != nil || !r.take(ctx) {
			return false
		}
		pause = min(2*pause, r.i.o.Backoff)
	}
	return false
}

// errGone ends a runner whose source is not in the catalog any more.
var errGone = errors.New("the source was dropped")

// follow takes the source through its phases once.
func (r *runner) follow(ctx context.Context) error {
	for {
		cat := r.i.o.Catalog.Current()
		s := cat.Sources[r.id]
		if s == nil {
			return errGone
		}
		if s.Options[slotOption] == "" {
			if err := r.nameSlot(ctx, s); err != nil {
				return err
			}
			continue
		}
		adapter, err := r.i.open(cat, s)
		if err != nil {
			return err
		}
		if cat.Positions[r.id] == nil {
			err = r.snapshot(ctx, adapter)
		} else {
			err = r.stream(ctx, adapter)
		}
		if err != nil {
			return err
		}
	}
}

// nameSlot gives the source the name of its slot, before anything is made under it.
func (r *runner) nameSlot(ctx context.Context, s *catalog.Source) error {
	readTime := r.i.o.Log.Newest()
	named := *s
	named.Options = map[string]string{slotOption: slotName(r.i.o.Environment, s.Name)}
	for k, v := range s.Options {
		if v != "" {
			named.Options[k] = v
		}
	}
	return r.put(ctx, readTime, &catalog.Change{Source: &named})
}

// lose records in the catalog that the source needs a new snapshot.
func (r *runner) lose(ctx context.Context, why *tailrace.Error) error {
	r.progress.set(Lost, why)
	readTime := r.i.o.Log.Newest()
	s := r.i.o.Catalog.Current().Sources[r.id]
	if s == nil {
		return nil
	}
	lost := *s
	lost.Error, lost.Hint = why.Message, why.Hint
	return r.put(ctx, readTime, &catalog.Change{Source: &lost})
}

// put commits changes of the catalog as it was at readTime.
func (r *runner) put(ctx context.Context, readTime tailrace.Time, changes ...*catalog.Change) error {
	txn := log.Txn{ReadTime: readTime, Claim: r.claim, Reads: []log.Read{{Whole: true}, {Collection: r.id, Whole: true}}}
	for _, c := range changes {
		txn.Records = append(txn.Records, c.Record())
	}
	_, err := r.i.o.Log.Commit(ctx, txn)
	return err
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
