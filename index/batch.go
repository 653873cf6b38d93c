package index

import (
	"fmt"

	"tailrace"
)

// Batch is changes to one collection that are written together. It is used by one goroutine.
type Batch struct {
	s    *Store
	id   tailrace.CollectionID
	rows []byte
	n    int
}

// NewBatch begins changes to a collection. Commit or Close must be called.
func (s *Store) NewBatch(id tailrace.CollectionID) (*Batch, error) {
	v, err := s.use()
	if err != nil {
		return nil, err
	}
	s.leave(v)
	return &Batch{s: s, id: id}, nil
}

// Set puts a row in the place of the key's.
func (b *Batch) Set(key, value []byte) error { return b.add(row{key: key, value: value}) }

// Delete removes the key's row, if any.
func (b *Batch) Delete(key []byte) error { return b.add(row{key: key, deleted: true}) }

func (b *Batch) add(r row) error {
	b.rows = appendRow(b.rows, r)
	b.n++
	return nil
}

// Size is the batch's bytes.
func (b *Batch) Size() int { return len(b.rows) }

// Commit writes the changes and the state together. The batch is of no more use, whatever the result.
func (b *Batch) Commit(st State) error {
	defer b.Close()
	s := b.s
	if err := s.checkFree(int64(b.Size())); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	v, err := s.take()
	if err != nil {
		return err
	}
	defer s.give(v)
	c, ok := v.collections[b.id]
	if !ok {
		c = collection{mem: newMemtable(0, State{})}
		s.install(v.collections.with(b.id, c))
	}
	c.mem.put(b.rows, b.n)
	c.mem.state, c.mem.dirty = st, true
	if s.memtableBytes() < s.opts.MemtableBytes && !c.mem.isFull() {
		return nil
	}
	return s.flush()
}

// Close gives the batch up. It may be called twice.
func (b *Batch) Close() { b.rows, b.n = nil, 0 }

// Flush writes what is in memory to disk, so that a crash loses nothing of it.
func (s *Store) Flush() error {
	v, err := s.take()
	if err != nil {
		return err
	}
	defer s.give(v)
	return s.flush()
}

// flush makes a run of each memtable, all or none. The caller has the turn to write.
func (s *Store) flush() error {
	s.mu.Lock()
	cs := s.now.collections
	s.mu.Unlock()
	var written []*runWriter
	next := cs
	for id, c := range cs {
		if !c.mem.dirty {
			continue
		}
		w := &runWriter{s: s, filtered: len(c.runs) > 0}
		written = append(written, w)
		r, err := w.all(c.mem)
		if err != nil {
			discard(written)
			return err
		}
		after := collection{mem: c.mem.next(), runs: c.runs, saved: c.mem.state}
		if len(r) > 0 {
			after.runs = append([]run{r}, c.runs...)
		}
		next = next.with(id, after)
	}
	if len(written) == 0 {
		return nil
	}
	if err := s.save(next); err != nil {
		discard(written)
		return s.failed("flush", err)
	}
	s.install(next)
	return nil
}

// all writes the rows of a memtable. A deletion that nothing older is hidden by is left out.
func (w *runWriter) all(m *memtable) (run, error) {
	for _, r := range m.sorted() {
		if r.deleted && !w.filtered {
			continue
		}
		if err := w.add(r.row); err != nil {
			return nil, err
		}
	}
	return w.finish()
}

func discard(writers []*runWriter) {
	for _, w := range writers {
		w.discard()
	}
}

// Drop removes all that is kept of a collection.
func (s *Store) Drop(id tailrace.CollectionID) error {
	v, err := s.take()
	if err != nil {
		return err
	}
	defer s.give(v)
	if _, ok := v.collections[id]; !ok {
		return nil
	}
	next := v.collections.with(id, collection{})
	delete(next, id)
	if err := s.save(next); err != nil {
		return s.failed("drop from", err)
	}
	s.install(next)
	return nil
}
