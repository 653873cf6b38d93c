package query

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tailrace"
)

// charFields are what to_date and to_timestamp have read: PostgreSQL's TmFromChar. 0 is not given.
type charFields struct {
	mode                             byte // 'i' of ISO weeks, 'g' Gregorian
	hh, mi, ss, ssss, ms, us         int
	year, digits, cc                 int // digits of the year's keyword
	mm, dd, ddd, d, w, ww, j         int
	pm, bc                           int // 1 for PM and BC
	zoneSign, zoneHours, zoneMinutes int
	twelve                           bool // the clock has 12 hours
}

// charReader walks a text along a template: DCH_from_char.
type charReader struct {
	charFields
	text  string
	at    int
	nodes []charNode
	extra int // blanks passed that the template does not have
	fixed bool
}

func charError(detail, hint, format string, args ...any) *tailrace.Error {
	e := raise("22007", format, args...)
	e.Detail, e.Hint = detail, hint
	return e
}

func (r *charReader) more() bool { return r.at < len(r.text) }

func (r *charReader) blanks() {
	for r.more() && blankByte(r.text[r.at]) {
		r.at++
		r.extra++
	}
}

func (r *charReader) run() error {
	for i, n := range r.nodes {
		if !r.more() {
			break
		}
		if !r.fixed && (n.key != "" || i == 0) {
			r.blanks()
		}
		if n.key == "" {
			r.pass(n)
			continue
		}
		if err := r.calendar(n.key); err != nil {
			return err
		}
		if err := r.field(i, n); err != nil {
			return err
		}
		if !r.fixed {
			r.extra = 0
			r.blanks()
		}
	}
	return nil
}

// pass goes by a character of the template, which need not be the one of the text.
func (r *charReader) pass(n charNode) {
	if !r.more() {
		return
	}
	_, w := utf8.DecodeRuneInString(r.text[r.at:])
	switch {
	case r.fixed:
		r.at += w
	case n.kind != 'c':
		r.extra--
		if c := r.text[r.at]; blankByte(c) || separatorByte(c) {
			r.at++
			r.extra++
		}
	case r.extra > 0:
		r.extra--
	default:
		r.at += w
	}
}

func (r *charReader) calendar(key string) error {
	mode := byte(0)
	switch {
	case slices.Contains(isoKeys, key):
		mode = 'i'
	case slices.Contains(gregorianKeys, key):
		mode = 'g'
	}
	if mode != 0 && r.mode != 0 && r.mode != mode {
		return charError("", "Do not mix Gregorian and ISO week date conventions in a formatting template.", "invalid combination of date conventions")
	}
	if mode != 0 {
		r.mode = mode
	}
	return nil
}

// set gives a field its value, once.
func set(field *int, v int, n charNode) error {
	if *field != 0 && *field != v {
		return charError("This value contradicts a previous setting for the same field type.", "", "conflicting values for \"%s\" field in formatting string", n.name)
	}
	*field = v
	return nil
}

// integer reads a field of digits into one of r; size is how many it has if the next field begins right behind it.
func (r *charReader) integer(field *int, size, i int) (used int, err error) {
	n := r.nodes[i]
	from := r.at
	for r.more() && blankByte(r.text[r.at]) {
		r.at++
	}
	rest := r.text[r.at:]
	shown := rest[:min(size, len(rest))]
	hint := "If your source string is not fixed-width, try using the \"FM\" modifier."
	var v int64
	if n.fill || endsField(r.nodes, i) {
		var used int
		v, used = leadingInt(rest)
		if r.at += used; used == 0 {
			r.at = from
		}
	} else {
		if len(rest) < size {
			return 0, charError(fmt.Sprintf("Field requires %d characters, but only %d remain.", size, len(rest)), hint, "source string too short for \"%s\" formatting field", n.name)
		}
		var used int
		if v, used = leadingInt(shown); used > 0 && used < size {
			return 0, charError(fmt.Sprintf("Field requires %d characters, but only %d could be parsed.", size, used), hint, "invalid value \"%s\" for \"%s\"", shown, n.name)
		}
		r.at += used
	}
	if r.at == from {
		return 0, charError("Value must be an integer.", "", "invalid value \"%s\" for \"%s\"", shown, n.name)
	}
	if v < math.MinInt32 || v > math.MaxInt32 {
		e := raise(codeDatetime, "value for \"%s\" in source string is out of range", n.name)
		e.Detail = "Value must be in the range -2147483648 to 2147483647."
		return 0, e
	}
	if field != nil {
		err = set(field, int(v), n)
	}
	if err == nil && n.suffix {
		r.at = min(r.at+2, len(r.text))
	}
	return r.at - from, err
}

// leadingInt is C's strtol.
func leadingInt(s string) (v int64, used int) {
	for used < len(s) && blankByte(s[used]) {
		used++
	}
	from := used
	if used < len(s) && (s[used] == '-' || s[used] == '+') {
		used++
	}
	digits := used
	for used < len(s) && digitByte(s[used]) {
		used++
	}
	if used == digits {
		return 0, 0
	}
	v, err := strconv.ParseInt(s[from:used], 10, 64)
	if err != nil {
		v = math.MaxInt64
	}
	return v, used
}

// word reads one of names, in any case, and returns its number.
func (r *charReader) word(names []string, n charNode) (int, error) {
	rest := r.text[r.at:]
	for i, w := range names {
		if len(rest) >= len(w) && strings.EqualFold(rest[:len(w)], w) {
			r.at += len(w)
			return i, nil
		}
	}
	if end := strings.IndexFunc(rest, func(c rune) bool { return c < 128 && blankByte(byte(c)) }); end >= 0 {
		rest = rest[:end]
	}
	return 0, charError("The given value did not match any of the allowed values for this field.", "", "invalid value \"%s\" for \"%s\"", rest, n.name)
}
