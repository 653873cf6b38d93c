package shard

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"tailrace"
)

// memBatch is one data record of the log: the updates of one collection at one time. It is kept encoded until somebody reads it.
type memBatch struct {
	seq     uint64 // place in the collection's memtable; a batch's successor has the next
	time    tailrace.Time
	raw     []byte
	decoded atomic.Pointer[tailrace.Batch]
}

// batch decodes the updates, once. Two readers who come at the same time may both decode; either result serves.
func (m *memBatch) batch() (*tailrace.Batch, error) {
	if b := m.decoded.Load(); b != nil {
		return b, nil
	}
	b, rest, err := tailrace.DecodeBatch(m.raw)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes after the end: %w", len(rest), tailrace.ErrCorrupt)
	}
	if err != nil {
		return nil, fmt.Errorf("read updates at %d: %w", m.time, err)
	}
	m.decoded.Store(b)
	return b, nil
}

// memWindow is the stretch of batches (in time order) with lo < time <= hi.
func memWindow(mem []*memBatch, lo, hi tailrace.Time) []*memBatch {
	from := sort.Search(len(mem), func(i int) bool { return mem[i].time > lo })
	to := sort.Search(len(mem), func(i int) bool { return mem[i].time > hi })
	if from >= to {
		return nil
	}
	return mem[from:to]
}

// joined puts the updates of batches into one batch of the schema's columns, each with its time.
func joined(batches []*memBatch, s *tailrace.Schema) (*tailrace.Batch, error) {
	rows := 0
	all := make([]*tailrace.Batch, len(batches))
	for i, m := range batches {
		b, err := m.batch()
		if err != nil {
			return nil, err
		}
		all[i] = b
		rows += b.N
	}
	out := tailrace.NewBatch(s, rows)
	out.Times = make([]tailrace.Time, 0, rows)
	for i, b := range all {
		appendBatch(out, b.Project(s))
		for range b.N {
			out.Times = append(out.Times, batches[i].time)
		}
	}
	return out, nil
}

// appendBatch adds all updates of src, whose columns are the same and in the same order, to dst. Times are not carried.
func appendBatch(dst, src *tailrace.Batch) {
	for c := range dst.Cols {
		dst.Cols[c].AppendRange(&src.Cols[c], 0, src.N)
	}
	appendDiffs(dst, src, 0, src.N)
}

// appendDiffs counts rows [from, to) of src, which were just added to dst's columns, and adds their diffs.
func appendDiffs(dst, src *tailrace.Batch, from, to int) {
	if dst.Diffs == nil && src.Diffs != nil {
		dst.Diffs = make([]tailrace.Diff, dst.N, dst.N+to-from)
		for i := range dst.Diffs {
			dst.Diffs[i] = 1
		}
	}
	if dst.Diffs != nil {
		for i := from; i < to; i++ {
			dst.Diffs = append(dst.Diffs, src.Diff(i))
		}
	}
	dst.N += to - from
}

// memSort keeps a sorted copy of the front of a memtable, so that a snapshot sorts only what came since. One schema is cached: the newest.
type memSort struct {
	mu       sync.Mutex
	schema   *tailrace.Schema
	from, to uint64 // seqs
	front    memPart
	pressure *pressure
	size     int // what front takes of it, in bytes
}

// memPart is a stretch of a memtable, sorted.
type memPart struct {
	updates *tailrace.Batch // with times
	sum     *tailrace.Batch // the same added up over all times
	newest  tailrace.Time
}

// at is the sum of the updates with lo < time <= hi, diffs times sign. All of them are after lo, so where none is after hi the sum is there
// already: a few rows that change all day stay a few.
func (p *memPart) at(lo, hi tailrace.Time, sign tailrace.Diff) *tailrace.Batch {
	if hi >= p.newest && sign > 0 {
		return p.sum
	}
	return window(p.updates, 0, lo, hi, sign)
}

// sorted returns the batches' updates as sorted stretches whose union they are: the cached front and the rest. The front is made anew when
// the rest has grown to a third of all, so sorting costs O(log n) per update over a memtable's life.
func (c *memSort) sorted(l *layout, batches []*memBatch, newest bool) ([]memPart, error) {
	if len(batches) == 0 {
		return nil, nil
	}
	first, end := batches[0].seq, batches[len(batches)-1].seq+1
	var out []memPart
	rest := batches
	c.mu.Lock()
	if newest && c.schema != nil && sameSchema(c.schema, l.schema) && c.from == first && c.to <= end {
		out, rest = append(out, c.front), batches[c.to-first:]
	}
	c.mu.Unlock()
	if len(rest) == 0 {
		return out, nil
	}
	if len(out) > 0 && len(rest) > len(batches)/3 {
		out, rest = nil, batches
	}
	b, err := joined(rest, l.schema)
	if err != nil {
		return nil, err
	}
	b = l.sorted(b)
	p := memPart{updates: b, sum: l.consolidated(b), newest: rest[len(rest)-1].time}
	if len(out) == 0 && newest {
		c.mu.Lock()
		c.forget()
		if size := p.updates.Size() + p.sum.Size(); c.pressure.keep(size) {
			c.schema, c.from, c.to, c.front, c.size = l.schema, first, end, p, size
		}
		c.mu.Unlock()
	}
	return append(out, p), nil
}

// forget lets go of the front. The caller has the mutex.
func (c *memSort) forget() {
	c.pressure.keep(-c.size)
	c.schema, c.front, c.size = nil, memPart{}, 0
}

// drop forgets the sorted copy, which a flush made useless.
func (c *memSort) drop() {
	c.mu.Lock()
	c.forget()
	c.mu.Unlock()
}

// window returns the updates of b with lo < time <= hi, diffs times sign, without times. b itself is not changed.
func window(b *tailrace.Batch, base, lo, hi tailrace.Time, sign tailrace.Diff) *tailrace.Batch {
	out := *b
	if rows, all := timeRows(b, base, lo, hi); !all {
		out = *b.Gather(rows)
	}
	out.Times = nil
	if sign < 0 {
		diffs := make([]tailrace.Diff, out.N)
		for i := range diffs {
			diffs[i] = -out.Diff(i)
		}
		out.Diffs = diffs
	}
	return &out
}

// timeRows lists the updates of b with lo < base + time <= hi; all tells that none is left out.
func timeRows(b *tailrace.Batch, base, lo, hi tailrace.Time) (rows []int32, all bool) {
	in := func(i int) bool { t := base + b.Time(i, 0); return lo < t && t <= hi }
	n := 0
	for n < b.N && in(n) {
		n++
	}
	if n == b.N {
		return nil, true
	}
	rows = make([]int32, n, b.N)
	for i := range rows {
		rows[i] = int32(i)
	}
	for i := n + 1; i < b.N; i++ {
		if in(i) {
			rows = append(rows, int32(i))
		}
	}
	return slices.Clip(rows), false
}
