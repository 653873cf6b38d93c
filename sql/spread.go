package sql

import (
	"context"

	"tailrace"
)

// spread is rows with each row as often as its multiplicity says.
type spread struct{ rows tailrace.Rows }

func (r *spread) Next(ctx context.Context) (*tailrace.Batch, error) {
	b, err := r.rows.Next(ctx)
	if err != nil {
		return nil, err
	}
	return spreadOut(b), nil
}

func (r *spread) Close() error { return r.rows.Close() }

func spreadOut(b *tailrace.Batch) *tailrace.Batch {
	if b.Diffs == nil {
		return b
	}
	var at []int32
	plain := true
	for i, d := range b.Diffs {
		plain = plain && d == 1
		for range d {
			at = append(at, int32(i))
		}
	}
	src := *b
	src.Diffs = nil
	if plain {
		return &src
	}
	return src.Gather(at)
}
