package query

import (
	"math"
	"regexp"
	"strconv"
	"time"

	"tailrace/format"
)

func notNegative(word, code string) implementation {
	return func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		if i64(a[0]) < 0 {
			return nil, raise(code, "%s must not be negative", word)
		}
		return append(d, a[0]...), nil
	}
}

// zone is the session's time zone.
func (f *frame) zone() *time.Location {
	if f.run == nil || f.run.settings.Location == nil {
		return time.UTC
	}
	return f.run.settings.Location
}

func shiftDate(dst []byte, day int32, by int64) ([]byte, error) {
	if !finiteDate(day) {
		return put32(dst, day), nil
	}
	if r := int64(day) + by; r >= minDate && r < maxDate {
		return put32(dst, int32(r)), nil
	}
	return nil, errDateRange
}

func dateStamp(day int32) (int64, error) {
	switch {
	case day == math.MinInt32:
		return math.MinInt64, nil
	case day == math.MaxInt32:
		return math.MaxInt64, nil
	case int64(day) >= maxStamp/usDay:
		return 0, raise(codeDatetime, "date out of range for timestamp")
	}
	return int64(day) * usDay, nil
}

func stampPlus(minus bool) implementation {
	return func(_ *frame, dst []byte, a [][]byte) (_ []byte, err error) {
		v := readInterval(a[1])
		if minus {
			if v, err = v.negated(); err != nil {
				return nil, err
			}
		}
		t, err := addToStamp(i64(a[0]), v)
		return put64(dst, t), err
	}
}

func instantPlus(minus bool) implementation {
	return func(f *frame, dst []byte, a [][]byte) (_ []byte, err error) {
		v := readInterval(a[1])
		if minus {
			if v, err = v.negated(); err != nil {
				return nil, err
			}
		}
		t, err := addToInstant(i64(a[0]), v, f.zone())
		return put64(dst, t), err
	}
}

func timePlus(sign int64) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		t := i64(a[0]) + sign*(readInterval(a[1]).us%usDay)
		return put64(dst, t-floorDiv(t, usDay)*usDay), nil
	}
}

func between(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	x, y := i64(a[0]), i64(a[1])
	if !finiteStamp(x) || !finiteStamp(y) {
		return nil, raise(codeDatetime, "cannot subtract infinite timestamps")
	}
	v, err := interval{us: x - y}.justified()
	if err != nil {
		return nil, err
	}
	return v.put(dst)
}

func makeDate(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	y, m, d := int64(i32(a[0])), int64(i32(a[1])), int64(i32(a[2]))
	day, err := checkedDay(y, m, d)
	if err != nil {
		return nil, err
	}
	return shiftDate(dst, int32(day), 0)
}

// checkedDay is the day of a date whose year is negative before Christ.
func checkedDay(y, m, d int64) (int64, error) {
	bad := raise(codeDatetime, "date field value out of range: %d-%02d-%02d", y, m, d)
	if y == 0 || y > 5874897 || y < -4714 || m < 1 || m > 12 {
		return 0, bad
	}
	if y < 0 {
		y++
	}
	if d < 1 || d > daysIn(y, m) {
		return 0, bad
	}
	return dayOf(y, m, d), nil
}

func makeStamp(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	day, err := checkedDay(int64(i32(a[0])), int64(i32(a[1])), int64(i32(a[2])))
	if err != nil {
		return nil, err
	}
	h, m, s := int64(i32(a[3])), int64(i32(a[4])), f64(a[5])
	if h < 0 || h > 24 || m < 0 || m > 59 || !(s >= 0 && s <= 60) || h == 24 && (m > 0 || s > 0) {
		return nil, raise(codeDatetime, "time field value out of range: %d:%02d:%02g", h, m, s)
	}
	t, err := sumStamp(day, h*usHour+m*usMinute, int64(math.RoundToEven(s*1e6)))
	return put64(dst, t), err
}

func dateBin(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	v, t, origin := readInterval(a[0]), i64(a[1]), i64(a[2])
	switch {
	case !finiteStamp(t):
		return put64(dst, t), nil
	case !finiteStamp(origin):
		return nil, raise(codeDatetime, "origin out of range")
	case v.months != 0:
		return nil, raise(codeUnsupported, "timestamps cannot be binned into intervals containing months or years")
	}
	stride := v.us + int64(v.days)*usDay
	if stride <= 0 {
		return nil, raise(codeDatetime, "stride must be greater than zero")
	}
	return put64(dst, origin+floorDiv(t-origin, stride)*stride), nil
}

// zoned is AT TIME ZONE with the zone's name.
func zoned(f func(int64, *time.Location) int64) implementation {
	return func(fr *frame, dst []byte, a [][]byte) ([]byte, error) {
		zone, err := fr.zoneNamed(string(a[0]))
		if err != nil {
			return nil, err
		}
		return putStampOrInfinity(dst, f(i64(a[1]), zone))
	}
}

// posixZone is an offset without a name, which POSIX counts to the west.
var posixZone = regexp.MustCompile(`^([+-]?)(\d{1,2}):(\d\d)$`)

// posixOffset is the offset to the east in seconds.
func posixOffset(m []string) int {
	hours, _ := strconv.Atoi(m[2]) // digits
	minutes, _ := strconv.Atoi(m[3])
	if m[1] == "-" {
		return hours*3600 + minutes*60
	}
	return -hours*3600 - minutes*60
}

// zoneNamed reads a zone's name, or finds it read already.
func (f *frame) zoneNamed(name string) (*time.Location, error) {
	zone, ok := f.cache.value.(*time.Location)
	if !ok || f.cache.pattern != name {
		var err error
		if m := posixZone.FindStringSubmatch(name); m != nil {
			zone = time.FixedZone(name, posixOffset(m))
		} else if zone, err = format.ParseTimeZone(name); err != nil {
			return nil, raise(codeInvalid, "time zone \"%s\" not recognized", name)
		}
		f.cache.pattern, f.cache.value = name, zone
	}
	return zone, nil
}

func putStampOrInfinity(dst []byte, t int64) ([]byte, error) {
	if !finiteStamp(t) {
		return put64(dst, t), nil
	}
	return putStamp(dst, t)
}
