package tail

import (
	"sync"
	"sync/atomic"

	"tailrace"
	"tailrace/budget"
)

const (
	// framesPart is which part of the share of frames those may take that are kept for subscribers who may still come.
	framesPart = 4
	// framesBytes is what they may take together on a node without a budget.
	framesBytes = 64 << 20
	// frameOverhead is what a frame takes beside its bytes.
	frameOverhead = 192
)

// frame is rows as whole wire messages of one wire, made once for all who send them. Who takes one drops it; its bytes are there until the last
// taker and the cache have dropped it.
type frame struct {
	wire  *wire
	once  sync.Once
	err   error
	bytes []byte // nil when there was no room to keep them
	rows  int
	from  int    // of a piece of history: its first update in there
	next  []byte // of a piece of a snapshot: the row key of its last row
	// batch is there instead of bytes where the frame keeps the updates of a piece of history.
	batch *tailrace.Batch
	size  int64 // what it has of the share, 0 when there was no room
	refs  atomic.Int32
	share *budget.Share
}

// take makes the caller one who has the frame; false when it is gone.
func (f *frame) take() bool {
	for {
		n := f.refs.Load()
		if n == 0 {
			return false
		}
		if f.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (f *frame) drop() {
	if f.refs.Add(-1) == 0 {
		f.bytes, f.batch = nil, nil
		f.share.Release(f.size)
	}
}

// frames are those that are kept, oldest first, within a part of the share. It holds one reference to each.
type frames struct {
	share *budget.Share
	most  int64

	mu   sync.Mutex
	list []*frame
	kept int64

	made, shared, bytes, buses, riders, catchups atomic.Int64 // since the start
}

func newFrames(share *budget.Share) *frames {
	return &frames{share: share, most: share.Limit(framesPart*framesBytes) / framesPart}
}

// newFrame is one that is still to be made, taken by the caller and by the cache.
func (c *frames) newFrame(w *wire) *frame {
	f := &frame{wire: w, share: c.share}
	f.refs.Store(2)
	return f
}

// keep fills in f, which the caller makes, if there is room, and lets older frames go for it. Without room the cache drops f, and nobody new finds it.
func (c *frames) keep(f *frame, encoded []byte, rows int) bool {
	f.bytes, f.rows = encoded, rows
	if !c.admit(f, int64(len(encoded))+frameOverhead) {
		return false
	}
	c.made.Add(1)
	c.bytes.Add(int64(len(encoded)))
	return true
}

// admit is keep of an f of so many bytes that is filled in.
func (c *frames) admit(f *frame, size int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	room := size <= c.most
	for room && c.kept+size > c.most {
		c.evict()
	}
	for room && !c.share.TryAcquire(size) {
		room = c.evict()
	}
	if !room {
		f.drop()
		return false
	}
	f.size = size
	c.list = append(c.list, f)
	c.kept += size
	return true
}

// evict lets the oldest frame go; false when there is none.
func (c *frames) evict() bool {
	if len(c.list) == 0 {
		return false
	}
	f := c.list[0]
	c.list[0] = nil
	c.list = c.list[1:]
	c.kept -= f.size
	f.drop()
	return true
}

// clear lets all frames go; false when there are none.
func (c *frames) clear() bool { return c.forget(func(*frame) bool { return true }) }

// forget lets go the frames that match; false when there are none.
func (c *frames) forget(match func(*frame) bool) (some bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := make([]*frame, 0, len(c.list))
	for _, f := range c.list {
		if !match(f) {
			left = append(left, f)
			continue
		}
		some = true
		c.kept -= f.size
		f.drop()
	}
	c.list = left
	return some
}

// size is what is kept, in bytes.
func (c *frames) size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept
}

// sharing is what was made of some updates for all who want the same.
type sharing struct {
	mu     sync.Mutex
	frames []*frame // one a wire, and of a piece one a first update; some of them are gone, until the next find
	routes []*route // one a column that readers want single values of
}

// frame takes the frame for w of the updates from on, made by whoever comes first while others wait. add gives its rows. It is nil when there is no room for it.
func (x *sharing) frame(c *frames, w *wire, from int, add func(rows *tailrace.Batch) error) (*frame, error) {
	f, found := x.find(c, w, from)
	if found {
		c.shared.Add(1)
	}
	f.once.Do(func() {
		rows := w.shape.newRows()
		if f.err = add(rows); f.err != nil {
			f.drop()
			return
		}
		c.keep(f, w.encode(rows), rows.N)
	})
	if f.err != nil || f.size == 0 {
		err := f.err
		f.drop()
		return nil, err
	}
	return f, nil
}

// find takes the frame for w of the updates from on, which is new and still to be made when there is none. It forgets frames that are gone.
func (x *sharing) find(c *frames, w *wire, from int) (f *frame, found bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	left := x.frames[:0]
	for _, y := range x.frames {
		switch {
		case y.wire == w && y.from == from && y.take():
			f = y
			left = append(left, y)
		case y.refs.Load() > 0:
			left = append(left, y)
		}
	}
	clear(x.frames[len(left):])
	if x.frames = left; f != nil {
		return f, true
	}
	f = c.newFrame(w)
	f.from = from
	x.frames = append(x.frames, f)
	return f, false
}

// Frames counts what subscribers shared, since the start.
type Frames struct {
	Made   int64 // rows encoded as a frame, for all
	Shared int64 // deliveries of a frame that somebody else had made
	Bytes  int64 // of the frames made
	Kept   int64 // bytes of those that are kept now
	Buses  int64 // snapshots read for all who want the same
	Riders int64 // subscribers whose snapshot had the time of somebody else's
	// Catchups is how often history was opened for those who are behind.
	Catchups int64
}

// Frames tells the counts.
func (t *Tail) Frames() Frames {
	c := t.cache
	return Frames{Made: c.made.Load(), Shared: c.shared.Load(), Bytes: c.bytes.Load(), Kept: c.size(), Buses: c.buses.Load(), Riders: c.riders.Load(), Catchups: c.catchups.Load()}
}

// output is a delivery as it is put together: frames first, then rows that are this subscriber's own.
type output struct {
	*tailrace.Batch
	wire   *wire // nil: no frames are wanted
	frames []*frame
	framed int // rows in frames, and the progress row when it is encoded
	bytes  int // of frames
	// progress is the progress row behind the frames, encoded for all who are there; nil when it is among the rows, or there is none.
	progress []byte
}

// add puts a frame, which the caller has taken, at the end. There must be no rows yet.
func (o *output) add(f *frame) {
	if f.rows == 0 {
		f.drop()
		return
	}
	o.frames = append(o.frames, f)
	o.framed += f.rows
	o.bytes += len(f.bytes)
}

func (o *output) empty() bool { return o.N == 0 && o.framed == 0 }

// full says that o is enough for one delivery of part bytes.
func (o *output) full(part int) bool {
	return o.N+o.framed >= BatchRows || o.Size()+o.bytes >= part
}
