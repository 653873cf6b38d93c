package changefeed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"tailrace"
	"tailrace/catalog"
	"tailrace/log"
	"tailrace/shard"
)

// idleCheckpoint is how often progress goes into the log when nothing was sent: the frontier moves on its own.
const idleCheckpoint = 10 * time.Second

// checkpoints notes in the log how far the feed is, and fails it when that is too far behind.
func (f *feed) checkpoints(ctx context.Context) error {
	tick := time.NewTicker(f.f.o.Checkpoint)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case now := <-tick.C:
			if err := f.checkpoint(ctx, now); err != nil {
				return err
			}
		}
	}
}

// lastCheckpoint notes how far a feed came that ends.
func (f *feed) lastCheckpoint(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveTime)
	defer cancel()
	if err := f.checkpoint(ctx, time.Now().Add(idleCheckpoint)); err != nil && !errors.Is(err, errFailed) {
		f.f.o.Logger.Debug("note how far a sink came", "sink", f.sink.Name, "error", err) // the target knows
	}
}

// checkpoint is checkpoints, once.
func (f *feed) checkpoint(ctx context.Context, now time.Time) error {
	f.mu.Lock()
	moved := catalog.SinkProgress{}
	due := f.moved || now.Sub(f.noted) >= idleCheckpoint
	oldest := f.newest
	var slowest *span
	for _, s := range f.spans {
		at := min(f.frontier(s), f.redone(s)) // where the redo log goes on, too
		if at < oldest {
			oldest, slowest = max(at, f.resolved[s.tables[0].id].Time), s
		}
		for _, tb := range s.tables {
			span := f.resolved[tb.id]
			if !due || at <= span.Time {
				continue
			}
			span.Time = at
			moved[tb.id] = span
		}
	}
	lag, why := lagOf(f.newest, oldest), error(nil)
	if slowest != nil {
		why = slowest.failed
	}
	f.moved = false
	f.mu.Unlock()
	if slowest != nil && lag > f.sink.MaxLag {
		return f.tooFarBehind(ctx, slowest.tables[0].id, lag, why)
	}
	if len(moved) == 0 {
		return nil
	}
	txn := log.Txn{ReadTime: f.f.o.Log.Newest(), Claim: f.claim, Records: []log.Record{catalog.SinkProgressRecord(f.sink.ID, moved)}}
	for id, span := range moved {
		txn.Records = append(txn.Records, shard.HoldRecord(id, f.sink.HoldName(), span.Time))
	}
	if _, err := f.f.o.Log.Commit(ctx, txn); err != nil {
		return fmt.Errorf("note how far sink %s is: %w", f.sink.Name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.Copy(f.resolved, moved)
	f.noted = now
	return nil
}

// loaded takes in that a table's snapshot is in the target. The feed's mutex is held.
func (f *feed) loaded(tb *table) {
	span := f.resolved[tb.id]
	span.Loading, span.Resyncs = false, f.sink.Resyncs[tb.id]
	span.Time-- // so that the next checkpoint writes it, whatever else moves
	f.resolved[tb.id] = span
}

// tooFarBehind fails the sink: its history is not held for ever. why is what is known of the reason.
func (f *feed) tooFarBehind(ctx context.Context, table tailrace.CollectionID, lag time.Duration, why error) error {
	name, because := f.tableName(table), ""
	if why != nil {
		because = ": " + explained(why).Message
	}
	return f.failForGood(ctx, fmt.Sprintf("table \"%s\" is %s behind, more than MAX LAG %s allows%s", name, lag.Round(time.Second), f.sink.MaxLag, because),
		fmt.Sprintf("ALTER SINK %s RESYNC TABLE %s; then ALTER SINK %s RESUME.", f.sink.Name, name, f.sink.Name))
}
