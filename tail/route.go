package tail

import (
	"context"
	"errors"
	"io"
	"sync"

	"tailrace"
)

// routedRiders is how many readers of one departure that each want one value of a column must come until its snapshot is read once for all of them. Fewer read by
// themselves, and leave out the stripes without their value.
const routedRiders = 8

// route is updates, with the places of those that have each value of a field: a reader that wants one value looks at its own alone.
type route struct {
	schema *tailrace.Schema
	field  int
	batch  *tailrace.Batch
	rows   map[string][]int32 // by the value's key (tailrace.AppendKey); NULL is in no list
}

func newRoute(s *tailrace.Schema, field int, b *tailrace.Batch) *route {
	r := &route{schema: s, field: field, batch: b, rows: map[string][]int32{}}
	r.add(0)
	return r
}

// add lists the updates from place from on.
func (r *route) add(from int) {
	col, typ := &r.batch.Cols[r.field], r.schema.Fields[r.field].Type
	var key []byte
	for i := from; i < r.batch.N; i++ {
		if col.IsNull(i) {
			continue
		}
		key = tailrace.AppendKey(key[:0], typ, col, i)
		r.rows[string(key)] = append(r.rows[string(key)], int32(i))
	}
}

// folded is the item's updates as the collection's readers must see them, with the columns of sh's table.
func (it *item) folded(sh *shape) (*tailrace.Batch, error) {
	batches, err := it.updates()
	if err != nil {
		return nil, err
	}
	for i, b := range batches {
		batches[i] = b.Project(sh.schema)
	}
	return fold(sh.schema, sh.order, batches), nil
}

// routeFor finds the item's route for sh's selection, made by whoever comes first.
func (it *item) routeFor(sh *shape) (*route, error) {
	return it.routeOf(sh, func() (*tailrace.Batch, error) { return it.folded(sh) })
}

// routeOf is routeFor of updates as folded gives them.
func (x *sharing) routeOf(sh *shape, folded func() (*tailrace.Batch, error)) (*route, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	field := sh.sel.Equal.Field
	for _, r := range x.routes {
		if r.field == field && r.schema.Version == sh.schema.Version {
			return r, nil
		}
	}
	b, err := folded()
	if err != nil {
		return nil, err
	}
	r := newRoute(sh.schema, field, b)
	x.routes = append(x.routes, r)
	return r, nil
}

// concerns says that the item may have rows for sh.
func (it *item) concerns(sh *shape) (bool, error) {
	if sh.sel == nil || sh.sel.Equal == nil {
		return true, nil
	}
	r, err := it.routeFor(sh)
	if err != nil {
		return false, err
	}
	return len(r.rows[sh.sel.Equal.Key]) > 0, nil
}

// routeKey is what readers of a departure who can share a routed snapshot have in common.
type routeKey struct {
	version uint32
	field   int
}

// routedSnapshot is the snapshot of a departure, read once for readers of which each wants one value of a field.
type routedSnapshot struct {
	riders int // guarded by the tail's mutex

	mu    sync.Mutex
	done  bool
	route *route // nil, when done, if it does not fit
	size  int64
}

// readRouted adds all rows of the snapshot that s wants, if the snapshot is read for many like s. done is false when s is to read by itself.
func (s *Subscription) readRouted(ctx context.Context, out *output) (done bool, err error) {
	sel, d := s.shape.sel, s.departure
	if sel == nil || sel.Equal == nil || d == nil || s.cursor != nil || s.pos.key != nil {
		return false, nil
	}
	t := s.tail
	t.mu.Lock()
	key := routeKey{s.shape.schema.Version, sel.Equal.Field}
	r := d.routed[key]
	if r == nil {
		r = &routedSnapshot{}
		d.routed[key] = r
	}
	r.riders++
	enough := r.riders >= routedRiders
	t.mu.Unlock()
	if !enough {
		return false, nil
	}
	route, err := r.read(ctx, s)
	if err != nil || route == nil {
		return false, err
	}
	if err := s.shape.appendRows(out.Batch, s.asOf, route.batch, route.rows[sel.Equal.Key]); err != nil {
		return false, err
	}
	s.endSnapshot(out)
	return true, nil
}

// read returns the rows, read by whoever comes first while others wait; nil when there is no room for them.
func (r *routedSnapshot) read(ctx context.Context, s *Subscription) (*route, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return r.route, nil
	}
	sh := s.tail.shards.Shard(s.table.ID)
	if sh == nil {
		return nil, s.tail.droppedError(s.table)
	}
	c, err := s.openWhole(ctx, sh)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	all := newRoute(s.shape.schema, s.shape.sel.Equal.Field, tailrace.NewBatch(s.shape.schema, 0))
	cache := s.tail.cache
	for {
		piece, err := c.Next(ctx)
		if errors.Is(err, io.EOF) {
			r.done, r.route = true, all
			cache.buses.Add(1)
			return all, nil
		}
		if err != nil {
			cache.share.Release(r.size)
			r.size = 0
			return nil, err
		}
		from := all.batch.N
		appendAll(all.batch, piece)
		all.add(from)
		more := int64(all.batch.Size()+routedRowBytes*all.batch.N) - r.size
		if r.size+more > cache.most || !cache.share.TryAcquire(more) {
			cache.share.Release(r.size)
			r.size, r.done = 0, true
			return nil, nil
		}
		r.size += more
	}
}

// routedRowBytes is about what a row takes in the lists of a route.
const routedRowBytes = 24
