package tail

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"tailrace"
	"tailrace/budget"
	"tailrace/catalog"
	"tailrace/shard"
)

const (
	// BatchRows ends a batch of output rows: what one delivery carries, but for a single transaction that is larger.
	BatchRows = 8192
	// BatchBytes ends a batch too.
	BatchBytes = 1 << 20
	// FetchBytes is the most that one FETCH gathers; it then returns what it has, and the next FETCH goes on.
	FetchBytes = 64 << 20
)

// Subscription is one reader of a collection. One goroutine at a time uses it; it has none of its own.
type Subscription struct {
	listing
	tail    *Tail
	table   tableRef
	shape   *shape
	asOf    tailrace.Time
	upTo    tailrace.Time // when bounded
	bounded bool          // UP TO was given
	pos     position

	cursor  *shard.Cursor // the snapshot being read; nil means: open one at pos.key
	held    *held         // rows of one time that wait for the others
	history *history      // the catch-up being read; nil means: open one at pos

	patience  tailrace.Time // how long its snapshot is held, in microseconds
	departure *departure    // with the snapshot's hold, while it is read
	bus       *bus          // of the departure, once it was entered

	spare   *tailrace.Batch // rows for the next step: none were added in this one
	wire    *wire           // set by Encode
	parking parking
	taken   []*frame // what NextEncoded gave out last,
	given   [][]byte // and as messages

	delivery, fetched, together budget.Grant // of frames: what step returned last, a FETCH, rows of one time that wait for the others
}

// listing is what others may know of a subscription.
type listing struct {
	id      uint64
	session string
	created time.Time
	tables  []tailrace.CollectionID
	path    string        // storage or dataflow
	ended   bool          // by Drain; guarded by the tail's mutex
	drained chan struct{} // closed then; made by enlist
	shown   struct {
		position atomic.Uint64
		snapshot atomic.Bool
		rows     atomic.Int64
	}
}

// enlist makes l one of the subscriptions that run. The tail's mutex is held.
func (t *Tail) enlist(l *listing) {
	t.nextID++
	l.id, l.drained = t.nextID, make(chan struct{})
	if t.draining {
		l.end()
	}
	t.subs[l] = struct{}{}
	for _, id := range l.tables {
		t.window(id).readers++
	}
	t.joined(l)
}

// delist undoes enlist; once more does nothing. The tail's mutex is held.
func (t *Tail) delist(l *listing) {
	if _, there := t.subs[l]; !there {
		return
	}
	delete(t.subs, l)
	t.left(l)
	for _, id := range l.tables {
		if w := t.windows[id]; w != nil {
			if w.readers--; w.readers > 0 {
				continue
			}
			t.forgetCatchups(id)
			if w.dropped {
				t.forget(id)
			}
		}
	}
}

type tableRef struct {
	ID           tailrace.CollectionID
	Schema, Name string
}

// position says what was given out. It is a value: keeping a copy and putting it back rewinds the subscription.
type position struct {
	started  bool
	snapshot bool          // the snapshot at as_of is still being given out
	key      []byte        // its rows up to this row key were given out
	after    tailrace.Time // every update at or before was given out
	given    int           // output rows given of the one time that follows after, when it is read in pieces
	progress tailrace.Time // the last progress row
	rows     *tailrace.Batch
	taken    int // rows of rows that were taken
	err      error
}

// Subscribe begins a subscription. It fails with 22023 for a time that is not readable, 22000 for an empty range turned round, 42703 and 42701
// for columns. The caller closes it.
func (t *Tail) Subscribe(ctx context.Context, r Request) (*Subscription, error) {
	since, err := t.since(r.Table)
	if err != nil {
		return nil, err
	}
	shape, err := newShape(&r)
	if err != nil {
		return nil, err
	}
	asOf, upTo, err := r.Times(since, r.Table.Name)
	if err != nil {
		return nil, err
	}
	s := &Subscription{
		listing: listing{session: r.Session, created: time.Now(), tables: []tailrace.CollectionID{r.Table.ID}, path: "storage"},
		tail:    t, table: tableRef{r.Table.ID, r.Table.Schema, r.Table.Name},
		patience: max(SnapshotHold, tailrace.Time(r.Table.Retain.Microseconds())),
		shape:    shape, asOf: asOf, upTo: upTo, bounded: r.UpTo != nil,
		pos: position{snapshot: r.Snapshot && asOf != upTo, after: asOf},
	}
	if s.pos.snapshot && r.Table.ID != SubscriptionsID {
		if err := t.depart(ctx, s, r.AsOf == nil); err != nil {
			return nil, err
		}
	}
	s.delivery, s.fetched, s.together = t.frames.Grant(), t.frames.Grant(), t.frames.Grant()
	s.show()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.enlist(&s.listing)
	return s, nil
}

// since is the oldest readable time of a table.
func (t *Tail) since(table *catalog.Table) (tailrace.Time, error) {
	if table.ID == SubscriptionsID {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.window(SubscriptionsID).lower, nil
	}
	sh := t.shards.Shard(table.ID)
	if sh == nil {
		return 0, t.droppedError(tableRef{table.ID, table.Schema, table.Name})
	}
	return sh.Since(), nil
}

// Close gives up what the subscription holds.
func (s *Subscription) Close() error {
	s.stopReading()
	s.leave()
	s.dropDelivery()
	s.leaveWire()
	s.fetched.Free()
	t := s.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	t.delist(&s.listing)
	return nil
}

// Columns describes the output rows.
func (s *Subscription) Columns() []tailrace.ResultColumn { return s.shape.columns }

// Resume is where a client that has everything given out so far goes on: AS OF at, with the snapshot (again) or without.
func (s *Subscription) Resume() (at tailrace.Time, snapshot bool) { return s.pos.after, s.pos.snapshot }

// Next waits for rows. The end is io.EOF.
func (s *Subscription) Next(ctx context.Context) (*tailrace.Batch, error) {
	out, err := s.next(ctx, nil)
	if err != nil {
		return nil, err
	}
	return out.Batch, nil
}

// next waits for a delivery, of frames too with a wire.
func (s *Subscription) next(ctx context.Context, w *wire) (*output, error) {
	for {
		out, wait, err := s.step(ctx, w)
		if err != nil {
			return nil, err
		}
		if out != nil {
			return out, nil
		}
		if w != nil && s.park(ctx) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return &output{Batch: s.shape.newRows()}, nil // who reads sends what the pusher has kept
		}
		select {
		case <-wait:
		case <-s.drained:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Fetch is FETCH: up to max rows (all that are there when max < 0). With wait < 0 it waits for the first row and returns what is
// there; else it waits for max rows, at most that long. ended says that the stream is over and nothing will follow. When ctx is done first, nothing is consumed.
func (s *Subscription) Fetch(ctx context.Context, limit int, wait time.Duration) (rows *tailrace.Batch, ended bool, err error) {
	mark := s.pos
	out := s.shape.newRows()
	var timeout <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		timeout = timer.C
	}
	s.fetched.Free()
	for (limit < 0 || out.N < limit) && out.Size() < FetchBytes && s.tail.grant(&s.fetched, int64(out.Size())) {
		rows, more, err := s.step(ctx, nil)
		switch {
		case ctx.Err() != nil:
			s.rewind(mark)
			return nil, false, ctx.Err()
		case errors.Is(err, io.EOF):
			return out, true, nil
		case err != nil && out.N > 0: // what came before it first; the error stays
			return out, false, nil
		case err != nil:
			return nil, false, err
		case rows != nil:
			s.takeInto(out, rows.Batch, limit)
			continue
		}
		select {
		case <-more: // worth to look again at once
			continue
		default:
		}
		if wait == 0 || wait < 0 && out.N > 0 {
			return out, false, nil
		}
		select {
		case <-more:
		case <-s.drained:
		case <-timeout:
			return out, false, nil
		case <-ctx.Done():
			s.rewind(mark)
			return nil, false, ctx.Err()
		}
	}
	return out, false, nil
}

// takeInto moves rows into out up to limit, and keeps the rest for the next call.
func (s *Subscription) takeInto(out, rows *tailrace.Batch, limit int) {
	n := rows.N
	if limit >= 0 {
		n = min(n, limit-out.N)
	}
	for c := range out.Cols {
		out.Cols[c].AppendRange(&rows.Cols[c], 0, n)
	}
	out.N += n
	if n < rows.N {
		s.pos.rows, s.pos.taken = rows, n
	}
}

// rewind puts the subscription back to where it was at mark.
func (s *Subscription) rewind(mark position) {
	s.stopReading()
	s.pos = mark
	if mark.snapshot && s.departure == nil && s.table.ID != SubscriptionsID { // its end was reached
		if err := s.tail.depart(context.Background(), s, false); err != nil {
			s.pos.err = s.fellBehind()
		}
	}
	s.show()
}

// step returns the next delivery if there is any now, with frames if there is a wire; else a channel that is closed when it is worth to look again. The
// end is io.EOF.
func (s *Subscription) step(ctx context.Context, w *wire) (*output, <-chan struct{}, error) {
	if s.pos.rows != nil { // left over from a FETCH
		rest := cut(s.pos.rows, s.pos.taken, s.pos.rows.N)
		s.pos.rows, s.pos.taken = nil, 0
		return &output{Batch: rest}, nil, nil
	}
	s.dropDelivery()
	if s.pos.err != nil {
		return nil, nil, s.pos.err
	}
	mark := s.pos
	out := &output{Batch: s.spare, wire: w, frames: s.taken}
	if s.spare = nil; out.Batch == nil {
		out.Batch = s.shape.newRows()
	}
	wait, err := s.advance(ctx, out)
	if out.N == 0 {
		s.spare = out.Batch
	}
	s.taken = out.frames
	if err != nil {
		s.stopReading()
		if ctx.Err() != nil {
			s.rewind(mark) // a later call gives the rows
			return nil, nil, ctx.Err()
		}
		s.pos.err = err
	}
	s.show()
	if err == nil {
		if err = s.deliver(ctx, out.Batch); err != nil {
			if ctx.Err() == nil {
				s.pos.err = err
			} else {
				s.rewind(mark)
			}
			return nil, nil, err
		}
	}
	if !out.empty() {
		s.shown.rows.Add(int64(out.N + out.framed))
		return out, nil, nil
	}
	return nil, wait, err
}

// dropDelivery gives up what the last step returned.
func (s *Subscription) dropDelivery() {
	s.delivery.Free()
	for _, f := range s.taken {
		f.drop()
	}
	clear(s.taken)
	s.taken = s.taken[:0]
}

// advance adds what comes next to out: the opening progress row, a piece of the snapshot, or changes. It returns a channel when there is nothing.
func (s *Subscription) advance(ctx context.Context, out *output) (<-chan struct{}, error) {
	if !s.pos.started {
		s.pos.started = true
		if s.shape.progress {
			s.appendProgress(out, s.asOf)
			return nil, nil
		}
	}
	v := s.tail.look(s)
	switch {
	case v.err != nil:
		return nil, v.err
	case s.pos.snapshot && v.newest < s.asOf:
		return v.notify, nil
	case s.pos.snapshot:
		return closedChannel, s.readSnapshot(ctx, out) // its end may bring no row
	case s.over():
		if s.shape.progress && s.pos.progress < s.upTo {
			s.appendProgress(out, s.upTo)
		}
		return nil, io.EOF
	case v.limit <= s.pos.after:
		if v.newest >= s.pos.after {
			s.closeTimes(out)
		}
		return v.notify, nil
	}
	if err := s.readChanges(ctx, out, v); err != nil {
		return nil, err
	}
	s.closeTimes(out)
	if s.pos.after < v.limit || s.over() || v.ends {
		return closedChannel, nil // more, or the end, is there already
	}
	return v.notify, nil
}

var closedChannel = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// over says that everything below UP TO was given out.
func (s *Subscription) over() bool { return s.bounded && s.pos.after >= s.upTo-1 }

// closeTimes ends rows with the progress row that says that their times are over, or tells of progress without rows once a beat. It waits while a
// time is only partly given out.
func (s *Subscription) closeTimes(out *output) {
	p := s.pos.after + 1
	if !s.shape.progress || s.pos.given > 0 || p <= s.pos.progress {
		return
	}
	if !out.empty() || p-s.pos.progress >= beat || s.pos.progress <= s.asOf {
		s.appendProgress(out, p)
	}
}

// appendProgress adds the progress row at t, the last row of a delivery.
func (s *Subscription) appendProgress(out *output, t tailrace.Time) {
	if out.wire != nil && out.N == 0 {
		out.progress = out.wire.progressAt(t)
		out.framed++
	} else {
		s.shape.appendProgress(out.Batch, t)
	}
	s.pos.progress = t
}

// show publishes the position for List.
func (s *Subscription) show() {
	s.shown.position.Store(uint64(s.pos.after))
	s.shown.snapshot.Store(s.pos.snapshot)
}

// resumeDetail tells a client where to go on.
func (s *Subscription) resumeDetail() string {
	return resumeAt(s.Resume())
}
