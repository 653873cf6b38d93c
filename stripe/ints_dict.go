package stripe

import "math/bits"

// maxDict is the most values of a page's dictionary. A page that has more different ones is not helped by it.
// (declared in dict.go)

// intTable finds the code of an integer while a dictionary is built: open addressing, codes in order of first appearance.
type intTable struct {
	slots  [2 * maxDict]uint16 // code + 1; 0 is free
	values []int64             // the dictionary
	codes  []int64             // of each value of the page
	half   int                 // how many values half of the page's had
}

// build makes the dictionary of v and reports whether it has at most limit values, which is at most maxDict.
func (t *intTable) build(v []int64, limit int) bool {
	clear(t.slots[:])
	t.values, t.codes = t.values[:0], t.codes[:0]
	for i, x := range v {
		if i == len(v)/2 {
			t.half = len(t.values)
		}
		at := mix(uint64(x)) % uint64(len(t.slots))
		for t.slots[at] != 0 && t.values[t.slots[at]-1] != x {
			at = (at + 1) % uint64(len(t.slots))
		}
		if t.slots[at] == 0 {
			if len(t.values) == limit {
				return false
			}
			t.values = append(t.values, x)
			t.slots[at] = uint16(len(t.values))
		}
		t.codes = append(t.codes, int64(t.slots[at]-1))
	}
	return true
}

// expected is about how many different values n are expected to have when those that the dictionary was built of are some of them: the second half of
// these had so many new ones, and each further half has as many times fewer.
func (t *intTable) expected(n int) int {
	all := len(t.values)
	added := all - t.half
	for seen := len(t.codes); seen < n && added > 0 && t.half > 0; seen += (len(t.codes) + 1) / 2 {
		added = added * (len(t.values) - t.half) / t.half
		all += added
	}
	return all
}

// mix is a hash of x: the same in every process, and it does not show in the bytes in any case.
func mix(x uint64) uint64 {
	high, low := bits.Mul64(x^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return high ^ low
}

// appendIntDict adds v as its different values and their codes, if there are at most half as many.
func (e *encoder) appendIntDict(dst []byte, v []int64, width int, plan *intPlan, depth int) ([]byte, bool) {
	t := &e.numbers.table
	if !t.build(v, min(maxDict, len(v)/2)) {
		return dst, false
	}
	dst, at := openStream(dst, encDict, 0, len(v))
	dst = appendLeaf(dst, t.values, width)
	dst = e.appendChild(dst, t.codes, 2, plan, depth)
	closeStream(dst, at)
	return dst, true
}

func decodeIntDict[T integer](d *decoder, dst []T, body []byte, depth int) error {
	s, rest, err := cutStream(body)
	if err != nil {
		return err
	}
	if s.count == 0 || s.count > maxDict || s.count > len(dst) {
		return corrupt("dictionary of %d values", s.count)
	}
	l := &d.numbers[depth]
	values := roomIn[T](&l.wide, s.count)
	if err := decodeLeaf(values, s); err != nil {
		return err
	}
	codes := roomIn[uint16](&l.narrow, len(dst))
	if err := decodeWhole(d, codes, rest, depth+1); err != nil {
		return err
	}
	for i, c := range codes {
		if int(c) >= len(values) {
			return corrupt("dictionary code %d of %d", c, len(values))
		}
		dst[i] = values[c]
	}
	return nil
}
