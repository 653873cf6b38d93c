package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"tailrace"
)

// ListenBytes of encoded memtable updates are decoded and sorted at once by Listen, more only when they are at one time. Of history it
// holds one flushed run at once, about FlushBytes, or a compacted one, HistoryBytes of parts and HistoryRows at most; referenced parts are streamed.
const ListenBytes = 4 << 20

// Listen calls fn with all updates with after < time < until that are known, in time order, within one time by row and consolidated. Every
// update has its time in Times; the columns are those of schema (nil: the newest). A batch has at most PieceRows updates and may end within a
// time. fn may keep the batch. The error is a *CompactedError (wrapped), an ErrCompacted, when after is before since, else what fn or the store returned.
func (sh *Shard) Listen(ctx context.Context, after, until tailrace.Time, schema *tailrace.Schema, fn func(*tailrace.Batch) error) error {
	m, release := sh.pin()
	defer release()
	if schema == nil {
		schema = m.schema
	}
	x := &listener{sh: sh, l: newLayout(schema), lo: after, hi: min(until, sh.set.Upper()), fn: fn}
	if x.hi == 0 {
		return nil
	}
	x.hi--
	grant := sh.set.shares.snapshots.Grant()
	if err := grant.Wait(ctx, sh.listenCost(m, x.lo, x.hi)); err != nil {
		return fmt.Errorf("listen to collection %d after %d: %w", sh.id, after, err)
	}
	defer grant.Free()
	if err := x.listen(ctx, m); err != nil {
		return fmt.Errorf("listen to collection %d after %d: %w", sh.id, after, err)
	}
	return nil
}

// listenCost is about what a Listen holds, in bytes: the largest flushed run decoded, sorted and folded, or a piece of the memtable; of runs at one time,
// a page group each.
func (sh *Shard) listenCost(m *manifest, lo, hi tailrace.Time) int64 {
	flushed, single := int64(0), int64(0)
	for _, r := range m.historyIn(lo, hi) {
		if cost := groupCost(r); r.upper == r.lower+1 {
			single += cost
		} else {
			flushed = max(flushed, 3*cost*max(1, r.rows()/PieceRows))
		}
	}
	if len(memWindow(m.mem, lo, hi)) > 0 {
		flushed = max(flushed, 3*int64(min(m.memSize, sh.set.limits.listen)))
	}
	return min(max(flushed, single), sh.set.shares.snapshots.Limit(1<<62)/2)
}

// listener is a Listen on its way.
type listener struct {
	sh     *Shard
	l      *layout
	lo, hi tailrace.Time // lo < time <= hi
	fn     func(*tailrace.Batch) error
	single []*run // runs at one time each that are still to come, in time order
}

func (x *listener) listen(ctx context.Context, m *manifest) error {
	switch {
	case m.dropped:
		return ErrDropped
	case x.lo < m.since:
		return &CompactedError{Collection: x.sh.id, Oldest: m.since, Time: x.lo}
	}
	var flushed []*run
	for _, r := range m.historyIn(x.lo, x.hi) {
		if r.upper == r.lower+1 {
			x.single = append(x.single, r)
		} else {
			flushed = append(flushed, r)
		}
	}
	for _, r := range flushed {
		tl, err := x.load(ctx, r)
		if err != nil {
			return err
		}
		if err := x.small(ctx, tl); err != nil {
			return err
		}
	}
	mem := memWindow(m.mem, x.lo, x.hi)
	for len(mem) > 0 {
		n := sliceOf(mem, x.sh.set.limits.listen)
		b, err := joined(mem[:n], x.l.schema)
		if err != nil {
			return err
		}
		if err := x.small(ctx, x.l.timelineOf([]*tailrace.Batch{b}, false, x.lo, x.hi)); err != nil {
			return err
		}
		mem = mem[n:]
	}
	return x.singles(ctx, tailrace.MaxTime)
}

// sliceOf is how many batches make up about limit bytes, all of a time together.
func sliceOf(mem []*memBatch, limit int) int {
	size := 0
	for i, b := range mem {
		if size >= limit && b.time != mem[i-1].time {
			return i
		}
		size += len(b.raw)
	}
	return len(mem)
}

// load reads a flushed run's updates in the time window.
func (x *listener) load(ctx context.Context, r *run) (*timeline, error) {
	var in []*tailrace.Batch
	if err := x.sh.eachTimed(ctx, r, x.l, x.lo, x.hi, func(b *tailrace.Batch) { in = append(in, b) }); err != nil {
		return nil, err
	}
	_, exact := x.l.shared(r)
	return x.l.timelineOf(in, exact, x.lo, x.hi), nil
}

// small emits updates and, in their place, the single runs whose times lie among them.
func (x *listener) small(ctx context.Context, tl *timeline) error {
	for from, end := 0, len(tl.refs); from < end; {
		to := end
		if len(x.single) > 0 {
			to = tl.firstAt(from, x.single[0].lower)
		}
		for ; from < to; from += min(to-from, PieceRows) {
			if err := x.fn(tl.piece(from, min(from+PieceRows, to))); err != nil {
				return err
			}
		}
		if from == end {
			return nil
		}
		t := x.single[0].lower
		to = tl.firstAt(from, t+1)
		if err := x.together(ctx, t, tl.piece(from, to)); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// singles emits the single runs before time t.
func (x *listener) singles(ctx context.Context, t tailrace.Time) error {
	for len(x.single) > 0 && x.single[0].lower < t {
		if err := x.together(ctx, x.single[0].lower, nil); err != nil {
			return err
		}
	}
	return nil
}

// together emits the updates at time t: of single runs and of b, in row order.
func (x *listener) together(ctx context.Context, t tailrace.Time, b *tailrace.Batch) error {
	p := &picture{sh: x.sh, l: x.l}
	for len(x.single) > 0 && x.single[0].lower == t {
		p.run(x.sh.set.readRun(x.single[0], x.l))
		x.single = x.single[1:]
	}
	if b != nil {
		p.batch(b)
	}
	c := newCursor(x.l, SnapshotOptions{})
	c.signed, c.what = true, fmt.Sprintf("updates of collection %d at %d", x.sh.id, t)
	c.memory.sorts = p.sorts
	defer c.Close()
	if err := c.start(ctx, p.streams, nil); err != nil {
		return err
	}
	for {
		piece, err := c.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		piece.Times = slices.Repeat([]tailrace.Time{t}, piece.N)
		if err := x.fn(piece); err != nil {
			return err
		}
	}
}
