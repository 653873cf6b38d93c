package shard

import (
	"bytes"
	"slices"
	"sync/atomic"

	"tailrace"
	"tailrace/stripe"
)

// maxBound is how many bytes of a part's first and last row key its reference keeps. A longer key is cut: first is then a lower bound
// and last the beginning of one, which is all that choosing parts needs.
const maxBound = 128

const (
	// flagPlain: every row is there once, at one time, with a diff above 0. Such rows need not be added up with their neighbours.
	flagPlain = 1 << 0
	// flagSingle: all rows are at one time, each once. As part of a state it needs no change.
	flagSingle = 1 << 1
	partFlags  = flagPlain | flagSingle
)

// part refers to one object in Blob.
type part struct {
	key         string
	size        int64 // bytes
	rows        int64
	base        tailrace.Time // is added to the times stored in the part
	flags       byte
	first, last []byte // row keys, cut at maxBound
	reader      atomic.Pointer[stripe.Reader]
}

// at returns a reference to the same object with another base time.
func (p *part) at(base tailrace.Time) *part {
	q := &part{key: p.key, size: p.size, rows: p.rows, base: base, flags: p.flags, first: p.first, last: p.last}
	q.reader.Store(p.reader.Load())
	return q
}

// startsBelow reports whether the part's first row is surely before every row whose key is at or after key.
func (p *part) startsBelow(key []byte) bool {
	return bytes.Compare(p.first, key[:min(len(key), len(p.first))]) < 0
}

// endsBelow reports whether the part's last row is surely before every row whose key begins with key or is after it.
func (p *part) endsBelow(key []byte) bool {
	n := min(len(key), len(p.last))
	return bytes.Compare(p.last[:n], key[:n]) < 0
}

// run is a sorted sequence of updates in [lower, upper), in parts whose key ranges follow one another. It is immutable.
type run struct {
	lower, upper tailrace.Time
	order        []tailrace.ColumnID // the columns it has, in the order it is sorted by
	parts        []*part
}

func (r *run) size() int64 {
	n := int64(0)
	for _, p := range r.parts {
		n += p.size
	}
	return n
}

func (r *run) rows() int64 {
	n := int64(0)
	for _, p := range r.parts {
		n += p.rows
	}
	return n
}

// all reports whether every part has the flags.
func (r *run) all(flags byte) bool {
	return !slices.ContainsFunc(r.parts, func(p *part) bool { return p.flags&flags != flags })
}

// seek is the index of the first part that can hold a row whose key is at or after key.
func (r *run) seek(key []byte) int {
	n, _ := slices.BinarySearchFunc(r.parts, key, func(p *part, key []byte) int {
		if p.startsBelow(key) {
			return -1
		}
		return 1
	})
	return max(0, n-1)
}

// at returns the run with its time set: what a referenced run becomes once its entry is applied.
func (r *run) at(t tailrace.Time) *run {
	out := &run{lower: t, upper: t + 1, order: r.order, parts: make([]*part, len(r.parts))}
	for i, p := range r.parts {
		out.parts[i] = p.at(t)
	}
	return out
}

// bound cuts a row key for a part's first or last.
func bound(key []byte) []byte { return slices.Clone(key[:min(len(key), maxBound)]) }
