package shard

import (
	"bytes"
	"sync"

	"tailrace"
)

// memIndex finds a key's updates in the memtable. It is made by the first Lookup and extended by later ones; a flush makes it be made anew.
type memIndex struct {
	mu       sync.Mutex
	l        *layout
	from, to uint64           // seqs of the batches it covers
	newest   map[uint64]int32 // hash of a head key to its newest entry
	entries  []memEntry
	highest  []byte // head key
}

// memEntry is one update; before is the entry of an earlier update whose key has the same hash, -1 for none.
type memEntry struct {
	seq    uint64
	row    int32
	before int32
}

// cover brings the index to the batches of m. false when it is of a later memtable than m, whose reader should take the newest manifest.
// The caller holds mu.
func (x *memIndex) cover(m *manifest, l *layout) (bool, error) {
	first := m.nextSeq - uint64(len(m.mem))
	if x.newest != nil && x.from > first {
		return false, nil
	}
	if x.newest == nil || x.from < first || !sameSchema(x.l.schema, l.schema) {
		x.l, x.from, x.to = l, first, first
		x.newest, x.entries, x.highest = make(map[uint64]int32), nil, nil
	}
	key := make([]byte, 0, 64) // on the stack
	for ; x.to < m.nextSeq; x.to++ {
		mb := m.mem[x.to-first]
		b, err := mb.batch()
		if err != nil {
			return true, err
		}
		keys := headColumns(b, l)
		for i := range b.N {
			key = appendHeadOf(key[:0], keys, l, i)
			if bytes.Compare(key, x.highest) > 0 {
				x.highest = append(x.highest[:0], key...)
			}
			h := KeyHash(key)
			before, ok := x.newest[h]
			if !ok {
				before = -1
			}
			x.newest[h] = int32(len(x.entries))
			x.entries = append(x.entries, memEntry{seq: x.to, row: int32(i), before: before})
		}
	}
	return true, nil
}

// find calls found with each update of key in m's memtable, newest first, until it says stop. The caller holds mu and cover said true.
func (x *memIndex) find(m *manifest, key []byte, found func(mb *memBatch, b *tailrace.Batch, row int) (stop bool)) error {
	e, ok := x.newest[KeyHash(key)]
	buf := make([]byte, 0, 64) // on the stack
	for ; ok && e >= 0; e = x.entries[e].before {
		entry := x.entries[e]
		if entry.seq >= m.nextSeq {
			continue
		}
		mb := m.mem[entry.seq-x.from]
		b, err := mb.batch()
		if err != nil {
			return err
		}
		buf = appendHeadOf(buf[:0], headColumns(b, x.l), x.l, int(entry.row))
		if bytes.Equal(buf, key) && found(mb, b, int(entry.row)) {
			return nil
		}
	}
	return nil
}

// headColumns finds the key columns of b, nil for one it lacks.
func headColumns(b *tailrace.Batch, l *layout) []*tailrace.Column {
	out := make([]*tailrace.Column, l.head)
	for i, f := range l.order[:l.head] {
		out[i] = b.Col(l.schema.Fields[f].ID)
	}
	return out
}

// appendHeadOf adds the head key of row i, given its columns; a column that is not there has the field's Missing value.
func appendHeadOf(dst []byte, cols []*tailrace.Column, l *layout, i int) []byte {
	for k := range cols {
		dst = l.appendKeyOf(dst, cols, k, i)
	}
	return dst
}

// appendKeyOf adds what place k of the order has of it.
func (l *layout) appendKeyOf(dst []byte, cols []*tailrace.Column, k, i int) []byte {
	field := &l.schema.Fields[l.order[k]]
	if cols[k] == nil {
		c := tailrace.ConstColumn(field.Type.Kind, field.Missing, 1)
		return tailrace.AppendKey(dst, field.Type, &c, 0)
	}
	return tailrace.AppendKey(dst, field.Type, cols[k], i)
}
