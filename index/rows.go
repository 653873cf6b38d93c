package index

import (
	"context"
	"fmt"

	lsm "github.com/cockroachdb/pebble/v2"

	"tailrace"
)

// Get calls found with the place and the value of each of the keys, which are sorted, that the collection has a row for. The value is valid
// during the call only.
//
// Hot: a seek in pebble and, beyond its cache, one read of a block a key. An iterator does with less than DB.Get, which makes one each time; filters
// are of no use in the lowest level, where nearly all keys that are looked up are found.
func (s *Store) Get(ctx context.Context, id tailrace.CollectionID, keys [][]byte, found func(i int, value []byte) error) error {
	o, done, err := s.use()
	if err != nil {
		return err
	}
	defer done()
	it, version, err := s.iterator(o)
	if err != nil {
		return s.failed("read", err)
	}
	defer s.giveBack(o, it, version)
	buf := appendRowKey(make([]byte, 0, 64), id, nil) // on the stack
	from := len(buf)
	for i, key := range keys {
		if i%1024 == 1023 && ctx.Err() != nil {
			return ctx.Err()
		}
		buf = append(buf[:from], key...)
		if !it.SeekPrefixGE(buf) {
			if err := it.Error(); err != nil {
				return s.failed("read", err)
			}
			continue
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return s.failed("read", err)
		}
		if err := found(i, value); err != nil {
			return err
		}
	}
	return nil
}

// iterator is one that sees all that was committed: an idle one, or a new one.
func (s *Store) iterator(o *opened) (it *lsm.Iterator, version uint64, err error) {
	s.mu.Lock()
	version = o.version
	if n := len(o.idle); n > 0 {
		it, o.idle = o.idle[n-1], o.idle[:n-1]
	}
	s.mu.Unlock()
	if it == nil {
		it, err = o.db.NewIter(&lsm.IterOptions{KeyTypes: lsm.IterKeyTypePointsOnly})
	}
	return it, version, err
}

// giveBack keeps the iterator for the next reader, unless something was committed since it was made.
func (s *Store) giveBack(o *opened, it *lsm.Iterator, version uint64) {
	s.mu.Lock()
	keep := version == o.version && len(o.idle) < idleIterators && it.Error() == nil
	if keep {
		o.idle = append(o.idle, it)
	}
	s.mu.Unlock()
	if !keep {
		_ = it.Close() // an error of its was told
	}
}

// changed closes the idle iterators, which do not see what was just committed and keep files that were replaced.
func (s *Store) changed(o *opened) {
	s.mu.Lock()
	idle := o.idle
	o.idle, o.version = nil, o.version+1
	s.mu.Unlock()
	for _, it := range idle {
		_ = it.Close() // an error of its was told
	}
}

// Batch is changes to one collection that are written together. It is used by one goroutine.
type Batch struct {
	s    *Store
	id   tailrace.CollectionID
	o    *opened
	done func()
	b    *lsm.Batch
	key  []byte
}

// NewBatch begins changes to a collection. Commit or Close must be called.
func (s *Store) NewBatch(id tailrace.CollectionID) (*Batch, error) {
	o, done, err := s.use()
	if err != nil {
		return nil, err
	}
	return &Batch{s: s, id: id, o: o, done: done, b: o.db.NewBatch()}, nil
}

// Set puts a row in the place of the key's.
func (b *Batch) Set(key, value []byte) error {
	b.key = appendRowKey(b.key[:0], b.id, key)
	return b.b.Set(b.key, value, nil)
}

// Delete removes the key's row, if any.
func (b *Batch) Delete(key []byte) error {
	b.key = appendRowKey(b.key[:0], b.id, key)
	return b.b.Delete(b.key, nil)
}

// Size is the batch's bytes.
func (b *Batch) Size() int { return b.b.Len() }

// Commit writes the changes and the state together. The batch is of no more use, whatever the result.
func (b *Batch) Commit(st State) error {
	defer b.Close()
	if err := b.s.checkFree(int64(b.Size())); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	if err := b.b.Set(stateKey(b.id), st.encode(), nil); err != nil {
		return b.s.failed("write", err)
	}
	if err := b.b.Commit(lsm.NoSync); err != nil {
		return b.s.failed("write", err)
	}
	b.s.changed(b.o)
	return nil
}

// Close gives the batch up. It may be called twice.
func (b *Batch) Close() {
	if b.done != nil {
		_ = b.b.Close() // it is memory
		b.done()
		b.done = nil
	}
}

// Drop removes all that is kept of a collection.
func (s *Store) Drop(id tailrace.CollectionID) error {
	o, done, err := s.use()
	if err != nil {
		return err
	}
	defer done()
	r := span(id)
	if err := o.db.DeleteRange(r.Start, r.End, lsm.NoSync); err != nil {
		return s.failed("drop from", err)
	}
	s.changed(o)
	return nil
}
