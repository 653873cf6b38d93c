package shard

import (
	"context"
	"slices"

	"tailrace"
	"tailrace/stripe"
)

// chunk is a sorted stretch of updates, diffs signed, in the columns of a layout's schema. Columns that are not loaded are empty until
// load is called. One cursor owns a chunk.
type chunk struct {
	b    *tailrace.Batch
	fill func(context.Context) error // loads the columns left out; nil when none is
}

func (c *chunk) load(ctx context.Context) error {
	if c.fill == nil {
		return nil
	}
	err := c.fill(ctx)
	if err == nil {
		c.fill = nil
	}
	return err
}

// source yields the chunks of one sorted sequence, nil at its end.
type source func(context.Context) (*chunk, error)

// batchSource yields one sorted batch.
func batchSource(b *tailrace.Batch) source {
	done := b == nil || b.N == 0
	return func(context.Context) (*chunk, error) {
		if done {
			return nil, nil
		}
		done = true
		return &chunk{b: b}, nil
	}
}

// runReader reads a run page group by page group.
type runReader struct {
	set    *Set
	r      *run
	l      *layout
	wanted []bool // by field: columns to load at once
	// timed keeps updates with lo < time <= hi only; a state run's have no time.
	timed  bool
	lo, hi tailrace.Time
	sign   tailrace.Diff
	times  bool // keep the updates' times
	whole  bool // of page groups that have updates in the time window all updates are read

	ranges  []Range    // page groups that hold nothing of them are passed over
	stats   *ScanStats // nil: nothing is counted
	counted int        // the stripe that is being counted, -1 at first
	any     bool       // whether any of it was read

	part, group int
	spans       []groupSpan // of each part: the groups to read; nil: all
	seek        []byte      // start at the first group that can hold this key
}

func (s *Set) readRun(r *run, l *layout) *runReader {
	return &runReader{set: s, r: r, l: l, sign: 1}
}

// next reads the next page group that has updates in the time window.
func (rr *runReader) next(ctx context.Context) (*chunk, error) {
	for rr.part < len(rr.r.parts) {
		p := rr.r.parts[rr.part]
		reader, err := rr.set.open(ctx, p)
		if err != nil {
			return nil, err
		}
		end := reader.Groups()
		if rr.spans != nil {
			rr.group, end = max(rr.group, rr.spans[rr.part].from), rr.spans[rr.part].to
		}
		if rr.seek != nil {
			rr.group, rr.seek = reader.SeekGroup(rr.seek), nil
		}
		if rr.group >= end {
			rr.part, rr.group = rr.part+1, 0
			continue
		}
		g := rr.group
		rr.group++
		passed, err := rr.passes(ctx, reader, g)
		if err != nil {
			return nil, err
		}
		rr.count(reader, g, passed)
		if passed {
			continue
		}
		c, err := rr.chunk(ctx, p, reader, g)
		if err != nil {
			return nil, err
		}
		if rr.stats != nil {
			rr.stats.Rows.Add(int64(c.b.N))
		}
		if c.b.N > 0 {
			return c, nil
		}
	}
	return nil, nil
}

// from makes the reader start at the first group that can hold a row at or after key.
func (rr *runReader) from(key []byte) {
	rr.part = rr.r.seek(key)
	rr.seek = key
}

func (rr *runReader) chunk(ctx context.Context, p *part, reader *stripe.Reader, g int) (*chunk, error) {
	fields := rr.l.schema.Fields
	var now, later []tailrace.ColumnID
	for i := range fields {
		switch {
		case !slices.Contains(rr.r.order, fields[i].ID):
		case rr.wanted == nil || rr.wanted[i]:
			now = append(now, fields[i].ID)
		default:
			later = append(later, fields[i].ID)
		}
	}
	raw, err := reader.Read(ctx, g, now)
	if err != nil {
		return nil, err
	}
	rr.countBytes(reader, g, now)
	var rows []int32
	all := true
	if rr.timed && !rr.whole {
		rows, all = timeRows(raw, p.base, rr.lo, rr.hi)
	}
	b := &tailrace.Batch{N: raw.N, IDs: make([]tailrace.ColumnID, len(fields)), Cols: make([]tailrace.Column, len(fields))}
	if !all {
		b.N = len(rows)
	}
	take := func(from *tailrace.Batch) {
		for i := range fields {
			if c := from.Col(fields[i].ID); c != nil && all {
				b.Cols[i] = *c
			} else if c != nil {
				b.Cols[i] = c.Gather(rows)
			}
		}
	}
	for i := range fields {
		b.IDs[i] = fields[i].ID
		if !slices.Contains(rr.r.order, fields[i].ID) {
			b.Cols[i] = tailrace.ConstColumn(fields[i].Type.Kind, fields[i].Missing, b.N)
		}
	}
	take(raw)
	if rr.times {
		b.Times = make([]tailrace.Time, b.N)
		for i := range b.Times {
			row := i
			if !all {
				row = int(rows[i])
			}
			b.Times[i] = p.base + raw.Time(row, 0)
		}
	}
	b.Diffs = signed(raw.Diffs, rows, all, b.N, rr.sign)
	c := &chunk{b: b}
	if len(later) > 0 {
		c.fill = func(ctx context.Context) error {
			rest, err := reader.Read(ctx, g, later)
			if err != nil {
				return err
			}
			rr.countBytes(reader, g, later)
			take(rest)
			return nil
		}
	}
	return c, nil
}

// signed picks the rows' diffs (all of n when all) and multiplies them by sign; nil stands for +1 each.
func signed(diffs []tailrace.Diff, rows []int32, all bool, n int, sign tailrace.Diff) []tailrace.Diff {
	if sign == 1 && (diffs == nil || all) {
		return diffs
	}
	out := make([]tailrace.Diff, n)
	for i := range out {
		d := tailrace.Diff(1)
		switch {
		case diffs != nil && all:
			d = diffs[i]
		case diffs != nil:
			d = diffs[rows[i]]
		}
		out[i] = d * sign
	}
	return out
}

// slice copies rows [from, to) of b, without times.
func slice(b *tailrace.Batch, from, to int) *tailrace.Batch {
	out := &tailrace.Batch{IDs: b.IDs, Cols: make([]tailrace.Column, len(b.Cols))}
	for c := range b.Cols {
		out.Cols[c].Width = b.Cols[c].Width
		out.Cols[c].Reset()
		out.Cols[c].AppendRange(&b.Cols[c], from, to)
	}
	appendDiffs(out, b, from, to)
	return out
}
