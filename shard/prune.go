package shard

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"

	"tailrace"
	"tailrace/stripe"
)

// Range says which rows of a snapshot its reader wants, by one column: those whose value lies in one of Spans, and those where it is NULL if Nulls. Page
// groups that hold no such row are passed over.
//
// That is safe in every run, although a row's multiplicity is a sum over runs: all updates of one row have the same value in the column, so either
// none of them is passed over, or the row is not wanted. A row that is not wanted may then have any sum, and come out although it is not there: the reader filters,
// with ranges that may be wider than its filter.
//
//	WHERE n > 100     state: +(a, 5) +(b, 200)     history: -(a, 5) +(a, 300)
//	                  passed over                  read: a group with 5..300
//	sum               -(a, 5)   dropped: a sum below 0 outside of the range
//	                  +(a, 300) +(b, 200)
type Range struct {
	Column tailrace.ColumnID
	Type   tailrace.Type // of the keys in Spans; a part whose column is of another type is read
	Spans  []Span
	Nulls  bool
}

// Span is low <= value <= high, both keys (tailrace.AppendKey); nil is no bound.
type Span struct{ Low, High []byte }

// ScanStats counts what cursors read, for EXPLAIN ANALYZE. Several may count into one.
type ScanStats struct {
	StripesRead, StripesPruned atomic.Int64 // a stripe is read when any of its page groups is
	GroupsRead, GroupsPruned   atomic.Int64 // page groups
	Bytes                      atomic.Int64 // of pages read, encoded
	Rows                       atomic.Int64 // updates read from runs
	Memory                     atomic.Int64 // updates read from memory: not flushed yet, or a transaction's own
}

// wants tells whether a value may be wanted, given its key.
func (r *Range) wants(key []byte, null bool) bool {
	if null {
		return r.Nulls
	}
	return r.meets(key, key)
}

// meets tells whether a value between low and high may be wanted.
func (r *Range) meets(low, high []byte) bool {
	for _, s := range r.Spans {
		if (s.Low == nil || bytes.Compare(high, s.Low) >= 0) && (s.High == nil || bytes.Compare(low, s.High) <= 0) {
			return true
		}
	}
	return false
}

// passes tells whether no row of page group g is wanted: by its bounds, and where single values are, by the stripe's filters; of history that is read whole, by its times.
func (rr *runReader) passes(ctx context.Context, reader *stripe.Reader, g int) (bool, error) {
	if rr.whole && (rr.r.lower <= rr.lo || rr.r.upper > rr.hi+1) {
		times, err := reader.Read(ctx, g, []tailrace.ColumnID{})
		if err != nil {
			return false, err
		}
		if rows, all := timeRows(times, rr.r.parts[rr.part].base, rr.lo, rr.hi); !all && len(rows) == 0 {
			return true, nil
		}
	}
	for i := range rr.ranges {
		r := &rr.ranges[i]
		f := reader.Footer().Schema.Index(r.Column)
		if f < 0 || reader.Footer().Schema.Fields[f].Type != r.Type {
			continue
		}
		low, high, nulls, err := reader.Bounds(g, r.Column)
		if err != nil {
			return false, err
		}
		if r.Nulls && nulls > 0 {
			continue
		}
		_, rows := reader.GroupRows(g)
		switch {
		case low != nil && !r.meets(low, high), low == nil && nulls == rows:
			return true, nil
		}
		if absent, err := r.absent(ctx, reader, reader.StripeOf(g)); err != nil || absent {
			return absent, err
		}
	}
	return false, nil
}

// maxAsked is how many values of a range a filter is asked for: beyond it a page group is read rather.
const maxAsked = 64

// absent reports whether the filter of stripe i says that no value of the range, which are single ones, is there. The column that rows are sorted by first needs none: its
// bounds are narrow.
func (r *Range) absent(ctx context.Context, reader *stripe.Reader, i int) (bool, error) {
	if r.Nulls || len(r.Spans) > maxAsked || reader.Footer().SortKey[0] == r.Column {
		return false, nil
	}
	for _, s := range r.Spans {
		if s.Low == nil || !bytes.Equal(s.Low, s.High) {
			return false, nil
		}
	}
	for _, s := range r.Spans {
		if may, err := reader.MayHold(ctx, i, r.Column, s.Low); err != nil || may {
			return false, err
		}
	}
	return true, nil
}

// count notes that page group g was read or passed over.
func (rr *runReader) count(reader *stripe.Reader, g int, passed bool) {
	s := rr.stats
	if s == nil {
		return
	}
	n := reader.StripeOf(g)
	first, end := reader.StripeGroups(n)
	if g == first || rr.counted != n {
		rr.counted, rr.any = n, false
	}
	if passed {
		s.GroupsPruned.Add(1)
	} else {
		s.GroupsRead.Add(1)
		if !rr.any {
			rr.any = true
			s.StripesRead.Add(1)
		}
	}
	if g == end-1 && !rr.any {
		s.StripesPruned.Add(1)
	}
}

// countBytes notes that columns of page group g were read.
func (rr *runReader) countBytes(reader *stripe.Reader, g int, cols []tailrace.ColumnID) {
	if rr.stats != nil {
		rr.stats.Bytes.Add(reader.GroupBytes(g, cols))
	}
}

// unwanted tells whether the cursor's ranges leave the held row out.
func (c *Cursor) unwanted(h heldRow) bool {
	for i := range c.ranges {
		r := &c.ranges[i]
		f := c.l.schema.Index(r.Column)
		if f < 0 || c.l.schema.Fields[f].Type != r.Type {
			continue
		}
		col := &h.c.b.Cols[f]
		c.scratch = tailrace.AppendKey(c.scratch[:0], r.Type, col, h.i)
		if !r.wants(c.scratch, col.IsNull(h.i)) {
			return true
		}
	}
	return false
}

// narrow makes the picture's runs pass over what the ranges leave out, and count what they read.
func (p *picture) narrow(ranges []Range, stats *ScanStats) {
	for _, r := range p.readers {
		r.rr.ranges, r.rr.stats, r.rr.counted = ranges, stats, -1
	}
	if stats != nil {
		stats.Memory.Add(int64(p.inMemory))
	}
}

// with is columns and those that ranges are about: a row that is left out is told by them.
func (l *layout) with(columns []int, ranges []Range) []int {
	out := append([]int(nil), columns...)
	for i := range ranges {
		if f := l.schema.Index(ranges[i].Column); f >= 0 {
			out = append(out, f)
		}
	}
	return out
}

// Estimate counts what a snapshot with these options would read, without reading it: for EXPLAIN. Bytes is that of the columns asked for.
func (sh *Shard) Estimate(ctx context.Context, opts SnapshotOptions) (*ScanStats, error) {
	m, release := sh.pin()
	defer release()
	if err := sh.readable(m, opts.AsOf); err != nil {
		return nil, fmt.Errorf("estimate of collection %d: %w", sh.id, err)
	}
	schema := opts.Schema
	if schema == nil {
		schema = m.schema
	}
	p := &picture{sh: sh, m: m, l: newLayout(schema)}
	if err := p.asOf(opts.AsOf); err != nil {
		return nil, err
	}
	stats := &ScanStats{}
	p.narrow(opts.Ranges, stats)
	var ids []tailrace.ColumnID
	for i := range schema.Fields {
		ids = append(ids, schema.Fields[i].ID)
	}
	for _, r := range p.readers {
		for _, part := range r.rr.r.parts {
			if err := r.rr.estimate(ctx, part, ids); err != nil {
				return nil, err
			}
		}
	}
	return stats, nil
}

// estimate counts the page groups of a part.
func (rr *runReader) estimate(ctx context.Context, p *part, ids []tailrace.ColumnID) error {
	reader, err := rr.set.open(ctx, p)
	if err != nil {
		return err
	}
	for g := range reader.Groups() {
		passed, err := rr.passes(ctx, reader, g)
		if err != nil {
			return err
		}
		rr.count(reader, g, passed)
		if !passed {
			_, n := reader.GroupRows(g)
			rr.stats.Rows.Add(int64(n))
			rr.countBytes(reader, g, ids)
		}
	}
	return nil
}

// Add adds what another counted.
func (s *ScanStats) Add(o *ScanStats) {
	s.StripesRead.Add(o.StripesRead.Load())
	s.StripesPruned.Add(o.StripesPruned.Load())
	s.GroupsRead.Add(o.GroupsRead.Load())
	s.GroupsPruned.Add(o.GroupsPruned.Load())
	s.Bytes.Add(o.Bytes.Load())
	s.Rows.Add(o.Rows.Load())
	s.Memory.Add(o.Memory.Load())
}
