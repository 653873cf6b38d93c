package ingest

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"tailrace"
	"tailrace/catalog"
)

// Status is where a source stands.
type Status struct {
	Source   catalog.ID
	Name     string
	State    string // Starting, Snapshot, ...
	Reason   string
	Hint     string
	Position string // in the source's own words, "" when there is none
	LagBytes int64  // of the source's log not yet applied here
	Tables   []TableStatus
}

// The states of a source.
const (
	Starting = "starting"
	Snapshot = "snapshot"
	Live     = "live"
	Paused   = "paused"
	Failing  = "error"   // tried again by itself; Reason says what is wrong
	Lost     = "lost"    // needs a new snapshot
	Standby  = "standby" // another node follows it; this one goes on when that one ends
)

// TableStatus is where a table of a source stands.
type TableStatus struct {
	ID           catalog.ID // 0: left out, so not a table here
	Schema, Name string
	State        catalog.TableState
	Reason, Hint string
	Rows         int64 // read by the snapshot so far
	Estimate     int64 // of the snapshot's rows, -1 when unknown
}

// Status is where every source stands, by name.
func (i *Ingest) Status() []Status {
	cat := i.o.Catalog.Current()
	i.mu.Lock()
	running := maps.Clone(i.running)
	i.mu.Unlock()
	var out []Status
	for id, s := range cat.Sources {
		st := Status{Source: id, Name: s.Name, State: Starting}
		var p *progress
		if r := running[id]; r != nil {
			p = &r.progress
			p.fill(&st)
		}
		switch {
		case s.Error != "":
			st.State, st.Reason, st.Hint = Lost, s.Error, s.Hint
		case s.Paused:
			st.State = Paused
		}
		for _, t := range cat.TablesOf(id) {
			ts := TableStatus{ID: t.ID, Schema: t.Schema, Name: t.Name, State: t.Upstream.State, Reason: t.Upstream.Reason, Hint: t.Upstream.Hint, Estimate: -1}
			if p != nil {
				ts.Rows, ts.Estimate = p.rowsOf(t.ID)
			}
			st.Tables = append(st.Tables, ts)
		}
		if p != nil {
			st.Tables = append(st.Tables, p.leftOut()...)
		}
		out = append(out, st)
	}
	slices.SortFunc(out, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// progress is what a runner tells of itself.
type progress struct {
	mu       sync.Mutex
	state    string
	why      *tailrace.Error
	position string
	lag      int64
	rows     map[catalog.ID]*[2]int64 // read, estimated
	left     []TableStatus
}

func (p *progress) fill(st *Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != "" {
		st.State = p.state
	}
	if p.why != nil {
		st.Reason, st.Hint = p.why.Message, p.why.Hint
	}
	st.Position, st.LagBytes = p.position, p.lag
}

func (p *progress) rowsOf(id catalog.ID) (rows, estimate int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.rows[id]; n != nil {
		return n[0], n[1]
	}
	return 0, -1
}

func (p *progress) leftOut() []TableStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.left)
}

// set says what the source is doing and, when it is in trouble, why.
func (p *progress) set(state string, why *tailrace.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state, p.why = state, why
}

// wait says what the source waits for, nil that it does not.
func (p *progress) wait(why *tailrace.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.why = why
}

// reached says how far the source is applied here.
func (p *progress) reached(position string, lag int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.position, p.lag = position, lag
}

// expect begins a snapshot of tables.
func (p *progress) expect(estimates map[catalog.ID]int64, left []TableStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows, p.left = make(map[catalog.ID]*[2]int64, len(estimates)), left
	for id, n := range estimates {
		p.rows[id] = &[2]int64{0, n}
	}
}

// read counts rows of a table that the snapshot delivered.
func (p *progress) read(id catalog.ID, rows int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.rows[id]; n != nil {
		n[0] += int64(rows)
	}
}
