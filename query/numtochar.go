package query

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// numberEntries are to_char and to_number of numbers.
var numberEntries = []entry{
	{name: "to_char", args: "it", ret: "t", impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		v := i32(a[0])
		return f.numberToChar(d, a[1], intNum(int64(v)), func(post int) string { return strconv.FormatFloat(float64(v), 'e', post, 64) })
	}},
	{name: "to_char", args: "lt", ret: "t", impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		n := intNum(i64(a[0]))
		return f.numberToChar(d, a[1], n, n.scientific)
	}},
	{name: "to_char", args: "nt", ret: "t", impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		n := readNum(a[0])
		return f.numberToChar(d, a[1], n, n.scientific)
	}},
	{name: "to_char", args: "ft", ret: "t", impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		return f.floatToChar(d, a[1], float64(f32(a[0])), 6)
	}},
	{name: "to_char", args: "dt", ret: "t", impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) { return f.floatToChar(d, a[1], f64(a[0]), 15) }},
	{name: "to_number", args: "tt", ret: "n", impl: toNumber},
}

// picture reads a format, or finds it read already. The caller gets a copy to change.
func (f *frame) picture(format []byte) (numPicture, error) {
	p, ok := f.cache.value.(*numPicture)
	if !ok || f.cache.pattern != string(format) {
		var err error
		if p, err = readPicture(string(format)); err != nil {
			return numPicture{}, err
		}
		f.cache.pattern, f.cache.value = string(format), p
	}
	return *p, nil
}

// scientific is a finite n with one digit before the point and post behind it.
func (n num) scientific(post int) string {
	if n.sign() == 0 {
		return strconv.FormatFloat(0, 'e', post, 64)
	}
	exponent := n.exponent()
	m := num{big: n.unscaled(), scale: n.scale + exponent}.rounded(post)
	if m.exponent() > 0 { // 9.99 was rounded to 10.0
		exponent++
		m = num{big: n.unscaled(), scale: n.scale + exponent}.rounded(post)
	}
	return fmt.Sprintf("%se%+03d", decimalText(m), exponent)
}

// numberToChar prints an exact number; scientific does it for EEEE.
func (f *frame) numberToChar(dst, format []byte, n num, scientific func(post int) string) ([]byte, error) {
	p, err := f.picture(format)
	if err != nil {
		return nil, err
	}
	switch {
	case p.roman:
		v := n.rounded(0).unscaled()
		if !n.finite() || !v.IsInt64() || int64(int32(v.Int64())) != v.Int64() {
			return nil, outOfRange("integer")
		}
		return p.print(dst, roman(v.Int64()), 0, 0)
	case p.scientific && !n.finite():
		return append(dst, p.hashes()...), nil
	case p.scientific:
		return append(dst, spaced(scientific(p.post))...), nil
	}
	text := map[bool]string{true: "NaN", false: "Infinity"}[n.nan()]
	if n.finite() {
		if p.shift {
			n = mulNum(n, bigNum(pow10(p.multi), 0))
		}
		n = n.rounded(p.post)
		text = decimalText(absNum(n))
	}
	if p.shift {
		p.pre += p.multi
	}
	return p.sized(dst, text, n.sign() < 0)
}

// floatToChar prints a float, of whose digits so many are meant.
func (f *frame) floatToChar(dst, format []byte, v float64, digits int) ([]byte, error) {
	p, err := f.picture(format)
	if err != nil {
		return nil, err
	}
	special := math.IsNaN(v) || math.IsInf(v, 0)
	switch {
	case p.roman:
		r := math.RoundToEven(v)
		if special || r < math.MinInt32 || r > math.MaxInt32 {
			return nil, outOfRange("integer")
		}
		return p.print(dst, roman(int64(r)), 0, 0)
	case p.scientific && special:
		return append(dst, p.hashes()...), nil
	case p.scientific:
		return append(dst, spaced(strconv.FormatFloat(v, 'e', p.post, 64))...), nil
	}
	if p.shift {
		v *= math.Pow(10, float64(p.multi))
		p.pre += p.multi
	}
	text := "Infinity"
	switch {
	case math.IsNaN(v):
		text = "NaN"
	case !math.IsInf(v, 0):
		whole := len(strconv.FormatFloat(math.Abs(v), 'f', 0, 64))
		p.post = min(p.post, max(digits-whole, 0))
		text = strconv.FormatFloat(math.Abs(v), 'f', p.post, 64)
	}
	return p.sized(dst, text, math.Signbit(v) && !math.IsNaN(v))
}

func spaced(s string) string {
	if s[0] != '-' {
		return " " + s
	}
	return s
}

// hashes stand for what EEEE cannot print.
func (p *numPicture) hashes() string {
	b := []byte(" " + strings.Repeat("#", p.pre+p.post+5))
	b[p.pre+1] = '.'
	return string(b)
}

// sized prints text, or hashes when its digits are too many.
func (p *numPicture) sized(dst []byte, text string, negative bool) ([]byte, error) {
	whole := strings.IndexByte(text, '.')
	if whole < 0 {
		whole = len(text)
	}
	spaces := max(p.pre-whole, 0)
	if whole > p.pre {
		text = strings.Repeat("#", p.pre) + "." + strings.Repeat("#", p.post)
	}
	sign := byte('+')
	if negative {
		sign = '-'
	}
	return p.print(dst, text, spaces, sign)
}

// roman is a number in Roman digits.
func roman(v int64) string {
	if v < 1 || v > 3999 {
		return strings.Repeat("#", 15)
	}
	var b strings.Builder
	for _, d := range []struct {
		value int64
		text  string
	}{
		{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"},
	} {
		for ; v >= d.value; v -= d.value {
			b.WriteString(d.text)
		}
	}
	return b.String()
}
