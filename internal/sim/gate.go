package sim

import (
	"context"
	"iter"
	"sync"

	"tailrace"
)

// Gate stands between one node and its stores. While it is shut no call comes through and no answer comes back, whatever contexts say: to the world the
// node is a process that was stopped (SIGSTOP). When it opens, all that was under way goes on as if nothing had been.
type Gate struct {
	mu   sync.Mutex
	shut chan struct{} // closed when it opens; nil while it is open
}

// Shut stops the node.
func (g *Gate) Shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		g.shut = make(chan struct{})
	}
}

// Open lets it go on.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		close(g.shut)
		g.shut = nil
	}
}

// Pass waits while the gate is shut, and tells whether it was.
func (g *Gate) Pass() (waited bool) {
	for {
		g.mu.Lock()
		shut := g.shut
		g.mu.Unlock()
		if shut == nil {
			return waited
		}
		<-shut
		waited = true
	}
}

// GatedConsensus is Under behind a Gate. It cannot watch.
type GatedConsensus struct {
	Under tailrace.Consensus
	Gate  *Gate
}

// Head implements tailrace.Consensus.
func (c *GatedConsensus) Head(ctx context.Context, key string) (tailrace.Versioned, error) {
	c.Gate.Pass()
	defer c.Gate.Pass()
	return c.Under.Head(ctx, key)
}

// Scan implements tailrace.Consensus.
func (c *GatedConsensus) Scan(ctx context.Context, key string, from tailrace.SeqNo, limit int) ([]tailrace.Versioned, error) {
	c.Gate.Pass()
	defer c.Gate.Pass()
	return c.Under.Scan(ctx, key, from, limit)
}

// CompareAndSet implements tailrace.Consensus.
func (c *GatedConsensus) CompareAndSet(ctx context.Context, key string, expect tailrace.SeqNo, value []byte) (bool, error) {
	c.Gate.Pass()
	defer c.Gate.Pass()
	return c.Under.CompareAndSet(ctx, key, expect, value)
}

// Truncate implements tailrace.Consensus.
func (c *GatedConsensus) Truncate(ctx context.Context, key string, before tailrace.SeqNo) error {
	c.Gate.Pass()
	defer c.Gate.Pass()
	return c.Under.Truncate(ctx, key, before)
}

// GatedBlob is Under behind a Gate.
type GatedBlob struct {
	Under tailrace.Blob
	Gate  *Gate
}

// Get implements tailrace.Blob.
func (b *GatedBlob) Get(ctx context.Context, key string, off, n int64) ([]byte, error) {
	b.Gate.Pass()
	defer b.Gate.Pass()
	return b.Under.Get(ctx, key, off, n)
}

// Put implements tailrace.Blob.
func (b *GatedBlob) Put(ctx context.Context, key string, value []byte) error {
	b.Gate.Pass()
	defer b.Gate.Pass()
	return b.Under.Put(ctx, key, value)
}

// Delete implements tailrace.Blob.
func (b *GatedBlob) Delete(ctx context.Context, key string) error {
	b.Gate.Pass()
	defer b.Gate.Pass()
	return b.Under.Delete(ctx, key)
}

// List implements tailrace.Blob.
func (b *GatedBlob) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	b.Gate.Pass()
	return b.Under.List(ctx, prefix)
}
