package query

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
)

// formatEntries: format takes any number of values of any types. They go to it printed and packed into one text.
var formatEntries = []entry{
	{name: "format", args: "t", ret: "t", sql: "tr_format({1}, '')"},
	{name: "format", args: "t?*", ret: "t", sql: "tr_format({1}, {rest:p})"},
}

var packedEntries = []entry{
	{name: "tr_format", args: "tt", ret: "t", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		values, err := unpack(a[1])
		if err != nil {
			return nil, err
		}
		return (&formatter{text: a[0], values: values}).run(d)
	}},
}

// packed is SQL of texts in one: each is v, its length in bytes, a colon and itself, or n when it is NULL.
func packed(texts []string) string {
	if len(texts) == 0 {
		return "''"
	}
	out := ""
	for i, t := range texts {
		if i > 0 {
			out += " || "
		}
		out += "coalesce('v' || strlen(" + t + ") || ':' || " + t + ", 'n')"
	}
	return "(" + out + ")"
}

// unpack is the inverse of packed; nil stands for NULL.
func unpack(b []byte) ([][]byte, error) {
	var out [][]byte
	for len(b) > 0 {
		if b[0] == 'n' {
			out, b = append(out, nil), b[1:]
			continue
		}
		colon := bytes.IndexByte(b, ':')
		n, err := strconv.Atoi(string(b[1:max(colon, 1)]))
		if err != nil || n < 0 || n > len(b)-colon-1 {
			return nil, raise(codeInternal, "the packed arguments of a function are damaged")
		}
		out, b = append(out, b[colon+1:colon+1+n:colon+1+n]), b[colon+1+n:]
	}
	return out, nil
}

// formatter is one call of format().
type formatter struct {
	text   []byte
	at     int
	values [][]byte
	next   int // the value that the next specifier without a number takes
}

// directive is what stands between a percent sign and its letter.
type directive struct {
	value int // number of the value, -1 for the next one
	left  bool
	width int
}

func (f *formatter) run(dst []byte) ([]byte, error) {
	for f.at < len(f.text) {
		c := f.text[f.at]
		f.at++
		if c != '%' {
			dst = append(dst, c)
			continue
		}
		if f.at == len(f.text) {
			return nil, errFormatEnd
		}
		if f.text[f.at] == '%' {
			f.at++
			dst = append(dst, '%')
			continue
		}
		d, err := f.directive()
		if err != nil {
			return nil, err
		}
		if dst, err = f.convert(dst, d); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

var errFormatEnd = func() error {
	e := raise(codeInvalid, "unterminated format() type specifier")
	e.Hint = "For a single \"%\" use \"%%\"."
	return e
}()

// number reads digits; ok is false when there are none.
func (f *formatter) number() (n int, ok bool, err error) {
	from := f.at
	for f.at < len(f.text) && f.text[f.at] >= '0' && f.text[f.at] <= '9' {
		n = n*10 + int(f.text[f.at]-'0')
		if f.at++; n > math.MaxInt32 {
			return 0, false, raise(codeOutOfRange, "number is out of range")
		}
	}
	if f.at == len(f.text) && f.at > from {
		return 0, false, errFormatEnd
	}
	return n, f.at > from, nil
}

var errFormatZero = raise(codeInvalid, "format specifies argument 0, but arguments are numbered from 1")

// directive reads [n$][flags][width], where the width may be * or *n$.
func (f *formatter) directive() (directive, error) {
	d := directive{value: -1}
	n, ok, err := f.number()
	if err != nil {
		return d, err
	}
	if ok && f.text[f.at] != '$' {
		d.width = n
		return d, nil
	}
	if ok {
		if n == 0 {
			return d, errFormatZero
		}
		d.value = n - 1
		f.at++
	}
	for f.at < len(f.text) && f.text[f.at] == '-' {
		d.left = true
		f.at++
	}
	if f.at == len(f.text) {
		return d, errFormatEnd
	}
	if f.text[f.at] == '*' {
		f.at++
		return d, f.width(&d)
	}
	d.width, _, err = f.number()
	return d, err
}

// width takes the width from a value.
func (f *formatter) width(d *directive) error {
	which := -1
	n, ok, err := f.number()
	if err != nil {
		return err
	}
	if ok {
		if f.text[f.at] != '$' {
			return raise(codeInvalid, "width argument position must be ended by \"$\"")
		}
		if n == 0 {
			return errFormatZero
		}
		f.at++
		which = n - 1
	}
	v, err := f.take(which)
	if err != nil || v == nil {
		return err
	}
	if d.width, err = strconv.Atoi(string(v)); err != nil {
		return raise(codeBadText, "invalid input syntax for type integer: \"%s\"", v)
	}
	if d.width < 0 {
		d.left, d.width = true, -d.width
	}
	if d.width > math.MaxInt32 {
		return raise(codeOutOfRange, "number is out of range")
	}
	return nil
}

// take is value number n, or the next one.
func (f *formatter) take(n int) ([]byte, error) {
	if n < 0 {
		n = f.next
	}
	f.next = n + 1
	if n >= len(f.values) {
		return nil, raise(codeInvalid, "too few arguments for format()")
	}
	return f.values[n], nil
}

func (f *formatter) convert(dst []byte, d directive) ([]byte, error) {
	if f.at == len(f.text) {
		return nil, errFormatEnd
	}
	letter := f.text[f.at]
	if letter != 's' && letter != 'I' && letter != 'L' {
		_, n := utf8.DecodeRune(f.text[f.at:])
		e := raise(codeInvalid, "unrecognized format() type specifier \"%s\"", f.text[f.at:f.at+n])
		e.Hint = "For a single \"%\" use \"%%\"."
		return nil, e
	}
	f.at++
	v, err := f.take(d.value)
	if err != nil {
		return nil, err
	}
	var text []byte
	switch {
	case v == nil && letter == 'I':
		return nil, raise("22004", "null values cannot be formatted as an SQL identifier")
	case v == nil && letter == 'L':
		text = []byte("NULL")
	case letter == 'I':
		text = appendIdent(nil, string(v))
	case letter == 'L':
		if text, err = quoteLiteral(nil, nil, [][]byte{v}); err != nil {
			return nil, err
		}
	default:
		text = v
	}
	blanks := d.width - utf8.RuneCount(text)
	if blanks > maxText/4 {
		return nil, raise("54000", "requested length too large")
	}
	if !d.left {
		dst = appendBlanks(dst, blanks)
	}
	dst = append(dst, text...)
	if d.left {
		dst = appendBlanks(dst, blanks)
	}
	return dst, nil
}

func appendBlanks(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, ' ')
	}
	return dst
}
