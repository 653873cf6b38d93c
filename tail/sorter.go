package tail

import (
	"bytes"
	"container/heap"
	"errors"
	"io"
	"slices"

	"tailrace"
)

// sorter puts rows in the order of their keys. What has no room in memory it writes to disk as sorted runs, and merges those with the rest:
//
//	add ─▶ mem ──spill──▶ run run run ... (level 0) ──▶ run (level 1)
//	         └───────────────────┴────────merge────────────┘─▶ rows
//
// Rows with equal keys stay in the order in which they came, but for a sum: there they are ordered by their stored bytes, and the diffs of the same row are added.
type sorter struct {
	schema *tailrace.Schema
	key    func(dst []byte, b *tailrace.Batch, i int) []byte
	sum    []int // tailrace.SortOrder of the rows to be added up; nil: none are
	group  int   // rows of one key are given together, and of them so many at most; 0: no such thing
	disk   *disk

	mem  *tailrace.Batch
	runs []*run // as they came
}

// compare orders rows of which the keys are given.
func (s *sorter) compare(ka []byte, a *tailrace.Batch, i int, kb []byte, b *tailrace.Batch, j int) int {
	if c := bytes.Compare(ka, kb); c != 0 || s.sum == nil {
		return c
	}
	return tailrace.CompareStored(s.sum, a, i, b, j)
}

// sorted is mem in order.
func (s *sorter) sorted() *tailrace.Batch {
	keys, ends := []byte(nil), make([]int, s.mem.N+1)
	rows := make([]int32, s.mem.N)
	for i := range rows {
		keys = s.key(keys, s.mem, i)
		rows[i], ends[i+1] = int32(i), len(keys)
	}
	key := func(i int32) []byte { return keys[ends[i]:ends[i+1]] }
	slices.SortStableFunc(rows, func(a, b int32) int { return s.compare(key(a), s.mem, int(a), key(b), s.mem, int(b)) })
	return s.mem.Gather(rows)
}

// spill makes mem a run.
func (s *sorter) spill() error {
	r, err := s.disk.write(0, inBlocks(s.sorted()))
	if err != nil {
		return err
	}
	s.mem = tailrace.NewBatch(s.schema, 0)
	s.runs = append(s.runs, r)
	for {
		level, from := s.runs[len(s.runs)-1].level, len(s.runs)
		for from > 0 && s.runs[from-1].level == level {
			from--
		}
		if len(s.runs)-from < spillRuns {
			return nil
		}
		m, err := newMerge(s, s.runs[from:], nil)
		if err != nil {
			return err
		}
		r, err := s.disk.write(level+1, func() (*tailrace.Batch, error) { return m.next(spillBlock) })
		if err != nil {
			return err
		}
		for _, old := range s.runs[from:] {
			old.close()
		}
		s.runs = append(s.runs[:from], r)
	}
}

// inBlocks gives b in parts of about a block.
func inBlocks(b *tailrace.Batch) func() (*tailrace.Batch, error) {
	from, n := 0, rowsWithin(b, spillBlock)
	return func() (*tailrace.Batch, error) {
		if from == b.N {
			return nil, io.EOF
		}
		to := min(b.N, from+n)
		part := cut(b, from, to)
		from = to
		return part, nil
	}
}

// merge begins to give all rows in order.
func (s *sorter) merge() (*merge, error) { return newMerge(s, s.runs, s.mem) }

func (s *sorter) close() {
	for _, r := range s.runs {
		r.close()
	}
	s.runs, s.mem = nil, nil
}

// merge gives the rows of sorted streams in order.
type merge struct {
	s     *sorter
	heads []*head
	err   error
}

// head is the first row that is left of a stream.
type head struct {
	place int // of the stream among the others
	next  func() (*tailrace.Batch, error)
	b     *tailrace.Batch
	i     int
	key   []byte
}

func newMerge(s *sorter, runs []*run, mem *tailrace.Batch) (*merge, error) {
	m := &merge{s: s}
	for i, r := range runs {
		m.heads = append(m.heads, &head{place: i, next: r.blocks()})
	}
	if mem != nil && mem.N > 0 {
		m.heads = append(m.heads, &head{place: len(runs), next: inBlocks(s.sorted())})
	}
	for _, h := range m.heads {
		if err := m.load(h); err != nil {
			return nil, err
		}
	}
	heap.Init(m)
	return m, nil
}

// load goes to the first row of the stream's next block.
func (m *merge) load(h *head) (err error) {
	h.i = 0
	if h.b, err = h.next(); err == nil {
		h.key = m.s.key(h.key[:0], h.b, 0)
	}
	return err
}

func (m *merge) Len() int      { return len(m.heads) }
func (m *merge) Swap(i, j int) { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }
func (m *merge) Push(any)      { panic("a merge gets no more streams") }
func (m *merge) Pop() any {
	last := m.heads[len(m.heads)-1]
	m.heads = m.heads[:len(m.heads)-1]
	return last
}

func (m *merge) Less(i, j int) bool {
	a, b := m.heads[i], m.heads[j]
	if c := m.s.compare(a.key, a.b, a.i, b.key, b.b, b.i); c != 0 {
		return c < 0
	}
	return a.place < b.place
}

// step leaves the first row.
func (m *merge) step() {
	h := m.heads[0]
	if h.i++; h.i < h.b.N {
		h.key = m.s.key(h.key[:0], h.b, h.i)
	} else if err := m.load(h); errors.Is(err, io.EOF) {
		heap.Pop(m)
		return
	} else if err != nil {
		m.err = err
		return
	}
	heap.Fix(m, 0)
}

// next returns rows of about so many bytes, more only where a group asks for it. The end is io.EOF.
func (m *merge) next(size int) (*tailrace.Batch, error) {
	out := tailrace.NewBatch(m.s.schema, 0)
	var key []byte
	together, bytesOut := 0, 0
	for len(m.heads) > 0 && m.err == nil {
		h := m.heads[0]
		same := out.N > 0 && bytes.Equal(key, h.key)
		if bytesOut >= size && !(same && m.s.group > 0) {
			return out, nil
		}
		if !same {
			key, together = append(key[:0], h.key...), 0
		}
		b, i, sum := h.b, h.i, h.b.Diff(h.i)
		m.step()
		for m.s.sum != nil && m.err == nil && len(m.heads) > 0 {
			if h = m.heads[0]; m.s.compare(key, b, i, h.key, h.b, h.i) != 0 {
				break
			}
			sum += h.b.Diff(h.i)
			m.step()
		}
		if sum == 0 {
			continue
		}
		if together++; m.s.group > 0 && together > m.s.group {
			continue
		}
		out.AppendUpdate(b, i, sum)
		if out.N%16 == 1 {
			bytesOut = out.Size()
		}
	}
	if m.err == nil && out.N == 0 {
		m.err = io.EOF
	}
	if out.N > 0 && m.err == nil {
		return out, nil
	}
	return nil, m.err
}
