package tail

import (
	"slices"

	"tailrace"
)

// shape turns folded updates into output rows: prefix columns, then data columns in the order of the envelope. It is pure.
type shape struct {
	schema   *tailrace.Schema // the table's
	order    []int            // schema.SortOrder()
	sel      *selection       // nil: the whole table
	rows     *tailrace.Schema // of what is followed: schema's, or the selection's
	used     []tailrace.Field // of schema: those without which the subscription ends
	envelope Envelope
	progress bool
	key      []int // the envelope's KEY columns, as indexes into rows.Fields, in KEY order
	rest     []int // the other columns
	sort     []Term
	// byKey says that rows sorted as the collection's are already grouped by the envelope's key.
	byKey   bool
	columns []tailrace.ResultColumn
}

const (
	stateUpsert    = "upsert"
	stateInsert    = "insert"
	stateDelete    = "delete"
	stateViolation = "key_violation"
)

func newShape(r *Request) (*shape, error) {
	s := r.Table.Columns
	sh := &shape{schema: s, order: s.SortOrder(), sel: newSelection(r.Selection, s), rows: s, envelope: r.Envelope, progress: r.Progress}
	sh.used = s.Fields
	if sh.sel != nil {
		sh.rows, sh.used = sh.sel.out, nil
		for _, c := range sh.sel.needed {
			sh.used = append(sh.used, s.Fields[c])
		}
	}
	l, err := r.Layout(sh.follows(r), r.Table.Name)
	if err != nil {
		return nil, err
	}
	sh.columns, sh.key, sh.rest, sh.sort = l.Columns, l.Key, l.Rest, l.Terms
	sh.byKey = len(sh.key) > 0 && len(sh.key) == len(sh.rows.Key)
	for _, c := range sh.rows.Key {
		sh.byKey = sh.byKey && slices.Contains(sh.key, c)
	}
	return sh, nil
}

// follows describes the columns that are followed, with where they are in the table.
func (sh *shape) follows(r *Request) []tailrace.ResultColumn {
	out := make([]tailrace.ResultColumn, len(sh.rows.Fields))
	for i, f := range sh.rows.Fields {
		out[i] = tailrace.ResultColumn{Name: f.Name, Type: f.Type, Table: r.Table.ID, Attr: int16(i + 1)}
		if sh.sel != nil {
			out[i].Attr = int16(sh.sel.Columns[i] + 1)
		}
	}
	return out
}

// whole says that all updates of a time must be together before its rows can be given out.
func (sh *shape) whole() bool {
	return len(sh.sort) > 0 || (sh.envelope != EnvelopeNone && !sh.byKey) || !sh.sel.streams()
}

// Held says why the rows of one time are given out together only; "" when they are given out as they come.
func (r *Request) Held() (why string, err error) {
	sh, err := newShape(r)
	switch {
	case err != nil:
		return "", err
	case len(sh.sort) > 0:
		return "to be sorted", nil
	case sh.envelope != EnvelopeNone && !sh.byKey:
		return "since KEY is not the table's key", nil
	case !sh.sel.streams():
		return "since the columns lack the table's key", nil
	}
	return "", nil
}

// newRows is an empty batch of output rows.
func (sh *shape) newRows() *tailrace.Batch {
	b := &tailrace.Batch{Cols: make([]tailrace.Column, len(sh.columns))}
	for i, c := range sh.columns {
		b.Cols[i] = tailrace.MakeColumn(c.Type.Kind, 0)
	}
	return b
}

// appendProgress adds the progress row at t: everything but the time is NULL.
func (sh *shape) appendProgress(dst *tailrace.Batch, t tailrace.Time) {
	dst.Cols[0].Append(appendTime(nil, t))
	dst.Cols[1].AppendBool(true)
	for c := 2; c < len(dst.Cols); c++ {
		dst.Cols[c].AppendNull()
	}
	dst.N++
}

// appendPrefix adds n times the columns before the data: the time, and false for mz_progressed.
func (sh *shape) appendPrefix(dst *tailrace.Batch, t tailrace.Time, n int) int {
	raw := appendTime(make([]byte, 0, 12), t)
	for range n {
		dst.Cols[0].Append(raw)
	}
	if !sh.progress {
		return 1
	}
	for range n {
		dst.Cols[1].AppendBool(false)
	}
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

// appendItem adds the output rows of an item of a window.
func (sh *shape) appendItem(dst *tailrace.Batch, it *item) error {
	if sh.sel != nil && sh.sel.Equal != nil {
		r, err := it.routeFor(sh)
		if err != nil {
			return err
		}
		return sh.appendRows(dst, it.time, r.batch, r.rows[sh.sel.Equal.Key])
	}
	b, err := it.folded(sh)
	if err != nil {
		return err
	}
	return sh.append(dst, it.time, b)
}

// append adds the output rows of folded updates b, which all belong to time t. The error is the selection's.
func (sh *shape) append(dst *tailrace.Batch, t tailrace.Time, b *tailrace.Batch) error {
	if sh.sel != nil {
		var err error
		if b, err = sh.sel.of(b, nil); err != nil {
			return err
		}
	}
	sh.appendSelected(dst, t, b)
	return nil
}

// appendRows is append of those updates of b alone that rows lists.
func (sh *shape) appendRows(dst *tailrace.Batch, t tailrace.Time, b *tailrace.Batch, rows []int32) error {
	if len(rows) == 0 {
		return nil
	}
	b, err := sh.sel.of(b, rows)
	if err != nil {
		return err
	}
	sh.appendSelected(dst, t, b)
	return nil
}

// appendSelected adds the output rows of selected updates.
func (sh *shape) appendSelected(dst *tailrace.Batch, t tailrace.Time, b *tailrace.Batch) {
	if b.N == 0 {
		return
	}
	if sh.envelope != EnvelopeNone {
		sh.appendEnvelope(dst, t, b)
		return
	}
	if len(sh.sort) > 0 {
		b = sh.sorted(b)
	}
	c := sh.appendPrefix(dst, t, b.N)
	for i := range b.N {
		dst.Cols[c].AppendInt64(int64(b.Diff(i)))
	}
	for i := range b.Cols {
		dst.Cols[c+1+i].AppendRange(&b.Cols[i], 0, b.N)
	}
	dst.N += b.N
}

// newHeld is an empty batch of selected updates, for those of one time that must be together.
func (sh *shape) newHeld() *tailrace.Batch { return tailrace.NewBatch(sh.rows, 0) }

// appendHeld adds the output rows of all updates of time t, selected piece by piece.
func (sh *shape) appendHeld(dst *tailrace.Batch, t tailrace.Time, held *tailrace.Batch) {
	if !sh.sel.streams() && held.N > 0 {
		held = fold(sh.rows, sh.sel.order, []*tailrace.Batch{held})
	}
	sh.appendSelected(dst, t, held)
}
