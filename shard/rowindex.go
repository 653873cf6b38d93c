package shard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"tailrace"
	"tailrace/index"
)

// rowIndex is what the collection knows of its rows in the node's local index (package index): a copy from key to row that Lookup reads in the
// place of the state where that does not fit in memory.
//
// The one writer is the loop in keep.go. Readers take no lock; what makes them right is the order in which each looks at low and high:
//
//	writer                                 reader as of t
//	high = to                              l = low           (the rows have every update up to l)
//	rows of (low, to], batch by batch      updates in (l, t] from history and memtable; the other keys from the index
//	low = to                               high <= t ?       (no row that was read is newer than t) else the old way
//
// epoch is odd while the index is in use. It moves on before the store is emptied, so a reader who finds it as it was has read rows, not their ruins.
type rowIndex struct {
	epoch     atomic.Uint64
	low, high atomic.Uint64
	shape     atomic.Pointer[[]byte] // keyShape of the rows
	missed    atomic.Int64           // page groups that lookups decoded and that did not fit the cache beside the others

	mu    sync.Mutex // for memory only
	kept  tailrace.Time
	holds bool
}

// on starts to use rows with keys of shape that stand for (low, high).
func (x *rowIndex) on(low, high tailrace.Time, shape []byte) {
	x.shape.Store(&shape)
	x.low.Store(uint64(low))
	x.high.Store(uint64(high))
	if e := x.epoch.Load(); e%2 == 0 {
		x.epoch.Store(e + 1) // only off changes it besides, and it does not then
	}
}

// off stops using the rows.
func (x *rowIndex) off() { x.offAt(x.epoch.Load()) }

// offAt is off unless it happened already since the epoch was read.
func (x *rowIndex) offAt(epoch uint64) {
	if epoch%2 == 0 || !x.epoch.CompareAndSwap(epoch, epoch+1) {
		return
	}
	x.mu.Lock()
	x.holds = false
	x.mu.Unlock()
}

func (x *rowIndex) used() bool { return x.epoch.Load()%2 == 1 }

// hold keeps since at or below t, which a crash leaves the rows at, at least: else they would have to be made anew after it.
func (x *rowIndex) hold(t tailrace.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.kept, x.holds = t, true
}

// held is the time that the index needs, if any. One that has fallen far behind lets go.
func (x *rowIndex) held(upper tailrace.Time) (tailrace.Time, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.kept, x.holds && x.kept+tailrace.Time(IndexLag.Microseconds()) > upper
}

// indexed is a reader's look at the index.
type indexed struct {
	x     *rowIndex
	epoch uint64
	low   tailrace.Time
}

// indexFor begins to read rows as of t from the index; false when it cannot serve.
func (sh *Shard) indexFor(m *manifest, t tailrace.Time) (indexed, bool) {
	r := indexed{x: &sh.rows, epoch: sh.rows.epoch.Load()}
	if r.epoch%2 == 0 || sh.set.index.Load() == nil {
		return r, false
	}
	r.low = tailrace.Time(r.x.low.Load())
	return r, r.low >= min(m.since, m.folded) && bytes.Equal(*r.x.shape.Load(), keyShape(m.schema)) && r.valid(t)
}

// valid reports whether the rows read so far are not newer than t.
func (r *indexed) valid(t tailrace.Time) bool {
	return tailrace.Time(r.x.high.Load()) <= t && r.x.epoch.Load() == r.epoch
}

// inIndex adds the index's rows of keys that nothing newer decides; false when they turn out to be of no use.
func (q *query) inIndex(ctx context.Context, r *indexed) (bool, error) {
	store := q.sh.set.index.Load()
	if store == nil {
		return false, nil
	}
	keys := make([][]byte, 0, len(q.wanted))
	places := make([]int32, 0, len(q.wanted))
	for i := range q.wanted {
		w := &q.wanted[i]
		if q.decide(w); !w.done {
			keys, places = append(keys, w.key), append(places, int32(i))
		}
	}
	if len(keys) == 0 {
		return true, nil
	}
	rows := newRowDecoder(q.l.schema)
	q.near = rows.out
	err := store.Get(ctx, q.sh.id, keys, func(i int, value []byte) error {
		w := &q.wanted[places[i]]
		w.found = append(w.found, found{b: rows.out, row: int32(rows.out.N), diff: 1})
		return rows.add(value)
	})
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case !r.valid(q.asOf):
		return false, nil
	case err != nil:
		r.x.offAt(r.epoch) // the loop makes it anew
		return false, nil
	}
	return true, nil
}

// OpenIndex opens the node's local index in dir, which is made if need be. It is called before this node appends to the log, whose newest
// entry is head; consensus is the environment's. The caller closes the index (CloseIndex) when nothing else is under way.
func (s *Set) OpenIndex(ctx context.Context, dir string, consensus tailrace.Consensus, head tailrace.SeqNo) error {
	store, states, err := index.Open(ctx, dir, consensus, head, s.indexOptions())
	if err != nil {
		return err
	}
	s.index.Store(store)
	s.found = states
	return nil
}

// CloseIndex closes the local index, if there is one.
func (s *Set) CloseIndex() error {
	store := s.index.Swap(nil)
	if store == nil {
		return nil
	}
	return store.Close()
}

// IndexStats tell of the local index.
type IndexStats struct {
	Collections int   // that are looked up through it
	Bytes       int64 // on disk
}

// IndexStats returns the local index's.
func (s *Set) IndexStats() IndexStats {
	st := IndexStats{}
	if store := s.index.Load(); store != nil {
		st.Bytes = store.DiskBytes()
	}
	for _, sh := range s.all() {
		if sh.rows.used() {
			st.Collections++
		}
	}
	return st
}

// adoptIndex starts to use what the index holds of earlier. It is called once the log is applied up to its end.
func (s *Set) adoptIndex() error {
	store := s.index.Load()
	if store == nil {
		return nil
	}
	var errs []error
	for id, st := range s.found {
		sh := s.Shard(id)
		if sh != nil {
			m := sh.current()
			if len(m.schema.Key) > 0 && bytes.Equal(st.Shape, keyShape(m.schema)) && st.Low >= min(m.since, m.folded) && st.High < s.Upper() {
				sh.rows.on(st.Low, st.High, st.Shape)
				sh.rows.hold(st.Low)
				continue
			}
		}
		if err := store.Drop(id); err != nil {
			errs = append(errs, fmt.Errorf("drop collection %d: %w", id, err))
		}
	}
	s.found = nil
	return errors.Join(errs...)
}
