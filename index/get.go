package index

import (
	"context"
	"fmt"
	"sync"

	"tailrace"
)

// Get calls found with the place and the value of each of the keys, which are sorted, that the collection has a row for. The value is valid
// during the call only.
//
// Hot: no allocation a key, and one read of a block, but for keys in a memtable. Held by TestGetAllocs.
func (s *Store) Get(ctx context.Context, id tailrace.CollectionID, keys [][]byte, found func(i int, value []byte) error) error {
	v, err := s.use()
	if err != nil {
		return err
	}
	defer s.leave(v)
	c, ok := v.collections[id]
	if !ok {
		return nil
	}
	r := readers.Get().(*reader)
	defer readers.Put(r)
	r.store, r.table = s, nil
	for i, key := range keys {
		if i%1024 == 1023 && ctx.Err() != nil {
			return ctx.Err()
		}
		row, ok, err := r.find(&c, key)
		if err != nil {
			return s.failed("read", err)
		}
		if !ok {
			continue
		}
		if err := found(i, row.value); err != nil {
			return err
		}
	}
	return nil
}

// reader holds the block that was read last.
type reader struct {
	store *Store
	table *table // nil when there is none
	block int
	buf   []byte
	rows  []byte // the block's
}

// maxKept is the largest buffer that is kept for the next reader, in bytes.
const maxKept = 1 << 20

var readers = sync.Pool{New: func() any { return &reader{buf: make([]byte, 2*blockBytes)} }}

// find is the row of key, false when there is none.
func (r *reader) find(c *collection, key []byte) (row, bool, error) {
	hash := hashOf(key)
	if m := c.mem.get(key, hash); m != nil {
		return m.row, !m.deleted, nil
	}
	for _, tables := range c.runs {
		t := tables.table(key)
		if t == nil {
			continue
		}
		d, err := r.store.directories.of(t)
		if err != nil {
			return row{}, false, err
		}
		if !d.filter.mayHold(hash) {
			continue
		}
		if err := r.read(t, d, d.block(key)); err != nil {
			return row{}, false, err
		}
		have, is, ok := search(r.rows, key)
		switch {
		case !ok:
			return row{}, false, t.corrupt("rows of a block")
		case is:
			return have, !have.deleted, nil
		}
	}
	return row{}, false, nil
}

// read makes block i of t the current one.
func (r *reader) read(t *table, d *directory, i int) error {
	if r.table == t && r.block == i {
		return nil
	}
	r.table = nil
	from, to := d.bounds(i)
	n := int(to - from)
	if n > len(r.buf) || len(r.buf) > maxKept {
		r.buf = make([]byte, max(n, 2*blockBytes))
	}
	if _, err := t.file.ReadAt(r.buf[:n], from); err != nil {
		return fmt.Errorf("read block %d of table %d: %w", i, t.number, err)
	}
	rows, ok := rowsOf(r.buf[:n])
	if !ok {
		return t.corrupt(fmt.Sprintf("checksum of block %d", i))
	}
	r.table, r.block, r.rows = t, i, rows
	return nil
}
