package query

import (
	"math"
)

// Dates are days and timestamps microseconds since 2000-01-01; the extremes are the infinities.
const (
	usSecond = int64(1_000_000)
	usMinute = 60 * usSecond
	usHour   = 60 * usMinute
	usDay    = 24 * usHour
	// epochDays and epochUs are from 1970-01-01 to 2000-01-01.
	epochDays = 10957
	epochUs   = epochDays * usDay

	maxStamp = int64(9223371331200000000) // exclusive: the end of 294276
	minStamp = int64(-211813488000000000) // 4714-11-24 BC
	minDate  = int64(-2451545)            // the same day
	maxDate  = int64(2147483493 - 2451545)
)

func finiteStamp(t int64) bool { return t != math.MinInt64 && t != math.MaxInt64 }
func finiteDate(d int32) bool  { return d != math.MinInt32 && d != math.MaxInt32 }

var (
	errStampRange    = raise(codeDatetime, "timestamp out of range")
	errDateRange     = raise(codeDatetime, "date out of range")
	errIntervalRange = raise(codeDatetime, "interval out of range")
)

func putStamp(dst []byte, t int64) ([]byte, error) {
	if t < minStamp || t >= maxStamp {
		return nil, errStampRange
	}
	return put64(dst, t), nil
}

// floorDiv rounds down, also below zero.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// civil is the date of a day since 2000-01-01. Year 0 is 1 BC. From Howard Hinnant's "chrono-compatible low-level date algorithms".
func civil(day int64) (year, month, mday int64) {
	z := day + epochDays + 719468
	era := floorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	mday = doy - (153*mp+2)/5 + 1
	month = mp + 3
	if mp >= 10 {
		month = mp - 9
	}
	year = yoe + era*400
	if month <= 2 {
		year++
	}
	return year, month, mday
}

// dayOf is the inverse of civil.
func dayOf(year, month, mday int64) int64 {
	if month <= 2 {
		year--
	}
	era := floorDiv(year, 400)
	yoe := year - era*400
	mp := month - 3
	if month <= 2 {
		mp = month + 9
	}
	doe := yoe*365 + yoe/4 - yoe/100 + (153*mp+2)/5 + mday - 1
	return era*146097 + doe - 719468 - epochDays
}

func daysIn(year, month int64) int64 {
	if month == 12 {
		return 31
	}
	return dayOf(year, month+1, 1) - dayOf(year, month, 1)
}

// addMonths keeps the day of the month, or takes the last one.
func addMonths(day, months int64) int64 {
	y, m, d := civil(day)
	total := y*12 + m - 1 + months
	y, m = floorDiv(total, 12), total-floorDiv(total, 12)*12+1
	return dayOf(y, m, min(d, daysIn(y, m)))
}

// interval is months, days and microseconds, which do not convert into each other.
type interval struct {
	months, days int32
	us           int64
}

func readInterval(b []byte) interval { return interval{i32(b), i32(b[4:]), i64(b[8:])} }

func (v interval) put(dst []byte) ([]byte, error) {
	return put64(put32(put32(dst, v.months), v.days), v.us), nil
}

// span is interval with room for overflow to be seen.
func span(months, days, us int64) (interval, error) {
	if int64(int32(months)) != months || int64(int32(days)) != days {
		return interval{}, errIntervalRange
	}
	return interval{int32(months), int32(days), us}, nil
}

func addInterval(a, b interval) (interval, error) {
	us := a.us + b.us
	if (us > a.us) != (b.us > 0) && b.us != 0 {
		return interval{}, errIntervalRange
	}
	return span(int64(a.months)+int64(b.months), int64(a.days)+int64(b.days), us)
}

func (v interval) negated() (interval, error) {
	if v.us == math.MinInt64 {
		return v, errIntervalRange
	}
	return span(-int64(v.months), -int64(v.days), -v.us)
}

// scaled is v*factor: fractions of months become days of a 30-day month, fractions of days become time.
func (v interval) scaled(factor float64) (interval, error) {
	round := func(x float64) float64 { return math.RoundToEven(x*1e6) / 1e6 }
	m, d := float64(v.months)*factor, float64(v.days)*factor
	if math.IsNaN(m) || math.Abs(m) > math.MaxInt32 || math.IsNaN(d) || math.Abs(d) > math.MaxInt32 {
		return v, errIntervalRange
	}
	months, days := math.Trunc(m), math.Trunc(d)
	monthDays := round((m - months) * 30)
	seconds := round((d - days + monthDays - math.Trunc(monthDays)) * 86400)
	if math.Abs(seconds) >= 86400 {
		days += math.Trunc(seconds / 86400)
		seconds -= math.Trunc(seconds/86400) * 86400
	}
	days += math.Trunc(monthDays)
	us := math.RoundToEven(float64(v.us)*factor + seconds*1e6)
	if math.IsNaN(us) || us < math.MinInt64 || us >= math.MaxInt64 {
		return v, errIntervalRange
	}
	return span(int64(months), int64(days), int64(us))
}

// justified moves whole days of 24 hours from the time into the days, with one sign for both.
func (v interval) justified() (interval, error) {
	days, us := int64(v.days)+v.us/usDay, v.us%usDay
	switch {
	case days > 0 && us < 0:
		days, us = days-1, us+usDay
	case days < 0 && us > 0:
		days, us = days+1, us-usDay
	}
	return span(int64(v.months), days, us)
}

// addToStamp is t + v on the calendar without zones.
func addToStamp(t int64, v interval) (int64, error) {
	if !finiteStamp(t) {
		return t, nil
	}
	day := floorDiv(t, usDay)
	us := t - day*usDay
	if v.months != 0 {
		day = addMonths(day, int64(v.months))
	}
	day += int64(v.days)
	if day < minDate-1 || day > maxStamp/usDay+1 {
		return 0, errStampRange
	}
	return sumStamp(day, us, v.us)
}

func sumStamp(day, us, more int64) (int64, error) {
	t := float64(day)*float64(usDay) + float64(us) + float64(more)
	if t < float64(minStamp)-1e6 || t > float64(maxStamp)+1e6 {
		return 0, errStampRange
	}
	r := day*usDay + us + more
	if r < minStamp || r >= maxStamp {
		return 0, errStampRange
	}
	return r, nil
}
