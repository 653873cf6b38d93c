package query

import (
	"math"
	"strings"

	"tailrace"
)

// units are the names of date and time fields and what they are called here.
var units = func() map[string]string {
	m := map[string]string{}
	for _, line := range []string{
		"microseconds us usec usecs useconds microsecond", "milliseconds ms msec msecs mseconds millisecond", "second s sec secs seconds",
		"minute m min mins minutes", "hour h hr hrs hours", "day d days", "month mon mons months", "quarter qtr", "week w weeks", "year y yr yrs years",
		"decade dec decs decades", "century c cent centuries", "millennium mil mils millennia", "julian jd", "isoyear", "dow", "isodow", "doy", "epoch",
		"timezone", "timezone_hour timezone_h", "timezone_minute timezone_m",
	} {
		words := strings.Fields(line)
		for _, w := range words {
			m[w] = words[0]
		}
	}
	return m
}()

func unitError(unit, typ string) error {
	if units[strings.ToLower(unit)] != "" {
		return raise(codeUnsupported, "unit \"%s\" not supported for type %s", strings.ToLower(unit), typ)
	}
	return raise(codeInvalid, "unit \"%s\" not recognized for type %s", strings.ToLower(unit), typ)
}

// fields gives one field of a value. errNull makes the result NULL.
type fields func(f *frame, unit string, raw []byte) (num, error)

func extract(of fields) implementation {
	return func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		n, err := of(f, string(a[0]), a[1])
		if err != nil {
			return nil, err
		}
		return n.put(dst)
	}
}

func datePart(of fields) implementation {
	return func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		n, err := of(f, string(a[0]), a[1])
		switch {
		case err != nil:
			return nil, err
		case !n.finite():
			return putF64(dst, math.Inf(n.sign())), nil
		case n.big == nil && n.scale < len(pows):
			return putF64(dst, float64(n.small)/float64(pows[n.scale])), nil
		}
		raw, err := n.put(nil)
		if err != nil {
			return nil, err
		}
		v, err := numericFloat(f, raw, 64, "double precision")
		return putF64(dst, v), err
	}
}

func scaled(v int64, scale int) num { return num{small: v, scale: scale} }

// infinite is a field of an infinite date: the ones that only grow are infinite, the others NULL.
func infinite(unit string, positive bool) (num, error) {
	switch unit {
	case "year", "decade", "century", "millennium", "julian", "isoyear", "epoch":
		if positive {
			return formNum(tailrace.DecimalInf), nil
		}
		return formNum(tailrace.DecimalNegInf), nil
	}
	return num{}, errNull
}

func fieldsOfDate(_ *frame, unit string, raw []byte) (num, error) {
	u, day := units[strings.ToLower(unit)], i32(raw)
	switch u {
	case "microseconds", "milliseconds", "second", "minute", "hour", "timezone", "timezone_hour", "timezone_minute", "":
		return num{}, unitError(unit, "date")
	}
	if !finiteDate(day) {
		return infinite(u, day > 0)
	}
	switch u {
	case "epoch":
		return intNum((int64(day) + epochDays) * 86400), nil
	case "julian":
		return intNum(int64(day) + 2451545), nil
	}
	n, _ := calendarField(u, int64(day))
	return n, nil
}

func fieldsOfStamp(_ *frame, unit string, raw []byte) (num, error) {
	return stampField(unit, i64(raw), i64(raw), "timestamp without time zone")
}

func fieldsOfInstant(f *frame, unit string, raw []byte) (num, error) {
	t := i64(raw)
	u := units[strings.ToLower(unit)]
	if strings.HasPrefix(u, "timezone") && finiteStamp(t) {
		s := offset(t, f.zone()) / usSecond
		switch u {
		case "timezone_hour":
			s /= 3600
		case "timezone_minute":
			s = s / 60 % 60
		}
		return intNum(s), nil
	}
	return stampField(unit, t, toLocal(t, f.zone()), "timestamp with time zone")
}

// stampField is a field of the local time; instant is for the epoch.
func stampField(unit string, instant, local int64, typ string) (num, error) {
	u := units[strings.ToLower(unit)]
	if u == "" || strings.HasPrefix(u, "timezone") {
		return num{}, unitError(unit, typ)
	}
	if !finiteStamp(local) {
		return infinite(u, local > 0)
	}
	day := floorDiv(local, usDay)
	us := local - day*usDay
	switch u {
	case "epoch":
		return scaled(instant+epochUs, 6), nil
	case "julian":
		q, err := divNum(intNum(us), intNum(usDay))
		return addNum(intNum(day+2451545), q), err
	}
	if n, ok := clockField(u, us); ok {
		return n, nil
	}
	n, _ := calendarField(u, day)
	return n, nil
}

// clockField is a field of a time of day.
func clockField(unit string, us int64) (num, bool) {
	switch unit {
	case "microseconds":
		return intNum(us % usMinute), true
	case "milliseconds":
		return scaled(us%usMinute, 3), true
	case "second":
		return scaled(us%usMinute, 6), true
	case "minute":
		return intNum(us / usMinute % 60), true
	case "hour":
		return intNum(us / usHour), true
	}
	return num{}, false
}

func calendarField(unit string, day int64) (num, bool) {
	y, m, d := civil(day)
	switch unit {
	case "day":
		return intNum(d), true
	case "month":
		return intNum(m), true
	case "quarter":
		return intNum((m-1)/3 + 1), true
	case "year":
		return intNum(shownYear(y)), true
	case "decade":
		return intNum(floorDiv(y, 10)), true
	case "century":
		return intNum(period(y, 100)), true
	case "millennium":
		return intNum(period(y, 1000)), true
	case "week":
		_, w := isoWeek(day)
		return intNum(w), true
	case "isoyear":
		iso, _ := isoWeek(day)
		return intNum(shownYear(iso)), true
	case "dow":
		return intNum(weekday(day)), true
	case "isodow":
		return intNum((weekday(day)+6)%7 + 1), true
	case "doy":
		return intNum(day - dayOf(y, 1, 1) + 1), true
	}
	return num{}, false
}

// shownYear leaves out year 0: it is 1 BC.
func shownYear(y int64) int64 {
	if y <= 0 {
		return y - 1
	}
	return y
}

// period is the century (n = 100) or millennium of a year; there is none with number 0.
func period(y, n int64) int64 {
	if y > 0 {
		return (y + n - 1) / n
	}
	return -((n - 1 - (y - 1)) / n)
}

// weekday is 0 on Sundays. 2000-01-01 was a Saturday.
func weekday(day int64) int64 { return ((day+6)%7 + 7) % 7 }

// isoWeek is the year and week that hold the Thursday of the day's week.
func isoWeek(day int64) (year, week int64) {
	thursday := day - (weekday(day)+6)%7 + 3
	y, _, _ := civil(thursday)
	return y, (thursday-dayOf(y, 1, 1))/7 + 1
}

func fieldsOfTime(_ *frame, unit string, raw []byte) (num, error) {
	u, us := units[strings.ToLower(unit)], i64(raw)
	if u == "epoch" {
		return scaled(us, 6), nil
	}
	if n, ok := clockField(u, us); ok {
		return n, nil
	}
	return num{}, unitError(unit, "time without time zone")
}

func fieldsOfInterval(_ *frame, unit string, raw []byte) (num, error) {
	v := readInterval(raw)
	u := units[strings.ToLower(unit)]
	if n, ok := clockField(u, v.us); ok {
		return n, nil
	}
	year, month := int64(v.months/12), int64(v.months%12)
	switch u {
	case "day":
		return intNum(int64(v.days)), nil
	case "month":
		return intNum(month), nil
	case "quarter":
		return intNum(month/3 + 1), nil
	case "year":
		return intNum(year), nil
	case "decade":
		return intNum(year / 10), nil
	case "century":
		return intNum(year / 100), nil
	case "millennium":
		return intNum(year / 1000), nil
	case "epoch": // a year is 365.25 days here, a month 30
		seconds := year*31557600 + month*2592000 + int64(v.days)*86400
		return addNum(mulNum(intNum(seconds), scaled(1_000_000, 6)), scaled(v.us, 6)), nil
	}
	return num{}, unitError(unit, "interval")
}
