package query

import (
	"tailrace"
)

// readByTemplate reads a text as a local time by a template: the day and the microseconds of it.
func (f *frame) readByTemplate(text, format []byte) (day, us int64, fields charFields, err error) {
	nodes, ok := f.cache.value.([]charNode)
	if !ok || f.cache.pattern != string(format) {
		nodes = readTemplate(string(format))
		f.cache.pattern, f.cache.value = string(format), nodes
	}
	r := &charReader{text: string(text), nodes: nodes}
	if err := r.run(); err != nil {
		return 0, 0, r.charFields, err
	}
	bad := raise(codeDatetime, "date/time field value out of range: \"%s\"", text)
	if us, err = r.clock(bad); err != nil {
		return 0, 0, r.charFields, err
	}
	if day, err = r.date(bad); err != nil {
		return 0, 0, r.charFields, err
	}
	return day, us, r.charFields, nil
}

// clock is the time of day.
func (c *charFields) clock(bad *tailrace.Error) (int64, error) {
	hour, minute, second := c.ssss/3600, c.ssss/60%60, c.ssss%60
	if c.ss != 0 {
		second = c.ss
	}
	if c.mi != 0 {
		minute = c.mi
	}
	if c.hh != 0 {
		hour = c.hh
	}
	if c.twelve {
		if hour < 1 || hour > 12 {
			return 0, charError("", "Use the 24-hour clock, or give an hour between 1 and 12.", "hour \"%d\" is invalid for the 12-hour clock", hour)
		}
		switch {
		case c.pm == 1 && hour < 12:
			hour += 12
		case c.pm == 0 && hour == 12:
			hour = 0
		}
	}
	us := int64(c.ms)*1000 + int64(c.us)
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 || us < 0 || us >= usSecond {
		return 0, bad
	}
	return int64(hour)*usHour + int64(minute)*usMinute + int64(second)*usSecond + us, nil
}

// fullYear is the year, 0 for 1 BC; a century may complete two digits.
func (c *charFields) fullYear() int64 {
	year, cc := int64(c.year), int64(c.cc)
	if c.bc == 1 {
		cc = -cc
	}
	switch {
	case year != 0 && cc != 0 && c.digits <= 2:
		low := year % 100
		switch {
		case low == 0 && cc >= 0:
			return cc * 100
		case low == 0:
			return cc*100 + 1
		case cc >= 0:
			return low + (cc-1)*100
		}
		return (cc+1)*100 - low + 1
	case year != 0:
		if c.bc == 1 {
			year = -year
		}
		if year < 0 {
			year++
		}
		return year
	case cc > 0:
		return (cc-1)*100 + 1
	case cc < 0:
		return cc*100 + 1
	}
	return 0
}

// date is the day that the fields name, by whichever of them are given.
func (c *charFields) date(bad *tailrace.Error) (int64, error) {
	year, month, mday := c.fullYear(), int64(1), int64(1)
	doy := int64(c.ddd)
	if c.j != 0 {
		year, month, mday = civil(int64(c.j) - 2451545)
	}
	switch {
	case c.ww != 0 && c.mode == 'i':
		first := dayOf(year, 1, 4)
		day := first - (weekday(first)+6)%7 + int64(c.ww-1)*7
		switch {
		case c.d > 1:
			day += int64(c.d) - 2
		case c.d == 1:
			day += 6
		}
		year, month, mday = civil(day)
	case c.ww != 0:
		doy = int64(c.ww-1)*7 + 1
	}
	day := int64(c.dd)
	if c.w != 0 {
		day = int64(c.w-1)*7 + 1
	}
	if day != 0 {
		mday = day
	}
	if c.mm != 0 {
		month = int64(c.mm)
	}
	if doy != 0 && (month <= 1 || mday <= 1) {
		if year == 0 && c.bc == 0 {
			return 0, charError("", "", "cannot calculate day of year without year information")
		}
		if c.mode == 'i' {
			first := dayOf(year, 1, 4)
			return first - (weekday(first)+6)%7 + doy - 1, nil
		}
		_, m, d := civil(dayOf(year, 1, 1) + doy - 1)
		if doy < 1 || doy > dayOf(year+1, 1, 1)-dayOf(year, 1, 1) {
			return 0, bad
		}
		if month <= 1 {
			month = m
		}
		if mday <= 1 {
			mday = d
		}
	}
	if month < 1 || month > 12 || mday < 1 || mday > daysIn(year, month) {
		return 0, bad
	}
	return dayOf(year, month, mday), nil
}

func toDate(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	day, _, _, err := f.readByTemplate(a[0], a[1])
	if err != nil {
		return nil, err
	}
	if day < minDate || day >= maxDate {
		return nil, raise(codeDatetime, "date out of range: \"%s\"", a[0])
	}
	return put32(dst, int32(day)), nil
}

func toTimestamp(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	day, us, fields, err := f.readByTemplate(a[0], a[1])
	if err != nil {
		return nil, err
	}
	local, err := sumStamp(day, us, 0)
	if err != nil {
		return nil, err
	}
	if fields.zoneSign == 0 {
		return putStamp(dst, toInstant(local, f.zone()))
	}
	if fields.zoneHours < 0 || fields.zoneHours > 15 || fields.zoneMinutes < 0 || fields.zoneMinutes > 59 {
		return nil, raise(codeDatetime, "date/time field value out of range: \"%s\"", a[0])
	}
	east := int64(fields.zoneSign) * (int64(fields.zoneHours)*usHour + int64(fields.zoneMinutes)*usMinute)
	return putStamp(dst, local-east)
}
