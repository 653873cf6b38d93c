package tail

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"sync"
	"time"

	"tailrace"
	"tailrace/shard"
)

// SnapshotHold is how long a snapshot may be read, in microseconds, or RETAIN HISTORY if that is longer: then its time is no longer kept for it.
const SnapshotHold = tailrace.Time(3600_000_000)

// gatherTime is the longest that who comes after a change waits while the snapshot before it is still being read. While a table is written to, all who come in the
// meantime then depart together, not each by itself.
const gatherTime = 100 * time.Millisecond

// departure is a time that a collection's snapshot is read at, by everybody who came while nothing had changed since: they have one hold together. The
// tail's mutex guards it.
type departure struct {
	asOf    tailrace.Time
	until   tailrace.Time // the hold is given up then, whoever is still on the way
	riders  int
	release func() // gives up the hold; once more does nothing
	buses   map[*wire]*bus
	routed  map[routeKey]*routedSnapshot

	began time.Time
	read  func()        // closes done; once more does nothing
	done  chan struct{} // closed when somebody has read the snapshot to its end, or left
}

// bus is one reading of a snapshot for all who send it in the same wire. A piece is read and encoded by the rider who comes to it first; the others
// take the frame. A rider who comes when it is gone reads by itself, from its own position.
type bus struct {
	turn   chan struct{} // has one token: who took it reads
	cursor *shard.Cursor // nil: open one where the reader is
	at     []byte        // the row key up to which cursor was read

	mu     sync.Mutex
	pieces map[string]*frame // by the row key that they follow; some of them are gone
	sweep  int               // how many there are when those are forgotten
	ended  bool
	end    string // the row key after which nothing follows
}

// depart finds the time for a snapshot, and a hold for it. anyTime says that a later time does as well, and an earlier one if nothing changed since.
func (t *Tail) depart(ctx context.Context, s *Subscription, anyTime bool) error {
	for {
		boarded, wait, patience := t.board(s, anyTime)
		if boarded {
			return nil
		}
		if wait == nil {
			return t.leaveAt(s, anyTime)
		}
		timer := time.NewTimer(patience)
		select {
		case <-wait:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// leaveAt begins the departure at the subscription's time. With anyTime it is the one that t.leaving tells of.
func (t *Tail) leaveAt(s *Subscription, anyTime bool) error {
	release, err := t.shards.Hold(s.table.ID, s.asOf)
	t.mu.Lock()
	defer t.mu.Unlock()
	if anyTime {
		close(t.leaving[s.table.ID])
		delete(t.leaving, s.table.ID)
	}
	if err != nil {
		return err
	}
	d := &departure{
		asOf: s.asOf, until: s.asOf + s.patience, riders: 1, release: sync.OnceFunc(release), buses: map[*wire]*bus{}, routed: map[routeKey]*routedSnapshot{},
		began: time.Now(), done: make(chan struct{}),
	}
	d.read = sync.OnceFunc(func() { close(d.done) })
	s.departure = d
	t.held[d] = struct{}{}
	if last := t.departures[s.table.ID]; anyTime && (last == nil || last.asOf < d.asOf) {
		t.departures[s.table.ID] = d
	}
	return nil
}

// board makes s a rider of the collection's last departure, if its time does for s; else says what to wait for before a look again, or nothing: then s departs.
func (t *Tail) board(s *Subscription, anyTime bool) (boarded bool, wait <-chan struct{}, patience time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := s.table.ID
	d := t.departures[id]
	if d != nil && (d.asOf == s.asOf || anyTime && (d.asOf > s.asOf && !s.bounded || t.unchanged(id, d.asOf, s.asOf))) {
		d.riders++
		s.departure, s.asOf, s.pos.after = d, d.asOf, d.asOf
		t.cache.riders.Add(1)
		return true, nil, 0
	}
	if !anyTime {
		return false, nil, 0
	}
	if leaving := t.leaving[id]; leaving != nil {
		return false, leaving, time.Minute
	}
	if d != nil {
		select {
		case <-d.done:
		default:
			if left := gatherTime - time.Since(d.began); left > 0 {
				return false, d.done, left
			}
		}
	}
	t.leaving[id] = make(chan struct{})
	if !s.bounded {
		s.asOf = max(s.asOf, t.newest)
		s.pos.after = s.asOf
	}
	return false, nil, 0
}

// unchanged says that the window knows that the collection was the same at both times: no row and no column of it changed.
func (t *Tail) unchanged(id tailrace.CollectionID, before, now tailrace.Time) bool {
	w := t.window(id)
	if before > now || before+WindowAge < now || t.newest < now || w.lower > before || len(w.since(before, now)) > 0 {
		return false
	}
	for _, e := range w.endings {
		if e.time > before {
			return false
		}
	}
	return true
}

// leave gives up the snapshot's time; with the last rider go the hold, the buses and their pieces. A bus waits for those who have not entered it yet: in a
// storm most come when the first are through.
func (s *Subscription) leave() {
	d, t := s.departure, s.tail
	if d == nil {
		return
	}
	s.departure, s.bus = nil, nil
	d.read()
	t.mu.Lock()
	d.riders--
	last := d.riders == 0
	if last {
		delete(t.held, d)
	}
	if last && t.departures[s.table.ID] == d {
		delete(t.departures, s.table.ID)
	}
	t.mu.Unlock()
	if !last {
		return
	}
	d.release()
	for _, r := range d.routed {
		t.cache.share.Release(r.size)
	}
	pieces := map[*frame]bool{}
	for _, b := range d.buses {
		b.close()
		for _, f := range b.pieces {
			pieces[f] = true
		}
	}
	if len(pieces) > 0 {
		t.cache.forget(func(f *frame) bool { return pieces[f] })
	}
}

// giveUpHolds gives up those of snapshots that were held for too long: a client that stopped reading in the middle does not keep history for ever. The tail's
// mutex is held.
func (t *Tail) giveUpHolds() {
	for d := range t.held {
		if d.until < t.newest {
			d.release()
		}
	}
}

// enterBus finds the bus of the wire.
func (s *Subscription) enterBus(w *wire) *bus {
	if s.bus != nil {
		return s.bus
	}
	t, d := s.tail, s.departure
	t.mu.Lock()
	defer t.mu.Unlock()
	b := d.buses[w]
	if b == nil {
		b = &bus{turn: make(chan struct{}, 1), pieces: map[string]*frame{}}
		b.turn <- struct{}{}
		d.buses[w] = b
		t.cache.buses.Add(1)
	}
	s.bus = b
	return b
}

// close ends the reading; the next to read opens it anew where it is.
func (b *bus) close() {
	if b.cursor != nil {
		b.cursor.Close() // reading only: nothing to lose
		b.cursor = nil
	}
}

// find takes the piece after key; ended says that there is none, because nothing follows.
func (b *bus) find(key []byte) (f *frame, ended bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended && b.end == string(key) {
		return nil, true
	}
	if f = b.pieces[string(key)]; f == nil || !f.take() {
		return nil, false
	}
	return f, false
}

// ride adds the next piece of the snapshot from the bus. It reports false when s must read by itself.
func (s *Subscription) ride(ctx context.Context, out *output) (bool, error) {
	b := s.enterBus(out.wire)
	for room := s.tail.part(); s.getOn(b, out); { // what is there goes out together
		if !s.pos.snapshot || out.full(room) {
			return true, nil
		}
	}
	if !out.empty() {
		return true, nil
	}
	select {
	case <-b.turn:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { b.turn <- struct{}{} }()
	if s.getOn(b, out) { // it was read while s waited
		return true, nil
	}
	if b.cursor != nil && !bytes.Equal(b.at, s.pos.key) {
		return false, nil // the others are elsewhere
	}
	return s.drive(ctx, b, out)
}

// getOn adds the piece after the position if the bus has it, or what follows the end.
func (s *Subscription) getOn(b *bus, out *output) bool {
	f, ended := b.find(s.pos.key)
	switch {
	case ended:
		s.endSnapshot(out)
	case f == nil:
		return false
	default:
		s.tail.cache.shared.Add(1)
		s.pos.key = f.next
		out.add(f)
	}
	return true
}

// drive reads the piece after the position, for all. The caller has the turn.
func (s *Subscription) drive(ctx context.Context, b *bus, out *output) (bool, error) {
	if b.cursor == nil {
		c, err := s.openSnapshot(ctx)
		if err != nil {
			return false, err
		}
		b.cursor = c
	}
	piece, err := b.cursor.Next(ctx)
	if errors.Is(err, io.EOF) {
		b.close()
		b.mu.Lock()
		b.ended, b.end = true, string(s.pos.key)
		b.mu.Unlock()
		s.departure.read()
		s.endSnapshot(out)
		return true, nil
	}
	if err != nil {
		b.close()
		return false, err
	}
	rows := s.shape.newRows()
	if err := s.appendSnapshot(rows, piece); err != nil {
		b.close()
		return false, err
	}
	from := string(s.pos.key)
	s.pos.key = b.cursor.Position()
	b.at = s.pos.key
	f := s.tail.cache.newFrame(out.wire)
	f.next = s.pos.key
	if !s.tail.cache.keep(f, out.wire.encode(rows), rows.N) {
		f.drop()
		out.Batch = rows
		return true, nil
	}
	out.add(f)
	b.put(from, f)
	return true, nil
}

// put makes f the piece after the row key from.
func (b *bus) put(from string, f *frame) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.pieces) >= b.sweep {
		maps.DeleteFunc(b.pieces, func(_ string, x *frame) bool { return x.refs.Load() == 0 })
		b.sweep = 2*len(b.pieces) + 64
	}
	b.pieces[from] = f
}
