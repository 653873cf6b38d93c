package budget

import "context"

// Grant is what one holder has of a share: an amount that grows and shrinks. It is used by one goroutine at a time. The zero value and a nil *Grant are of
// no share and have no limit.
type Grant struct {
	share *Share
	n     int64
}

// Grant returns one of nothing yet.
func (s *Share) Grant() Grant { return Grant{share: s} }

// Size is what it holds, in bytes.
func (g *Grant) Size() int64 {
	if g == nil {
		return 0
	}
	return g.n
}

// Set makes it n bytes and reports whether that was possible; to shrink always is. When not it stays as it was.
func (g *Grant) Set(n int64) bool {
	if g == nil {
		return true
	}
	switch {
	case n > g.n:
		if !g.share.TryAcquire(n - g.n) {
			return false
		}
	case n < g.n:
		g.share.Release(g.n - n)
	}
	g.n = n
	return true
}

// Add is Set to n bytes more.
func (g *Grant) Add(n int64) bool { return g.Set(g.Size() + n) }

// Wait makes it n bytes, of nothing before, and waits for them: a holder that waits for more could wait for another that does the same.
func (g *Grant) Wait(ctx context.Context, n int64) error {
	g.Free()
	if err := g.share.Acquire(ctx, n); err != nil {
		return err
	}
	g.n = max(n, 0)
	return nil
}

// Free gives all of it back. It may be called twice.
func (g *Grant) Free() { g.Set(0) }

// Crowded is Share.Crowded.
func (g *Grant) Crowded() bool { return g != nil && g.share.Crowded() }

// Full is the error for a Set that was refused; see Share.Full.
func (g *Grant) Full(why string) error { return g.share.Full(why) }
