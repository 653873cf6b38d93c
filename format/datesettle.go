package format

import "time"

// wordField reads a word. ignore is true for words that mean nothing, such as "on".
func (r *dateReader) wordField(fields []field, i int) (got fieldSet, ignore bool, fault dateFault) {
	text := fields[i].text
	if a, ok := abbreviations[text]; ok { // zones come before other words
		return r.abbreviation(text, a)
	}
	w, ok := lookupWord(dateWords, text)
	if !ok {
		if r.zone = loadZone(text); r.zone == nil {
			return 0, false, faultFormat
		}
		r.abbrev = ""
		return setZone, false, faultNone
	}
	got = w.kind.set()
	switch w.kind {
	case kindIgnore:
		return 0, true, faultNone
	case kindReserved:
		got, fault = r.reserved(w.value)
		return got, false, fault
	case kindMonth:
		if r.timeOnly {
			return 0, false, faultFormat
		}
		// A number that was taken for the month is the day after all.
		if r.seen&setMonth != 0 && !r.textMonth && r.seen&setDay == 0 && r.month >= 1 && r.month <= 31 {
			r.day = r.month
			got = setDay
		}
		r.textMonth, r.month = true, w.value
	case kindSummerMod:
		got |= kindSummer.set()
		r.west -= w.value
	case kindHalf:
		r.half = w.value
	case kindEra:
		r.bc = w.value == eraBC
	case kindWeekday:
		if r.timeOnly {
			return 0, false, faultFormat
		}
	case kindUnit:
		got, r.labelled = 0, w.value
	case kindISOTime:
		got = 0
		if !r.timeOnly && r.seen&setDate != setDate {
			return 0, false, faultFormat
		}
		// What follows must be able to be a time.
		if i+1 >= len(fields) || fields[i+1].kind > fieldTime {
			return 0, false, faultFormat
		}
		r.labelled = w.value
	default:
		return 0, false, faultFormat
	}
	return got, false, faultNone
}

// abbreviation reads a time zone abbreviation.
func (r *dateReader) abbreviation(text string, a abbreviation) (got fieldSet, ignore bool, fault dateFault) {
	switch {
	case a.zone != "":
		r.zone, r.abbrev = loadZone(a.zone), text
		if r.zone == nil {
			r.badZone = a.zone
			return 0, false, faultZoneName
		}
		return setZone | kindDynamic.set(), false, faultNone
	case a.summer:
		got = kindSummer.set()
	}
	r.west = -a.offset
	return got | setZone, false, faultNone
}

// reserved reads now, today, infinity and the like.
func (r *dateReader) reserved(value int) (fieldSet, dateFault) {
	switch {
	case value == wordZulu:
		r.hour, r.minute, r.second, r.west = 0, 0, 0, 0
		return setTime | setZone, faultNone
	case r.timeOnly && value == wordNow:
		now := r.s.now()
		r.hour, r.minute, r.second, r.micro = now.Hour(), now.Minute(), now.Second(), now.Nanosecond()/1000
		return setTime, faultNone
	case r.timeOnly:
		return 0, faultFormat
	case value == wordEpoch || value == wordEarly || value == wordLate:
		r.special = value
		return kindReserved.set(), faultNone
	}
	r.special = 0
	now := r.s.now()
	switch value {
	case wordTomorrow:
		now = now.AddDate(0, 0, 1)
	case wordYesterday:
		now = now.AddDate(0, 0, -1)
	}
	r.year, r.month, r.day = now.Year(), int(now.Month()), now.Day()
	if value != wordNow {
		return setDate, faultNone
	}
	r.hour, r.minute, r.second, r.micro = now.Hour(), now.Minute(), now.Second(), now.Nanosecond()/1000
	_, east := now.Zone()
	r.west = -east
	return setDate | setTime | setZone, faultNone
}

// now is the start of the transaction in the session's zone.
func (s *Settings) now() time.Time {
	if s.Now.IsZero() {
		return time.Now().In(s.location())
	}
	return s.Now.In(s.location())
}

// settle checks the date as a whole and works out what depends on several fields.
func (r *dateReader) settle() dateFault {
	if fault := r.checkDate(); fault != faultNone {
		return fault
	}
	switch {
	case r.half != 0 && r.hour > 12:
		return faultRange
	case r.half == halfAM && r.hour == 12:
		r.hour = 0
	case r.half == halfPM && r.hour != 12:
		r.hour += 12
	}
	if r.timeOnly {
		return r.settleTime()
	}
	if r.seen&setDate != setDate {
		return faultFormat
	}
	zone := r.zone
	if zone == nil && r.seen&setZone == 0 {
		zone, r.abbrev = r.s.location(), ""
	}
	if zone == nil {
		return faultNone
	}
	if r.seen&kindSummerMod.set() != 0 { // "dst" goes with an abbreviation of standard time only
		return faultFormat
	}
	r.west = -r.offsetIn(zone)
	return faultNone
}

// offsetIn is the offset of zone at the moment read.
func (r *dateReader) offsetIn(zone *time.Location) int {
	if !r.onCalendar() {
		return 0
	}
	local := daysOf(r.year, r.month, r.day)*86_400 + int64(r.hour*3600+r.minute*60+r.second) + epochUnix
	offset, unix := localOffset(local, zone)
	if r.abbrev != "" {
		if meant, ok := abbreviationOffset(upperASCII(r.abbrev), unix, zone); ok {
			return meant
		}
	}
	return offset
}

func upperASCII(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = upper(b[i])
	}
	return string(b)
}

// settleTime ends the reading of a time of day, whose zone is checked and then ignored.
func (r *dateReader) settleTime() dateFault {
	if r.pastMidnight() {
		return faultRange
	}
	if r.seen&setTime != setTime {
		return faultFormat
	}
	dated := r.seen&setDate == setDate
	if r.zone != nil && r.abbrev == "" {
		if r.seen&kindSummerMod.set() != 0 || !dated && !oneOffset(r.zone) {
			return faultFormat
		}
	} else if r.zone != nil || r.seen&setZone == 0 {
		if r.seen&kindSummerMod.set() != 0 || r.seen&setDate != 0 && !dated {
			return faultFormat
		}
	}
	return faultNone
}

// oneOffset reports whether a zone never changes its offset.
func oneOffset(zone *time.Location) bool {
	from, to := time.Unix(0, 0).In(zone).ZoneBounds()
	return from.IsZero() && to.IsZero()
}

// checkDate settles the year and checks that the day exists.
func (r *dateReader) checkDate() dateFault {
	if r.seen&setYear != 0 && !r.julian {
		switch {
		case r.bc:
			if r.year <= 0 {
				return faultRange
			}
			r.year = 1 - r.year
		case r.twoDigits:
			if r.year < 0 {
				return faultRange
			}
			if r.year < 70 {
				r.year += 2000
			} else if r.year < 100 {
				r.year += 1900
			}
		case r.year <= 0:
			return faultRange
		}
	}
	if r.seen&kindDayOfYear.set() != 0 {
		r.year, r.month, r.day = dateOf(daysOf(r.year, 1, 1) + int64(r.dayOfYear) - 1)
	}
	if r.seen&setMonth != 0 && (r.month < 1 || r.month > 12) || r.seen&setDay != 0 && (r.day < 1 || r.day > 31) {
		return faultMonthDay
	}
	if r.seen&setDate == setDate && r.day > daysIn(r.year, r.month) {
		return faultRange
	}
	return faultNone
}
