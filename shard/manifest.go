package shard

import (
	"maps"
	"slices"
	"sort"
	"time"

	"tailrace"
)

// manifest is what a collection consists of at one moment: an immutable value that a reader pins. Its methods return the next one; they
// do no I/O and are the same on every node. What must hold, with now the newest applied time:
//
//	the memtable's times are >= flushed, in order; every flush run's are < flushed
//	folded < every time in the memtable
//	history holds every update with min(since, folded) < time < flushed, and those of references up to now
type manifest struct {
	version uint64 // counts manifests of the collection on this node
	schema  *tailrace.Schema
	retain  time.Duration
	since   tailrace.Time
	flushed tailrace.Time
	folded  tailrace.Time
	merges  uint64 // counts merges applied
	state   []*run // oldest first; their sum is the rows as of folded
	history []*run // by lower, then upper
	mem     []*memBatch
	memSize int    // bytes of the memtable's encoded updates
	nextSeq uint64 // of the next memtable batch
	holds   map[string]tailrace.Time
	dropped bool
}

// newManifest is a collection that begins, empty, at time at.
func newManifest(s *tailrace.Schema, retain time.Duration, at tailrace.Time) *manifest {
	return &manifest{schema: s, retain: retain, since: at, flushed: at, folded: max(at, 1) - 1}
}

func (m *manifest) next() *manifest {
	n := *m
	n.version++
	return &n
}

// withData adds a data record. Only the newest manifest is extended, so the batches may share an array with older ones.
func (m *manifest) withData(t tailrace.Time, raw []byte) *manifest {
	n := m.next()
	n.mem = append(m.mem, &memBatch{seq: m.nextSeq, time: t, raw: raw})
	n.nextSeq++
	n.memSize += len(raw)
	return n
}

// withRef adds referenced runs, all at time t.
func (m *manifest) withRef(t tailrace.Time, r *refRecord) *manifest {
	n := m.next()
	n.history = slices.Clone(m.history)
	for _, x := range r.runs {
		n.history = append(n.history, x.at(t))
	}
	n.sortHistory()
	return n
}

func (m *manifest) sortHistory() {
	slices.SortStableFunc(m.history, func(a, b *run) int {
		if r := compareTime(a.lower, b.lower); r != 0 {
			return r
		}
		return compareTime(a.upper, b.upper)
	})
}

// withFlush puts runs in the memtable's place; false when the record was made for another memtable.
func (m *manifest) withFlush(r *flushRecord) (*manifest, bool) {
	if r.lower != m.flushed || r.upper <= r.lower {
		return nil, false
	}
	n := m.next()
	n.flushed = r.upper
	cut := sort.Search(len(m.mem), func(i int) bool { return m.mem[i].time >= r.upper })
	n.mem = slices.Clone(m.mem[cut:])
	for _, b := range m.mem[:cut] {
		n.memSize -= len(b.raw)
	}
	n.history = append(slices.Clone(m.history), r.runs...)
	n.sortHistory()
	n.trim()
	return n, true
}

// withMerge puts the record's runs in the place of the state's newer ones; false when it was made for another state.
func (m *manifest) withMerge(r *mergeRecord) (*manifest, bool) {
	if r.merges != m.merges || r.keep > len(m.state) || r.folded < m.folded {
		return nil, false
	}
	n := m.next()
	n.merges++
	n.folded = r.folded
	n.state = append(slices.Clone(m.state[:r.keep]), r.runs...)
	n.trim()
	return n, true
}

// withSince moves since up, never back.
func (m *manifest) withSince(t tailrace.Time) *manifest {
	n := m.next()
	n.since = max(m.since, t)
	n.trim()
	return n
}

// trim lets go of history that is neither readable nor missing from the state.
func (m *manifest) trim() {
	done := min(m.since, m.folded)
	if slices.ContainsFunc(m.history, func(r *run) bool { return r.upper <= done+1 }) {
		m.history = slices.DeleteFunc(slices.Clone(m.history), func(r *run) bool { return r.upper <= done+1 })
	}
}

func (m *manifest) withHold(r *holdRecord) *manifest {
	n := m.next()
	n.holds = maps.Clone(m.holds)
	if n.holds == nil {
		n.holds = map[string]tailrace.Time{}
	}
	if r.free {
		delete(n.holds, r.name)
	} else {
		n.holds[r.name] = r.at
	}
	return n
}

// parts lists the keys of all parts that the manifest names.
func (m *manifest) parts() map[string]*part {
	out := map[string]*part{}
	for _, runs := range [][]*run{m.state, m.history} {
		for _, r := range runs {
			for _, p := range r.parts {
				out[p.key] = p
			}
		}
	}
	return out
}

// historyIn lists the history runs that may hold an update with lo < time <= hi.
func (m *manifest) historyIn(lo, hi tailrace.Time) []*run {
	var out []*run
	for _, r := range m.history {
		if r.upper > lo+1 && r.lower <= hi {
			out = append(out, r)
		}
	}
	return out
}

// foldable is the newest time that a merge may fold: all updates up to it are in runs.
func (m *manifest) foldable(upper tailrace.Time) tailrace.Time {
	if len(m.mem) > 0 {
		return m.mem[0].time - 1
	}
	return max(upper, 1) - 1
}
