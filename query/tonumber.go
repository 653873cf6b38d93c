package query

import (
	"strings"
	"unicode/utf8"

	"tailrace"
	"tailrace/format"
)

// numReader reads a number as a picture says: the other half of PostgreSQL's NUM_processor.
type numReader struct {
	*numPicture
	text      string
	at        int
	sign      byte // ' ' until one is read
	digits    []byte
	pre, post int // digits read
	point     bool
}

func (r *numReader) end() bool { return r.at >= len(r.text) }

func (r *numReader) see(c byte) bool { return !r.end() && r.text[r.at] == c }

func digitByte(c byte) bool { return c >= '0' && c <= '9' }

func toNumber(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	p, err := f.picture(a[1])
	switch {
	case err != nil:
		return nil, err
	case len(a[1]) == 0:
		return nil, errNull
	case p.scientific:
		return nil, raise(codeUnsupported, "\"EEEE\" not supported for input")
	case p.roman:
		return nil, raise(codeUnsupported, "\"RN\" not supported for input")
	}
	r := &numReader{numPicture: &p, text: string(a[0]), sign: ' '}
	for _, part := range p.parts {
		if r.end() {
			break
		}
		r.part(part)
	}
	text := string(r.sign) + strings.TrimSuffix(string(r.digits), ".")
	c := tailrace.MakeColumn(kNumeric, 1)
	mod := int32(p.pre+p.multi+r.post)<<16 | int32(r.post)
	if err := format.ParseText(&c, tailrace.Type{Kind: kNumeric, Mod: mod + 4}, text, format.Default()); err != nil {
		return nil, err
	}
	n := readNum(c.Bytes(0))
	if p.shift {
		power, err := powerNum(intNum(10), intNum(-int64(p.multi)))
		if err != nil {
			return nil, err
		}
		n = mulNum(n, power)
	}
	return n.put(dst)
}

func (r *numReader) part(part numPart) {
	switch part.key {
	case "":
		_, n := utf8.DecodeRuneInString(r.text[r.at:])
		r.at += n
	case "9", "0", ".", "D":
		r.digit(part.key)
		r.at++
	case ",", "G":
		if !r.fill && r.see(',') {
			r.at++
		}
	case "L":
		r.skip(1)
	case "TH", "th":
		if !r.decimal {
			r.skip(2)
		}
	case "MI":
		r.oneSign("-")
	case "PL":
		r.oneSign("+")
	case "SG":
		r.oneSign("-+")
	}
}

// oneSign reads one of the signs, or passes something that is no part of a number.
func (r *numReader) oneSign(signs string) {
	if strings.IndexByte(signs, r.text[r.at]) >= 0 {
		r.sign = r.text[r.at]
		r.at++
		return
	}
	r.skip(1)
}

// skip passes up to n characters that are no part of a number.
func (r *numReader) skip(n int) {
	for ; n > 0 && !r.end() && strings.IndexByte("0123456789.,+-", r.text[r.at]) < 0; n-- {
		_, w := utf8.DecodeRuneInString(r.text[r.at:])
		r.at += w
	}
}

// digit reads one place: NUM_numpart_from_char. The caller moves on by one character.
func (r *numReader) digit(key string) {
	if r.see(' ') {
		r.at++
	}
	if r.end() {
		return
	}
	if r.sign == ' ' && (key == "0" || key == "9") && r.pre+r.post == 0 {
		r.leadingSign()
	}
	if r.end() {
		return
	}
	read := false
	switch c := r.text[r.at]; {
	case digitByte(c):
		if r.point && r.post == r.numPicture.post {
			return
		}
		r.digits = append(r.digits, c)
		if r.point {
			r.post++
		} else {
			r.pre++
		}
		read = true
	case c == '.' && r.decimal && !r.point:
		r.digits = append(r.digits, '.')
		r.point, read = true, true
	}
	if r.sign == ' ' && r.pre+r.post > 0 {
		r.trailingSign(read)
	}
}

func (r *numReader) leadingSign() {
	switch {
	case r.see('-'), r.bracket && r.see('<'):
		r.sign = '-'
	case r.see('+'):
		r.sign = '+'
	default:
		return
	}
	r.at++
}

// trailingSign reads a sign behind what may be the last digit.
func (r *numReader) trailingSign(read bool) {
	next := r.at + 1
	switch {
	case r.s && read && next < len(r.text) && !digitByte(r.text[next]):
		if c := r.text[next]; c == '-' || c == '+' {
			r.sign, r.at = c, next
		}
	case !read && !r.s && (r.plus || r.minus):
		if c := r.text[r.at]; c == '-' || c == '+' {
			r.sign = c
		}
	}
}
