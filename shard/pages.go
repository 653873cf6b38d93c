package shard

import (
	"container/list"
	"sync"

	"tailrace"
)

// PageCacheBytes is how much memory, in bytes of values, the page groups take that Lookup keeps decoded.
const PageCacheBytes = 256 << 20

// pageCache keeps the page groups that were used last. Parts are immutable and their keys never reused, so nothing is ever stale.
type pageCache struct {
	limit int

	mu    sync.Mutex
	size  int
	pages map[pageID]*list.Element
	order *list.List // of *page, used last in front
}

type pageID struct {
	part  string
	group int
}

type page struct {
	id    pageID
	batch *tailrace.Batch
	size  int
}

func newPageCache(limit int) *pageCache {
	return &pageCache{limit: limit, pages: map[pageID]*list.Element{}, order: list.New()}
}

// bytes is what the page groups take.
func (c *pageCache) bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(c.size)
}

// get returns a page group, nil when it is not there.
func (c *pageCache) get(id pageID) *tailrace.Batch {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.pages[id]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*page).batch
}

// put keeps a page group and lets go of those that no longer fit; full reports whether there were any.
func (c *pageCache) put(id pageID, b *tailrace.Batch) (full bool) {
	p := &page{id: id, batch: b, size: b.Size()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pages[id] != nil || p.size > c.limit {
		return p.size > c.limit
	}
	c.pages[id] = c.order.PushFront(p)
	c.size += p.size
	for c.size > c.limit {
		e := c.order.Back()
		old := c.order.Remove(e).(*page)
		delete(c.pages, old.id)
		c.size -= old.size
		full = true
	}
	return full
}
