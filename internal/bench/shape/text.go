package shape

import (
	"strconv"

	"tailrace"
)

var textColumns = []column{
	{"id", tailrace.KindInt8},
	{"url", tailrace.KindText},
	{"comment", tailrace.KindText},
	{"email", tailrace.KindText},
	{"agent", tailrace.KindText},
	{"doc", tailrace.KindText}, // text and not json, which not every peer checks
}

// text writes what a visitor left: where, what, who, with what, and a document.
func (v *vocabulary) text(l *line, i int) {
	l.int(1 + i)
	l.url(v)
	l.quoted(v.sentence(nil, l.dice, 8+l.below(23)))
	l.next()
	l.dst = append(l.dst, l.often(v.first)...)
	l.dst = append(l.dst, '.')
	l.dst = append(l.dst, l.often(v.last)...)
	l.dst = strconv.AppendInt(l.dst, int64(l.below(1000)), 10)
	l.dst = append(l.dst, '@')
	l.dst = append(l.dst, l.often(v.domains)...)
	l.agent()
	l.quoted(v.doc(nil, l.dice))
}

func (l *line) url(v *vocabulary) {
	l.next()
	l.dst = append(l.dst, "https://www."...)
	l.dst = append(l.dst, l.often(v.domains)...)
	for range 1 + l.below(3) {
		l.dst = append(l.dst, '/')
		l.dst = append(l.dst, l.often(v.paths)...)
	}
	if l.one(2) {
		l.dst = append(l.dst, "?id="...)
		l.dst = strconv.AppendInt(l.dst, int64(l.below(1_000_000)), 10)
	}
}

// agent writes a user agent.
func (l *line) agent() {
	form := l.often(agents)
	var v []byte
	for k := range len(form) {
		switch form[k] {
		case '%':
			v = strconv.AppendInt(v, int64(l.skewed(100)), 10)
		case '#':
			v = strconv.AppendInt(v, int64(l.below(10_000)), 10)
		default:
			v = append(v, form[k])
		}
	}
	l.quoted(v)
}

// doc adds a small JSON document.
func (v *vocabulary) doc(dst []byte, d dice) []byte {
	dst = append(dst, `{"user":`...)
	dst = strconv.AppendInt(dst, int64(1+d.skewed(500_000)), 10)
	dst = append(dst, `,"page":"`...)
	dst = append(dst, d.often(v.paths)...)
	dst = append(dst, `","trace":"`...)
	dst = strconv.AppendUint(dst, d.pcg.Uint64()>>16, 16)
	dst = append(dst, `","ms":`...)
	dst = strconv.AppendInt(dst, int64(d.skewed(5_000)), 10)
	if d.one(4) {
		dst = append(dst, `,"tags":["`...)
		dst = append(dst, d.often(v.words)...)
		dst = append(dst, `","`...)
		dst = append(dst, d.often(v.words)...)
		dst = append(dst, `"]`...)
	}
	if d.one(3) {
		dst = append(dst, `,"ok":false`...)
	}
	return append(dst, '}')
}
