package tail

import (
	"fmt"

	"tailrace"
)

// view is what a subscription sees of its window at one moment.
type view struct {
	newest tailrace.Time
	limit  tailrace.Time // updates up to and including limit may be given out
	lower  tailrace.Time // the window has everything after lower
	items  []*item       // of the window, after the subscription's position, when that is at or above lower
	notify <-chan struct{}
	ends   bool  // the subscription ends after limit
	err    error // why the subscription ends here, its earlier rows all given out
}

// look takes a view for s.
func (t *Tail) look(s *Subscription) view {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.ended {
		return view{err: drainError(s.resumeDetail())}
	}
	w := t.window(s.table.ID)
	v := view{newest: t.newest, limit: t.newest, lower: w.lower, notify: w.notify}
	if s.bounded {
		v.limit = min(v.limit, s.upTo-1)
	}
	for _, e := range w.endings {
		err := t.endedBy(s, e)
		if err == nil {
			continue
		}
		if s.pos.snapshot && s.asOf >= e.time || !s.pos.snapshot && s.pos.after+1 >= e.time {
			return view{err: err}
		}
		v.limit, v.ends = min(v.limit, e.time-1), true
		break
	}
	if w.lower <= s.pos.after {
		v.items = w.since(s.pos.after, v.limit)
	}
	return v
}

// endedBy is the error that ends s at e, nil when e does not concern it.
func (t *Tail) endedBy(s *Subscription, e ending) error {
	return t.ended(e, s.table, s.shape.used, s.resumeDetail)
}

// ended is the error that ends a subscription that uses fields of a table at e, nil when e does not concern it. resume tells where to go on.
func (t *Tail) ended(e ending, table tableRef, fields []tailrace.Field, resume func() string) error {
	if e.change.After == nil {
		err := t.droppedError(table)
		err.Detail = resume()
		return err
	}
	for _, f := range fields {
		if e.change.Before.Columns.Index(f.ID) < 0 { // the column was added later, and so was the subscription
			continue
		}
		i := e.change.After.Columns.Index(f.ID)
		if i >= 0 && e.change.After.Columns.Fields[i].Type == f.Type {
			continue
		}
		verb := "retyped"
		if i < 0 && e.change.After.Columns.ByName(f.Name) < 0 { // a retyped column is another one of the same name
			verb = "dropped"
		}
		return &tailrace.Error{
			Code:    "0A000",
			Message: fmt.Sprintf("column %q of relation %q was %s while SUBSCRIBE used it", f.Name, table.Name, verb),
			Detail:  resume(), Hint: "Start a new SUBSCRIBE with the table's new columns.",
		}
	}
	return nil
}

func (t *Tail) droppedError(r tableRef) *tailrace.Error {
	return &tailrace.Error{
		Code: "42704", Message: fmt.Sprintf("relation '%s.%s.%s' was dropped", t.database, r.Schema, r.Name),
		Hint: "Subscribe to another table, or to the one created anew under the same name.",
	}
}
