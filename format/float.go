package format

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"tailrace"
)

// parseFloat reads what C's strtod reads (decimal and hexadecimal numbers, inf, infinity, nan) with blanks around it.
func parseFloat(text, typeName string, bits int) (float64, error) {
	s := text
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	n, number := floatToken(s)
	if n == 0 {
		return 0, badSyntax(typeName, text)
	}
	v, err := strconv.ParseFloat(number, bits)
	if err != nil || v == 0 && !zeroToken(number) {
		shown := s[:n]
		if bits == 32 {
			shown = text
		}
		return 0, errorf(codeOutOfRange, "\"%s\" is out of range for type %s", shown, typeName)
	}
	if trimSpace(s[n:]) != "" {
		return 0, badSyntax(typeName, text)
	}
	return v, nil
}

// floatToken is the length of the number that s begins with and its form for strconv.
func floatToken(s string) (int, string) {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	for _, word := range [...]string{"infinity", "inf", "nan"} {
		if foldPrefix(s[i:], word) {
			if word == "nan" {
				return i + 3 + nanPayload(s[i+3:]), "nan"
			}
			return i + len(word), s[:i+len(word)]
		}
	}
	hex := len(s) > i+2 && s[i] == '0' && lower(s[i+1]) == 'x'
	digit, exponent := isDigit, byte('e')
	if hex {
		digit, exponent = func(c byte) bool { return hexDigit(c) >= 0 }, 'p'
	}
	j := i
	if hex {
		j += 2
	}
	digits := 0
	for ; j < len(s) && digit(s[j]); j++ {
		digits++
	}
	if j < len(s) && s[j] == '.' {
		j++
		for ; j < len(s) && digit(s[j]); j++ {
			digits++
		}
	}
	if digits == 0 {
		if hex {
			return i + 1, s[:i+1] // just the 0 of 0x
		}
		return 0, ""
	}
	k := j
	if k < len(s) && lower(s[k]) == exponent {
		k++
		if k < len(s) && (s[k] == '-' || s[k] == '+') {
			k++
		}
		start := k
		for k < len(s) && isDigit(s[k]) {
			k++
		}
		if k > start {
			return k, s[:k]
		}
	}
	if hex {
		return j, s[:j] + "p0"
	}
	return j, s[:j]
}

// nanPayload is the length of what C allows after nan, (letters and digits), which is not kept.
func nanPayload(s string) int {
	if s == "" || s[0] != '(' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		if s[i] == ')' {
			return i + 1
		}
		if !isDigit(s[i]) && !isAlpha(s[i]) && s[i] != '_' {
			break
		}
	}
	return 0
}

// zeroToken reports whether a number that was read as 0 is 0, and not too small.
func zeroToken(number string) bool {
	for _, c := range []byte(number) {
		switch {
		case lower(c) == 'e' || lower(c) == 'p':
			return true
		case lower(c) == 'x':
			return strings.Trim(number[strings.IndexAny(number, "xX")+1:strings.IndexAny(number, "pP")], "0.") == ""
		case c >= '1' && c <= '9':
			return false
		}
	}
	return true
}

func parseFloat4(c *tailrace.Column, _ tailrace.Type, text string, _ *Settings) error {
	v, err := parseFloat(text, "real", 32)
	if err == nil {
		c.AppendInt32(int32(math.Float32bits(float32(v))))
	}
	return err
}

func parseFloat8(c *tailrace.Column, _ tailrace.Type, text string, _ *Settings) error {
	v, err := parseFloat(text, "double precision", 64)
	if err != nil {
		return err
	}
	bits := math.Float64bits(v)
	if v != v {
		bits = 0x7ff8 << 48 // PostgreSQL's NaN
	}
	c.AppendInt64(int64(bits))
	return nil
}

func appendFloat4(dst, raw []byte, s *session) []byte {
	return appendFloat(dst, float64(math.Float32frombits(le32(raw))), 32, s.ExtraFloatDigits)
}

func appendFloat8(dst, raw []byte, s *session) []byte {
	return appendFloat(dst, math.Float64frombits(le64(raw)), 64, s.ExtraFloatDigits)
}

// appendFloat prints v with the fewest digits that read back as v when extra is positive, else with 15 (real: 6) and extra digits.
func appendFloat(dst []byte, v float64, bits, extra int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	}
	digits, least, end := 15, 1e-4, 1e15 // numbers in [least, end) print without an exponent
	if bits == 32 {
		digits, least, end = 6, float64(float32(1e-4)), 1e6
	}
	if extra <= 0 {
		return strconv.AppendFloat(dst, v, 'g', max(1, digits+extra), 64)
	}
	abs := math.Abs(v)
	if v == 0 || abs >= least && abs < end {
		return strconv.AppendFloat(dst, v, 'f', -1, bits)
	}
	return appendShortest(dst, v, bits)
}

// appendShortest prints v in exponent form. PostgreSQL's shortest digits never lie exactly on the border between v and its neighbour, where only the
// rule of rounding to even makes them read back as v; strconv's may. Such borders are whole numbers with an exact power of ten.
func appendShortest(dst []byte, v float64, bits int) []byte {
	start := len(dst)
	dst = strconv.AppendFloat(dst, v, 'e', -1, bits)
	least := 1e15
	if bits == 32 {
		least = 1e6
	}
	if abs := math.Abs(v); abs < least || abs > 1e40 || !onBorder(string(dst[start:]), v, bits) {
		return dst
	}
	digits := 0
	for _, c := range dst[start:] {
		if c == 'e' {
			break
		}
		if isDigit(c) {
			digits++
		}
	}
	for ; digits < 18; digits++ { // one digit more, until it is inside
		dst = strconv.AppendFloat(dst[:start], v, 'e', digits, bits)
		if back, err := strconv.ParseFloat(string(dst[start:]), bits); err == nil && back == v && !onBorder(string(dst[start:]), v, bits) {
			break
		}
	}
	return dst
}

// onBorder reports whether the number that text spells lies exactly in the middle between v and a neighbour.
func onBorder(text string, v float64, bits int) bool {
	exact, ok := new(big.Float).SetPrec(300).SetString(text)
	if !ok {
		return false
	}
	for _, to := range [...]float64{math.Inf(-1), math.Inf(1)} {
		next := math.Nextafter(v, to)
		if bits == 32 {
			next = float64(math.Nextafter32(float32(v), float32(to)))
		}
		middle := new(big.Float).SetPrec(300).SetFloat64(v)
		middle.Add(middle, new(big.Float).SetPrec(300).SetFloat64(next)).Quo(middle, big.NewFloat(2))
		if middle.Cmp(exact) == 0 {
			return true
		}
	}
	return false
}
