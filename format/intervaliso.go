package format

import (
	"math"
	"strconv"
	"strings"
)

// readISO reads ISO 8601: P1Y2M3DT4H5M6S with designators, P0001-02-03T04:05:06 or P00010203T040506 without.
func (r *intervalReader) readISO(text string) dateFault {
	if len(text) < 2 || text[0] != 'P' {
		return faultFormat
	}
	rest := text[1:]
	inDate, any := true, false
	for rest != "" {
		if rest[0] == 'T' {
			inDate, any = false, false
			rest = rest[1:]
			continue
		}
		width := isoWidth(rest)
		v, part, after, fault := isoNumber(rest)
		if fault != faultNone {
			return fault
		}
		designator := byte(0)
		if after != "" {
			designator = after[0]
			after = after[1:]
		}
		rest = after
		if unit := isoUnit(designator, inDate); unit != 0 {
			if _, ok := r.add(v, part, unit); !ok {
				return faultRange
			}
			any = true
			continue
		}
		if inDate {
			again, fault := r.isoDate(v, part, designator, &rest, width == 8 && !any, any)
			if fault != faultNone || !again {
				return fault
			}
			inDate, any = false, false
			continue
		}
		return r.isoClock(v, part, designator, rest, width == 6 && !any, any)
	}
	return faultNone
}

// isoUnit is the unit that a designator stands for, 0 when it is none.
func isoUnit(designator byte, inDate bool) int {
	switch {
	case inDate && designator == 'Y':
		return unitYear
	case inDate && designator == 'M':
		return unitMonth
	case inDate && designator == 'W':
		return unitWeek
	case inDate && designator == 'D':
		return unitDay
	case !inDate && designator == 'H':
		return unitHour
	case !inDate && designator == 'M':
		return unitMinute
	case !inDate && designator == 'S':
		return unitSecond
	}
	return 0
}

// isoDate reads a date without designators, whose first number is v. again is true when a time follows.
func (r *intervalReader) isoDate(v int64, part float64, next byte, rest *string, packed, any bool) (again bool, fault dateFault) {
	if packed && (next == 'T' || next == 0) {
		if !r.addAll(v/10_000, 0, unitYear, v/100%100, 0, unitMonth, v%100, part, unitDay) {
			return false, faultRange
		}
		return next == 'T', faultNone
	}
	if any || next != 'T' && next != 0 && next != '-' {
		return false, faultFormat
	}
	if _, ok := r.add(v, part, unitYear); !ok {
		return false, faultRange
	}
	for _, unit := range [...]int{unitMonth, unitDay} {
		if next != '-' {
			return next == 'T', faultNone
		}
		v, part, after, fault := isoNumber(*rest)
		if fault != faultNone {
			return false, fault
		}
		if _, ok := r.add(v, part, unit); !ok {
			return false, faultRange
		}
		next = 0
		if after != "" {
			next = after[0]
			if next != 'T' && (next != '-' || unit == unitDay) {
				return false, faultFormat
			}
			after = after[1:]
		}
		*rest = after
	}
	return next == 'T', faultNone
}

// isoClock reads a time without designators, whose first number is v, to the end.
func (r *intervalReader) isoClock(v int64, part float64, next byte, rest string, packed, any bool) dateFault {
	if packed && next == 0 {
		if !r.addAll(v/10_000, 0, unitHour, v/100%100, 0, unitMinute, v%100, 0, unitSecond) || !r.addMicros(0, part, 1) {
			return faultRange
		}
		return faultNone
	}
	if any || next != 0 && next != ':' {
		return faultFormat
	}
	if _, ok := r.add(v, part, unitHour); !ok {
		return faultRange
	}
	for _, unit := range [...]int{unitMinute, unitSecond} {
		if next == 0 {
			return faultNone
		}
		v, part, after, fault := isoNumber(rest)
		if fault != faultNone {
			return fault
		}
		if _, ok := r.add(v, part, unit); !ok {
			return faultRange
		}
		next = 0
		if after != "" {
			if next = after[0]; next != ':' || unit == unitSecond {
				return faultFormat
			}
			after = after[1:]
		}
		rest = after
	}
	return faultNone
}

func (r *intervalReader) addAll(a int64, aPart float64, aUnit int, b int64, bPart float64, bUnit int, c int64, cPart float64, cUnit int) bool {
	_, ok := r.add(a, aPart, aUnit)
	if ok {
		_, ok = r.add(b, bPart, bUnit)
	}
	if ok {
		_, ok = r.add(c, cPart, cUnit)
	}
	return ok
}

// isoWidth counts the digits before the point.
func isoWidth(text string) int {
	text = strings.TrimPrefix(text, "-")
	return len(text) - len(strings.TrimLeft(text, "0123456789"))
}

// isoNumber reads a number with perhaps a fraction and an exponent, at most 1e15.
func isoNumber(text string) (v int64, part float64, rest string, fault dateFault) {
	if text == "" || !isDigit(text[0]) && text[0] != '-' && text[0] != '.' {
		return 0, 0, "", faultFormat
	}
	n, number := floatToken(text)
	if n == 0 {
		return 0, 0, "", faultFormat
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, 0, "", faultFormat
	}
	if math.IsNaN(f) || f < -1e15 || f > 1e15 {
		return 0, 0, "", faultRange
	}
	whole := math.Trunc(f)
	return int64(whole), f - whole, text[n:], faultNone
}
