package steps

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"tailrace"
)

// values are values of unique keys that rows give up by being updated, by their hashes. A row that takes one over is deleted first and added last; all other rows are
// updated where they are: a delete could take along what refers to them.
//
//	-(1, a@x) +(1, b@x)   -(2, b@x) +(2, c@x)        delete 1; upsert (2, c@x); upsert (1, b@x)
type values map[uint64]struct{}

// givenUp are the values that rows of a table had before and have no more. nil when the target has no unique keys besides the primary one.
func givenUp(target *tailrace.SinkTarget, updates []Updates, rows *rows) values {
	if len(target.Unique) == 0 {
		return nil
	}
	out := values{}
	for i := range rows.all {
		r := &rows.all[i]
		if r.before == nowhere || r.now == nowhere {
			continue
		}
		for k, unique := range target.Unique {
			if h, ok := valueHash(target, updates, k, unique, r.before); ok && !sameValue(updates, unique, r.before, r.now) {
				out[h] = struct{}{}
			}
		}
	}
	return out
}

// takes tells that a row comes to a value that another one gives up.
func (v values) takes(target *tailrace.SinkTarget, updates []Updates, r *row) bool {
	if len(v) == 0 {
		return false
	}
	for k, unique := range target.Unique {
		h, ok := valueHash(target, updates, k, unique, r.now)
		if _, given := v[h]; ok && given && (r.before == nowhere || !sameValue(updates, unique, r.before, r.now)) {
			return true
		}
	}
	return false
}

func sameValue(updates []Updates, unique []int, a, b place) bool {
	return tailrace.CompareStored(unique, updates[a.part].Batch, a.row, updates[b.part].Batch, b.row) == 0
}

// valueHash is the hash of a row's value of unique key k; ok is false when it has a NULL, which is like no other.
func valueHash(target *tailrace.SinkTarget, updates []Updates, k int, unique []int, p place) (h uint64, ok bool) {
	raw := binary.LittleEndian.AppendUint32(make([]byte, 0, 64), uint32(k))
	b := updates[p.part].Batch
	for _, c := range unique {
		if b.Cols[c].IsNull(p.row) {
			return 0, false
		}
		raw = tailrace.AppendKey(raw, target.Table.Columns.Fields[c].Type, &b.Cols[c], p.row)
	}
	return xxh3.Hash(raw), true
}
