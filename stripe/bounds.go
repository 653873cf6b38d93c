package stripe

import (
	"bytes"
	"encoding/binary"
	"math"

	"tailrace"
)

// pageMeta is what the page index says about a page. min and max bound its values as keys (tailrace.AppendKey); both are nil when it has none or
// they are not known, as for intervals.
type pageMeta struct {
	bytes, rows, nulls int
	min, max           []byte
}

// bound sets the bounds to the keys of two values given by their stored bytes.
func (m *pageMeta) bound(t tailrace.Type, low, high []byte) {
	m.min = cutLow(appendValueKey(nil, t, low), MaxStatBytes)
	if bytes.Equal(low, high) && len(m.min) < MaxStatBytes {
		m.max = m.min
		return
	}
	m.max = cutHigh(appendValueKey(nil, t, high), MaxStatBytes)
}

func appendValueKey(dst []byte, t tailrace.Type, raw []byte) []byte {
	c := tailrace.Column{Width: t.Kind.Width(), N: 1, Data: raw, Offsets: []int32{0, int32(len(raw))}}
	return tailrace.AppendKey(dst, t, &c, 0)
}

// cutLow is the longest bound of limit bytes that is not above key.
func cutLow(key []byte, limit int) []byte {
	return key[:min(len(key), limit):min(len(key), limit)]
}

// cutHigh is key when it takes at most limit bytes, else a shorter one that is above every key that begins as key does. A key begins with 1 or 2, so
// there always is one.
func cutHigh(key []byte, limit int) []byte {
	if len(key) <= limit {
		return key
	}
	key = bytes.TrimRight(key[:limit], "\xff")
	out := append(make([]byte, 0, len(key)), key...)
	out[len(out)-1]++
	return out
}

func little(x int64, width int) []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(x))[:width]
}

// boundFloats orders as SQL does: NaN is the greatest.
func (e *encoder) boundFloats(t tailrace.Type, m *pageMeta) {
	inf := int64(0x7ff0000000000000)
	if t.Kind == tailrace.KindFloat4 {
		inf = 0x7f800000
	}
	if e.frames.low >= 0 && e.frames.high <= inf { // without sign and NaN, floats order as their bits
		m.bound(t, little(e.frames.low, t.Kind.Width()), little(e.frames.high, t.Kind.Width()))
		return
	}
	low, high, nan, number := int64(0), int64(0), false, false
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, x := range e.ints {
		f := math.Float64frombits(uint64(x))
		if t.Kind == tailrace.KindFloat4 {
			f = float64(math.Float32frombits(uint32(x)))
		}
		if f != f {
			if high = x; !nan && !number {
				low = x
			}
			nan = true
			continue
		}
		if f <= lowest {
			low, lowest = x, f
		}
		if f >= highest && !nan {
			high, highest = x, f
		}
		number = true
	}
	m.bound(t, little(low, t.Kind.Width()), little(high, t.Kind.Width()))
}

// boundTextsOf finds the bounds of the loaded values of varying length.
func (e *encoder) boundTextsOf(t tailrace.Type, m *pageMeta) {
	if t.Kind == tailrace.KindNumeric || t.Kind == tailrace.KindArray {
		e.boundByKey(t, m)
		return
	}
	e.boundTexts(t, m)
}

// boundTexts finds the first and last of texts that order by their bytes.
func (e *encoder) boundTexts(t tailrace.Type, m *pageMeta) {
	p := &e.texts
	trim := func(x []byte) []byte {
		if t.Kind == tailrace.KindChar {
			return bytes.TrimRight(x, " ") // as its key does
		}
		return x
	}
	low := trim(p.at(0))
	high := low
	lowHead, highHead := head(low), head(high)
	for i := 1; i < p.n(); i++ {
		x := trim(p.at(i))
		h := head(x)
		if h < lowHead || h == lowHead && bytes.Compare(x, low) < 0 {
			low, lowHead = x, h
		} else if h > highHead || h == highHead && bytes.Compare(x, high) > 0 {
			high, highHead = x, h
		}
	}
	if t.Kind != tailrace.KindChar { // whose key would lose spaces that are not the last then
		low, high = low[:min(len(low), MaxStatBytes+1)], high[:min(len(high), MaxStatBytes+1)]
	}
	m.bound(t, low, high)
}

// head is the first 8 bytes of x as a number that orders as they do, filled up with zeros.
func head(x []byte) uint64 {
	if len(x) >= 8 {
		return binary.BigEndian.Uint64(x)
	}
	var h uint64
	for i, b := range x {
		h |= uint64(b) << (56 - 8*i)
	}
	return h
}

// maxBoundScales is the most different scales of a page's numerics for which bounds are found.
const maxBoundScales = 64

// boundDecimals finds the extremes of each scale as integers, then those of all as keys.
func (e *encoder) boundDecimals(t tailrace.Type, m *pageMeta) {
	if low, high := span(e.scales); low == high {
		scale := int(low)
		m.bound(t, tailrace.AppendDecimal64(nil, e.frames.low, scale), tailrace.AppendDecimal64(nil, e.frames.high, scale))
		return
	}
	type extremes struct{ scale, low, high int64 }
	var each []extremes
	at := -1
	for i, x := range e.ints {
		if s := e.scales[i]; at < 0 || each[at].scale != s {
			for at = len(each) - 1; at >= 0 && each[at].scale != s; at-- {
			}
			if at < 0 {
				if len(each) == maxBoundScales {
					return
				}
				each = append(each, extremes{s, x, x})
				at = len(each) - 1
			}
		}
		each[at].low, each[at].high = min(each[at].low, x), max(each[at].high, x)
	}
	for _, x := range each {
		low := appendValueKey(nil, t, tailrace.AppendDecimal64(nil, x.low, int(x.scale)))
		high := appendValueKey(nil, t, tailrace.AppendDecimal64(nil, x.high, int(x.scale)))
		m.widen(cutLow(low, MaxStatBytes), cutHigh(high, MaxStatBytes))
	}
}

// widen makes the bounds hold for low and high too.
func (m *pageMeta) widen(low, high []byte) {
	if m.min == nil || bytes.Compare(low, m.min) < 0 {
		m.min = low
	}
	if m.max == nil || bytes.Compare(high, m.max) > 0 {
		m.max = high
	}
}

// boundByKey compares the keys of all values: for the few that order neither as integers nor as bytes.
func (e *encoder) boundByKey(t tailrace.Type, m *pageMeta) {
	for i := range e.texts.n() {
		key := appendValueKey(e.key[:0], t, e.texts.at(i))
		e.key = key
		if m.min == nil || bytes.Compare(key, m.min) < 0 {
			m.min = bytes.Clone(cutLow(key, MaxStatBytes))
		}
		if m.max == nil || bytes.Compare(key, m.max) > 0 {
			m.max = bytes.Clone(cutHigh(key, MaxStatBytes))
		}
	}
}
