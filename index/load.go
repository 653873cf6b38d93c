package index

import (
	"context"
	"fmt"
	"slices"

	"tailrace"
)

// Load writes all rows of a collection, in key order, to a run of their own, which then takes the place of what the store has of it in one step.
// It is used by one goroutine.
type Load struct {
	s    *Store
	id   tailrace.CollectionID
	st   State
	w    *runWriter
	view *view // nil when the load has ended
}

// NewLoad begins to load a collection as of st. Finish or Close must be called.
func (s *Store) NewLoad(id tailrace.CollectionID, st State) (*Load, error) {
	v, err := s.use()
	if err != nil {
		return nil, err
	}
	st.Shape = slices.Clone(st.Shape)
	return &Load{s: s, id: id, st: st, w: &runWriter{s: s}, view: v}, nil
}

// Add adds a row whose key is above all before.
func (l *Load) Add(key, value []byte) error {
	if err := l.w.add(row{key: key, value: value}); err != nil {
		return fmt.Errorf("load index: %w", err)
	}
	return nil
}

// Finish puts the rows in place. The load is of no more use, whatever the result.
func (l *Load) Finish(ctx context.Context) error {
	defer l.Close()
	r, err := l.w.finish()
	if err != nil {
		return fmt.Errorf("load index: %w", err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s := l.s
	v, err := s.take()
	if err != nil {
		return err
	}
	defer s.give(v)
	c := collection{mem: newMemtable(0, l.st), saved: l.st}
	if len(r) > 0 {
		c.runs = []run{r}
	}
	next := v.collections.with(l.id, c)
	if err := s.save(next); err != nil {
		return s.failed("load", err)
	}
	s.install(next)
	l.w.tables = nil // they are in place
	return nil
}

// Close gives the load up and removes its files. It may be called twice.
func (l *Load) Close() {
	if l.view == nil {
		return
	}
	l.w.discard()
	l.s.leave(l.view)
	l.view = nil
}
