package index

import (
	"slices"
	"sync"
)

// directories are those of tables that are in memory, limit bytes at most. Those read longest ago go first.
type directories struct {
	limit int64

	mu    sync.Mutex // for memory only
	size  int64
	order []*table
}

// of is a table's, read if need be.
func (ds *directories) of(t *table) (*directory, error) {
	if d := t.directory.Load(); d != nil {
		return d, nil
	}
	d, err := t.readDirectory()
	if err != nil {
		return nil, err
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if other := t.directory.Load(); other != nil {
		return other, nil
	}
	t.directory.Store(d)
	ds.order, ds.size = append(ds.order, t), ds.size+d.bytes()
	for ds.size > ds.limit && len(ds.order) > 1 {
		ds.drop(0)
	}
	return d, nil
}

// drop lets one go. The caller has mu.
func (ds *directories) drop(i int) {
	ds.size -= ds.order[i].directory.Swap(nil).bytes()
	ds.order = slices.Delete(ds.order, i, i+1)
}

// forget lets a table's go.
func (ds *directories) forget(t *table) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if i := slices.Index(ds.order, t); i >= 0 {
		ds.drop(i)
	}
}

// bytes is what they take.
func (ds *directories) bytes() int64 {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	return ds.size
}
