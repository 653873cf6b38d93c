package ingest

import (
	"tailrace"
)

// rowBuilder adds versions to a batch of a schema. It remembers which columns a batch has, since consecutive rows come from one.
type rowBuilder struct {
	schema *tailrace.Schema
	out    *tailrace.Batch
	batch  *tailrace.Batch // of the last row
	at     []int           // for each field, the column of batch that holds it, -1 for none
}

// keptRowBytes bounds the memory, in bytes of values, that a table's row builder keeps from one transaction to the next.
const keptRowBytes = 64 << 10

func newRowBuilder(s *tailrace.Schema) *rowBuilder {
	return &rowBuilder{schema: s, out: tailrace.NewBatch(s, 0), at: make([]int, len(s.Fields))}
}

// add appends v with diff d. false means that a cell is not known: the source left it out, and there is no row here to take it from. Then
// the batch is not to be used.
func (b *rowBuilder) add(v *version, d tailrace.Diff) bool {
	if v.batch != b.batch {
		b.batch = v.batch
		for i, f := range b.schema.Fields {
			b.at[i] = -1
			for c, id := range v.batch.IDs {
				if id == f.ID {
					b.at[i] = c
				}
			}
		}
	}
	for i := range b.schema.Fields {
		f := &b.schema.Fields[i]
		col, row := (*tailrace.Column)(nil), int(v.row)
		if b.at[i] >= 0 {
			col = &v.batch.Cols[b.at[i]]
		}
		if col != nil && len(v.cells) > 0 {
			var known bool
			if col, row, known = v.value(f.ID); !known {
				return false
			}
		}
		switch {
		case col != nil:
			b.out.Cols[i].AppendFrom(col, row)
		case f.Missing != nil: // the row is from before the column
			b.out.Cols[i].Append(f.Missing)
		default:
			b.out.Cols[i].AppendNull()
		}
	}
	b.out.AppendDiff(d)
	return true
}

// reset drops the rows, and keeps the batch's memory unless it is large.
func (b *rowBuilder) reset() {
	b.batch = nil
	if b.out.Size() > keptRowBytes {
		b.out = tailrace.NewBatch(b.schema, 0)
		return
	}
	for i := range b.out.Cols {
		b.out.Cols[i].Reset()
	}
	b.out.N, b.out.Diffs = 0, nil
}
