package log

import (
	"maps"
	"slices"
	"time"

	"tailrace"
)

// Times of sessions on a store that several nodes share. A node is heard of by every entry it appends. Others end a session that was
// silent for the lease, each by its own monotonic clock, which no wall clock moves.
const (
	// LeaseTime is the silence after which a session is ended, unless Options say another.
	LeaseTime = 10 * time.Second
	// RenewEvery is how long a node with that lease lets pass at most between two promises of what it reads (SessionChange.Reads); they go along with
	// what it appends anyway, or else make an entry of their own.
	RenewEvery = LeaseTime * 3 / 10
	// tickStagger is how much later than the node before it in turn a node ticks.
	tickStagger = 250 * time.Millisecond
)

// lease is the time of a lease, and what hangs on it.
type lease time.Duration

func (l lease) time() time.Duration  { return time.Duration(l) }
func (l lease) renew() time.Duration { return time.Duration(l) * 3 / 10 }

// gap is how long the store may not answer before silence begins to count anew: while nobody can append, nobody is dead.
func (l lease) gap() time.Duration { return time.Duration(l) / 2 }

// leases is when a node's fellows were last heard of, on its monotonic clock. No I/O, no lock: a committer's part.
type leases struct {
	self     string
	lease    lease
	heard    map[string]time.Duration // of sessions that are open; the owner's entry
	entry    time.Duration            // the newest entry came
	promised time.Duration            // this node's newest promise was made
}

func newLeases(self string, of lease, open *sessions, now time.Duration) *leases {
	l := &leases{self: self, lease: of, heard: map[string]time.Duration{}, entry: now, promised: now}
	for name := range open.open {
		l.heard[name] = now
	}
	return l
}

// fold notes an entry that a session appended and that came at now.
func (l *leases) fold(by string, s *sessions, now time.Duration) {
	l.entry = now
	l.heard[by] = now
	for name := range s.open {
		if _, known := l.heard[name]; !known {
			l.heard[name] = now
		}
	}
	maps.DeleteFunc(l.heard, func(name string, _ time.Duration) bool {
		_, isOpen := s.open[name]
		return !isOpen
	})
}

// stagger is how long this node lets the others before it in turn go first. The longest silent ticks first, so that ticks go round and renew the leases
// of idle nodes for nothing.
func (l *leases) stagger() time.Duration {
	mine, later := l.heard[l.self], time.Duration(0)
	for name, at := range l.heard {
		if at < mine || at == mine && name < l.self {
			later += tickStagger
		}
	}
	return later
}

// due is when this node is to append though nobody commits: its turn to tick, its promise, or another's end.
func (l *leases) due(resumed time.Duration) time.Duration {
	stagger := l.stagger()
	at := min(l.entry+TickInterval+stagger, l.promised+l.lease.renew())
	for name, heard := range l.heard {
		if name != l.self {
			at = min(at, max(heard, resumed)+l.lease.time()+stagger)
		}
	}
	return at
}

// duties is the records that go along with what this node appends at now: the ends of the silent, and its promise if that was made a while ago.
// Silence before the store was back (resumed) does not count.
func (l *leases) duties(now, resumed time.Duration, reads tailrace.Time) []Record {
	var records []Record
	for _, name := range slices.Sorted(maps.Keys(l.heard)) {
		if name != l.self && now-max(l.heard[name], resumed) >= l.lease.time() {
			records = append(records, SessionChange{Session: name, Ended: true}.Record())
		}
	}
	if now-l.promised >= l.lease.renew()/2 {
		records = append(records, SessionChange{Session: l.self, Reads: max(reads, 1)}.Record())
	}
	return records
}
