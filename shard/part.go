package shard

import (
	"context"
	"fmt"

	"tailrace"
	"tailrace/stripe"
)

// PartBytes is where a run is cut into parts, in encoded bytes: the stripe that reaches it is the last, unless the part would pass stripe.PartBytes.
const PartBytes = 16 << 20

// open returns the part's reader, whose footer is read once and kept as long as a manifest names the part.
func (s *Set) open(ctx context.Context, p *part) (*stripe.Reader, error) {
	if r := p.reader.Load(); r != nil {
		return r, nil
	}
	fetch := func(ctx context.Context, off, n int64) ([]byte, error) {
		raw, err := s.blob.Get(ctx, p.key, off, n)
		if err == nil && int64(len(raw)) != n {
			err = fmt.Errorf("%d of %d bytes at %d: %w", len(raw), n, off, tailrace.ErrCorrupt)
		}
		return raw, err
	}
	r, err := stripe.Open(ctx, fetch, p.size)
	if err != nil {
		return nil, fmt.Errorf("open part %s: %w", p.key, err)
	}
	r.Name = p.key
	if !p.reader.CompareAndSwap(nil, r) {
		r = p.reader.Load()
	}
	return r, nil
}

// read returns columns of page group g of the part, times and diffs included. Errors name the part.
func (s *Set) read(ctx context.Context, p *part, g int, cols []tailrace.ColumnID) (*tailrace.Batch, error) {
	r, err := s.open(ctx, p)
	if err != nil {
		return nil, err
	}
	return r.Read(ctx, g, cols)
}

// discard deletes an object that nobody names.
func (s *Set) discard(ctx context.Context, key string) {
	if err := s.blob.Delete(context.WithoutCancel(ctx), key); err != nil {
		s.logger.Warn("delete unused part", "key", key, "error", err)
	}
}

// newKey is a key that no object has had.
func (s *Set) newKey() string {
	return fmt.Sprintf("part/%s/%d", s.session, s.counter.Add(1))
}
