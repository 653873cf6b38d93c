package stripe

import "slices"

// Runs of equal values are RLE: a stream of the lengths of the runs and one of their values, both as short as there are runs. Neighbouring runs have
// different values.

// appendRuns adds v as its runs, if there are at most half as many.
func (e *encoder) appendRuns(dst []byte, v []int64, width int, plan *intPlan, depth int) ([]byte, bool) {
	l := &e.numbers.levels[depth]
	if !l.runs(v) {
		return dst, false
	}
	dst, at := openStream(dst, encRLE, 0, len(v))
	dst = appendLeaf(dst, l.counts, 2)
	dst = e.appendChild(dst, l.values, width, plan, depth)
	closeStream(dst, at)
	return dst, true
}

// runs fills l.values and l.counts with the runs of v, which is not empty, and reports whether there are at most half as many.
func (l *numberLevel) runs(v []int64) bool {
	l.values, l.counts = slices.Grow(l.values[:0], len(v)/2+1), slices.Grow(l.counts[:0], len(v)/2+1)
	start, x := 0, v[0]
	for i, y := range v {
		if y == x {
			continue
		}
		if len(l.values) == len(v)/2 {
			return false
		}
		l.values, l.counts = append(l.values, x), append(l.counts, int64(i-start))
		start, x = i, y
	}
	l.values, l.counts = append(l.values, x), append(l.counts, int64(len(v)-start))
	return 2*len(l.values) <= len(v)
}

func decodeRuns[T integer](d *decoder, dst []T, body []byte, depth int) error {
	lengths, rest, err := cutStream(body)
	if err != nil {
		return err
	}
	n := lengths.count
	if n == 0 || n > len(dst) {
		return corrupt("%d runs of %d values", n, len(dst))
	}
	l := &d.numbers[depth]
	counts, values := roomIn[uint16](&l.narrow, n), roomIn[T](&l.wide, n)
	if err := decodeLeaf(counts, lengths); err != nil {
		return err
	}
	if err := decodeWhole(d, values, rest, depth+1); err != nil {
		return err
	}
	return fillRuns(dst, values, counts)
}

// fillRuns fills dst with values[i], counts[i] times each. Most runs are short, so eight values are written at once where there is room, and
// what is too much is overwritten by the next run.
func fillRuns[T integer](dst, values []T, counts []uint16) error {
	const atOnce = 8
	for i, x := range values {
		n := int(counts[i])
		if n == 0 || n > len(dst) {
			return corrupt("run of %d values where %d are left", n, len(dst))
		}
		if len(dst) >= atOnce {
			first := (*[atOnce]T)(dst)
			*first = [atOnce]T{x, x, x, x, x, x, x, x}
			if n > atOnce {
				fill(dst[atOnce:n], x)
			}
		} else {
			fill(dst[:n], x)
		}
		dst = dst[n:]
	}
	if len(dst) != 0 {
		return corrupt("runs that leave %d values", len(dst))
	}
	return nil
}
