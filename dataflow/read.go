package dataflow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"tailrace"
	"tailrace/shard"
)

// readSnapshot adds the rows at as_of.
func (s *Subscription) readSnapshot(ctx context.Context) error {
	giveBack, err := s.o.Turns.take(ctx)
	if err != nil {
		return err
	}
	defer giveBack()
	in := &Input{First: true, Row: s.o.Row}
	tables := map[*Scan]*tailrace.Batch{}
	in.Of = func(o *Scan) *tailrace.Batch { return tables[o] }
	size := 0
	for _, o := range s.scans {
		b, err := s.tableAt(ctx, o, &size)
		if err != nil {
			return err
		}
		tables[o] = b
	}
	if err := s.addTime(ctx, s.o.AsOf, in, size); err != nil {
		return err
	}
	rows := s.waiting() > 0
	s.snapshot, s.after = false, s.o.AsOf
	s.o.Free()
	s.closeTimes(rows)
	return nil
}

// tableAt is a table's rows at as_of. size counts their bytes.
func (s *Subscription) tableAt(ctx context.Context, o *Scan, size *int) (*tailrace.Batch, error) {
	sh := s.o.Shards.Shard(o.Table)
	if sh == nil {
		return nil, s.gone(o)
	}
	c, err := sh.Snapshot(ctx, shard.SnapshotOptions{AsOf: s.o.AsOf, Schema: o.Schema})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	all := tailrace.NewBatch(o.Schema, 0)
	for {
		piece, err := c.Next(ctx)
		if errors.Is(err, io.EOF) {
			*size += all.Size()
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		appendRows(all, piece)
		if err := s.hold(ctx, *size+all.Size()); err != nil {
			return nil, err
		}
	}
}

// appendRows adds the updates of src, which has the same columns, to dst.
func appendRows(dst, src *tailrace.Batch) {
	for c := range dst.Cols {
		dst.Cols[c].AppendRange(&src.Cols[c], 0, src.N)
	}
	for i := range src.N {
		dst.AppendDiff(src.Diff(i))
	}
}

// errEnough ends a Listen that has read enough.
var errEnough = errors.New("enough")

// readChanges adds the rows of times after the position, up to limit or as many whole times as BatchBytes holds.
func (s *Subscription) readChanges(ctx context.Context, limit tailrace.Time) error {
	giveBack, err := s.o.Turns.take(ctx)
	if err != nil {
		return err
	}
	defer giveBack()
	changes := make([]*tailrace.Batch, len(s.scans))
	size := 0
	for i, o := range s.scans {
		b, until, err := s.changesOf(ctx, o, limit, size)
		if err != nil {
			return err
		}
		size += b.Size()
		changes[i], limit = b, min(limit, until)
	}
	at := make([]int, len(s.scans)) // where each list is
	before := s.out.N
	for {
		t, found := tailrace.Time(0), false
		for i, b := range changes {
			if at[i] < b.N && b.Times[at[i]] <= limit && (!found || b.Times[at[i]] < t) {
				t, found = b.Times[at[i]], true
			}
		}
		if !found {
			break
		}
		now := map[*Scan]*tailrace.Batch{}
		for i, b := range changes {
			from := at[i]
			for at[i] < b.N && b.Times[at[i]] == t {
				at[i]++
			}
			now[s.scans[i]] = between(b, from, at[i])
		}
		if err := s.addTime(ctx, t, &Input{Row: s.o.Row, Of: func(o *Scan) *tailrace.Batch { return now[o] }}, size); err != nil {
			return err
		}
		s.after = t
	}
	s.after = limit
	s.closeTimes(s.out.N > before)
	return nil
}

// changesOf is a table's updates after the position in time order, of whole times: all up to until. held is what is in memory already, in bytes.
func (s *Subscription) changesOf(ctx context.Context, o *Scan, limit tailrace.Time, held int) (b *tailrace.Batch, until tailrace.Time, err error) {
	all := tailrace.NewBatch(o.Schema, 0)
	all.Times = []tailrace.Time{}
	sh := s.o.Shards.Shard(o.Table)
	if sh == nil {
		return all, limit, nil // it was dropped: the next look says so
	}
	full := tailrace.Time(0) // the time at which there was enough
	err = sh.Listen(ctx, s.after, limit+1, o.Schema, func(piece *tailrace.Batch) error {
		for i := range piece.N {
			if full == 0 && all.Size() >= BatchBytes {
				full = all.Times[all.N-1]
			}
			if full != 0 && piece.Times[i] != full {
				return errEnough
			}
			all.AppendUpdate(piece, i, piece.Diff(i))
			all.Times = append(all.Times, piece.Times[i])
		}
		return s.hold(ctx, held+all.Size())
	})
	switch {
	case errors.Is(err, errEnough):
		return all, full, nil
	case errors.Is(err, shard.ErrDropped):
		return all, limit, nil
	case errors.Is(err, shard.ErrCompacted):
		return nil, 0, s.fellBehind(o)
	case ctx.Err() != nil:
		return nil, 0, ctx.Err()
	}
	return all, limit, err
}

// between is updates [from, to) of b.
func between(b *tailrace.Batch, from, to int) *tailrace.Batch {
	rows := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, int32(i))
	}
	out := b.Gather(rows)
	out.Times = nil
	return out
}

// addTime takes the updates of time t through the operators and adds the output rows. size is what else is in memory, in bytes.
func (s *Subscription) addTime(ctx context.Context, t tailrace.Time, in *Input, size int) error {
	b, err := s.o.Root.Apply(in)
	if err != nil {
		return err
	}
	if err := s.hold(ctx, size+b.Size()); err != nil {
		return err
	}
	schema := s.o.Root.Rows()
	b = consolidated(schema, b)
	switch {
	case s.o.Envelope != EnvelopeNone:
		for _, c := range judged(schema, s.o.Key, s.o.Envelope, b) {
			s.appendChange(t, b, c)
		}
		return nil
	case len(s.o.OrderBy) > 0:
		b = ordered(schema, s.o.OrderBy, b)
	}
	for i := range b.N {
		at := s.appendPrefix(t)
		s.out.Cols[at].AppendInt64(int64(b.Diff(i)))
		for c := range b.Cols {
			s.out.Cols[at+1+c].AppendFrom(&b.Cols[c], i)
		}
		s.out.N++
	}
	return nil
}

// appendPrefix adds the columns of a row before mz_diff or mz_state and returns the place of that.
func (s *Subscription) appendPrefix(t tailrace.Time) int {
	s.out.Cols[0].Append(appendTime(nil, t))
	if !s.o.Progress {
		return 1
	}
	s.out.Cols[1].AppendBool(false)
	return 2
}

// appendTime adds t as a stored numeric.
func appendTime(dst []byte, t tailrace.Time) []byte {
	if t <= 1<<63-1 {
		return tailrace.AppendDecimal64(dst, int64(t), 0)
	}
	dst = append(dst, 0, 0, 0) // scale 0, then a sign byte: the value needs all 64 bits
	for shift := 56; shift >= 0; shift -= 8 {
		dst = append(dst, byte(t>>shift))
	}
	return dst
}

// appendProgress adds the progress row at t: everything but the time is NULL.
func (s *Subscription) appendProgress(t tailrace.Time) {
	s.out.Cols[0].Append(appendTime(nil, t))
	s.out.Cols[1].AppendBool(true)
	for c := 2; c < len(s.out.Cols); c++ {
		s.out.Cols[c].AppendNull()
	}
	s.out.N++
	s.progress = t
}

// appendChange adds an envelope's row: state, key, old values for Debezium, new values.
func (s *Subscription) appendChange(t tailrace.Time, b *tailrace.Batch, c change) {
	at := s.appendPrefix(t)
	s.out.Cols[at].AppendString(c.state)
	put := func(col, row int) {
		if at++; row < 0 {
			s.out.Cols[at].AppendNull()
		} else {
			s.out.Cols[at].AppendFrom(&b.Cols[col], row)
		}
	}
	for _, k := range s.o.Key {
		put(k, c.row)
	}
	rows := []int{c.after}
	if s.o.Envelope == EnvelopeDebezium {
		rows = []int{c.before, c.after}
	}
	for _, row := range rows {
		for col := range b.Cols {
			if !slices.Contains(s.o.Key, col) {
				put(col, row)
			}
		}
	}
	s.out.N++
}

func (s *Subscription) fellBehind(o *Scan) error {
	return &tailrace.Error{
		Code:    "53200",
		Message: fmt.Sprintf("SUBSCRIBE fell behind: the history of %q after %d is gone", o.Name, s.after),
		Detail:  fmt.Sprintf("The resume point AS OF %d is no longer readable.", s.after),
		Hint:    fmt.Sprintf("Subscribe again with a snapshot, and keep more: ALTER TABLE %s SET (RETAIN HISTORY FOR '1 day').", o.Name),
	}
}

func (s *Subscription) gone(o *Scan) error {
	return &tailrace.Error{Code: "42704", Message: fmt.Sprintf("relation '%s' was dropped", o.Name), Hint: "Subscribe to another table, or to the one created anew under the same name."}
}
