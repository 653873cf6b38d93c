package format

import "math"

const (
	microsPerSecond = int64(1_000_000)
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
	microsPerDay    = 24 * microsPerHour

	epochUnix   = 946_684_800 // 2000-01-01 in Unix seconds
	epochJulian = 2_451_545   // 2000-01-01 as a Julian day
	unixDays    = -10_957     // 1970-01-01 in days since 2000-01-01

	negInfinity32, infinity32 = math.MinInt32, math.MaxInt32
	negInfinity64, infinity64 = math.MinInt64, math.MaxInt64

	minTimestamp = -211_813_488_000_000_000    // 4714-11-24 BC
	endTimestamp = 9_223_371_331_200_000_000   // 294277-01-01
	minDate      = -epochJulian                // 4714-11-24 BC
	endDate      = 2_147_483_494 - epochJulian // 5874898-01-01
)

// civil is a moment as a clock and a calendar show it. Years before 1 are astronomical: 0 is 1 BC.
type civil struct {
	year, month, day     int
	hour, minute, second int
	micro                int
}

// daysOf counts the days from 2000-01-01 to a date of the Gregorian calendar, extended to all times.
func daysOf(year, month, day int) int64 {
	y, m := int64(year), int64(month)
	if m <= 2 {
		y--
		m += 12
	}
	era := floorDiv(y, 400)
	yearOfEra := y - era*400
	dayOfYear := (153*(m-3)+2)/5 + int64(day) - 1
	return era*146_097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - 730_425
}

// dateOf is the inverse of daysOf.
func dateOf(days int64) (year, month, day int) {
	z := days + 730_425
	era := floorDiv(z, 146_097)
	dayOfEra := z - era*146_097
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36_524 - dayOfEra/146_096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	m := (5*dayOfYear + 2) / 153
	day = int(dayOfYear-(153*m+2)/5) + 1
	month = int(m) + 3
	year = int(yearOfEra + era*400)
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// civilOf takes microseconds since 2000-01-01 apart.
func civilOf(micros int64) civil {
	days := floorDiv(micros, microsPerDay)
	rest := micros - days*microsPerDay
	var c civil
	c.year, c.month, c.day = dateOf(days)
	c.setTime(rest)
	return c
}

// setTime sets the time of day from microseconds since midnight.
func (c *civil) setTime(micros int64) {
	seconds := micros / microsPerSecond
	c.micro = int(micros % microsPerSecond)
	c.hour, c.minute, c.second = int(seconds/3600), int(seconds/60%60), int(seconds%60)
}

// timeMicros is the time of day in microseconds.
func (c *civil) timeMicros() int64 {
	return int64(c.hour)*microsPerHour + int64(c.minute)*microsPerMinute + int64(c.second)*microsPerSecond + int64(c.micro)
}

// onCalendar reports whether the date is in the range that PostgreSQL computes with: Julian days 0 to 2^31.
func (c *civil) onCalendar() bool {
	return (c.year > -4713 || c.year == -4713 && c.month >= 11) && (c.year < 5_874_898 || c.year == 5_874_898 && c.month < 6)
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// roundMicros rounds to the given number of fractional digits, half away from zero.
func roundMicros(micros int64, digits int32) int64 {
	if digits < 0 || digits >= 6 {
		return micros
	}
	unit := int64(1)
	for range 6 - digits {
		unit *= 10
	}
	if micros >= 0 {
		return (micros + unit/2) / unit * unit
	}
	return -((-micros + unit/2) / unit * unit)
}
