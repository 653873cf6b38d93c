package shard

import (
	"context"
	"fmt"

	"tailrace"
	"tailrace/stripe"
)

// loader writes what a Writer gathers, a stripe's worth at a time, as runs. A stripe's worth that is in order goes on with the run that it follows; another is
// sorted and is a run of its own. While one is encoded by the pool, the next is gathered and the one before is put into Blob.
//
//	gathered ─ cut ─▶ [sort, unless in order] ─▶ stripe.Writer ─▶ stripe ─▶ assembler of its run ─▶ Blob
//
// Only the Writer's goroutine uses it. Give up with abort, which leaves no goroutine and no object.
type loader struct {
	set    *Set
	l      *layout
	opts   stripe.Options
	tasks  tasks
	cancel context.CancelFunc // ends the flight's context

	w     *stripe.Writer
	ready []*stripe.Stripe
	under []underway // stripes' worths that are not all in a part, oldest first
	held  int64      // bytes of their values

	puts  puts
	runs  []*assembler
	last  *tailrace.Batch // the last row of the last run, nil when no rows can follow it
	spare []*tailrace.Batch
	kept  int64 // bytes of spare
	err   error // the first, for good
}

// underway is a stripe's worth that is being encoded.
type underway struct {
	run  *assembler
	rows int   // that are in no part
	raw  int64 // bytes of values
	ends bool  // no other is of its run
}

// maxSpare is how many batches are kept for Writer.Spare: those of a stripe and as many as are parsed ahead.
const maxSpare = 24

// newLoader returns a loader of rows of l.
func (s *Set) newLoader(l *layout, o WriteOptions) *loader {
	ctx, cancel := context.WithCancel(context.Background())
	x := &loader{set: s, l: l, cancel: cancel, opts: s.limits.stripeOptions(l, o.Stripe, stripe.StripeBytes)}
	x.puts.set = s
	x.tasks = tasks{flight: s.opts.Pool.Flight(ctx, o.Workers), logger: s.logger}
	x.w = s.newStripes(l, x.opts, x.tasks.flight, &x.ready)
	x.w.Free = func(b *tailrace.Batch) { x.free(b) }
	return x
}

// watch cancels the flight when ctx ends before the function that it returns is called: the statement whose rows are written is canceled then, and the
// loader of no more use.
func (x *loader) watch(ctx context.Context) (done func()) {
	canceled := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		x.cancel()
		close(canceled)
	})
	return func() {
		if !stop() {
			<-canceled
		}
	}
}

// cut writes a stripe's worth of updates, whose batches' memory is the loader's from now on unless lent says that others still read it.
func (x *loader) cut(ctx context.Context, in []*tailrace.Batch, lent bool) error {
	if x.err == nil {
		x.err = x.write(ctx, in, lent)
	}
	return x.err
}

func (x *loader) write(ctx context.Context, in []*tailrace.Batch, lent bool) error {
	defer x.watch(ctx)()
	ordered, follows := x.inOrder(in)
	if !ordered {
		sorted, err := x.l.sortGroups(x.tasks, in, x.opts.PageRows, false)
		if err != nil || len(sorted) == 0 {
			return err
		}
		if !lent {
			x.free(in...)
		}
		in = sorted
	}
	if !follows {
		if err := x.endRun(ctx); err != nil {
			return err
		}
		x.runs = append(x.runs, x.set.newAssembler(x.l, x.opts, 0, 1, true, &x.puts))
	}
	if err := x.encode(in, ordered && lent); err != nil {
		return err
	}
	if end := in[len(in)-1]; ordered {
		x.last = slice(end, end.N-1, end.N)
	} else if err := x.endRun(ctx); err != nil {
		return err
	}
	return x.assemble(ctx)
}

// encode makes a stripe of updates in order, for the last run.
func (x *loader) encode(in []*tailrace.Batch, lent bool) error {
	u := underway{run: x.runs[len(x.runs)-1]}
	for _, b := range in {
		u.rows, u.raw = u.rows+b.N, u.raw+x.l.rawSize(b, 0, b.N)
	}
	x.under, x.held = append(x.under, u), x.held+u.raw
	add := x.w.Take
	if lent {
		add = x.w.Append
	}
	for _, b := range in {
		if err := add(b); err != nil {
			return err
		}
	}
	x.tasks.rank++
	return x.w.Cut()
}

// inOrder reports whether the updates are in order and each row once, and whether they follow the last run.
func (x *loader) inOrder(in []*tailrace.Batch) (ordered, follows bool) {
	var t tie
	var last *tailrace.Batch
	for _, b := range in {
		if hasZero(b.Diffs) || !t.ascend(x.l, last, b, 0, b.N) {
			return false, false
		}
		last = b
	}
	return true, x.last != nil && t.compareRows(x.l, x.last, 0, in[0], 0) < 0
}

func hasZero(diffs []tailrace.Diff) bool {
	for _, d := range diffs {
		if d == 0 {
			return true
		}
	}
	return false
}

// endRun tells that no more rows follow the last run.
func (x *loader) endRun(ctx context.Context) error {
	x.last = nil
	if len(x.runs) == 0 {
		return nil
	}
	run := x.runs[len(x.runs)-1]
	if n := len(x.under); n > 0 && x.under[n-1].run == run {
		x.under[n-1].ends = true
		return nil
	}
	return run.cut(ctx)
}

// assemble puts the stripes that are encoded into the parts of their runs.
func (x *loader) assemble(ctx context.Context) error {
	for _, s := range x.ready {
		u := &x.under[0]
		if err := u.run.add(ctx, s); err != nil {
			return err
		}
		if u.rows -= s.Meta.Rows; u.rows > 0 {
			continue
		}
		x.held -= u.raw
		if u.ends {
			if err := u.run.cut(ctx); err != nil {
				return err
			}
		}
		x.under = x.under[1:]
	}
	x.ready = x.ready[:0]
	return nil
}

// drain waits until every stripe is in a part and every part that is full in Blob: what is left in memory is the part under way.
func (x *loader) drain(ctx context.Context) error {
	defer x.watch(ctx)()
	if x.err == nil {
		x.err = x.w.Settle()
	}
	if x.err == nil {
		x.err = x.assemble(ctx)
	}
	if x.err == nil {
		x.err = x.puts.wait()
	}
	x.forget()
	return x.err
}

// forget lets go of the memory that is kept for what comes.
func (x *loader) forget() {
	x.spare, x.kept = nil, 0
	x.puts.memory()
}

// poll puts the stripes that are done into their parts. It does not wait for others.
func (x *loader) poll(ctx context.Context) error {
	if x.err == nil && len(x.under) > 0 {
		if x.err = x.w.Poll(); x.err == nil {
			x.err = x.assemble(ctx)
		}
	}
	return x.err
}

// settle waits until every row is in a part in Blob.
func (x *loader) settle(ctx context.Context) error {
	if err := x.drain(ctx); err != nil {
		return err
	}
	for _, run := range x.runs {
		if x.err = run.cut(ctx); x.err != nil {
			return x.err
		}
	}
	x.err = x.puts.wait()
	return x.err
}

// size is what it holds, in bytes: values on their way, half as much again for what they are encoded to, and parts.
func (x *loader) size() int64 {
	n := x.held + x.held/2 + x.puts.held() + x.kept
	for _, run := range x.runs {
		n += run.size()
	}
	return n
}

// free keeps batches that nobody reads any more.
func (x *loader) free(batches ...*tailrace.Batch) {
	for _, b := range batches {
		if len(x.spare) < maxSpare && b.N == x.opts.PageRows {
			b.Times, b.Diffs = nil, nil
			x.spare, x.kept = append(x.spare, b), x.kept+int64(b.Size())
		}
	}
}

// take returns a batch that free kept, nil when there is none.
func (x *loader) take() *tailrace.Batch {
	last := len(x.spare) - 1
	if last < 0 {
		return nil
	}
	b := x.spare[last]
	x.spare, x.kept = x.spare[:last], x.kept-int64(b.Size())
	return b
}

// written lists the runs so far. Rows that are not in a part are missing.
func (x *loader) written() []*run {
	var out []*run
	for _, a := range x.runs {
		if len(a.out.parts) > 0 {
			out = append(out, &a.out)
		}
	}
	return out
}

// each calls fn with every update that was cut, which are read back.
func (x *loader) each(ctx context.Context, fn func(*tailrace.Batch) error) error {
	if err := x.settle(ctx); err != nil {
		return err
	}
	for _, r := range x.written() {
		rr := x.set.readRun(r, x.l)
		for {
			chunk, err := rr.next(ctx)
			if err != nil {
				return fmt.Errorf("read back rows: %w", err)
			}
			if chunk == nil {
				break
			}
			if err := fn(chunk.b); err != nil {
				return err
			}
		}
	}
	return nil
}

// close ends the flight: nothing can be written any more.
func (x *loader) close() {
	x.cancel()
	x.w.Close()
	x.tasks.flight.Close()
	x.forget()
}

// abort gives up and deletes what was written.
func (x *loader) abort(ctx context.Context) {
	x.close()
	for _, run := range x.runs {
		run.abort(ctx, nil)
	}
	x.runs, x.under, x.ready, x.held = nil, nil, nil, 0
}
