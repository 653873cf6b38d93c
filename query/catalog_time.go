package query

import (
	"math"
	"time"
)

// timeEntries are the functions and operators of dates, times and intervals; fields are in field.go.
var timeEntries = []entry{
	{name: "+", args: "Di", ret: "D", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return shiftDate(d, i32(a[0]), int64(i32(a[1]))) }},
	{name: "+", args: "iD", ret: "D", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return shiftDate(d, i32(a[1]), int64(i32(a[0]))) }},
	{name: "-", args: "Di", ret: "D", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		return shiftDate(d, i32(a[0]), -int64(i32(a[1])))
	}},
	{name: "-", args: "DD", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		if !finiteDate(i32(a[0])) || !finiteDate(i32(a[1])) {
			return nil, raise(codeDatetime, "cannot subtract infinite dates")
		}
		return put32(d, i32(a[0])-i32(a[1])), nil
	}},
	{name: "+", args: "DI", ret: "S", sql: "tr_op_add_timestamp_interval(tr_date_timestamp({1}), {2})"},
	{name: "-", args: "DI", ret: "S", sql: "tr_op_sub_timestamp_interval(tr_date_timestamp({1}), {2})"},
	{name: "+", args: "ID", ret: "S", sql: "tr_op_add_timestamp_interval(tr_date_timestamp({2}), {1})"},
	{name: "+", args: "DT", ret: "S", sql: "tr_op_add_timestamp_interval(tr_date_timestamp({1}), tr_time_interval({2}))"},
	{name: "+", args: "SI", ret: "S", impl: stampPlus(false)},
	{name: "-", args: "SI", ret: "S", impl: stampPlus(true)},
	{name: "+", args: "IS", ret: "S", sql: "tr_op_add_timestamp_interval({2}, {1})"},
	{name: "+", args: "ZI", ret: "Z", env: true, impl: instantPlus(false)},
	{name: "-", args: "ZI", ret: "Z", env: true, impl: instantPlus(true)},
	{name: "+", args: "IZ", ret: "Z", sql: "tr_op_add_timestamptz_interval({r}, {2}, {1})"},
	{name: "-", args: "SS", ret: "I", impl: between},
	{name: "-", args: "ZZ", ret: "I", impl: between},
	{name: "+", args: "TI", ret: "T", impl: timePlus(1)},
	{name: "-", args: "TI", ret: "T", impl: timePlus(-1)},
	{name: "+", args: "IT", ret: "T", sql: "tr_op_add_time_interval({2}, {1})"},
	{name: "-", args: "TT", ret: "I", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		return interval{us: i64(a[0]) - i64(a[1])}.put(d)
	}},
	{name: "+", args: "II", ret: "I", impl: interval2(addInterval)},
	{name: "-", args: "II", ret: "I", impl: interval2(func(a, b interval) (interval, error) {
		n, err := b.negated()
		if err != nil {
			return n, err
		}
		return addInterval(a, n)
	})},
	{name: "prefix -", args: "I", ret: "I", impl: interval1(interval.negated)},
	{name: "*", args: "Id", ret: "I", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return scaleInterval(d, a[0], f64(a[1])) }},
	{name: "*", args: "dI", ret: "I", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return scaleInterval(d, a[1], f64(a[0])) }},
	{name: "/", args: "Id", ret: "I", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		if f64(a[1]) == 0 {
			return nil, errDivision
		}
		return divideInterval(d, readInterval(a[0]), f64(a[1]))
	}},
	{name: "justify_hours", args: "I", ret: "I", impl: interval1(interval.justified)},
	{name: "justify_days", args: "I", ret: "I", impl: interval1(justifyDays)},
	{name: "justify_interval", args: "I", ret: "I", impl: interval1(func(v interval) (interval, error) {
		v, err := v.justified()
		if err != nil {
			return v, err
		}
		return justifySigns(v)
	})},
	{name: "isfinite", args: "D", ret: "b", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return putBool(d, finiteDate(i32(a[0]))), nil }},
	{name: "isfinite", args: "S", ret: "b", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return putBool(d, finiteStamp(i64(a[0]))), nil }},
	{name: "isfinite", args: "Z", ret: "b", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return putBool(d, finiteStamp(i64(a[0]))), nil }},
	{name: "make_date", args: "iii", ret: "D", impl: makeDate},
	{name: "make_timestamp", args: "iiiiid", ret: "S", impl: makeStamp},
	{name: "to_timestamp", args: "d", ret: "Z", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		s := f64(a[0])
		switch {
		case math.IsNaN(s):
			return nil, raise(codeDatetime, "timestamp cannot be NaN")
		case math.IsInf(s, 1):
			return put64(d, math.MaxInt64), nil
		case math.IsInf(s, -1):
			return put64(d, math.MinInt64), nil
		case math.Abs(s) > 1e13:
			return nil, errStampRange
		}
		return putStamp(d, int64(math.RoundToEven((s-epochDays*86400)*1e6)))
	}},
	{name: "date_bin", args: "ISS", ret: "S", impl: dateBin},
	{name: "date_bin", args: "IZZ", ret: "Z", impl: dateBin},
	{name: "timezone", args: "tS", ret: "Z", impl: zoned(toInstant)},
	{name: "timezone", args: "tZ", ret: "S", impl: zoned(toLocal)},
	{name: "now", ret: "Z", sql: "{now}"},
	{name: "transaction_timestamp", ret: "Z", sql: "{now}"},
	{name: "statement_timestamp", ret: "Z", sql: "{now}"},
	{name: "clock_timestamp", ret: "Z", env: true, volatile: true, impl: func(_ *frame, d []byte, _ [][]byte) ([]byte, error) {
		return put64(d, time.Now().UnixMicro()-epochUs), nil
	}},
	{name: "date_trunc", args: "tS", ret: "S", impl: truncStamp},
	{name: "date_trunc", args: "tZ", ret: "Z", env: true, impl: truncInstant},
	{name: "date_trunc", args: "tI", ret: "I", impl: truncInterval},
	{name: "extract", args: "tD", ret: "n", impl: extract(fieldsOfDate)},
	{name: "date_part", args: "tD", ret: "d", sql: "tr_f_date_part_text_timestamp({1}, tr_date_timestamp({2}))"},
	{name: "extract", args: "tS", ret: "n", impl: extract(fieldsOfStamp)},
	{name: "date_part", args: "tS", ret: "d", impl: datePart(fieldsOfStamp)},
	{name: "extract", args: "tZ", ret: "n", env: true, impl: extract(fieldsOfInstant)},
	{name: "date_part", args: "tZ", ret: "d", env: true, impl: datePart(fieldsOfInstant)},
	{name: "extract", args: "tT", ret: "n", impl: extract(fieldsOfTime)},
	{name: "date_part", args: "tT", ret: "d", impl: datePart(fieldsOfTime)},
	{name: "extract", args: "tI", ret: "n", impl: extract(fieldsOfInterval)},
	{name: "date_part", args: "tI", ret: "d", impl: datePart(fieldsOfInterval)},
	{name: "to_char", args: "St", ret: "t", impl: stampToChar},
	{name: "to_char", args: "Zt", ret: "t", env: true, impl: instantToChar},
	{name: "to_char", args: "It", ret: "t", impl: intervalToChar},
	{name: "to_date", args: "tt", ret: "D", impl: toDate},
	{name: "to_timestamp", args: "tt", ret: "Z", env: true, impl: toTimestamp},
}

// timeCasts are the Go functions that casts names for times.
var timeCasts = []entry{
	{name: "tr_date_timestamp", args: "D", ret: "S", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		t, err := dateStamp(i32(a[0]))
		return put64(d, t), err
	}},
	{name: "tr_date_timestamptz", args: "D", ret: "Z", env: true, impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		t, err := dateStamp(i32(a[0]))
		if err != nil {
			return nil, err
		}
		return put64(d, toInstant(t, f.zone())), nil
	}},
	{name: "tr_timestamp_date", args: "S", ret: "D", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		switch t := i64(a[0]); t {
		case math.MinInt64:
			return put32(d, math.MinInt32), nil
		case math.MaxInt64:
			return put32(d, math.MaxInt32), nil
		default:
			return put32(d, int32(floorDiv(t, usDay))), nil
		}
	}},
	{name: "tr_timestamp_time", args: "S", ret: "T", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		t := i64(a[0])
		if !finiteStamp(t) {
			return nil, errNull
		}
		return put64(d, t-floorDiv(t, usDay)*usDay), nil
	}},
	{name: "tr_timestamp_timestamptz", args: "S", ret: "Z", env: true, impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		return put64(d, toInstant(i64(a[0]), f.zone())), nil
	}},
	{name: "tr_timestamptz_timestamp", args: "Z", ret: "S", env: true, impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		return put64(d, toLocal(i64(a[0]), f.zone())), nil
	}},
	{name: "tr_time_interval", args: "T", ret: "I", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return interval{us: i64(a[0])}.put(d) }},
	{name: "tr_interval_time", args: "I", ret: "T", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		us := readInterval(a[0]).us
		return put64(d, us-floorDiv(us, usDay)*usDay), nil
	}},
	{name: "tr_step", args: "l", ret: "l", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		if i64(a[0]) == 0 {
			return nil, raise(codeInvalid, "step size cannot equal zero")
		}
		return append(d, a[0]...), nil
	}},
	{name: "tr_steps", args: "SSI", ret: "l", impl: steps},
	{name: "tr_steps_tz", args: "ZZI", ret: "l", env: true, impl: steps},
	{name: "tr_step_at", args: "SIl", ret: "S", impl: stepAt},
	{name: "tr_step_at_tz", args: "ZIl", ret: "Z", env: true, impl: stepAt},
	{name: "tr_limit", args: "l", ret: "l", impl: notNegative("LIMIT", "2201W")},
	{name: "tr_offset", args: "l", ret: "l", impl: notNegative("OFFSET", "2201X")},
}
