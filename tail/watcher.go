package tail

import (
	"fmt"
	"slices"
	"time"

	"tailrace"
	"tailrace/catalog"
)

// Watcher is a subscription that somebody else serves: it is listed like the others, learns when there is something to read, and why it ends.
type Watcher struct {
	listing
	tail  *Tail
	reads []watched
}

// watched is a table and the fields of it that are used.
type watched struct {
	table  tableRef
	fields []tailrace.Field
}

// Watching is what a Watcher finds at one moment.
type Watching struct {
	Newest tailrace.Time   // everything at or before is known
	Limit  tailrace.Time   // rows up to and including it may be given out
	Wait   <-chan struct{} // closed when it is worth to look again
	Err    error           // why the subscription ends here, its earlier rows all given out
}

// Watch lists a subscription of tables, each with the columns that it was planned with. The caller closes it.
func (t *Tail) Watch(session string, tables []*catalog.Table) *Watcher {
	w := &Watcher{listing: listing{session: session, created: time.Now(), path: "dataflow"}, tail: t}
	for _, table := range tables {
		if !slices.Contains(w.tables, table.ID) {
			w.tables = append(w.tables, table.ID)
		}
		w.reads = append(w.reads, watched{tableRef{table.ID, table.Schema, table.Name}, table.Columns.Fields})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.enlist(&w.listing)
	return w
}

// Look says what there is for one that gave out everything at or before after; snapshot: that waits for its snapshot at that time.
func (w *Watcher) Look(after tailrace.Time, snapshot bool) Watching {
	t := w.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	resume := func() string { return resumeAt(after, snapshot) }
	if w.ended {
		return Watching{Err: drainError(resume())}
	}
	v := Watching{Newest: t.newest, Limit: t.newest, Wait: t.nextEntry()}
	for _, r := range w.reads {
		for _, e := range t.window(r.table.ID).endings {
			err := t.ended(e, r.table, r.fields, resume)
			if err == nil {
				continue
			}
			if snapshot && after >= e.time || !snapshot && after+1 >= e.time {
				return Watching{Err: err}
			}
			v.Limit = min(v.Limit, e.time-1)
			break
		}
	}
	return v
}

// Show tells where the subscription is and how many rows it gave out.
func (w *Watcher) Show(after tailrace.Time, snapshot bool, rows int64) {
	w.shown.position.Store(uint64(after))
	w.shown.snapshot.Store(snapshot)
	w.shown.rows.Store(rows)
}

// Close takes the subscription off the list.
func (w *Watcher) Close() {
	w.tail.mu.Lock()
	defer w.tail.mu.Unlock()
	w.tail.delist(&w.listing)
}

// nextEntry is closed when the next entry was applied, or the tail drains. The tail's mutex is held.
func (t *Tail) nextEntry() <-chan struct{} {
	if t.entry == nil {
		t.entry = make(chan struct{})
	}
	return t.entry
}

// tellEntry wakes those who wait for an entry. The tail's mutex is held.
func (t *Tail) tellEntry() {
	if t.entry != nil {
		close(t.entry)
		t.entry = nil
	}
}

// drainError ends a subscription when the server stops.
func drainError(resume string) error {
	return &tailrace.Error{Severity: "FATAL", Code: "57P01", Message: "terminating connection due to administrator command", Hint: resume}
}

// resumeAt tells a client where to go on.
func resumeAt(at tailrace.Time, snapshot bool) string {
	if snapshot {
		return fmt.Sprintf("Resume with AS OF %d (the snapshot was not complete).", at)
	}
	return fmt.Sprintf("Resume with AS OF %d and WITH (SNAPSHOT = false).", at)
}
