package index

import (
	"bytes"
	"cmp"
	"slices"
	"sync/atomic"
	"unsafe"
)

// memtable is the rows of a collection that are not in a run yet: one writer, who has the Store's turn to write, and readers that take no lock.
//
// A bucket is a list, newest row first. A row is not changed once it is in the list, so a reader who has loaded the front may walk on.
type memtable struct {
	buckets []atomic.Pointer[memRow]
	bytes   atomic.Int64 // of rows

	// The writer's.
	rows  int
	state State
	dirty bool // state is not in the manifest
}

type memRow struct {
	row
	hash   uint64
	seq    uint64 // counts the rows of the bucket
	before *memRow
}

const (
	// minBuckets are a memtable's of which nothing is known.
	minBuckets = 1 << 12
	// rowsABucket is where a memtable is full, however small its rows are.
	rowsABucket = 4
)

// newMemtable makes one that is good for so many rows.
func newMemtable(rows int, st State) *memtable {
	n := minBuckets
	for n < rows {
		n *= 2
	}
	return &memtable{buckets: make([]atomic.Pointer[memRow], n), state: st}
}

// next makes the one after m, which is written now: as many rows will come again.
func (m *memtable) next() *memtable { return newMemtable(m.rows, m.state) }

func (m *memtable) bucket(hash uint64) *atomic.Pointer[memRow] {
	return &m.buckets[hash&uint64(len(m.buckets)-1)]
}

// put adds n rows as appendRow wrote them, which the memtable keeps.
func (m *memtable) put(rows []byte, n int) {
	m.bytes.Add(int64(cap(rows)) + int64(n)*int64(unsafe.Sizeof(memRow{})))
	m.rows += n
	all := make([]memRow, n)
	for i := range all {
		r := &all[i]
		r.row, rows, _ = nextRow(rows)
		r.hash = hashOf(r.key)
		b := m.bucket(r.hash)
		if r.before = b.Load(); r.before != nil {
			r.seq = r.before.seq + 1
		}
		b.Store(r)
	}
}

// isFull tells that lists get long.
func (m *memtable) isFull() bool { return m.rows > rowsABucket*len(m.buckets) }

// get is the newest row of key, nil when there is none.
func (m *memtable) get(key []byte, hash uint64) *memRow {
	for r := m.bucket(hash).Load(); r != nil; r = r.before {
		if r.hash == hash && bytes.Equal(r.key, key) {
			return r
		}
	}
	return nil
}

// sorted are the newest rows by key.
func (m *memtable) sorted() []*memRow {
	var all []*memRow
	for i := range m.buckets {
		for r := m.buckets[i].Load(); r != nil; r = r.before {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *memRow) int {
		return cmp.Or(bytes.Compare(a.key, b.key), cmp.Compare(b.seq, a.seq))
	})
	return slices.CompactFunc(all, func(a, b *memRow) bool { return bytes.Equal(a.key, b.key) })
}
