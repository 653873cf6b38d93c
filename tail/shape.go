package tail

import (
	"tailrace"
)

// shape turns folded updates into output rows: prefix columns, then data columns in the order of the envelope. It is pure.
type shape struct {
	schema   *tailrace.Schema
	order    []int // schema.SortOrder()
	envelope Envelope
	progress bool
	key      []int // the envelope's KEY columns, as indexes into schema.Fields, in KEY order
	rest     []int // the other columns
	sort     []term
	// byKey says that rows sorted as the collection's are already grouped by the envelope's key.
	byKey   bool
	columns []tailrace.ResultColumn
}

// term is one resolved term of WITHIN TIMESTAMP ORDER BY: a data column, or mz_diff when column is negative.
type term struct {
	column           int
	desc, nullsFirst bool
	labels           func() []string // of an enum, in order; nil for other columns
}

const (
	stateUpsert    = "upsert"
	stateInsert    = "insert"
	stateDelete    = "delete"
	stateViolation = "key_violation"
)

func newShape(r *Request) (*shape, error) {
	s := r.Table.Columns
	sh := &shape{schema: s, order: s.SortOrder(), envelope: r.Envelope, progress: r.Progress}
	if err := sh.resolveKey(r); err != nil {
		return nil, err
	}
	if err := sh.resolveSort(r); err != nil {
		return nil, err
	}
	add := func(name string, t tailrace.Type, attr int) {
		c := tailrace.ResultColumn{Name: name, Type: t}
		if attr >= 0 {
			c.Table, c.Attr = r.Table.ID, int16(attr+1)
		}
		sh.columns = append(sh.columns, c)
	}
	add("mz_timestamp", tailrace.Type{Kind: tailrace.KindNumeric, Mod: 39<<16 + 4}, -1)
	if r.Progress {
		add("mz_progressed", tailrace.TypeOf(tailrace.KindBool), -1)
	}
	if r.Envelope == EnvelopeNone {
		add("mz_diff", tailrace.TypeOf(tailrace.KindInt8), -1)
	} else {
		add("mz_state", tailrace.TypeOf(tailrace.KindText), -1)
	}
	for _, c := range sh.key {
		add(s.Fields[c].Name, s.Fields[c].Type, c)
	}
	if r.Envelope == EnvelopeDebezium {
		for _, c := range sh.rest {
			add("before_"+s.Fields[c].Name, s.Fields[c].Type, -1)
		}
	}
	for _, c := range sh.rest {
		name := s.Fields[c].Name
		if r.Envelope == EnvelopeDebezium {
			name = "after_" + name
		}
		add(name, s.Fields[c].Type, c)
	}
	return sh, nil
}

func (sh *shape) resolveKey(r *Request) error {
	taken := make([]bool, len(sh.schema.Fields))
	for _, name := range r.Key {
		c := sh.schema.ByName(name)
		if c < 0 {
			return noColumn(name, r.Table.Name)
		}
		if taken[c] {
			return &tailrace.Error{Code: "42701", Message: `column "` + name + `" specified more than once`}
		}
		taken[c] = true
		sh.key = append(sh.key, c)
	}
	for c := range sh.schema.Fields {
		if !taken[c] {
			sh.rest = append(sh.rest, c)
		}
	}
	sh.byKey = len(sh.key) > 0 && len(sh.key) == len(sh.schema.Key)
	for _, c := range sh.schema.Key {
		sh.byKey = sh.byKey && taken[c]
	}
	return nil
}

func (sh *shape) resolveSort(r *Request) error {
	for _, o := range r.OrderBy {
		t := term{desc: o.Desc, nullsFirst: o.NullsFirst}
		switch {
		case o.Column == "" && o.Position == 1, o.Column == "mz_diff":
			t.column = -1
		case o.Column == "" && (o.Position < 1 || o.Position > len(sh.schema.Fields)+1):
			return &tailrace.Error{
				Code: "42P10", Position: o.At, Message: "ORDER BY position is not in select list",
				Hint: "1 is mz_diff, 2 the first column of the collection.",
			}
		case o.Column == "":
			t.column = o.Position - 2
		default:
			if t.column = sh.schema.ByName(o.Column); t.column < 0 {
				err := noColumn(o.Column, r.Table.Name)
				err.Position = o.At
				return err
			}
		}
		if t.column >= 0 && r.Labels != nil {
			if typ := sh.schema.Fields[t.column].Type; typ.Kind == tailrace.KindEnum {
				t.labels = func() []string { return r.Labels(typ.ID) }
			}
		}
		sh.sort = append(sh.sort, t)
	}
	return nil
}

func noColumn(name, table string) *tailrace.Error {
	return &tailrace.Error{
		Code: "42703", Message: `column "` + name + `" does not exist`,
		Hint: `See the columns of "` + table + `" in information_schema.columns.`,
	}
}

// whole says that all updates of a time must be together before its rows can be given out.
func (sh *shape) whole() bool {
	return len(sh.sort) > 0 || (sh.envelope != EnvelopeNone && !sh.byKey)
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
	batches, err := it.updates()
	if err != nil {
		return err
	}
	for i, b := range batches {
		batches[i] = b.Project(sh.schema)
	}
	sh.append(dst, it.time, fold(sh.schema, sh.order, batches))
	return nil
}

// append adds the output rows of folded updates b, which all belong to time t.
func (sh *shape) append(dst *tailrace.Batch, t tailrace.Time, b *tailrace.Batch) {
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
