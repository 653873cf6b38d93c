package shard

import (
	"bytes"
	"fmt"
	"slices"

	"tailrace"
)

// decide settles a key whose newest updates do not come to nothing: they tell its row. Those that do are forgotten.
func (q *query) decide(w *wantedKey) {
	if len(w.found) == 1 && w.found[0].diff != 0 { // as most are
		w.done = true
		return
	}
	for !w.done && len(w.found) > 0 {
		age := tailrace.Time(0)
		for _, f := range w.found {
			age = max(age, f.age)
		}
		var group, rest []found
		for _, f := range w.found {
			if f.age == age {
				group = append(group, f)
			} else {
				rest = append(rest, f)
			}
		}
		if group = q.sum(group); len(group) > 0 {
			w.found, w.done = group, true
			return
		}
		w.found = rest
	}
}

// sum adds up updates of equal rows and drops those that come to nothing.
func (q *query) sum(fs []found) []found {
	if len(fs) == 1 && fs[0].diff != 0 {
		return fs
	}
	out := make([]found, 0, len(fs))
next:
	for _, f := range fs {
		for i := range out {
			if q.equal(&out[i], &f) {
				out[i].diff += f.diff
				continue next
			}
		}
		out = append(out, f)
	}
	return slices.DeleteFunc(out, func(f found) bool { return f.diff == 0 })
}

// equal compares two rows in the newest schema.
func (q *query) equal(a, b *found) bool {
	for i := range q.l.schema.Fields {
		x, xNull := stored(a, &q.l.schema.Fields[i])
		y, yNull := stored(b, &q.l.schema.Fields[i])
		if xNull != yNull || !bytes.Equal(x, y) {
			return false
		}
	}
	return true
}

// stored is the row's value in a field.
func stored(f *found, field *tailrace.Field) (raw []byte, null bool) {
	c := f.b.Col(field.ID)
	switch {
	case c == nil:
		return field.Missing, field.Missing == nil
	case c.IsNull(int(f.row)):
		return nil, true
	}
	return c.Bytes(int(f.row)), false
}

// nearResult is the index's rows as they are, false when others were found too: those are copied.
func (q *query) nearResult() (*tailrace.Batch, []int32, bool) {
	at := make([]int32, len(q.wanted))
	for i := range q.wanted {
		w := &q.wanted[i]
		at[w.place] = -1
		switch {
		case len(w.found) == 1 && w.found[0].b == q.near:
			at[w.place] = w.found[0].row
		case len(w.found) > 0:
			return nil, nil, false
		}
	}
	return q.near, at, true
}

// result builds the rows.
func (q *query) result() (*tailrace.Batch, []int32, error) {
	if q.near != nil {
		if rows, at, ok := q.nearResult(); ok {
			return rows, at, nil
		}
	}
	rows := tailrace.NewBatch(q.l.schema, len(q.wanted))
	at := make([]int32, len(q.wanted))
	for i := range q.wanted {
		w := &q.wanted[i]
		at[w.place] = -1
		if q.back {
			w.found = q.sum(w.found)
		} else {
			q.decide(w)
		}
		for j := range w.found {
			f := &w.found[j]
			if f.diff <= 0 {
				continue
			}
			if at[w.place] >= 0 {
				return nil, nil, fmt.Errorf("two rows have one primary key: %w", tailrace.ErrCorrupt)
			}
			at[w.place] = int32(rows.N)
			for c := range rows.Cols {
				if raw, null := stored(f, &q.l.schema.Fields[c]); null {
					rows.Cols[c].AppendNull()
				} else {
					rows.Cols[c].Append(raw)
				}
			}
			rows.N++
		}
	}
	return rows, at, nil
}
