package sql

import (
	"cmp"
	"context"
	"slices"

	"tailrace"
)

// resolveRows puts the rows that no row is in the way of, and does for the others what ON CONFLICT says.
func (p *putting) resolveRows(ctx context.Context, b *tailrace.Batch) error {
	s, table := p.s, p.in.table
	if err := s.checkRows(ctx, table, b); err != nil {
		return err
	}
	w := s.txn.write(table)
	for _, l := range w.layers {
		if err := l.rememberKeys(ctx); err != nil {
			return err
		}
	}
	keys, hashes := keysOf(table.Columns, b)
	s.readKeys(w, hashes)
	overlay, err := s.txn.overlayOf(ctx, table.ID, hashes)
	if err != nil {
		return err
	}
	rows, at, err := s.lookup(ctx, table, keys, overlay)
	if err != nil {
		return err
	}
	wanted, err := p.wanted(ctx, rows, at, b)
	if err != nil {
		return err
	}
	var fresh, there, proposed []int32
	for i, h := range hashes {
		switch was := p.touched.Has(h); {
		case was && p.in.conflict.update:
			return &tailrace.Error{
				Code: "21000", Message: "ON CONFLICT DO UPDATE command cannot affect row a second time",
				Hint: "Ensure that no rows proposed for insertion within the same command have duplicate constrained values.",
			}
		case was || at[i] >= 0 && !wanted[i]:
			continue
		case at[i] < 0:
			if _, err := w.addKey(h); err != nil {
				return err
			}
			fresh = append(fresh, int32(i))
		default:
			there, proposed = append(there, at[i]), append(proposed, int32(i))
		}
		if _, err := p.touched.Add(h); err != nil {
			return err
		}
	}
	added := b.Gather(fresh)
	if err := w.append(ctx, added); err != nil {
		return err
	}
	if len(there) == 0 {
		return p.put(ctx, added)
	}
	updated, err := p.updateRows(ctx, rows.Gather(there), b.Gather(proposed))
	if err != nil {
		return err
	}
	appendBatch(added, updated)
	places := append(fresh, proposed...) // in the statement's order the rows are returned
	order := make([]int32, len(places))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int { return cmp.Compare(places[i], places[j]) })
	return p.put(ctx, added.Gather(order))
}

// wanted tells of each row of b, which the row at[i] of rows is in the way of, whether that is to be updated. Where none is, it tells nothing.
func (p *putting) wanted(ctx context.Context, rows *tailrace.Batch, at []int32, b *tailrace.Batch) ([]bool, error) {
	c, out := p.in.conflict, make([]bool, b.N)
	if !c.update {
		return out, nil
	}
	var there, proposed []int32
	for i, r := range at {
		if r >= 0 {
			there, proposed = append(there, r), append(proposed, int32(i))
			out[i] = true
		}
	}
	if len(there) == 0 || c.where == nil && (c.asked == nil || c.asked.where == nil) {
		return out, nil
	}
	old, fresh := rows.Gather(there), b.Gather(proposed)
	if c.asked != nil {
		got, err := p.askPairs(ctx, &p.wherePlan, nil, c.asked.where, old, fresh)
		if err != nil {
			return nil, err
		}
		clear(out)
		for i := range got.N {
			out[proposed[got.Cols[0].Int64s()[i]]] = true
		}
		return out, nil
	}
	row := p.s.row(p.st.params)
	row.Batch = pairs(old, fresh)
	for k, i := range proposed {
		row.I = k
		v, err := c.where.Eval(row)
		if err != nil {
			return nil, err
		}
		out[i] = !v.Null && v.Raw[0] != 0
	}
	return out, nil
}

// pairs is old and proposed side by side.
func pairs(old, proposed *tailrace.Batch) *tailrace.Batch {
	return &tailrace.Batch{N: old.N, Cols: slices.Concat(old.Cols, proposed.Cols)}
}

// updateRows makes each row of old what DO UPDATE says, and returns what they are then.
func (p *putting) updateRows(ctx context.Context, old, proposed *tailrace.Batch) (*tailrace.Batch, error) {
	c, table := p.in.conflict, p.in.table
	old.Times, old.Diffs = nil, nil
	fresh := &tailrace.Batch{N: old.N, IDs: old.IDs, Cols: slices.Clone(old.Cols)}
	if err := p.assign(ctx, fresh, old, proposed); err != nil {
		return nil, err
	}
	if err := p.s.change(ctx, table, old, fresh, c.columns); err != nil {
		return nil, err
	}
	if touchesKey(table.Columns, c.columns) { // a row that comes later may be in conflict with a key that came about now
		for _, h := range hashesOfRows(table.Columns, fresh) {
			if _, err := p.touched.Add(h); err != nil {
				return nil, err
			}
		}
	}
	return fresh, nil
}

// assign puts what SET says into fresh, which is a copy of old.
func (p *putting) assign(ctx context.Context, fresh, old, proposed *tailrace.Batch) error {
	c, schema := p.in.conflict, p.in.table.Columns
	if c.asked != nil {
		return p.assignAsked(ctx, fresh, old, proposed)
	}
	row := p.s.row(p.st.params)
	row.Batch = pairs(old, proposed)
	for n, i := range c.columns {
		col := tailrace.MakeColumn(schema.Fields[i].Type.Kind, old.N)
		for row.I = 0; row.I < old.N; row.I++ {
			if err := c.values[n].Append(&col, row); err != nil {
				return err
			}
		}
		fresh.Cols[i] = col
	}
	return nil
}
