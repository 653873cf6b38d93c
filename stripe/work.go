package stripe

import (
	"sync/atomic"

	"tailrace"
	"tailrace/pool"
)

// work is one stripe that is being encoded: a decide task for each chunk, which then queues a task for each page. The goroutine that uses the
// Writer collects them in order, so that which task ends first does not show.
type work struct {
	w      *Writer
	n      int // number of the stripe
	rows   pending
	meta   StripeMeta
	chunks []chunkWork
	left   atomic.Int64 // tasks that are not done
}

// chunkWork is one chunk of a work.
type chunkWork struct {
	chunk
	number int
	spans  []pageSpan
	v      verdict
	pages  []encodedPage
	bufs   []*[]byte // the memory of each page
	filter []byte
	decide *pool.Task
	tasks  []*pool.Task // of pages, then of the filter
}

func newWork(w *Writer, p *pending, meta StripeMeta) *work {
	x := &work{w: w, n: w.stripes, rows: *p, meta: meta, chunks: make([]chunkWork, len(w.schema.Fields)+2)}
	n := len(p.groups)
	groups := make([]columnRows, n*len(x.chunks))
	for i := range x.chunks {
		x.chunks[i] = chunkWork{chunk: w.chunk(groups[n*i:n*(i+1)], &x.rows, i), number: i}
	}
	return x
}

// numberType is the type that times and diffs are stored as.
var numberType = tailrace.TypeOf(tailrace.KindInt8)

// chunk is chunk number i of the stripe of p, in the memory of groups.
func (w *Writer) chunk(groups []columnRows, p *pending, i int) chunk {
	c := chunk{typ: numberType, fixed: int64(i), rows: p.rows, groups: groups}
	if i >= 2 {
		c.typ = w.schema.Fields[i-2].Type
		k := c.typ.Kind
		c.sums = k == tailrace.KindInt2 || k == tailrace.KindInt4 || k == tailrace.KindInt8
	}
	for n, g := range p.groups {
		rows := columnRows{from: g.from, n: g.n}
		switch {
		case i >= 2:
			rows.col = &g.b.Cols[i-2]
		case i == 0 && g.b.Times != nil:
			rows.col = &tailrace.Column{Width: 8, N: g.b.N, Data: bytesOf(g.b.Times)}
		case i == 1 && g.b.Diffs != nil:
			rows.col = &tailrace.Column{Width: 8, N: g.b.N, Data: bytesOf(g.b.Diffs)}
		}
		c.groups[n] = rows
	}
	return c
}

// stripe returns the stripe of x, without its chunks.
func (x *work) stripe() *Stripe {
	s := newStripe(x.w.schema, x.w.opts.PageRows)
	s.Meta, s.MinTime = x.meta, tailrace.MaxTime
	for _, g := range x.rows.groups {
		if g.b.Diffs == nil {
			s.SumDiff += int64(g.n)
		} else {
			for _, d := range g.b.Diffs[g.from : g.from+g.n] {
				s.SumDiff += int64(d)
			}
		}
		if g.b.Times == nil {
			s.MinTime = 0
			continue
		}
		for _, t := range g.b.Times[g.from : g.from+g.n] {
			s.MinTime, s.MaxTime = min(s.MinTime, t), max(s.MaxTime, t)
		}
	}
	return s
}

// end frees what the stripe was made of.
func (x *work) end() {
	for i := range x.chunks {
		x.chunks[i].release()
	}
	if x.w.Free != nil {
		for _, b := range x.rows.done {
			x.w.Free(b)
		}
	}
	x.rows = pending{}
}

// release gives back the memory of the chunk's pages.
func (c *chunkWork) release() {
	for _, b := range c.bufs {
		if b != nil {
			pageBuffers.put(b)
		}
	}
	c.bufs = nil
}

// launch queues the tasks. An older stripe goes before a newer one, then what takes longer: a chunk's verdict, which its pages wait for, is first.
func (x *work) launch() {
	x.left.Store(int64(len(x.chunks)))
	for i := range x.chunks {
		c := &x.chunks[i]
		c.decide = x.w.flight.Go(int64(x.n), c.cost(), func() error { return x.decide(c) })
	}
}

// decide is the task that makes the verdict on a chunk.
func (x *work) decide(c *chunkWork) error {
	defer x.left.Add(-1)
	if x.w.stopped.Load() {
		return nil
	}
	if err := x.fault(c, -1); err != nil {
		return err
	}
	e := newEncoder(x.w.opts)
	c.spans = c.appendPages(nil)
	c.v = e.decide(&c.chunk, c.spans)
	e.release() // before the pages, which a serial flight encodes at once
	c.pages, c.bufs = make([]encodedPage, len(c.spans)), make([]*[]byte, len(c.spans))
	x.left.Add(int64(len(c.spans)))
	for i, p := range c.spans {
		c.tasks = append(c.tasks, x.w.flight.Go(int64(x.n), c.groups[p.group].cost(p.from, p.to), func() error { return x.encodePage(c, i) }))
	}
	if x.w.filtered[c.number] {
		x.left.Add(1)
		c.tasks = append(c.tasks, x.w.flight.Go(int64(x.n), c.cost()/4, func() error { return x.encodeFilter(c) }))
	}
	return nil
}

// encodePage is the task of page i of a chunk.
func (x *work) encodePage(c *chunkWork, i int) error {
	defer x.left.Add(-1)
	if x.w.stopped.Load() {
		return nil
	}
	if err := x.fault(c, i); err != nil {
		return err
	}
	c.bufs[i] = pageBuffers.get()
	e := newEncoder(x.w.opts)
	*c.bufs[i], c.pages[i] = e.encodePage((*c.bufs[i])[:0], &c.v, &c.chunk, c.spans[i])
	e.release()
	return nil
}

// encodeFilter is the task of a chunk's filter.
func (x *work) encodeFilter(c *chunkWork) error {
	defer x.left.Add(-1)
	if x.w.stopped.Load() {
		return nil
	}
	e := newEncoder(x.w.opts)
	c.filter = e.appendFilter(nil, &c.chunk, c.v.distinct)
	e.release()
	return nil
}

// cost is about how long the chunk takes to encode: its bytes.
func (c *chunk) cost() int64 {
	n := int64(0)
	for i := range c.groups {
		n += c.groups[i].cost(0, c.groups[i].n)
	}
	return n
}

// cost is that of rows [from, to) of the group.
func (g *columnRows) cost(from, to int) int64 {
	switch {
	case g.col == nil:
		return 1
	case g.col.Width > 0:
		return int64((to - from) * g.col.Width)
	}
	return 4*int64(to-from) + int64(g.col.Offsets[g.from+to]-g.col.Offsets[g.from+from])
}
