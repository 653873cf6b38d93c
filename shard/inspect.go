package shard

import (
	"maps"
	"slices"
	"strings"
	"time"

	"tailrace"
)

// Description is what a collection consists of at one moment, for people to look at.
type Description struct {
	ID              tailrace.CollectionID    `json:"id"`
	Retain          time.Duration            `json:"retain_nanoseconds"`
	Since           tailrace.Time            `json:"since"`
	Flushed         tailrace.Time            `json:"flushed"` // updates before it are in runs
	Folded          tailrace.Time            `json:"folded"`  // the state is the rows of this time
	Merges          uint64                   `json:"merges"`
	State           []RunDescription         `json:"state"`   // oldest first
	History         []RunDescription         `json:"history"` // oldest first
	MemtableBatches int                      `json:"memtable_batches"`
	MemtableBytes   int64                    `json:"memtable_bytes"` // of encoded updates
	MemtableFrom    tailrace.Time            `json:"memtable_from"`  // 0: it is empty
	MemtableTo      tailrace.Time            `json:"memtable_to"`
	Holds           map[string]tailrace.Time `json:"holds"`
}

// RunDescription is a run's. Its updates are at times in [Lower, Upper).
type RunDescription struct {
	Lower tailrace.Time     `json:"lower"`
	Upper tailrace.Time     `json:"upper"`
	Rows  int64             `json:"rows"`
	Bytes int64             `json:"bytes"`
	Parts []PartDescription `json:"parts"`
}

// PartDescription is what a run says about one of its parts.
type PartDescription struct {
	Key   string        `json:"key"` // in Blob
	Bytes int64         `json:"bytes"`
	Rows  int64         `json:"rows"`
	Base  tailrace.Time `json:"base"`  // is added to the times in the part
	Plain bool          `json:"plain"` // each row is there once, at one time, and added
}

// Describe is what the collections consist of, by ID.
func (s *Set) Describe() []Description {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]Description, 0, len(s.shards))
	for _, id := range slices.Sorted(maps.Keys(s.shards)) {
		m := s.shards[id].current()
		d := Description{
			ID: id, Retain: m.retain, Since: m.since, Flushed: m.flushed, Folded: m.folded, Merges: m.merges,
			State: describeRuns(m.state), History: describeRuns(m.history),
			MemtableBatches: len(m.mem), MemtableBytes: int64(m.memSize), Holds: maps.Clone(m.holds),
		}
		if len(m.mem) > 0 {
			d.MemtableFrom, d.MemtableTo = m.mem[0].time, m.mem[len(m.mem)-1].time
		}
		out = append(out, d)
	}
	return out
}

func describeRuns(runs []*run) []RunDescription {
	out := make([]RunDescription, len(runs))
	for i, r := range runs {
		out[i] = RunDescription{Lower: r.lower, Upper: r.upper, Rows: r.rows(), Bytes: r.size()}
		for _, p := range r.parts {
			out[i].Parts = append(out[i].Parts, PartDescription{Key: p.key, Bytes: p.size, Rows: p.rows, Base: p.base, Plain: p.flags&flagPlain != 0})
		}
	}
	return out
}

// Hold is a named hold of a collection: its since stays at or below At.
type Hold struct {
	Collection tailrace.CollectionID
	Name       string
	At         tailrace.Time
}

// Holds are the holds whose names begin with prefix, by collection and name.
func (s *Set) Holds(prefix string) []Hold {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []Hold
	for _, id := range slices.Sorted(maps.Keys(s.shards)) {
		holds := s.shards[id].current().holds
		for _, name := range slices.Sorted(maps.Keys(holds)) {
			if strings.HasPrefix(name, prefix) {
				out = append(out, Hold{Collection: id, Name: name, At: holds[name]})
			}
		}
	}
	return out
}
