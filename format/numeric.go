package format

import (
	"math/big"
	"strconv"

	"tailrace"
)

const (
	maxNumericDigits   = 131072    // digits before the point that a numeric may have
	maxNumericExponent = 1<<30 - 1 // what may follow e, either way
	maxDigits64        = 18        // decimal digits that every int64 holds
)

// decimal is a numeric on its way between text, binary and storage: digits / 10^scale. digits has no leading zeros; scale may be negative
// until it is settled.
type decimal struct {
	form   tailrace.DecimalForm
	neg    bool
	digits []byte // '0'..'9'
	scale  int
}

func overflowsNumeric() error { return errorf(codeOutOfRange, "value overflows numeric format") }

func parseNumeric(c *tailrace.Column, t tailrace.Type, text string, _ *Settings) error {
	if v, scale, ok := parseNumeric64(text); ok && (t.Mod < 4 || t.Scale() == scale && len(text) <= t.Precision()) {
		var buf [16]byte
		c.Append(tailrace.AppendDecimal64(buf[:0], v, scale))
		return nil
	}
	d, err := parseDecimal(text)
	if err != nil {
		return err
	}
	return d.appendTo(c, t)
}

// parseNumeric64 reads the common form, a sign and at most 18 digits with perhaps a point among them, without memory.
func parseNumeric64(text string) (v int64, scale int, ok bool) {
	if len(text) > maxDigits64 {
		return 0, 0, false
	}
	i, neg := 0, false
	if i < len(text) && (text[0] == '-' || text[0] == '+') {
		neg = text[0] == '-'
		i++
	}
	point, start := -1, i
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case isDigit(c):
			v = 10*v + int64(c-'0')
		case c == '.' && point < 0:
			point = i
		default:
			return 0, 0, false
		}
	}
	if point >= 0 {
		scale = len(text) - point - 1
		start++
	}
	if neg {
		v = -v
	}
	return v, scale, i > start
}

// parseDecimal reads any form that PostgreSQL does.
func parseDecimal(text string) (*decimal, error) {
	bad := func() (*decimal, error) { return nil, badSyntax("numeric", text) }
	s := text
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	d := &decimal{}
	if n := d.special(s); n > 0 {
		if trimSpace(s[n:]) != "" {
			return bad()
		}
		return d, nil
	}
	if s != "" && (s[0] == '-' || s[0] == '+') {
		d.neg = s[0] == '-'
		s = s[1:]
	}
	i, point, any := 0, -1, false
	for ; i < len(s) && (isDigit(s[i]) || s[i] == '.'); i++ {
		if s[i] == '.' {
			if point >= 0 {
				return bad()
			}
			point = i
			continue
		}
		any = true
		if len(d.digits) > 0 || s[i] != '0' {
			d.digits = append(d.digits, s[i])
		}
		if point >= 0 {
			d.scale++
		}
	}
	if !any {
		return bad()
	}
	rest := s[i:]
	if rest != "" && lower(rest[0]) == 'e' {
		exponent, n := parseExponent(rest[1:])
		if n == 0 {
			return bad()
		}
		if exponent >= maxNumericExponent || exponent <= -maxNumericExponent {
			return nil, overflowsNumeric()
		}
		d.scale -= exponent
		rest = rest[1+n:]
	}
	if trimSpace(rest) != "" {
		return bad()
	}
	return d, nil
}

// special reads NaN and the infinities, and returns how long they are, 0 for none.
func (d *decimal) special(s string) int {
	if foldPrefix(s, "nan") {
		d.form = tailrace.DecimalNaN
		return 3
	}
	i := 0
	d.form = tailrace.DecimalInf
	if s != "" && (s[0] == '-' || s[0] == '+') {
		i = 1
		if s[0] == '-' {
			d.form = tailrace.DecimalNegInf
		}
	}
	switch {
	case foldPrefix(s[i:], "infinity"):
		return i + 8
	case foldPrefix(s[i:], "inf"):
		return i + 3
	}
	d.form = tailrace.DecimalFinite
	return 0
}

// parseExponent reads as C's strtol does, blanks in front included, and stops counting at a value that is too large in any case.
func parseExponent(s string) (exponent, n int) {
	for n < len(s) && isSpace(s[n]) {
		n++
	}
	neg := false
	if n < len(s) && (s[n] == '-' || s[n] == '+') {
		neg = s[n] == '-'
		n++
	}
	if n == len(s) || !isDigit(s[n]) {
		return 0, 0
	}
	for ; n < len(s) && isDigit(s[n]); n++ {
		exponent = min(10*exponent+int(s[n]-'0'), maxNumericExponent)
	}
	if neg {
		exponent = -exponent
	}
	return exponent, n
}

// round brings d to scale, half away from zero. A scale that d does not reach is left to settle.
func (d *decimal) round(scale int) {
	drop := d.scale - scale
	if drop <= 0 {
		return
	}
	d.scale = scale
	keep := len(d.digits) - drop
	if keep < 0 {
		d.digits = d.digits[:0]
		return
	}
	up := d.digits[keep] >= '5'
	d.digits = d.digits[:keep]
	if !up {
		return
	}
	for i := keep - 1; i >= 0; i-- {
		if d.digits[i] < '9' {
			d.digits[i]++
			return
		}
		d.digits[i] = '0'
	}
	d.digits = append([]byte{'1'}, d.digits...)
}

// fit rounds d to the scale of a numeric(p,s) and refuses what has too many digits then.
func (d *decimal) fit(t tailrace.Type) error {
	if t.Mod < 4 {
		return nil
	}
	precision, scale := t.Precision(), t.Scale()
	if d.form == tailrace.DecimalInf || d.form == tailrace.DecimalNegInf {
		err := errorf(codeOutOfRange, "numeric field overflow")
		err.Detail = "A field with precision " + strconv.Itoa(precision) + ", scale " + strconv.Itoa(scale) + " cannot hold an infinite value."
		return err
	}
	if d.form != tailrace.DecimalFinite {
		return nil
	}
	d.round(scale)
	if len(d.digits) > 0 && len(d.digits)+scale-d.scale > precision {
		err := errorf(codeOutOfRange, "numeric field overflow")
		limit := "1"
		if n := precision - scale; n != 0 {
			limit = "10^" + strconv.Itoa(n)
		}
		err.Detail = "A field with precision " + strconv.Itoa(precision) + ", scale " + strconv.Itoa(scale) +
			" must round to an absolute value less than " + limit + "."
		return err
	}
	return d.settle(max(scale, 0))
}

// settle pads d with zeros to at least scale, which is not negative, within the limits of the type.
func (d *decimal) settle(scale int) error {
	if len(d.digits) == 0 {
		d.scale = max(d.scale, scale)
	} else if len(d.digits)-d.scale > maxNumericDigits {
		return overflowsNumeric()
	}
	if d.scale > tailrace.MaxDecimalScale || scale > tailrace.MaxDecimalScale {
		return overflowsNumeric()
	}
	for ; d.scale < scale; d.scale++ { // at most maxNumericDigits and MaxDecimalScale times, by the checks above
		d.digits = append(d.digits, '0')
	}
	return nil
}

// appendTo fits d to t and adds its stored bytes to c.
func (d *decimal) appendTo(c *tailrace.Column, t tailrace.Type) error {
	if err := d.fit(t); err != nil {
		return err
	}
	if d.form != tailrace.DecimalFinite {
		c.Append(tailrace.AppendDecimalForm(nil, d.form))
		return nil
	}
	if err := d.settle(0); err != nil {
		return err
	}
	if len(d.digits) <= maxDigits64 {
		v := int64(0)
		for _, digit := range d.digits {
			v = 10*v + int64(digit-'0')
		}
		if d.neg {
			v = -v
		}
		c.Append(tailrace.AppendDecimal64(nil, v, d.scale))
		return nil
	}
	v, ok := new(big.Int).SetString(string(d.digits), 10)
	if !ok {
		panic("read a numeric: digits that are no number")
	}
	if d.neg {
		v.Neg(v)
	}
	c.Append(tailrace.AppendDecimal(nil, v, d.scale))
	return nil
}

// decimalOf takes a stored numeric apart.
func decimalOf(raw []byte) *decimal {
	form, v, scale, ok := tailrace.DecimalParts(raw)
	d := &decimal{form: form, scale: scale}
	switch {
	case form != tailrace.DecimalFinite:
	case ok:
		d.neg = v < 0
		if v != 0 {
			d.digits = strconv.AppendUint(nil, magnitude(v), 10)
		}
	default:
		b := tailrace.DecimalBig(raw)
		d.neg = b.Sign() < 0
		d.digits = b.Abs(b).Append(nil, 10)
	}
	return d
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// appendNumeric is hot for values that fit 64 bits, and allocates only for larger ones.
func appendNumeric(dst, raw []byte, _ *session) []byte {
	form, v, scale, ok := tailrace.DecimalParts(raw)
	switch {
	case form == tailrace.DecimalNaN:
		return append(dst, "NaN"...)
	case form == tailrace.DecimalInf:
		return append(dst, "Infinity"...)
	case form == tailrace.DecimalNegInf:
		return append(dst, "-Infinity"...)
	case !ok:
		d := decimalOf(raw)
		if d.neg {
			dst = append(dst, '-')
		}
		return appendPoint(dst, d.digits, d.scale)
	}
	if v < 0 {
		dst = append(dst, '-')
	}
	if scale == 0 {
		return strconv.AppendUint(dst, magnitude(v), 10)
	}
	var buf [20]byte
	return appendPoint(dst, strconv.AppendUint(buf[:0], magnitude(v), 10), scale)
}

// appendPoint writes digits with the last scale of them after the point.
func appendPoint(dst, digits []byte, scale int) []byte {
	whole := len(digits) - scale
	if whole <= 0 {
		dst = append(dst, '0')
	} else {
		dst = append(dst, digits[:whole]...)
	}
	if scale == 0 {
		return dst
	}
	dst = append(dst, '.')
	for ; whole < 0; whole++ {
		dst = append(dst, '0')
	}
	return append(dst, digits[whole:]...)
}
