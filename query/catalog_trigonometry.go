package query

import "math"

// trigonometryEntries are left to DuckDB, which calls the same library as PostgreSQL does; functions of degrees are refused.
var trigonometryEntries = append([]entry{
	{name: "cot", args: "d", ret: "d", sql: "tr_cotangent(tan(tr_check_angle({1})))"},
	{name: "sinh", args: "d", ret: "d", sql: "sinh({1})"},
	{name: "cosh", args: "d", ret: "d", sql: "cosh({1})"},
	{name: "tanh", args: "d", ret: "d", sql: "tanh({1})"},
	{name: "asinh", args: "d", ret: "d", sql: "asinh({1})"},
	{name: "acosh", args: "d", ret: "d", sql: "acosh(tr_check_acosh({1}))"},
	{name: "atanh", args: "d", ret: "d", sql: "tr_check_atanh({1}, atanh(CASE WHEN abs({1}) < 1 THEN {1} ELSE CAST(0 AS DOUBLE) END))"},
}, refused("d", "d", "sind", "cosd", "tand", "cotd", "asind", "acosd", "atand")...)

// refused are functions that keep their calls from being taken for other ones.
func refused(args, ret string, names ...string) []entry {
	var out []entry
	for _, name := range names {
		out = append(out, entry{name: name, args: args, ret: ret, impl: func(*frame, []byte, [][]byte) ([]byte, error) {
			return nil, raise(codeUnsupported, "function %s is not supported", name)
		}})
	}
	return out
}

// frameOffset checks a bound of a window's frame.
func frameOffset(which string) implementation {
	return func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		switch {
		case a[0] == nil:
			return nil, raise("22004", "frame %s offset must not be null", which)
		case i64(a[0]) < 0:
			return nil, raise("22013", "frame %s offset must not be negative", which)
		}
		return append(d, a[0]...), nil
	}
}

// aboveZero checks the argument of a window function.
func aboveZero(function, code string) implementation {
	return func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		if i32(a[0]) <= 0 {
			return nil, raise(code, "argument of %s must be greater than zero", function)
		}
		return append(d, a[0]...), nil
	}
}

// fractionEntries check arguments, and hand them on.
var fractionEntries = []entry{
	{name: "tr_frame_starting", args: "l", ret: "l", nulls: true, impl: frameOffset("starting")},
	{name: "tr_frame_ending", args: "l", ret: "l", nulls: true, impl: frameOffset("ending")},
	{name: "tr_ntile", args: "i", ret: "i", impl: aboveZero("ntile", "22014")},
	{name: "tr_nth_value", args: "i", ret: "i", impl: aboveZero("nth_value", "22016")},
	{name: "tr_cotangent", args: "d", ret: "d", impl: float1(func(x float64) float64 { return 1 / x })},
	{name: "tr_check_acosh", args: "d", ret: "d", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		if f64(a[0]) < 1 {
			return nil, raise(codeOutOfRange, "input is out of range")
		}
		return putF64(d, f64(a[0])), nil
	}},
	{name: "tr_check_atanh", args: "dd", ret: "d", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		switch x := f64(a[0]); {
		case x < -1 || x > 1:
			return nil, raise(codeOutOfRange, "input is out of range")
		case x == 1 || x == -1:
			return putF64(d, math.Inf(int(x))), nil
		case math.IsNaN(x):
			return putF64(d, x), nil
		}
		return putF64(d, f64(a[1])), nil
	}},
	{name: "tr_check_fraction", args: "d", ret: "d", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		if p := f64(a[0]); !(p >= 0 && p <= 1) {
			return nil, raise(codeOutOfRange, "percentile value %g is not between 0 and 1", p)
		}
		return putF64(d, f64(a[0])), nil
	}},
}
