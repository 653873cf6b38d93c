package shard

import (
	"encoding/binary"
	"fmt"

	"tailrace"
)

// The local index keeps a row as the bytes of its columns, each under its ID, so that a row outlives ALTER TABLE: a column that was added since
// has its Missing value, one that was dropped is passed over.
//
//	row: (column id uvarint | 0 for NULL, else length + 1 uvarint | bytes) ...

// appendIndexRow adds row i of b.
func appendIndexRow(dst []byte, b *tailrace.Batch, i int) []byte {
	for c := range b.Cols {
		dst = binary.AppendUvarint(dst, uint64(b.IDs[c]))
		if b.Cols[c].IsNull(i) {
			dst = append(dst, 0)
			continue
		}
		raw := b.Cols[c].Bytes(i)
		dst = binary.AppendUvarint(dst, uint64(len(raw))+1)
		dst = append(dst, raw...)
	}
	return dst
}

// rowDecoder adds rows of the index to a batch of a schema's columns.
type rowDecoder struct {
	schema *tailrace.Schema
	out    *tailrace.Batch
	places map[tailrace.ColumnID]int
}

func newRowDecoder(s *tailrace.Schema) *rowDecoder {
	return &rowDecoder{schema: s, out: tailrace.NewBatch(s, 0)}
}

// add decodes one row. After an error, which is tailrace.ErrCorrupt, the batch is of no more use.
func (d *rowDecoder) add(raw []byte) error {
	next := 0 // columns come in the schema's order, unless it has changed
	n := 0
	for len(raw) > 0 {
		id, a := binary.Uvarint(raw)
		if a <= 0 {
			return d.corrupt("column id")
		}
		size, b := binary.Uvarint(raw[a:])
		if b <= 0 || (size > 0 && size-1 > uint64(len(raw)-a-b)) {
			return d.corrupt("length")
		}
		raw = raw[a+b:]
		var value []byte
		if size > 0 {
			value, raw = raw[:size-1], raw[size-1:]
		}
		if next == len(d.schema.Fields) || d.schema.Fields[next].ID != tailrace.ColumnID(id) {
			if next = d.place(tailrace.ColumnID(id)); next < 0 {
				next = 0
				continue
			}
		}
		c := &d.out.Cols[next]
		switch {
		case c.N != d.out.N:
			return d.corrupt("a column twice")
		case size == 0:
			c.AppendNull()
		case c.Width > 0 && len(value) != c.Width:
			return d.corrupt("width")
		default:
			c.Append(value)
		}
		next++
		n++
	}
	if n < len(d.schema.Fields) {
		d.fill()
	}
	d.out.N++
	return nil
}

// place is the field with the column's ID, -1 when there is none.
func (d *rowDecoder) place(id tailrace.ColumnID) int {
	if d.places == nil {
		d.places = make(map[tailrace.ColumnID]int, len(d.schema.Fields))
		for i := range d.schema.Fields {
			d.places[d.schema.Fields[i].ID] = i
		}
	}
	if i, ok := d.places[id]; ok {
		return i
	}
	return -1
}

// fill gives the columns that the row lacked their Missing values.
func (d *rowDecoder) fill() {
	for i := range d.out.Cols {
		switch f := &d.schema.Fields[i]; {
		case d.out.Cols[i].N > d.out.N:
		case f.Missing == nil:
			d.out.Cols[i].AppendNull()
		default:
			d.out.Cols[i].Append(f.Missing)
		}
	}
}

func (d *rowDecoder) corrupt(what string) error {
	return fmt.Errorf("decode row of the index: %s: %w", what, tailrace.ErrCorrupt)
}

// keyShape is what the keys of a schema are made of: an index of another shape is of no use.
func keyShape(s *tailrace.Schema) []byte {
	var dst []byte
	for _, k := range s.Key {
		f := &s.Fields[k]
		dst = binary.AppendUvarint(dst, uint64(f.ID))
		dst = append(dst, byte(f.Type.Kind), byte(f.Type.Elem))
	}
	return dst
}
