package shard

import (
	"encoding/binary"
	"slices"

	"tailrace"
)

// Rows of several batches are brought into order in tasks, with the same result however many there are of them and whoever does them:
//
//	keys      a task per batch     the first 16 bytes of each row's key
//	split     a task per batch     its rows go to the buckets between which splitters, rows at fixed places, decide
//	sort      a task per bucket    rows in order, equal ones added up
//	gather    a task per column    the rows' values, into page groups
//
// The full key of a row is never made: two rows whose first 16 bytes are equal are compared column by column (tie).

const (
	// sortRows is the most rows of a batch that sorting takes, and the most batches.
	sortRows = 1 << 16
	// bucketRows is about how many rows a bucket has.
	bucketRows = 1 << 13
	// maxBuckets is the most buckets: enough for the cores of a large machine.
	maxBuckets = 32
	// bucketSamples is how many rows are looked at to choose a splitter.
	bucketSamples = 16
)

// keyRef is a row that is sorted: the first bytes of its key decide most comparisons.
type keyRef struct {
	high, low uint64
	at        uint32 // batch * sortRows + row
}

func (r keyRef) place() (batch, row int) { return int(r.at / sortRows), int(r.at % sortRows) }

// sorting is some batches on their way into order.
type sorting struct {
	tasks
	l      *layout
	byTime bool // updates of one row at different times are kept apart

	groupRows int // of a batch of the result
	in        []*tailrace.Batch
	refs      [][]keyRef // of each batch
	bounds    [][]int    // of each batch: where its rows of each bucket end, once they are split
	split     []keyRef   // in order: a row is in the bucket after the last splitter that is not above it
	sorted    [][]keyRef // of each bucket
	sums      [][]tailrace.Diff
	rows      int
	summing   bool // some diff may not be 1
}

// sortGroups returns the updates of in, batches of at most sortRows, in order, in batches of groupRows; those of one row, or of one row and time if byTime, are
// added up and dropped if they come to nothing. Without byTime the result has no times. It is in itself when there is nothing to do.
func (l *layout) sortGroups(t tasks, in []*tailrace.Batch, groupRows int, byTime bool) ([]*tailrace.Batch, error) {
	if l.inOrder(in, groupRows, byTime) {
		return in, nil
	}
	s := &sorting{tasks: t, l: l, byTime: byTime, groupRows: groupRows, in: in, refs: make([][]keyRef, len(in)), bounds: make([][]int, len(in))}
	for _, b := range in {
		s.rows += b.N
		s.summing = s.summing || b.Diffs != nil
	}
	if s.rows < bucketRows {
		s.flight = nil // tasks would cost more than they save
	}
	rowsOf := func(i int) int64 { return int64(in[i].N) }
	if err := s.each(len(in), rowsOf, s.keys); err != nil {
		return nil, err
	}
	s.choose()
	if err := s.each(len(in), rowsOf, s.divide); err != nil {
		return nil, err
	}
	n := len(s.split) + 1
	s.sorted, s.sums = make([][]keyRef, n), make([][]tailrace.Diff, n)
	if err := s.each(n, func(int) int64 { return bucketRows }, s.sortBucket); err != nil {
		return nil, err
	}
	return s.gather()
}

// inOrder reports whether the batches need no sort and no sum: rows go up, all groups but the last are whole, and no diff is 0 or time too many.
func (l *layout) inOrder(in []*tailrace.Batch, groupRows int, byTime bool) bool {
	var t tie
	var last *tailrace.Batch
	for i, b := range in {
		if b.N != groupRows && i+1 < len(in) || b.Times != nil && !byTime || hasZero(b.Diffs) || !t.ascend(l, last, b, 0, b.N) {
			return false
		}
		last = b
	}
	return true
}

// keys makes the first bytes of the keys of batch i.
func (s *sorting) keys(i int) error {
	b := s.in[i]
	refs := make([]keyRef, b.N)
	var key []byte
	var pad [16]byte
	for row := range refs {
		key = s.l.appendPrefix(key[:0], b, row, len(pad))
		if len(key) < len(pad) {
			key = append(key, pad[len(key):]...)
		}
		refs[row] = keyRef{binary.BigEndian.Uint64(key), binary.BigEndian.Uint64(key[8:]), uint32(i*sortRows + row)}
	}
	s.refs[i] = refs
	return nil
}

// appendPrefix adds at least the first n bytes of a row's key, or all of it.
func (l *layout) appendPrefix(dst []byte, b *tailrace.Batch, row, n int) []byte {
	for at, c := range l.order {
		if len(dst) >= n {
			break
		}
		col := &b.Cols[c]
		if l.by[at] == byBytes && col.Width == 0 && !col.IsNull(row) {
			if v := col.Bytes(row); len(v) > n { // of a long text the beginning will do
				head := tailrace.Column{N: 1, Offsets: []int32{0, int32(n)}, Data: v}
				dst = tailrace.AppendKey(dst, l.schema.Fields[c].Type, &head, 0)
				continue
			}
		}
		dst = tailrace.AppendKey(dst, l.schema.Fields[c].Type, col, row)
	}
	return dst
}

// choose picks the splitters from rows at fixed places.
func (s *sorting) choose() {
	buckets := min(max(s.rows/bucketRows, 1), maxBuckets)
	if buckets == 1 {
		return
	}
	var samples []keyRef
	step := max(s.rows/(buckets*bucketSamples), 1)
	next := step / 2
	for _, refs := range s.refs {
		for ; next < len(refs); next += step {
			samples = append(samples, refs[next])
		}
		next -= len(refs)
	}
	slices.SortFunc(samples, s.compare())
	for k := 1; k < buckets; k++ {
		s.split = append(s.split, samples[k*len(samples)/buckets])
	}
}

// compare returns an order of rows that makes equal those, and only those, that are the same row: for one goroutine.
func (s *sorting) compare() func(x, y keyRef) int {
	var t tie
	return func(x, y keyRef) int {
		switch {
		case x.high != y.high:
			if x.high < y.high {
				return -1
			}
			return 1
		case x.low != y.low:
			if x.low < y.low {
				return -1
			}
			return 1
		case x.at == y.at:
			return 0
		}
		bx, rx := x.place()
		by, ry := y.place()
		return t.compareRows(s.l, s.in[bx], rx, s.in[by], ry)
	}
}

// divide puts the rows of batch i in the order of their buckets.
func (s *sorting) divide(i int) error {
	n := len(s.split) + 1
	ends := make([]int, n)
	if n == 1 {
		ends[0] = len(s.refs[i])
		s.bounds[i] = ends
		return nil
	}
	compare := s.compare()
	which := make([]uint8, len(s.refs[i]))
	for row, r := range s.refs[i] {
		at, equal := slices.BinarySearchFunc(s.split, r, compare)
		for equal && at < len(s.split) && compare(s.split[at], r) == 0 {
			at++ // past equal splitters: a row is never before one that it equals
		}
		which[row] = uint8(at)
		ends[at]++
	}
	from := 0
	for k := range ends {
		from, ends[k] = from+ends[k], from
	}
	out := make([]keyRef, len(s.refs[i]))
	for row, r := range s.refs[i] {
		k := which[row]
		out[ends[k]] = r
		ends[k]++
	}
	s.refs[i], s.bounds[i] = out, ends
	return nil
}

// sortBucket sorts a bucket's rows and adds up those that are equal.
func (s *sorting) sortBucket(k int) error {
	var refs []keyRef
	for i := range s.refs {
		from := 0
		if k > 0 {
			from = s.bounds[i][k-1]
		}
		refs = append(refs, s.refs[i][from:s.bounds[i][k]]...)
	}
	compare := s.compare()
	if s.byTime {
		rows := compare
		compare = func(x, y keyRef) int {
			if r := rows(x, y); r != 0 {
				return r
			}
			return compareTime(s.time(x), s.time(y))
		}
	}
	slices.SortFunc(refs, compare)
	s.sorted[k], s.sums[k] = s.consolidate(refs, compare)
	return nil
}

func (s *sorting) time(r keyRef) tailrace.Time {
	b, row := r.place()
	return s.in[b].Time(row, 0)
}

// consolidate adds up equal neighbours, in place. The sums are nil when each is 1.
func (s *sorting) consolidate(refs []keyRef, compare func(x, y keyRef) int) ([]keyRef, []tailrace.Diff) {
	if !s.summing {
		alone := 1
		for alone < len(refs) && compare(refs[alone-1], refs[alone]) != 0 {
			alone++
		}
		if alone >= len(refs) {
			return refs, nil
		}
	}
	diff := func(r keyRef) tailrace.Diff {
		b, row := r.place()
		return s.in[b].Diff(row)
	}
	var sums []tailrace.Diff
	out := refs[:0]
	for i := 0; i < len(refs); {
		first, sum, j := refs[i], diff(refs[i]), i+1
		for j < len(refs) && compare(first, refs[j]) == 0 {
			sum += diff(refs[j])
			j++
		}
		if sum != 0 {
			out, sums = append(out, first), append(sums, sum)
		}
		i = j
	}
	return out, sums
}
