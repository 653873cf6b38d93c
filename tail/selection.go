package tail

import (
	"fmt"
	"slices"

	"tailrace"
	"tailrace/shard"
)

// Selection is the part of a table that a SUBSCRIBE follows: rows that a condition is true for, and some of their columns. A row that comes to meet the condition
// is an insert, one that no longer does a delete. Nil is the whole table.
type Selection struct {
	// Columns are the output columns as indexes into the table's fields; Names, as many, is what they are called.
	Columns []int
	Names   []string
	// Where tells whether a row of b is followed; nil follows all. b has the table's fields, of which those that neither Reads nor Columns lists are empty. It must always
	// give the same answer for the same row. Any goroutine calls it.
	Where func(b *tailrace.Batch, i int) (bool, error)
	Reads []int // fields that Where looks at
	// ID tells conditions apart: those with the same ID follow the same rows. "" for none.
	ID string
	// Ranges are what the condition asks of single columns, so that a snapshot leaves out stripes.
	Ranges []shard.Range
	// Equal is a column that must have one value; nil: there is none.
	Equal *Equal
}

// Equal says that the condition is true only for rows whose field has the value with that key (tailrace.AppendKey).
type Equal struct {
	Field int
	Key   string
}

// selection is a Selection and what follows from it.
type selection struct {
	*Selection
	out       *tailrace.Schema // of the selected rows
	order     []int            // out.SortOrder()
	needed    []int            // fields that are looked at at all, ascending
	identity  bool             // the columns are the table's
	keepsKey  bool             // rows of different keys stay different and in order
	sparseFor int              // how many fields the table has
}

func newSelection(s *Selection, table *tailrace.Schema) *selection {
	if s == nil {
		return nil
	}
	sel := &selection{Selection: s, out: &tailrace.Schema{Version: table.Version}, sparseFor: len(table.Fields)}
	at := make([]int, len(table.Fields)) // 1 + the place of a field in the output
	sel.identity = len(s.Columns) == len(table.Fields)
	for i, c := range s.Columns {
		f := table.Fields[c]
		f.ID, f.Name = tailrace.ColumnID(i+1), s.Names[i] // a column may be there twice
		sel.out.Fields = append(sel.out.Fields, f)
		if at[c] == 0 {
			at[c] = i + 1
		}
		sel.identity = sel.identity && c == i
	}
	sel.keepsKey = len(table.Key) > 0
	for _, k := range table.Key {
		sel.keepsKey = sel.keepsKey && at[k] > 0
	}
	if sel.keepsKey {
		for _, k := range table.Key {
			sel.out.Key = append(sel.out.Key, at[k]-1)
		}
	}
	sel.order = sel.out.SortOrder()
	sel.needed = slices.Concat(s.Columns, s.Reads)
	slices.Sort(sel.needed)
	sel.needed = slices.Compact(sel.needed)
	return sel
}

// streams says that selected rows of a time can be given out piece by piece, as the table's come.
func (sel *selection) streams() bool { return sel == nil || sel.identity || sel.keepsKey }

// sparse gives b, which has the needed fields only, all places of the table's fields.
func (sel *selection) sparse(b *tailrace.Batch) *tailrace.Batch {
	out := &tailrace.Batch{N: b.N, Cols: make([]tailrace.Column, sel.sparseFor), Times: b.Times, Diffs: b.Diffs}
	for i, c := range sel.needed {
		out.Cols[c] = b.Cols[i]
	}
	return out
}

// of returns the selected part of updates of one time: rows lists those to look at, nil is all. The result is sorted and summed as fold does it; b is already.
func (sel *selection) of(b *tailrace.Batch, rows []int32) (*tailrace.Batch, error) {
	kept := make([]int32, 0, min(b.N, 1024))
	take := func(i int32) error {
		if sel.Where != nil {
			holds, err := sel.Where(b, int(i))
			if err != nil || !holds {
				return err
			}
		}
		kept = append(kept, i)
		return nil
	}
	if rows != nil {
		for _, i := range rows {
			if err := take(i); err != nil {
				return nil, err
			}
		}
	} else {
		for i := range b.N {
			if err := take(int32(i)); err != nil {
				return nil, err
			}
		}
	}
	if sel.identity && len(kept) == b.N {
		return b, nil
	}
	part := &tailrace.Batch{N: b.N, Diffs: b.Diffs, Cols: make([]tailrace.Column, len(sel.Columns))}
	for i, c := range sel.Columns {
		part.Cols[i] = b.Cols[c]
	}
	part = part.Gather(kept)
	if part.N == 0 || sel.identity || sel.keepsKey && insertsOnly(part) {
		return part, nil
	}
	return fold(sel.out, sel.order, []*tailrace.Batch{part}), nil
}

// insertsOnly says that no update of b takes away or stands for several rows: then a key is there once.
func insertsOnly(b *tailrace.Batch) bool {
	for _, d := range b.Diffs {
		if d != 1 {
			return false
		}
	}
	return true
}

// text is what shapes with the same bytes for the same updates have in common.
func (sel *selection) text() string {
	if sel == nil {
		return ""
	}
	return fmt.Sprint(sel.Columns, sel.Names, sel.ID)
}
