package shard

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"tailrace"
)

// Shard is one collection. All of its methods may be called by anyone.
type Shard struct {
	set      *Set
	id       tailrace.CollectionID
	memSort  memSort
	index    memIndex
	rows     rowIndex
	layout   atomic.Pointer[layout] // of the newest schema that was looked up by
	flushing chan struct{}          // holds a token while a flush of the collection runs

	mu      sync.Mutex // for memory only
	m       *manifest
	pins    map[uint64]pins // readers of each manifest version
	garbage []deadPart
	leases  map[*tailrace.Time]struct{} // of Hold
	leaving tailrace.Time               // since may move up to here: a commit that says so is on its way
}

// deadPart is a part that no manifest of version or later names.
type deadPart struct {
	key     string
	version uint64
	at      tailrace.Time // all that was applied before is older: another node that has read up to it does not need the part
}

func newShard(s *Set, id tailrace.CollectionID, m *manifest) *Shard {
	s.pressure.add(m.memSize)
	return &Shard{
		set: s, id: id, m: m, flushing: make(chan struct{}, 1), memSort: memSort{pressure: s.pressure},
		pins: map[uint64]pins{}, leases: map[*tailrace.Time]struct{}{},
	}
}

// Schema is the newest schema applied.
func (sh *Shard) Schema() *tailrace.Schema { return sh.current().schema }

// Since is the oldest readable time.
func (sh *Shard) Since() tailrace.Time { return sh.current().since }

func (sh *Shard) current() *manifest {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.m
}

// pin returns the newest manifest, whose parts stay until release is called.
func (sh *Shard) pin() (m *manifest, release func()) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	m = sh.m
	p := sh.pins[m.version]
	if p.n++; p.n == 1 {
		p.upper = sh.set.Upper()
	}
	sh.pins[m.version] = p
	return m, func() {
		sh.mu.Lock()
		defer sh.mu.Unlock()
		p := sh.pins[m.version]
		if p.n--; p.n == 0 {
			delete(sh.pins, m.version)
			return
		}
		sh.pins[m.version] = p
	}
}

// install makes m the newest manifest. Parts that it no longer names become garbage.
func (sh *Shard) install(m *manifest) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	old := sh.m
	sh.m = m
	if m.memSize != old.memSize {
		sh.set.pressure.add(m.memSize - old.memSize)
	}
	if sameRuns(old.state, m.state) && sameRuns(old.history, m.history) {
		return
	}
	named := m.parts()
	for _, key := range slices.Sorted(maps.Keys(old.parts())) {
		if named[key] == nil {
			sh.garbage = append(sh.garbage, deadPart{key, m.version, sh.set.Upper()})
		}
	}
}

// sameRuns tells cheaply that two lists are the same; false may be wrong.
func sameRuns(a, b []*run) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// reorganize installs the result of a flush or merge record. One that was made for another manifest changes nothing and its parts, unless
// named for another reason, are garbage.
func (sh *Shard) reorganize(next *manifest, ok bool, runs []*run) {
	if ok {
		sh.install(next)
		return
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	named := sh.m.parts()
	for _, r := range runs {
		for _, p := range r.parts {
			if named[p.key] == nil {
				sh.garbage = append(sh.garbage, deadPart{p.key, 0, 0}) // nobody ever read it
			}
		}
	}
}

// takeGarbage returns the parts that no pinned manifest names either, of this node or, as others tells, of another; the caller deletes them, or
// gives them back.
func (sh *Shard) takeGarbage(others tailrace.Time) []deadPart {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	oldest := sh.m.version
	for v := range sh.pins {
		oldest = min(oldest, v)
	}
	var out, kept []deadPart
	for _, g := range sh.garbage {
		if g.version <= oldest && g.at <= others {
			out = append(out, g)
		} else {
			kept = append(kept, g)
		}
	}
	sh.garbage = kept
	return out
}

func (sh *Shard) giveBack(g deadPart) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.garbage = append(sh.garbage, g)
}

func (sh *Shard) hold(t tailrace.Time) (func(), error) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	oldest := max(sh.m.since, sh.leaving)
	if t < oldest {
		return nil, &tailrace.Error{
			Code: "22023", Message: "could not find a valid timestamp for the query",
			Detail: fmt.Sprintf("The oldest readable time is %d; %d was asked for.", oldest, t),
			Hint:   "Ask for a later time with AS OF, or keep more with ALTER TABLE ... SET (RETAIN HISTORY FOR '...').",
		}
	}
	lease := &t
	sh.leases[lease] = struct{}{}
	return func() {
		sh.mu.Lock()
		defer sh.mu.Unlock()
		delete(sh.leases, lease)
	}, nil
}

// planSince decides where since goes, when that lets go of history, and from then on refuses leases below it: a lease is either in the
// plan or refused.
func (sh *Shard) planSince(upper tailrace.Time) (to tailrace.Time, moves bool) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	leases := append(make([]tailrace.Time, 0, len(sh.leases)+1), sh.set.opts.Others())
	for t := range sh.leases {
		leases = append(leases, *t)
	}
	if t, ok := sh.rows.held(upper); ok {
		leases = append(leases, t)
	}
	to = sincePlan(sh.m, upper, leases)
	if to <= sh.m.since || len(sh.m.withSince(to).history) == len(sh.m.history) {
		return sh.m.since, false
	}
	sh.leaving = max(sh.leaving, to)
	return to, true
}

// names adds the keys of parts that the manifest names or that wait to be deleted.
func (sh *Shard) names(named map[string]bool) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for key := range sh.m.parts() {
		named[key] = true
	}
	for _, g := range sh.garbage {
		named[g.key] = true
	}
}

// clean reports whether nothing is left to be deleted.
func (sh *Shard) clean() bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return len(sh.garbage) == 0
}
