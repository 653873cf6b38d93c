package shard

import "tailrace"

// picture gathers the streams whose sum is what a cursor reads.
type picture struct {
	sh      *Shard
	m       *manifest
	l       *layout
	newest  bool // l is the newest schema's
	streams []*stream
	readers []placedReader

	inMemory int          // updates that are in no run
	sorts    []*sortGrant // what sorts of runs in another order hold; whoever reads the streams frees them
	cost     int64        // about what the runs' decoded page groups take, in bytes
}

// placedReader is a run's reader and whether keys of the layout find their place in the run.
type placedReader struct {
	rr    *runReader
	leads bool
}

// asOf adds state plus or minus history.
func (p *picture) asOf(t tailrace.Time) error {
	for _, r := range p.m.state {
		p.run(p.sh.set.readRun(r, p.l))
	}
	if t < p.m.folded {
		return p.updates(t, p.m.folded, -1)
	}
	return p.updates(p.m.folded, t, 1)
}

// updates adds history and memtable with lo < time <= hi, diffs times sign.
func (p *picture) updates(lo, hi tailrace.Time, sign tailrace.Diff) error {
	for _, r := range p.m.historyIn(lo, hi) {
		rr := p.sh.set.readRun(r, p.l)
		rr.timed, rr.lo, rr.hi, rr.sign = true, lo, hi, sign
		p.run(rr)
	}
	if len(memWindow(p.m.mem, lo, hi)) == 0 {
		return nil
	}
	parts, err := p.sh.memSort.sorted(p.l, memWindow(p.m.mem, lo, tailrace.MaxTime), p.newest)
	if err != nil {
		return err
	}
	for i := range parts {
		p.batch(parts[i].at(lo, hi, sign))
	}
	return nil
}

func (p *picture) run(rr *runReader) {
	n, exact := p.l.shared(rr.r)
	leads := p.l.leads(rr.r)
	s := &stream{l: p.l, next: rr.next, keyAt: -1}
	s.plain = rr.sign > 0 && rr.r.all(flagPlain) && (exact || (p.l.keyed() && leads))
	if !exact {
		grant := newSortGrant(p.sh.set.shares.snapshots)
		p.sorts = append(p.sorts, grant)
		p.cost += grant.free
		s.next = resorted(rr.next, p.l, n, grant)
	}
	p.cost += groupCost(rr.r)
	p.streams = append(p.streams, s)
	p.readers = append(p.readers, placedReader{rr, leads})
}

func (p *picture) batch(b *tailrace.Batch) {
	if b.N > 0 {
		p.inMemory += b.N
		p.streams = append(p.streams, &stream{l: p.l, next: batchSource(b), keyAt: -1})
	}
}

func (p *picture) overlay(b *tailrace.Batch) {
	if b == nil || b.N == 0 {
		return
	}
	b = b.Project(p.l.schema)
	b.Times = nil
	p.batch(p.l.sorted(b))
}

// prune makes plain streams, whose rows are seldom compared beyond the head, load the wanted columns only; others need all.
func (p *picture) prune(columns []int) {
	wanted := make([]bool, len(p.l.schema.Fields))
	for _, c := range columns {
		wanted[c] = true
	}
	for _, k := range p.l.schema.Key {
		wanted[k] = true
	}
	for _, r := range p.readers {
		if _, exact := p.l.shared(r.rr.r); exact && r.rr.sign > 0 && r.rr.r.all(flagPlain) {
			r.rr.wanted = wanted
		}
	}
}

// from lets runs skip what is before key.
func (p *picture) from(key []byte) {
	if key == nil {
		return
	}
	for _, r := range p.readers {
		if r.leads {
			r.rr.from(key)
		}
	}
}
