package dataflow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"tailrace"
	"tailrace/budget"
	"tailrace/expr"
	"tailrace/shard"
)

const (
	// MaxHeldBytes bounds the rows that one subscription has in memory: those of one time, and output rows that were not taken.
	MaxHeldBytes = 512 << 20
	// FetchBytes is the most that one FETCH gathers; it then returns what it has, and the next FETCH goes on.
	FetchBytes = 64 << 20
	// BatchBytes is about how many bytes of changes are read at once, of whole times.
	BatchBytes = 1 << 20
	// readersMost is how many subscriptions of a node read at once.
	readersMost = 8
	// holdWait is how long a subscription waits for room for rows before it ends with 53200.
	holdWait = 30 * time.Second
	// beat is how often a subscription without rows is told of progress, in microseconds.
	beat = tailrace.Time(1_000_000)
)

// Options say what a subscription gives.
type Options struct {
	Shards *shard.Set
	Watch  Watch
	Free   func()        // gives up what keeps AsOf readable; called once the snapshot was read, and may be called again
	Memory *budget.Share // of the rows held; nil: MaxHeldBytes alone
	Turns  Turns         // of those who read at once; nil: all may
	Root   Operator
	Row    expr.Row // parameters and settings for expressions; kept
	// Columns describes the output rows; Key are the places of the envelope's KEY columns in Root.Rows().
	Columns  []tailrace.ResultColumn
	Envelope Envelope
	Key      []int
	OrderBy  []Term
	Snapshot bool
	Progress bool
	AsOf     tailrace.Time // readable or in the future
	UpTo     tailrace.Time // when Bounded
	Bounded  bool
}

// Turns bounds how many subscriptions read at once: who reads holds memory and may want more. The rest hold nothing, or rows that are on their way to a client.
type Turns chan struct{}

// NewTurns is for subscriptions of one node.
func NewTurns() Turns { return make(Turns, readersMost) }

// take waits for a turn, which the caller gives back.
func (t Turns) take(ctx context.Context) (giveBack func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Watch is what a subscription learns of its tables besides their rows.
type Watch interface {
	// Look says what is there now for one that was given everything at or before after; snapshot says that it waits for its snapshot at that time.
	Look(after tailrace.Time, snapshot bool) View
	// Show tells where the subscription is and how many rows it has given.
	Show(after tailrace.Time, snapshot bool, rows int64)
	// Close ends the watching.
	Close()
}

// View is what there is at one moment.
type View struct {
	Newest tailrace.Time   // everything at or before is known
	Limit  tailrace.Time   // rows up to and including it may be given
	Wait   <-chan struct{} // closed when it is worth to look again
	Err    error           // why the subscription ends here, its earlier rows all given
}

// Subscription is one reader of a query. One goroutine at a time uses it.
type Subscription struct {
	o     Options
	scans []*Scan
	held  budget.Grant
	more  budget.Grant // what it waits for

	started  bool
	snapshot bool          // still to be read
	after    tailrace.Time // every update at or before is in out or was taken
	progress tailrace.Time // the last progress row
	out      *tailrace.Batch
	taken    int // rows of out that were taken
	given    int64
	err      error
}

// Subscribe begins a subscription. The caller closes it, which closes o.Watch too.
func Subscribe(o Options) *Subscription {
	s := &Subscription{o: o, scans: Scans(o.Root), snapshot: o.Snapshot && (!o.Bounded || o.AsOf != o.UpTo), after: o.AsOf, held: o.Memory.Grant(), more: o.Memory.Grant()}
	s.out = s.newRows()
	s.show()
	return s
}

// Columns describes the output rows.
func (s *Subscription) Columns() []tailrace.ResultColumn { return s.o.Columns }

// Resume is where a client that has everything given out so far goes on: AS OF at, with the snapshot (again) or without.
func (s *Subscription) Resume() (at tailrace.Time, snapshot bool) { return s.after, s.snapshot }

// Close gives up what the subscription holds.
func (s *Subscription) Close() error {
	s.held.Free()
	s.o.Free()
	s.o.Watch.Close()
	return nil
}

// Next waits for rows. The end is io.EOF.
func (s *Subscription) Next(ctx context.Context) (*tailrace.Batch, error) {
	for s.waiting() == 0 {
		wait, err := s.step(ctx)
		switch {
		case err != nil && (s.err == nil || s.waiting() == 0): // else what came before it first; the error stays
			return nil, err
		case s.waiting() > 0 || wait == nil:
			continue
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.take(-1), nil
}

// Fetch is FETCH: up to limit rows (all that are there when limit < 0). With wait < 0 it waits for the first row and returns what is there; else it waits for
// limit rows, at most that long. ended says that the stream is over. When ctx is done first, nothing is consumed.
func (s *Subscription) Fetch(ctx context.Context, limit int, wait time.Duration) (rows *tailrace.Batch, ended bool, err error) {
	var timeout <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		timeout = timer.C
	}
	for (limit < 0 || s.waiting() < limit) && s.out.Size() < FetchBytes {
		before := s.waiting()
		more, err := s.step(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, false, ctx.Err()
		case errors.Is(err, io.EOF):
			return s.take(limit), true, nil
		case err != nil && s.waiting() > 0: // what came before it first; the error stays
			return s.take(limit), false, nil
		case err != nil:
			return nil, false, err
		case s.waiting() > before || more == nil:
			continue
		}
		if wait == 0 || wait < 0 && s.waiting() > 0 {
			break
		}
		select {
		case <-more:
			continue
		case <-timeout:
			return s.take(limit), false, nil
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
	return s.take(limit), false, nil
}

// waiting is how many output rows are there to be taken.
func (s *Subscription) waiting() int { return s.out.N - s.taken }

// take gives out up to limit of the rows that are there, all for a negative one.
func (s *Subscription) take(limit int) *tailrace.Batch {
	n := s.waiting()
	if limit >= 0 {
		n = min(n, limit)
	}
	rows := s.newRows()
	for c := range rows.Cols {
		rows.Cols[c].AppendRange(&s.out.Cols[c], s.taken, s.taken+n)
	}
	rows.N = n
	if s.taken += n; s.taken == s.out.N {
		s.out, s.taken = s.newRows(), 0
		s.held.Free()
	}
	s.given += int64(n)
	s.show()
	return rows
}

func (s *Subscription) newRows() *tailrace.Batch {
	b := &tailrace.Batch{Cols: make([]tailrace.Column, len(s.o.Columns))}
	for i, c := range s.o.Columns {
		b.Cols[i] = tailrace.MakeColumn(c.Type.Kind, 0)
	}
	return b
}

func (s *Subscription) show() { s.o.Watch.Show(s.after, s.snapshot, s.given) }

// step adds what comes next to the output rows, if anything does. It returns a channel to wait for, nil when it is worth to step again at once. The end is io.EOF.
func (s *Subscription) step(ctx context.Context) (<-chan struct{}, error) {
	if s.err != nil {
		return nil, s.err
	}
	wait, err := s.advance(ctx)
	if err != nil && ctx.Err() == nil {
		s.err = err
	}
	s.show()
	return wait, err
}

func (s *Subscription) advance(ctx context.Context) (<-chan struct{}, error) {
	if !s.started {
		s.started = true
		if s.o.Progress {
			s.appendProgress(s.o.AsOf)
			return nil, nil
		}
	}
	v := s.o.Watch.Look(s.after, s.snapshot)
	if s.o.Bounded {
		v.Limit = min(v.Limit, s.o.UpTo-1)
	}
	switch {
	case v.Err != nil:
		return nil, v.Err
	case s.snapshot && v.Newest < s.o.AsOf:
		return v.Wait, nil
	case s.snapshot:
		return nil, s.readSnapshot(ctx)
	case s.o.Bounded && s.after >= s.o.UpTo-1:
		if s.o.Progress && s.progress < s.o.UpTo {
			s.appendProgress(s.o.UpTo)
		}
		return nil, io.EOF
	case len(s.scans) == 0: // constants never change
		return nil, io.EOF
	case v.Limit <= s.after:
		if v.Newest >= s.after {
			s.closeTimes(false)
		}
		return v.Wait, nil
	}
	if err := s.readChanges(ctx, v.Limit); err != nil {
		return nil, err
	}
	return nil, nil
}

// closeTimes ends rows with a progress row, or tells of progress without rows once a beat.
func (s *Subscription) closeTimes(rows bool) {
	p := s.after + 1
	if s.o.Progress && p > s.progress && (rows || p-s.progress >= beat || s.progress <= s.o.AsOf) {
		s.appendProgress(p)
	}
}

// hold makes size bytes what the subscription has in memory, besides output rows. It waits for others to give out what they have.
func (s *Subscription) hold(ctx context.Context, size int) error {
	size += s.out.Size()
	if size <= MaxHeldBytes {
		timed, stop := context.WithTimeout(ctx, holdWait)
		defer stop()
		for !s.held.Set(int64(size)) {
			// Those who read keep what they have, and are few (Turns): others, whose rows go out, make room.
			if err := s.more.Wait(timed, int64(size)-s.held.Size()); err != nil {
				break
			}
			s.more.Free()
		}
		if s.held.Size() >= int64(size) || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return &tailrace.Error{
		Code: "53200", Message: "SUBSCRIBE ran out of memory",
		Detail: fmt.Sprintf("The rows of one time must be together in memory on the dataflow path, and they take %s so far.", budget.Format(int64(size))),
		Hint:   "Follow the table itself, or columns that include its key: that is served from storage in pieces. Or raise the server's memory.",
	}
}
