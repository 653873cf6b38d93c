package parse

import "sync"

// Bounds of a Cache, in bytes of text. Trees take about 30 times their text.
const (
	cacheTexts   = 1 << 20
	cacheLongest = 16 << 10 // longer texts are not seen twice: they carry data
)

// Cache keeps the statements of texts seen lately. The zero Cache is ready; anyone may use it.
type Cache struct {
	mu         sync.Mutex
	young, old map[string][]*Statement // old is dropped, and young becomes old, when young is full
	size       int                     // bytes of young's texts
}

// Parse is Parse of the package. Statements are shared and must not be changed.
func (c *Cache) Parse(sql string) ([]*Statement, error) {
	if len(sql) > cacheLongest {
		return Parse(sql)
	}
	c.mu.Lock()
	sts, ok := c.young[sql]
	if !ok {
		if sts, ok = c.old[sql]; ok {
			c.put(sql, sts)
		}
	}
	c.mu.Unlock()
	if ok {
		return sts, nil
	}
	sts, err := Parse(sql)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(sql, sts)
	return sts, nil
}

// put adds to young. c.mu is held.
func (c *Cache) put(sql string, sts []*Statement) {
	if c.young == nil || c.size+len(sql) > cacheTexts/2 {
		c.old, c.young, c.size = c.young, map[string][]*Statement{}, 0
	}
	c.young[sql] = sts
	c.size += len(sql)
}
