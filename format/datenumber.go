package format

import (
	"math"
	"strconv"
	"strings"
)

// date reads a date with separators: 1999-01-08, 1/8/1999, 08-Jan-99, 1999.008.
func (r *dateReader) date(text string) (got fieldSet, fault dateFault) {
	var parts []string
	for rest := text; rest != "" && len(parts) < maxFields; {
		for rest != "" && !isDigit(rest[0]) && !isAlpha(rest[0]) {
			rest = rest[1:]
		}
		if rest == "" {
			return 0, faultFormat
		}
		class := isAlpha
		if isDigit(rest[0]) {
			class = isDigit
		}
		n := 0
		for n < len(rest) && class(rest[n]) {
			n++
		}
		parts = append(parts, rest[:n])
		rest = rest[min(n+1, len(rest)):] // one separator, or one character of anything
	}
	seen := r.seen
	textMonth := false
	for i, part := range parts { // first the month's name, which leaves no doubt
		if !isAlpha(part[0]) {
			continue
		}
		w, ok := lookupWord(dateWords, part)
		if ok && w.kind == kindIgnore {
			continue
		}
		if !ok || w.kind != kindMonth || seen&setMonth != 0 {
			return 0, faultFormat
		}
		r.month, textMonth = w.value, true
		seen |= setMonth
		got |= setMonth
		parts[i] = ""
	}
	for _, part := range parts {
		if part == "" {
			continue
		}
		set, fault := r.number(part, seen, textMonth)
		if fault != faultNone {
			return 0, fault
		}
		if seen&set != 0 {
			return 0, faultFormat
		}
		seen |= set
		got |= set
	}
	if seen&^(kindDayOfYear.set()|setZone) != setDate {
		return 0, faultFormat
	}
	return got, faultNone
}

// number reads a number whose meaning follows from what of the date has been seen, and from DateOrder.
func (r *dateReader) number(text string, seen fieldSet, textMonth bool) (fieldSet, dateFault) {
	v, rest, ok := cInt(text)
	switch {
	case !ok:
		return 0, faultRange
	case rest == text:
		return 0, faultFormat
	case strings.HasPrefix(rest, "."):
		if len(text)-len(rest) > 2 {
			return r.runTogether(text, seen|setDate)
		}
		if fault := r.setFraction(rest); fault != faultNone {
			return 0, fault
		}
	case rest != "":
		return 0, faultFormat
	}
	if len(text) == 3 && seen&setDate == setYear && v >= 1 && v <= 366 {
		r.dayOfYear = v
		return kindDayOfYear.set() | setMonth | setDay, faultNone
	}
	long := len(text) >= 3 // then it can only be a year
	switch seen & setDate {
	case 0:
		switch {
		case long || r.s.DateOrder == OrderYMD:
			return r.setYear(v, text)
		case r.s.DateOrder == OrderDMY:
			return r.setDay(v)
		}
		return r.setMonth(v)
	case setYear:
		return r.setMonth(v)
	case setMonth:
		if textMonth && (long || r.s.DateOrder == OrderYMD) {
			return r.setYear(v, text)
		}
		return r.setDay(v)
	case setYear | setMonth:
		if textMonth && long && r.twoDigits { // what looked like a year was the day
			r.day, r.year, r.twoDigits = r.year, v, false
			return setDay, faultNone
		}
		return r.setDay(v)
	case setDay:
		return r.setMonth(v)
	case setMonth | setDay:
		return r.setYear(v, text)
	case setDate:
		return r.runTogether(text, seen)
	}
	return 0, faultFormat
}

func (r *dateReader) setYear(v int, text string) (fieldSet, dateFault) {
	r.year, r.twoDigits = v, len(text) <= 2
	return setYear, faultNone
}

func (r *dateReader) setMonth(v int) (fieldSet, dateFault) {
	r.month = v
	return setMonth, faultNone
}

func (r *dateReader) setDay(v int) (fieldSet, dateFault) {
	r.day = v
	return setDay, faultNone
}

// runTogether reads a date or time without separators: 19990108, 990108, 040506, 040506.789, 0405.
func (r *dateReader) runTogether(text string, seen fieldSet) (fieldSet, dateFault) {
	if point := strings.IndexByte(text, '.'); point >= 0 {
		r.micro = 0
		if tail := text[point:]; len(tail) > 1 {
			n, number := floatToken("0" + tail)
			v, err := strconv.ParseFloat(number, 64)
			if n == 0 || err != nil {
				return 0, faultFormat
			}
			r.micro = int(math.RoundToEven(v * 1e6))
		}
		text = text[:point]
	} else if seen&setDate != setDate && len(text) >= 6 {
		r.day = atoi(text[len(text)-2:])
		r.month = atoi(text[len(text)-4 : len(text)-2])
		r.year = atoi(text[:len(text)-4])
		if len(text) == 6 {
			r.twoDigits = true
		}
		return setDate, faultNone
	}
	if seen&setTime == setTime {
		return 0, faultFormat
	}
	switch len(text) {
	case 6:
		r.second = atoi(text[4:])
	case 4:
		r.second = 0
	default:
		return 0, faultFormat
	}
	r.hour, r.minute = atoi(text[:2]), atoi(text[2:4])
	return setTime, faultNone
}

// atoi reads digits up to the first other character; a value beyond 32 bits wraps, as in C.
func atoi(text string) int {
	v := 0
	for i := 0; i < len(text) && isDigit(text[i]); i++ {
		v = 10*v + int(text[i]-'0')
		if v > math.MaxInt64/100 {
			break
		}
	}
	return int(int32(v))
}

// clock reads hh:mm, hh:mm:ss.ffffff or mm:ss.ffffff. The hour may be any; the caller knows its limit.
func (r *dateReader) clock(text string) (fieldSet, dateFault) {
	hour, minute, second, micro, fault := readClock(text, false)
	if fault == faultNone && hour > math.MaxInt32 {
		fault = faultRange
	}
	r.hour, r.minute, r.second, r.micro = int(hour), minute, second, micro
	return setTime, fault
}

// readClock reads a time with colons. minutesFirst makes two parts minutes and seconds.
func readClock(text string, minutesFirst bool) (hour int64, minute, second, micro int, fault dateFault) {
	bad := func(f dateFault) (int64, int, int, int, dateFault) { return 0, 0, 0, 0, f }
	hour, rest, ok := cInt64(text)
	if !ok {
		return bad(faultRange)
	}
	if !strings.HasPrefix(rest, ":") {
		return bad(faultFormat)
	}
	if minute, rest, ok = cInt(rest[1:]); !ok {
		return bad(faultRange)
	}
	switch {
	case rest == "" && !minutesFirst:
	case rest == "" || rest[0] == '.':
		if rest != "" {
			if micro, fault = microsOf(rest); fault != faultNone {
				return bad(fault)
			}
		}
		if hour > math.MaxInt32 || hour < math.MinInt32 {
			return bad(faultRange)
		}
		second, minute, hour = minute, int(hour), 0
	case rest[0] == ':':
		if second, rest, ok = cInt(rest[1:]); !ok {
			return bad(faultRange)
		}
		if strings.HasPrefix(rest, ".") {
			if micro, fault = microsOf(rest); fault != faultNone {
				return bad(fault)
			}
		} else if rest != "" {
			return bad(faultFormat)
		}
	default:
		return bad(faultFormat)
	}
	if hour < 0 || minute < 0 || minute > 59 || second < 0 || second > 60 {
		return bad(faultRange)
	}
	return hour, minute, second, micro, faultNone
}

func microsOf(text string) (int, dateFault) {
	v, ok := fraction(text)
	if !ok {
		return 0, faultFormat
	}
	return int(math.RoundToEven(v * 1e6)), faultNone
}

// pastMidnight reports whether the time of day is beyond 24:00:00.
func (c *civil) pastMidnight() bool {
	return c.hour < 0 || c.hour > 24 || c.minute < 0 || c.minute > 59 || c.second < 0 || c.second > 60 || c.timeMicros() > microsPerDay
}

// zoneOffset reads [+-]hh, hhmm, hh:mm or hh:mm:ss as seconds west.
func zoneOffset(text string) (west int, fault dateFault) {
	if text == "" || text[0] != '+' && text[0] != '-' {
		return 0, faultFormat
	}
	hour, rest, ok := cInt(text[1:])
	minute, second := 0, 0
	switch {
	case !ok:
		return 0, faultOffset
	case strings.HasPrefix(rest, ":"):
		if minute, rest, ok = cInt(rest[1:]); !ok {
			return 0, faultOffset
		}
		if strings.HasPrefix(rest, ":") {
			if second, rest, ok = cInt(rest[1:]); !ok {
				return 0, faultOffset
			}
		}
	case rest == "" && len(text) > 3:
		hour, minute = hour/100, hour%100
	}
	const maxHour = 15
	if hour < 0 || hour > maxHour || minute < 0 || minute > 59 || second < 0 || second > 59 {
		return 0, faultOffset
	}
	if rest != "" {
		return 0, faultFormat
	}
	west = -(hour*3600 + minute*60 + second)
	if text[0] == '-' {
		west = -west
	}
	return west, faultNone
}
