package tailrace

// Batch is a set of updates, by column. It is built, then immutable: anyone may keep it and share it.
type Batch struct {
	N int // updates
	// IDs names the collection's column that each of Cols holds. Results of queries, which belong to no collection, leave it nil.
	IDs  []ColumnID
	Cols []Column
	// Times is each update's time; nil when all are at the one time that whoever holds the batch knows.
	Times []Time
	// Diffs is each update's diff; nil when all are +1.
	Diffs []Diff
}

// NewBatch returns an empty batch with the columns of s, with room for rows rows.
func NewBatch(s *Schema, rows int) *Batch {
	b := &Batch{IDs: make([]ColumnID, len(s.Fields)), Cols: make([]Column, len(s.Fields))}
	for i, f := range s.Fields {
		b.IDs[i], b.Cols[i] = f.ID, MakeColumn(f.Type.Kind, rows)
	}
	return b
}

// Col returns the column with the given id, nil when the batch does not have it.
func (b *Batch) Col(id ColumnID) *Column {
	for i := range b.IDs {
		if b.IDs[i] == id {
			return &b.Cols[i]
		}
	}
	return nil
}

// Diff is the diff of update i.
func (b *Batch) Diff(i int) Diff {
	if b.Diffs == nil {
		return 1
	}
	return b.Diffs[i]
}

// Time is the time of update i, at when the batch holds none.
func (b *Batch) Time(i int, at Time) Time {
	if b.Times == nil {
		return at
	}
	return b.Times[i]
}

// Size is the memory that the batch's values take, in bytes.
func (b *Batch) Size() int {
	n := 8*len(b.Times) + 8*len(b.Diffs)
	for i := range b.Cols {
		n += b.Cols[i].Size()
	}
	return n
}

// AppendDiff gives the update that was just added to every column its diff and counts it.
func (b *Batch) AppendDiff(d Diff) {
	if d != 1 && b.Diffs == nil {
		b.Diffs = make([]Diff, b.N, b.N+16)
		for i := range b.Diffs {
			b.Diffs[i] = 1
		}
	}
	if b.Diffs != nil {
		b.Diffs = append(b.Diffs, d)
	}
	b.N++
}

// AppendUpdate adds update i of src, whose columns are the same and in the same order, with diff d.
// Times are not carried; callers that need them append to Times.
func (b *Batch) AppendUpdate(src *Batch, i int, d Diff) {
	for c := range b.Cols {
		b.Cols[c].AppendFrom(&src.Cols[c], i)
	}
	b.AppendDiff(d)
}

// Gather returns the updates that rows lists, in that order, as a new batch.
func (b *Batch) Gather(rows []int32) *Batch {
	out := &Batch{N: len(rows), IDs: b.IDs, Cols: make([]Column, len(b.Cols))}
	for c := range b.Cols {
		out.Cols[c] = b.Cols[c].Gather(rows)
	}
	if b.Times != nil {
		out.Times = make([]Time, len(rows))
		for i, r := range rows {
			out.Times[i] = b.Times[r]
		}
	}
	if b.Diffs != nil {
		out.Diffs = make([]Diff, len(rows))
		for i, r := range rows {
			out.Diffs[i] = b.Diffs[r]
		}
	}
	return out
}

// Project returns b with exactly the columns of s, in its order: by id, one that b lacks filled with the field's Missing value,
// one that s lacks left out. Columns are shared with b, times and diffs too.
func (b *Batch) Project(s *Schema) *Batch {
	out := &Batch{N: b.N, IDs: make([]ColumnID, len(s.Fields)), Cols: make([]Column, len(s.Fields)), Times: b.Times, Diffs: b.Diffs}
	for i, f := range s.Fields {
		out.IDs[i] = f.ID
		if c := b.Col(f.ID); c != nil {
			out.Cols[i] = *c
		} else {
			out.Cols[i] = ConstColumn(f.Type.Kind, f.Missing, b.N)
		}
	}
	return out
}
