package format

import "strings"

// A date, time or interval is first split into fields by its characters alone; what a field means is decided later, from the fields
// before it.
type fieldKind uint8

const (
	fieldNumber  fieldKind = iota // digits, perhaps with a point
	fieldDate                     // digits and two separators, or digits and letters; also a zone's name with punctuation
	fieldTime                     // digits and colons
	fieldWord                     // letters
	fieldSpecial                  // a sign and letters: -infinity
	fieldSigned                   // a sign and digits, colons, points, hyphens: a zone's offset or a signed number
)

type field struct {
	kind fieldKind
	text string // in lower case
}

const (
	maxFields = 25 // PostgreSQL's MAXDATEFIELDS
	// Room for all fields with a byte after each, as PostgreSQL has it. A longer input is malformed.
	maxDateText      = 129
	maxTimestampText = 153
	maxIntervalText  = 256
)

// fieldLexer walks over text.
type fieldLexer struct {
	text  string
	at    int
	start int
}

func (l *fieldLexer) peek() byte {
	if l.at < len(l.text) {
		return l.text[l.at]
	}
	return 0
}

func (l *fieldLexer) skip(accept func(byte) bool) {
	for l.at < len(l.text) && accept(l.text[l.at]) {
		l.at++
	}
}

// splitFields splits text. ok is false when it holds a character that belongs to no field, or too much.
func splitFields(text string, room int) (fields []field, ok bool) {
	fields = make([]field, 0, 8)
	l := fieldLexer{text: text}
	used := 0
	for l.at < len(text) {
		c := text[l.at]
		if isSpace(c) {
			l.at++
			continue
		}
		if len(fields) >= maxFields {
			return nil, false
		}
		l.start = l.at
		var kind fieldKind
		body := ""
		switch {
		case isDigit(c):
			kind = l.number()
		case c == '.':
			l.at++
			l.skip(isDigit)
			kind = fieldNumber
		case isAlpha(c):
			kind = l.word()
		case c == '+' || c == '-':
			if kind, body, ok = l.signed(); !ok {
				return nil, false
			}
		case isPunct(c):
			l.at++
			continue
		default:
			return nil, false
		}
		if body == "" {
			body = text[l.start:l.at]
		}
		if used+len(body)+1 > room-1 {
			return nil, false
		}
		used += len(body) + 1
		fields = append(fields, field{kind, lowerASCII(body)})
	}
	return fields, true
}

// number reads a field that begins with a digit.
func (l *fieldLexer) number() fieldKind {
	l.skip(isDigit)
	switch c := l.peek(); c {
	case ':':
		l.skip(func(b byte) bool { return isDigit(b) || b == ':' || b == '.' })
		return fieldTime
	case '-', '/', '.':
		l.at++
		if !isDigit(l.peek()) { // a month's name may follow
			l.skip(func(b byte) bool { return isDigit(b) || isAlpha(b) || b == c })
			return fieldDate
		}
		l.skip(isDigit)
		if l.peek() == c {
			l.skip(func(b byte) bool { return isDigit(b) || b == c })
			return fieldDate
		}
		if c == '.' {
			return fieldNumber
		}
		return fieldDate
	}
	return fieldNumber
}

// word reads a field that begins with a letter: a word, or a date or zone name that goes on with punctuation or digits.
func (l *fieldLexer) word() fieldKind {
	l.skip(isAlpha)
	c := l.peek()
	if c != '-' && c != '/' && c != '.' {
		if c != '+' && !isDigit(c) {
			return fieldWord
		}
		if _, known := lookupWord(dateWords, lowerASCII(l.text[l.start:l.at])); known {
			return fieldWord
		}
	}
	l.skip(func(b byte) bool {
		return isDigit(b) || isAlpha(b) || b == '+' || b == '-' || b == '/' || b == '_' || b == '.' || b == ':'
	})
	return fieldDate
}

// signed reads a field that begins with a sign, which blanks may follow.
func (l *fieldLexer) signed() (kind fieldKind, body string, ok bool) {
	sign := l.text[l.at : l.at+1]
	l.at++
	l.skip(isSpace)
	start := l.at
	switch c := l.peek(); {
	case isDigit(c):
		kind = fieldSigned
		l.skip(func(b byte) bool { return isDigit(b) || b == ':' || b == '.' || b == '-' })
	case isAlpha(c):
		kind = fieldSpecial
		l.skip(isAlpha)
	default:
		return 0, "", false
	}
	return kind, sign + l.text[start:l.at], true
}

// lowerASCII is strings.ToLower for letters of ASCII only; it returns s itself when there is nothing to change.
func lowerASCII(s string) string {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			b := []byte(s)
			for j := range b {
				b[j] = lower(b[j])
			}
			return string(b)
		}
	}
	return s
}

// cInt reads as C's strtol does: a sign and digits. rest is what follows, all of s when there is no number. ok is false when it does not fit 32 bits.
func cInt(s string) (v int, rest string, ok bool) {
	n, rest, ok := cInt64(s)
	return int(n), rest, ok && n == int64(int32(n))
}

// cInt64 is cInt for 64 bits.
func cInt64(s string) (v int64, rest string, ok bool) {
	i, neg := 0, false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		i++
	}
	start := i
	for ; i < len(s) && isDigit(s[i]); i++ {
		d := int64(s[i] - '0')
		if v < (-1<<63+d)/10 {
			return 0, "", false
		}
		v = 10*v - d
	}
	if i == start {
		return 0, s, true
	}
	if !neg {
		if v == -1<<63 {
			return 0, "", false
		}
		v = -v
	}
	return v, s[i:], true
}

// fraction reads a point and digits to the end, or a point alone.
func fraction(s string) (v float64, ok bool) {
	if strings.Trim(s[1:], "0123456789") != "" {
		return 0, false
	}
	n, number := floatToken("0" + s)
	if n == 0 {
		return 0, false
	}
	v, err := parseFloat(number, "", 64)
	return v, err == nil
}
