package stripe

import "sync"

// cache keeps what a reader decoded and may need again, up to a number of bytes; what came first leaves first. Its zero value is ready for use,
// by several goroutines.
type cache[V any] struct {
	mu      sync.Mutex
	entries map[int]cached[V]
	order   []int // keys, oldest first
	bytes   int
}

type cached[V any] struct {
	value V
	bytes int
}

// maxCached bounds each cache of a reader, in bytes. Readers live as long as their part is in use, so many caches do.
const maxCached = 2 << 20

func (c *cache[V]) get(key int) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x, ok := c.entries[key]
	return x.value, ok
}

// put keeps v, which takes so many bytes.
func (c *cache[V]) put(key int, v V, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[key]; ok || bytes > maxCached {
		return
	}
	for c.bytes+bytes > maxCached {
		c.bytes -= c.entries[c.order[0]].bytes
		delete(c.entries, c.order[0])
		c.order = c.order[1:]
	}
	if c.entries == nil {
		c.entries = map[int]cached[V]{}
	}
	c.entries[key] = cached[V]{v, bytes}
	c.order = append(c.order, key)
	c.bytes += bytes
}
