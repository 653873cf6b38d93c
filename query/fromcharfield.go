package query

import (
	"strings"
	"time"
)

// shortened are the first length letters of names of months or weekdays.
func shortened(names []string, length int) []string {
	var out []string
	for _, n := range names {
		out = append(out, n[:length])
	}
	return out
}

var (
	monthNames = func() (out []string) {
		for m := time.January; m <= time.December; m++ {
			out = append(out, m.String())
		}
		return out
	}()
	dayNames = func() (out []string) {
		for d := time.Sunday; d <= time.Saturday; d++ {
			out = append(out, d.String())
		}
		return out
	}()
	romanMonths = strings.Fields("XII XI X IX VIII VII VI V IV III II I")
)

// simple are the keywords that read one number into one field, and its digits.
func (r *charReader) simple(key string) (field *int, size int) {
	switch key {
	case "HH24":
		return &r.hh, 2
	case "HH", "HH12":
		r.twelve = true
		return &r.hh, 2
	case "MI":
		return &r.mi, 2
	case "SS":
		return &r.ss, 2
	case "SSSS", "SSSSS":
		return &r.ssss, len(key)
	case "MM":
		return &r.mm, 2
	case "DDD":
		return &r.ddd, 3
	case "IDDD":
		return &r.ddd, 3
	case "DD":
		return &r.dd, 2
	case "D":
		return &r.d, 1
	case "WW", "IW":
		return &r.ww, 2
	case "W":
		return &r.w, 1
	case "CC":
		return &r.cc, 2
	case "J":
		return &r.j, 1
	}
	return nil, 0
}

// field reads one keyword.
func (r *charReader) field(i int, n charNode) error {
	if f, size := r.simple(n.key); f != nil {
		_, err := r.integer(f, size, i)
		return err
	}
	switch n.key {
	case "FX":
		r.fixed = true
	case "Q": // no date follows from it
		_, err := r.integer(nil, 1, i)
		return err
	case "MS", "US", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		return r.fraction(i, n)
	case "ID":
		if _, err := r.integer(&r.d, 1, i); err != nil {
			return err
		}
		if r.d++; r.d > 7 {
			r.d = 1
		}
	case "Y,YYY", "YYYY", "IYYY", "YYY", "IYY", "YY", "IY", "Y", "I":
		return r.years(i, n)
	case "TZH", "TZM", "TZ", "tz", "OF":
		return r.zone(i, n)
	default:
		return r.named(n)
	}
	return nil
}

// fraction reads digits behind the point of a second.
func (r *charReader) fraction(i int, n charNode) error {
	size, field := 6, &r.us
	switch {
	case n.key == "MS":
		size, field = 3, &r.ms
	case n.key != "US":
		size = int(n.key[2] - '0')
	}
	used, err := r.integer(field, size, i)
	if err != nil {
		return err
	}
	for places := map[bool]int{true: 3, false: 6}[n.key == "MS"]; used < places; used++ {
		*field *= 10
	}
	return nil
}

// years reads a year. One of fewer than four digits is the one nearest to 2020.
func (r *charReader) years(i int, n charNode) error {
	size := len(strings.TrimPrefix(n.key, "I"))
	if n.key == "I" {
		size = 1
	}
	if strings.HasPrefix(n.key, "I") && n.key != "I" {
		size = len(n.key)
	}
	r.digits = size
	if n.key == "Y,YYY" {
		r.digits = 4
		before, behind, ok := strings.Cut(r.text[r.at:], ",")
		thousands, used := leadingInt(before)
		behind = behind[:min(len(behind), 3)]
		rest, more := leadingInt(behind)
		if !ok || used != len(before) || used == 0 || more == 0 {
			return charError("", "", "invalid input string for \"Y,YYY\"")
		}
		r.at += used + 1 + more
		return set(&r.year, int(thousands*1000+rest), n)
	}
	used, err := r.integer(&r.year, size, i)
	if err != nil || used >= 4 || size == 4 {
		return err
	}
	switch y := r.year; {
	case y < 70:
		r.year += 2000
	case y < 100:
		r.year += 1900
	case y < 520:
		r.year += 2000
	case y < 1000:
		r.year += 1000
	}
	return nil
}

func (r *charReader) zone(i int, n charNode) error {
	switch n.key {
	case "TZH":
		r.zoneSign = 1
		switch c := r.text[r.at]; {
		case c == '-':
			r.zoneSign = -1
			r.at++
		case c == '+' || c == ' ':
			r.at++
		case r.extra > 0 && r.at > 0 && r.text[r.at-1] == '-':
			r.zoneSign = -1
		}
		_, err := r.integer(&r.zoneHours, 2, i)
		return err
	case "TZM":
		if r.zoneSign == 0 {
			r.zoneSign = 1
		}
		_, err := r.integer(&r.zoneMinutes, 2, i)
		return err
	}
	return raise(codeUnsupported, "formatting field \"%s\" is only supported in to_char", n.name)
}

// named reads a keyword whose values are words.
func (r *charReader) named(n charNode) error {
	var names []string
	field, of := &r.mm, func(i int) int { return i + 1 }
	half := func(i int) int { return i % 2 }
	switch strings.ToUpper(n.key) {
	case "MONTH":
		names = monthNames
	case "MON":
		names = shortened(monthNames, 3)
	case "RM":
		names, of = romanMonths, func(i int) int { return 12 - i }
	case "DAY":
		names, field = dayNames, &r.d
	case "DY":
		names, field = shortened(dayNames, 3), &r.d
	case "AM", "PM":
		names, field, of, r.twelve = []string{"am", "pm"}, &r.pm, half, true
	case "A.M.", "P.M.":
		names, field, of, r.twelve = []string{"a.m.", "p.m."}, &r.pm, half, true
	case "AD", "BC":
		names, field, of = []string{"ad", "bc"}, &r.bc, half
	default:
		names, field, of = []string{"a.d.", "b.c."}, &r.bc, half
	}
	i, err := r.word(names, n)
	if err != nil {
		return err
	}
	return set(field, of(i), n)
}
