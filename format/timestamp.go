package format

import "tailrace"

// parseDate reads a date; a time and a zone in it are checked and dropped.
func parseDate(c *tailrace.Column, _ tailrace.Type, text string, s *Settings) error {
	if days, ok := isoDate(text); ok {
		c.AppendInt32(int32(days))
		return nil
	}
	r, err := readMoment(text, "date", maxDateText, s)
	if err != nil {
		return err
	}
	days := int64(unixDays)
	switch r.special {
	case wordEarly:
		days = negInfinity32
	case wordLate:
		days = infinity32
	case wordEpoch:
	default:
		days = daysOf(r.year, r.month, r.day)
		if !r.onCalendar() || days < minDate || days >= endDate {
			return errorf(codeDateRange, "date out of range: \"%s\"", text)
		}
	}
	c.AppendInt32(int32(days))
	return nil
}

func parseTimestamp(c *tailrace.Column, t tailrace.Type, text string, s *Settings) error {
	micros, err := readTimestamp(text, "timestamp", false, s)
	if err == nil {
		c.AppendInt64(roundTimestamp(micros, t.Mod))
	}
	return err
}

func parseTimestamptz(c *tailrace.Column, t tailrace.Type, text string, s *Settings) error {
	micros, err := readTimestamp(text, "timestamp with time zone", true, s)
	if err == nil {
		c.AppendInt64(roundTimestamp(micros, t.Mod))
	}
	return err
}

// roundTimestamp rounds a finite timestamp to mod digits after the second.
func roundTimestamp(micros int64, mod int32) int64 {
	if micros == negInfinity64 || micros == infinity64 {
		return micros
	}
	return roundMicros(micros, mod)
}

// parseTime reads a time of day; a zone in it is checked and dropped.
func parseTime(c *tailrace.Column, t tailrace.Type, text string, s *Settings) error {
	fields, ok := splitFields(text, maxDateText)
	r := dateReader{s: s, timeOnly: true}
	fault := faultFormat
	if ok {
		fault = r.read(fields)
	}
	if fault != faultNone {
		return dateError(fault, "time", text, r.badZone)
	}
	c.AppendInt64(roundMicros(r.timeMicros(), t.Mod))
	return nil
}

// readMoment reads a date with perhaps a time and a zone.
func readMoment(text, typeName string, room int, s *Settings) (*dateReader, error) {
	fields, ok := splitFields(text, room)
	r := &dateReader{s: s}
	fault := faultFormat
	if ok {
		fault = r.read(fields)
	}
	if fault != faultNone {
		return nil, dateError(fault, typeName, text, r.badZone)
	}
	return r, nil
}

// readTimestamp reads a timestamp, in UTC when zoned.
func readTimestamp(text, typeName string, zoned bool, s *Settings) (int64, error) {
	if micros, ok := isoTimestamp(text, zoned, s); ok {
		return micros, nil
	}
	r, err := readMoment(text, typeName, maxTimestampText, s)
	if err != nil {
		return 0, err
	}
	switch r.special {
	case wordEarly:
		return negInfinity64, nil
	case wordLate:
		return infinity64, nil
	case wordEpoch:
		return -epochUnix * microsPerSecond, nil
	}
	outside := errorf(codeDateRange, "timestamp out of range: \"%s\"", text)
	if !r.onCalendar() {
		return 0, outside
	}
	days := daysOf(r.year, r.month, r.day)
	if days > endTimestamp/microsPerDay+1 {
		return 0, outside
	}
	micros := days*microsPerDay + r.timeMicros()
	if zoned {
		micros += int64(r.west) * microsPerSecond
	}
	if micros < minTimestamp || micros >= endTimestamp {
		return 0, outside
	}
	return micros, nil
}

// isoDate reads exactly yyyy-mm-dd, the common form, without the general reader.
func isoDate(text string) (days int64, ok bool) {
	if len(text) != 10 || text[4] != '-' || text[7] != '-' {
		return 0, false
	}
	century, ok1 := twoDigits(text)
	year, ok2 := twoDigits(text[2:])
	month, ok3 := twoDigits(text[5:])
	day, ok4 := twoDigits(text[8:])
	year += 100 * century
	if !ok1 || !ok2 || !ok3 || !ok4 || year < 1 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	return daysOf(year, month, day), true
}

func twoDigits(text string) (v int, ok bool) {
	a, b := text[0]-'0', text[1]-'0'
	return int(a)*10 + int(b), a <= 9 && b <= 9
}

// isoTimestamp reads exactly yyyy-mm-dd hh:mm:ss[.f...][+hh[:mm]] with at most six digits after the point; anything else is left to the
// general reader.
func isoTimestamp(text string, zoned bool, s *Settings) (micros int64, ok bool) {
	if len(text) < 19 || text[10] != ' ' && text[10] != 'T' || text[13] != ':' || text[16] != ':' {
		return 0, false
	}
	days, ok := isoDate(text[:10])
	hour, ok1 := twoDigits(text[11:])
	minute, ok2 := twoDigits(text[14:])
	second, ok3 := twoDigits(text[17:])
	if !ok || !ok1 || !ok2 || !ok3 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	seconds := days*86_400 + int64(hour*3600+minute*60+second)
	rest := text[19:]
	micro, unit := int64(0), int64(100_000)
	if rest != "" && rest[0] == '.' {
		for rest = rest[1:]; rest != "" && isDigit(rest[0]); rest = rest[1:] {
			if unit == 0 {
				return 0, false
			}
			micro += int64(rest[0]-'0') * unit
			unit /= 10
		}
	}
	switch {
	case rest == "" && zoned:
		offset, _ := localOffset(seconds+epochUnix, s.location())
		seconds -= int64(offset)
	case rest == "":
	case (len(rest) == 3 || len(rest) == 6 && rest[3] == ':') && (rest[0] == '+' || rest[0] == '-'):
		west, fault := zoneOffset(rest)
		if fault != faultNone {
			return 0, false
		}
		if zoned {
			seconds += int64(west)
		}
	default:
		return 0, false
	}
	return seconds*microsPerSecond + micro, true
}
