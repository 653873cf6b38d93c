package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"tailrace"
	"tailrace/log"
)

// Sink is a changefeed: tables that another database is kept equal to.
type Sink struct {
	ID   ID
	Name string
	Kind string // "mysql", "postgres"
	URL  string // without a password, if Password is set
	// Password is the name of the secret that has the target's password, "" for none.
	Password string `json:",omitempty"`
	Tables   []ID   // in the order they were named
	// Source is the source whose tables these are, 0 when they were named one by one.
	Source ID `json:",omitempty"`
	SinkOptions
	// Start is the time whose changes are the first to be sent, to a target that has the rows of that time; 0: a snapshot comes first.
	Start  tailrace.Time `json:",omitempty"`
	Paused bool          `json:",omitempty"`
	Held   map[ID]bool   `json:",omitempty"` // tables that are paused by themselves
	// Generation counts RESUME FROM: each begins anew at its Start.
	Generation int `json:",omitempty"`
	// Resyncs counts, for each table, how often it was to be compared with the target's; SinkSpan.Resyncs how often it was.
	Resyncs map[ID]int `json:",omitempty"`
	// Retries counts ALTER SINK ... TABLE: spans that stopped are tried again at once.
	Retries int `json:",omitempty"`
	// Error is why the feed as a whole has stopped, "" when it has not.
	Error string `json:",omitempty"`
	Hint  string `json:",omitempty"`
}

// SinkOptions are what WITH sets.
type SinkOptions struct {
	Memory      int64         // bytes of updates that are on their way
	Redo        string        `json:",omitempty"` // file:///folder, "" for none
	Transaction bool          `json:",omitempty"` // CONSISTENCY = 'transaction'
	OnConflict  string        // what a table with rows at the start is: error, overwrite, verify
	DeadLetter  bool          `json:",omitempty"` // ON ERROR = 'dead letter'
	MaxLag      time.Duration // beyond it the feed fails and lets history go
	SyncEvery   time.Duration `json:",omitempty"` // SYNC POINT EVERY
	Connections int           // to the target
}

// SinkSpan is how far a table of a sink is, for good.
type SinkSpan struct {
	// Time: every update at or before it is in the target. While Loading, it is the time of the snapshot that is being copied.
	Time    tailrace.Time
	Loading bool `json:",omitempty"`
	Resyncs int  `json:",omitempty"` // of Sink.Resyncs that are done
	// Generation is that of the sink which this is the progress of: that of an earlier one does not count.
	Generation int `json:",omitempty"`
}

// SinkProgress is the spans of one sink.
type SinkProgress map[ID]SinkSpan

// TableVersion is a table as it was before a change at Time: feeds that are behind still need it.
type TableVersion struct {
	Time  tailrace.Time
	Table *Table
}

// HoldName names the holds of the sink in shards.
func (s *Sink) HoldName() string { return "sink/" + strconv.FormatUint(uint64(s.ID), 10) }

// SinkNamed returns the sink called name, nil when there is none.
func (c *Catalog) SinkNamed(name string) *Sink {
	return named(c.Sinks, name, func(s *Sink) string { return s.Name })
}

// SinkOf is a sink that follows the table, nil when none does.
func (c *Catalog) SinkOf(table ID) *Sink {
	for _, id := range slices.Sorted(maps.Keys(c.Sinks)) {
		if s := c.Sinks[id]; slices.Contains(s.Tables, table) {
			return s
		}
	}
	return nil
}

// SinkCheckpoint is the time at or before which everything of a table is in the sink's target, as the log knows; 0 while that is not so of its snapshot.
func (c *Catalog) SinkCheckpoint(s *Sink, table ID) tailrace.Time {
	span := c.SinkProgress[s.ID][table]
	if span.Loading || span.Generation != s.Generation || span.Resyncs != s.Resyncs[table] {
		return 0
	}
	return span.Time
}

// TableAt is the table as it was at time t, as far back as sinks need it; and when it changed next, tailrace.MaxTime if it did not.
func (c *Catalog) TableAt(id ID, t tailrace.Time) (table *Table, until tailrace.Time) {
	for _, v := range c.Versions[id] {
		if t < v.Time {
			return v.Table, v.Time
		}
	}
	return c.Tables[id], tailrace.MaxTime
}

// SinkProgressRecord is the log record that moves spans of a sink; those that it does not list stay.
func SinkProgressRecord(sink ID, p SinkProgress) log.Record {
	payload, err := json.Marshal(p)
	if err != nil {
		panic("a progress that JSON cannot hold: " + err.Error()) // no field has such a type
	}
	return log.Record{Kind: log.KindSinkProgress, Collection: sink, Payload: payload}
}

// move takes in a record of SinkProgressRecord; c is nobody else's yet.
func (c *Catalog) move(r *log.Record) error {
	var p SinkProgress
	if err := json.Unmarshal(r.Payload, &p); err != nil {
		return corrupt("the progress of sink %d: %s", r.Collection, err)
	}
	if c.Sinks[r.Collection] == nil {
		return nil // it was dropped
	}
	all := maps.Clone(c.SinkProgress[r.Collection])
	if all == nil {
		all = SinkProgress{}
	}
	maps.Copy(all, p)
	c.SinkProgress[r.Collection] = all
	for id := range p {
		c.forgetVersions(id)
	}
	return nil
}

// keepVersion remembers what a table was before a change, for the sinks that follow it.
func (c *Catalog) keepVersion(tc TableChange, at tailrace.Time) {
	if tc.Before == nil || tc.After == nil || c.SinkOf(tc.Before.ID) == nil || sameShape(tc.Before, tc.After) {
		return
	}
	id := tc.Before.ID
	c.Versions[id] = append(slices.Clone(c.Versions[id]), TableVersion{Time: at, Table: tc.Before})
}

// sameShape tells that a target has nothing to do for the change.
func sameShape(a, b *Table) bool {
	return a.Schema == b.Schema && a.Name == b.Name && slices.EqualFunc(a.Columns.Fields, b.Columns.Fields, func(x, y tailrace.Field) bool {
		return x.ID == y.ID && x.Name == y.Name && x.Type == y.Type && x.NotNull == y.NotNull
	}) && slices.Equal(a.Columns.Key, b.Columns.Key)
}

// forgetVersions drops what all sinks of a table have passed.
func (c *Catalog) forgetVersions(table ID) {
	versions := c.Versions[table]
	for len(versions) > 0 && !c.needs(table, versions[0].Time) {
		versions = versions[1:]
	}
	if len(versions) == 0 {
		delete(c.Versions, table)
		return
	}
	c.Versions[table] = versions
}

// needs tells that a sink has not passed the table's change at t.
func (c *Catalog) needs(table ID, t tailrace.Time) bool {
	for id, s := range c.Sinks {
		if slices.Contains(s.Tables, table) && c.SinkProgress[id][table].Time < t {
			return true
		}
	}
	return false
}
