package format

import "strconv"

// span is an interval split for printing.
type span struct {
	years, months, days, hours, minutes, seconds, micros int64
}

func spanOf(v interval) span {
	s := span{years: int64(v.months / 12), months: int64(v.months % 12), days: int64(v.days)}
	s.hours = v.micros / microsPerHour
	s.minutes = v.micros % microsPerHour / microsPerMinute
	s.seconds = v.micros % microsPerMinute / microsPerSecond
	s.micros = v.micros % microsPerSecond
	return s
}

func (s *span) negativeTime() bool {
	return s.hours < 0 || s.minutes < 0 || s.seconds < 0 || s.micros < 0
}

func (s *span) hasTime() bool {
	return s.hours != 0 || s.minutes != 0 || s.seconds != 0 || s.micros != 0
}

func appendInterval(dst, raw []byte, s *session) []byte {
	v := spanOf(intervalOf(raw))
	switch s.IntervalStyle {
	case IntervalSQL:
		return v.appendSQL(dst)
	case IntervalISO:
		return v.appendISO(dst)
	case IntervalVerbose:
		return v.appendVerbose(dst)
	}
	return v.appendPostgres(dst)
}

// appendClock writes hh:mm:ss.ffffff without a sign; the hour has at least width digits.
func (s *span) appendClock(dst []byte, width int) []byte {
	hours := abs64(s.hours)
	if width == 2 && hours < 10 {
		dst = append(dst, '0')
	}
	dst = append(strconv.AppendInt(dst, hours, 10), ':')
	dst = append(appendTwo(dst, int(abs64(s.minutes))), ':')
	return appendFraction(appendTwo(dst, int(abs64(s.seconds))), int(abs64(s.micros)))
}

// appendPostgres writes 1 year 2 mons -3 days +04:05:06.789. A plus sign follows a negative part.
func (s *span) appendPostgres(dst []byte) []byte {
	first, minus := true, false
	for _, p := range [...]struct {
		v    int64
		unit string
	}{{s.years, "year"}, {s.months, "mon"}, {s.days, "day"}} {
		if p.v == 0 {
			continue
		}
		if !first {
			dst = append(dst, ' ')
		}
		if minus && p.v > 0 {
			dst = append(dst, '+')
		}
		dst = append(append(strconv.AppendInt(dst, p.v, 10), ' '), p.unit...)
		if p.v != 1 {
			dst = append(dst, 's')
		}
		first, minus = false, p.v < 0
	}
	if !first && !s.hasTime() {
		return dst
	}
	if !first {
		dst = append(dst, ' ')
	}
	if s.negativeTime() {
		dst = append(dst, '-')
	} else if minus {
		dst = append(dst, '+')
	}
	return s.appendClock(dst, 2)
}

// appendVerbose writes @ 1 year 2 mons -3 days 4 hours 5 mins 6.789 secs; the sign of the first part is turned into "ago".
func (s *span) appendVerbose(dst []byte) []byte {
	dst = append(dst, '@')
	first, ago := true, false
	for _, p := range [...]struct {
		v    int64
		unit string
	}{{s.years, "year"}, {s.months, "mon"}, {s.days, "day"}, {s.hours, "hour"}, {s.minutes, "min"}} {
		if p.v == 0 {
			continue
		}
		v := p.v
		if first {
			ago = v < 0
		}
		if ago {
			v = -v
		}
		dst = append(append(strconv.AppendInt(append(dst, ' '), v, 10), ' '), p.unit...)
		if v != 1 {
			dst = append(dst, 's')
		}
		first = false
	}
	if s.seconds != 0 || s.micros != 0 {
		dst = append(dst, ' ')
		minus := s.seconds < 0 || s.seconds == 0 && s.micros < 0
		if first {
			ago = minus
		} else if minus != ago {
			dst = append(dst, '-')
		}
		dst = appendFraction(strconv.AppendInt(dst, abs64(s.seconds), 10), int(abs64(s.micros)))
		dst = append(dst, " sec"...)
		if abs64(s.seconds) != 1 || s.micros != 0 {
			dst = append(dst, 's')
		}
		first = false
	}
	if first {
		dst = append(dst, " 0"...)
	}
	if ago {
		dst = append(dst, " ago"...)
	}
	return dst
}

// appendISO writes P1Y2M-3DT4H5M6.789S.
func (s *span) appendISO(dst []byte) []byte {
	if *s == (span{}) {
		return append(dst, "PT0S"...)
	}
	part := func(v int64, designator byte) {
		if v != 0 {
			dst = append(strconv.AppendInt(dst, v, 10), designator)
		}
	}
	dst = append(dst, 'P')
	part(s.years, 'Y')
	part(s.months, 'M')
	part(s.days, 'D')
	if s.hasTime() {
		dst = append(dst, 'T')
	}
	part(s.hours, 'H')
	part(s.minutes, 'M')
	if s.seconds != 0 || s.micros != 0 {
		if s.seconds < 0 || s.micros < 0 {
			dst = append(dst, '-')
		}
		dst = append(appendFraction(strconv.AppendInt(dst, abs64(s.seconds), 10), int(abs64(s.micros))), 'S')
	}
	return dst
}

// appendSQL writes the SQL standard's literals, 1-2 or 3 4:05:06; what is neither gets a sign on every part.
func (s *span) appendSQL(dst []byte) []byte {
	yearMonth := s.years != 0 || s.months != 0
	negative := s.years < 0 || s.months < 0 || s.days < 0 || s.negativeTime()
	positive := s.years > 0 || s.months > 0 || s.days > 0 || s.hours > 0 || s.minutes > 0 || s.seconds > 0 || s.micros > 0
	switch {
	case !negative && !positive:
		return append(dst, '0')
	case negative && positive || yearMonth && (s.days != 0 || s.hasTime()):
		dst = append(strconv.AppendInt(appendSign(dst, s.years < 0 || s.months < 0), abs64(s.years), 10), '-')
		dst = append(strconv.AppendInt(dst, abs64(s.months), 10), ' ')
		dst = append(strconv.AppendInt(appendSign(dst, s.days < 0), abs64(s.days), 10), ' ')
		return s.appendClock(appendSign(dst, s.negativeTime()), 1)
	case negative:
		dst = append(dst, '-')
	}
	if yearMonth {
		dst = append(strconv.AppendInt(dst, abs64(s.years), 10), '-')
		return strconv.AppendInt(dst, abs64(s.months), 10)
	}
	if s.days != 0 {
		dst = append(strconv.AppendInt(dst, abs64(s.days), 10), ' ')
	}
	return s.appendClock(dst, 1)
}

func appendSign(dst []byte, negative bool) []byte {
	if negative {
		return append(dst, '-')
	}
	return append(dst, '+')
}
