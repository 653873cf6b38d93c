package query

import (
	"math"
	"time"

	"tailrace"
	"tailrace/format"
)

// calendarEntries are ages, overlaps and times made of their parts.
var calendarEntries = []entry{
	{name: "age", args: "SS", ret: "I", impl: age},
	{name: "age", args: "ZZ", ret: "I", env: true, impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		x, y := toLocal(i64(a[0]), f.zone()), toLocal(i64(a[1]), f.zone())
		return age(f, d, [][]byte{put64(nil, x), put64(nil, y)})
	}},
	{name: "age", args: "S", ret: "I", env: true, impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		return age(f, d, [][]byte{put64(nil, f.midnight()), a[0]})
	}},
	{name: "age", args: "Z", ret: "I", env: true, impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		return age(f, d, [][]byte{put64(nil, f.midnight()), put64(nil, toLocal(i64(a[0]), f.zone()))})
	}},
	{name: "isfinite", args: "I", ret: "b", sql: "({1} IS NOT NULL)", nulls: true},
	{name: "make_time", args: "iid", ret: "T", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		us, err := clock(i32(a[0]), i32(a[1]), f64(a[2]))
		return put64(d, us), err
	}},
	{name: "make_timestamptz", args: "iiiiid", ret: "Z", env: true, impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		local, err := makeStamp(f, nil, a)
		if err != nil {
			return nil, err
		}
		return putStamp(d, toInstant(i64(local), f.zone()))
	}},
	{name: "make_timestamptz", args: "iiiiidt", ret: "Z", sql: "tr_f_timezone_text_timestamp({7}, tr_f_make_timestamp_int4_int4_int4_int4_int4_float8({1}, {2}, {3}, {4}, {5}, {6}))"},
	{name: "make_interval", args: "iiiiiid", ret: "I", impl: makeInterval},
	{name: "date_trunc", args: "tZt", ret: "Z", impl: truncInZone},
	{name: "timezone", args: "IS", ret: "Z", impl: shiftZone(-1)},
	{name: "timezone", args: "IZ", ret: "S", impl: shiftZone(1)},
	{name: "timeofday", ret: "t", env: true, volatile: true, impl: func(f *frame, d []byte, _ [][]byte) ([]byte, error) {
		return time.Now().In(f.zone()).AppendFormat(d, "Mon Jan 02 15:04:05.000000 2006 MST"), nil
	}},
	{name: "overlaps", args: "SSSS", ret: "b", nulls: true, impl: overlaps},
	{name: "overlaps", args: "ZZZZ", ret: "b", nulls: true, impl: overlaps},
	{name: "overlaps", args: "TTTT", ret: "b", nulls: true, impl: overlaps},
	{name: "overlaps", args: "SISI", ret: "b", sql: "tr_f_overlaps_timestamp_timestamp_timestamp_timestamp({1}, tr_op_add_timestamp_interval({1}, {2}), {3}, tr_op_add_timestamp_interval({3}, {4}))"},
	{name: "overlaps", args: "SSSI", ret: "b", sql: "tr_f_overlaps_timestamp_timestamp_timestamp_timestamp({1}, {2}, {3}, tr_op_add_timestamp_interval({3}, {4}))"},
	{name: "overlaps", args: "SISS", ret: "b", sql: "tr_f_overlaps_timestamp_timestamp_timestamp_timestamp({1}, tr_op_add_timestamp_interval({1}, {2}), {3}, {4})"},
	{name: "overlaps", args: "ZIZI", ret: "b", sql: "tr_f_overlaps_timestamptz_timestamptz_timestamptz_timestamptz({1}, tr_op_add_timestamptz_interval({r}, {1}, {2}), {3}, tr_op_add_timestamptz_interval({r}, {3}, {4}))"},
	{name: "overlaps", args: "TITI", ret: "b", sql: "tr_f_overlaps_time_time_time_time({1}, tr_op_add_time_interval({1}, {2}), {3}, tr_op_add_time_interval({3}, {4}))"},
}

// midnight is the beginning of the transaction's day, as the session's clocks show it.
func (f *frame) midnight() int64 {
	t := toLocal(f.run.env.Now.UnixMicro()-epochUs, f.zone())
	return floorDiv(t, usDay) * usDay
}

// age is the difference in years, months, days and time, as a person counts it: PostgreSQL's timestamp_age.
func age(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	x, y := i64(a[0]), i64(a[1])
	if !finiteStamp(x) || !finiteStamp(y) {
		return nil, errStampRange
	}
	sign := int64(1)
	if x < y {
		sign = -1
	}
	dx, dy := floorDiv(x, usDay), floorDiv(y, usDay)
	xy, xm, xd := civil(dx)
	yy, ym, yd := civil(dy)
	us := sign * ((x - dx*usDay) - (y - dy*usDay))
	days, months, years := sign*(xd-yd), sign*(xm-ym), sign*(xy-yy)
	if us < 0 {
		us, days = us+usDay, days-1
	}
	for days < 0 { // days borrow from the month of the earlier date
		if sign < 0 {
			days += daysIn(xy, xm)
		} else {
			days += daysIn(yy, ym)
		}
		months--
	}
	if months < 0 {
		months, years = months+12, years-1
	}
	v, err := span(sign*(years*12+months), sign*days, sign*us)
	if err != nil {
		return nil, err
	}
	return v.put(dst)
}

// clock is a time of day of its parts.
func clock(h, m int32, s float64) (int64, error) {
	us := math.RoundToEven(s * 1e6)
	if h < 0 || m < 0 || m > 59 || !(s >= 0 && s <= 60) || h > 24 || h == 24 && (m > 0 || us > 0) {
		return 0, raise(codeDatetime, "time field value out of range: %d:%02d:%02g", h, m, s)
	}
	return int64(h)*usHour + int64(m)*usMinute + int64(us), nil
}

func makeInterval(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	seconds := f64(a[6])
	if math.IsNaN(seconds) || math.IsInf(seconds, 0) {
		return nil, errIntervalRange
	}
	us := math.RoundToEven(seconds * 1e6)
	total := us + float64(i32(a[4]))*float64(usHour) + float64(i32(a[5]))*float64(usMinute)
	if math.Abs(total) >= math.MaxInt64 {
		return nil, errIntervalRange
	}
	v, err := span(int64(i32(a[0]))*12+int64(i32(a[1])), int64(i32(a[2]))*7+int64(i32(a[3])), int64(us)+int64(i32(a[4]))*usHour+int64(i32(a[5]))*usMinute)
	if err != nil {
		return nil, err
	}
	return v.put(dst)
}

// truncInZone is date_trunc(unit, instant, zone).
func truncInZone(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	zone, err := f.zoneNamed(string(a[2]))
	if err != nil {
		return nil, err
	}
	return truncatedInstant(dst, string(a[0]), i64(a[1]), zone)
}

// shiftZone is AT TIME ZONE with an interval; sign is of what it does to the value.
func shiftZone(sign int64) implementation {
	return func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		v := readInterval(a[0])
		if v.months != 0 || v.days != 0 {
			return nil, raise(codeInvalid, "interval time zone \"%s\" must not include months or days", string(format.AppendText(nil, tailrace.TypeOf(kInterval), f.column(kInterval, a[0]), 0, format.Default())))
		}
		t := i64(a[1])
		if !finiteStamp(t) {
			return put64(dst, t), nil
		}
		return putStamp(dst, t+sign*v.us)
	}
}

// overlaps is OVERLAPS of two spans given by their ends, in SQL's logic of three values.
func overlaps(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	s1, e1, ok1 := ends(a[0], a[1])
	s2, e2, ok2 := ends(a[2], a[3])
	if !ok1 || !ok2 {
		return nil, errNull
	}
	known := func(v *int64) bool { return v != nil }
	switch {
	case *s1 > *s2:
		switch {
		case !known(e2):
			return nil, errNull
		case *s1 < *e2:
			return putBool(dst, true), nil
		case !known(e1):
			return nil, errNull
		}
		return putBool(dst, false), nil
	case *s1 < *s2:
		switch {
		case !known(e1):
			return nil, errNull
		case *s2 < *e1:
			return putBool(dst, true), nil
		case !known(e2):
			return nil, errNull
		}
		return putBool(dst, false), nil
	case !known(e1) || !known(e2):
		return nil, errNull
	}
	return putBool(dst, true), nil
}

// ends are the ends of a span, the earlier one first; a NULL counts as the later one.
func ends(a, b []byte) (from, to *int64, ok bool) {
	var x, y *int64
	if a != nil {
		v := i64(a)
		x = &v
	}
	if b != nil {
		v := i64(b)
		y = &v
	}
	switch {
	case x == nil && y == nil:
		return nil, nil, false
	case x == nil:
		return y, nil, true
	case y != nil && *x > *y:
		return y, x, true
	}
	return x, y, true
}
