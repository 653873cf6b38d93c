package query

import (
	"math"
)

func interval1(f func(interval) (interval, error)) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		v, err := f(readInterval(a[0]))
		if err != nil {
			return nil, err
		}
		return v.put(dst)
	}
}

func interval2(f func(a, b interval) (interval, error)) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		v, err := f(readInterval(a[0]), readInterval(a[1]))
		if err != nil {
			return nil, err
		}
		return v.put(dst)
	}
}

func scaleInterval(dst, raw []byte, factor float64) ([]byte, error) {
	v, err := readInterval(raw).scaled(factor)
	if err != nil {
		return nil, err
	}
	return v.put(dst)
}

func justifyDays(v interval) (interval, error) {
	months, days := int64(v.months)+int64(v.days/30), int64(v.days%30)
	switch {
	case months > 0 && days < 0:
		months, days = months-1, days+30
	case months < 0 && days > 0:
		months, days = months+1, days-30
	}
	return span(months, days, v.us)
}

// justifySigns gives months, days and time, already within 30 days and 24 hours, one sign.
func justifySigns(v interval) (interval, error) {
	v, err := justifyDays(v)
	if err != nil {
		return v, err
	}
	m, d, us := int64(v.months), int64(v.days), v.us
	switch {
	case m > 0 && (d < 0 || d == 0 && us < 0):
		m, d = m-1, d+30
	case m < 0 && (d > 0 || d == 0 && us > 0):
		m, d = m+1, d-30
	}
	switch {
	case d > 0 && us < 0:
		d, us = d-1, us+usDay
	case d < 0 && us > 0:
		d, us = d+1, us-usDay
	}
	return span(m, d, us)
}

// divideInterval is v/by. It divides, where scaling by 1/by would round twice.
func divideInterval(dst []byte, v interval, by float64) ([]byte, error) {
	round := func(x float64) float64 { return math.RoundToEven(x*1e6) / 1e6 }
	m, d := float64(v.months)/by, float64(v.days)/by
	months, days := math.Trunc(m), math.Trunc(d)
	if math.IsNaN(m) || math.Abs(m) > math.MaxInt32 || math.IsNaN(d) || math.Abs(d) > math.MaxInt32 {
		return nil, errIntervalRange
	}
	monthDays := round((m - months) * 30)
	seconds := round((d - days + monthDays - math.Trunc(monthDays)) * 86400)
	if math.Abs(seconds) >= 86400 {
		days += math.Trunc(seconds / 86400)
		seconds -= math.Trunc(seconds/86400) * 86400
	}
	days += math.Trunc(monthDays)
	us := math.RoundToEven(float64(v.us)/by + seconds*1e6)
	if us < math.MinInt64 || us >= math.MaxInt64 {
		return nil, errIntervalRange
	}
	r, err := span(int64(months), int64(days), int64(us))
	if err != nil {
		return nil, err
	}
	return r.put(dst)
}
