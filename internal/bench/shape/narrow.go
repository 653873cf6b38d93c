package shape

import (
	"strconv"

	"tailrace"
)

// intsColumns are 41 integers, c1 to c41.
func intsColumns() []column {
	var out []column
	for i := range 41 {
		out = append(out, column{"c" + strconv.Itoa(i+1), tailrace.KindInt4})
	}
	return out
}

// ints writes a number that counts up, then integers of ever wider spreads: one value, few, many often and rarely, any.
func ints(l *line, i int) {
	l.int(i)
	for c := 1; c < 41; c++ {
		spread := 1 << (c * 3 / 4) // 1 to 2^30
		switch c % 4 {
		case 0:
			l.int(l.below(spread))
		case 1:
			l.int(l.skewed(spread))
		case 2:
			l.int(i/100 + l.below(spread))
		case 3:
			l.int(l.below(spread) - spread/2)
		}
	}
}

var narrowColumns = []column{
	{"id", tailrace.KindInt8},
	{"n", tailrace.KindInt4},
	{"v", tailrace.KindText},
}

// narrow writes 64 bytes: two numbers and a text of a few words and a code.
func (v *vocabulary) narrow(l *line, i int) {
	from := len(l.dst)
	l.int(10_000_000 + i)
	l.int(l.below(1_000))
	l.next()
	for len(l.dst)-from < narrowBytes-10 {
		l.dst = append(l.dst, l.often(v.words)...)
		l.dst = append(l.dst, ' ')
	}
	l.dst = l.dst[:min(len(l.dst), from+narrowBytes-10)]
	for len(l.dst)-from < narrowBytes-1 {
		l.dst = append(l.dst, "0123456789abcdef"[l.below(16)])
	}
}

// narrowBytes is the length of a line with its newline.
const narrowBytes = 64
