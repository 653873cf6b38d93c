package query

import (
	"math"
	"math/rand/v2"
)

// floatEntries are the functions and operators of real and double precision. Functions that libm computes are left to DuckDB, which calls
// the same one as PostgreSQL does; a Go function beside it refuses what PostgreSQL refuses.
var floatEntries = append(floatOperators(), []entry{
	{name: "prefix -", args: "f", ret: "f", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return putF32(d, -f32(a[0])), nil }},
	{name: "prefix -", args: "d", ret: "d", impl: float1(func(x float64) float64 { return -x })},
	{name: "prefix +", args: "f", ret: "f", sql: "{1}"},
	{name: "prefix +", args: "d", ret: "d", sql: "{1}"},
	{name: "abs", args: "f", ret: "f", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		return putF32(d, float32(math.Abs(float64(f32(a[0]))))), nil
	}},
	{name: "abs", args: "d", ret: "d", impl: float1(math.Abs)},
	{name: "ceil", args: "d", ret: "d", impl: float1(math.Ceil)},
	{name: "ceiling", args: "d", ret: "d", impl: float1(math.Ceil)},
	{name: "floor", args: "d", ret: "d", impl: float1(math.Floor)},
	{name: "round", args: "d", ret: "d", impl: float1(math.RoundToEven)},
	{name: "trunc", args: "d", ret: "d", impl: float1(math.Trunc)},
	{name: "sign", args: "d", ret: "d", impl: float1(func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return 0
	})},
	{name: "sqrt", args: "d", ret: "d", impl: rootFloat},
	{name: "prefix |/", args: "d", ret: "d", impl: rootFloat},
	{name: "cbrt", args: "d", ret: "d", sql: "cbrt({1})"},
	{name: "prefix ||/", args: "d", ret: "d", sql: "cbrt({1})"},
	{name: "exp", args: "d", ret: "d", sql: "tr_check_exp({1}, exp({1}))"},
	{name: "ln", args: "d", ret: "d", sql: "ln(tr_check_log({1}))"},
	{name: "log", args: "d", ret: "d", sql: "log10(tr_check_log({1}))"},
	{name: "log10", args: "d", ret: "d", sql: "log10(tr_check_log({1}))"},
	{name: "power", args: "dd", ret: "d", sql: "tr_check_pow({1}, {2}, pow({1}, {2}))"},
	{name: "pow", args: "dd", ret: "d", sql: "tr_check_pow({1}, {2}, pow({1}, {2}))"},
	{name: "^", args: "dd", ret: "d", sql: "tr_check_pow({1}, {2}, pow({1}, {2}))"},
	{name: "sin", args: "d", ret: "d", sql: "sin(tr_check_angle({1}))"},
	{name: "cos", args: "d", ret: "d", sql: "cos(tr_check_angle({1}))"},
	{name: "tan", args: "d", ret: "d", sql: "tan(tr_check_angle({1}))"},
	{name: "atan", args: "d", ret: "d", sql: "atan({1})"},
	{name: "asin", args: "d", ret: "d", sql: "asin(tr_check_sine({1}))"},
	{name: "acos", args: "d", ret: "d", sql: "acos(tr_check_sine({1}))"},
	{name: "atan2", args: "dd", ret: "d", sql: "atan2({1}, {2})"},
	{name: "pi", ret: "d", sql: "CAST('3.141592653589793' AS DOUBLE)"},
	{name: "degrees", args: "d", ret: "d", impl: float1(func(x float64) float64 { return x / (math.Pi / 180) })},
	{name: "radians", args: "d", ret: "d", impl: float1(func(x float64) float64 { return x * (math.Pi / 180) })},
	{name: "random", ret: "d", env: true, volatile: true, impl: func(_ *frame, d []byte, _ [][]byte) ([]byte, error) { return putF64(d, rand.Float64()), nil }},
}...)

// checkEntries are the Go functions that floatEntries name in their SQL.
var checkEntries = append([]entry{
	{name: "tr_zeroed_float4", args: "f", ret: "f", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return putF32(d, f32(a[0])+0), nil }},
	{name: "tr_zeroed_float8", args: "d", ret: "d", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return putF64(d, f64(a[0])+0), nil }},
	{name: "tr_check_exp", args: "dd", ret: "d", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		x, y := f64(a[0]), f64(a[1])
		if math.IsInf(y, 0) && !math.IsInf(x, 0) {
			return nil, errOverflow
		}
		if y == 0 && !math.IsInf(x, 0) {
			return nil, errUnderflow
		}
		return putF64(d, y), nil
	}},
	{name: "tr_check_log", args: "d", ret: "d", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		switch x := f64(a[0]); {
		case x == 0:
			return nil, raise("2201E", "cannot take logarithm of zero")
		case x < 0:
			return nil, raise("2201E", "cannot take logarithm of a negative number")
		default:
			return putF64(d, x), nil
		}
	}},
	{name: "tr_check_pow", args: "ddd", ret: "d", impl: checkPower},
	{name: "tr_check_angle", args: "d", ret: "d", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		if math.IsInf(f64(a[0]), 0) {
			return nil, raise(codeOutOfRange, "input is out of range")
		}
		return putF64(d, f64(a[0])), nil
	}},
	{name: "tr_check_sine", args: "d", ret: "d", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		if x := f64(a[0]); x < -1 || x > 1 {
			return nil, raise(codeOutOfRange, "input is out of range")
		}
		return putF64(d, f64(a[0])), nil
	}},
}, exactHelpers...)

var (
	errOverflow  = raise(codeOutOfRange, "value out of range: overflow")
	errUnderflow = raise(codeOutOfRange, "value out of range: underflow")
)

func float1(f func(float64) float64) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) { return putF64(dst, f(f64(a[0]))), nil }
}

func rootFloat(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	x := f64(a[0])
	if x < 0 {
		return nil, raise("2201F", "cannot take square root of a negative number")
	}
	return putF64(dst, math.Sqrt(x)), nil
}

// checkPower lets pow's result pass unless PostgreSQL has an error for it.
func checkPower(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	x, y, r := f64(a[0]), f64(a[1]), f64(a[2])
	whole := math.IsInf(x, 0) || math.IsInf(y, 0)
	switch {
	case x == 0 && y < 0:
		return nil, raise("2201F", "zero raised to a negative power is undefined")
	case x < 0 && y != math.Floor(y) && !math.IsInf(x, 0):
		return nil, raise("2201F", "a negative number raised to a non-integer power yields a complex result")
	case whole || math.IsNaN(x) || math.IsNaN(y):
	case math.IsInf(r, 0):
		return nil, errOverflow
	case r == 0 && x != 0:
		return nil, errUnderflow
	}
	return putF64(dst, r), nil
}

// floatOperators are + - * / for each pair of the two types: only real with real stays real.
func floatOperators() []entry {
	var out []entry
	for _, op := range []string{"+", "-", "*", "/"} {
		for _, args := range []string{"dd", "fd", "df"} {
			get0, get1 := getFloat(args[0]), getFloat(args[1])
			out = append(out, entry{name: op, args: args, ret: "d", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
				x, y := get0(a[0]), get1(a[1])
				r, err := compute(op[0], x, y, func(v float64) float64 { return v })
				return putF64(d, r), err
			}})
		}
		out = append(out, entry{name: op, args: "ff", ret: "f", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
			r, err := compute(op[0], float64(f32(a[0])), float64(f32(a[1])), func(v float64) float64 { return float64(float32(v)) })
			return putF32(d, float32(r)), err
		}})
	}
	return out
}

func getFloat(letter byte) func([]byte) float64 {
	if letter == 'f' {
		return func(b []byte) float64 { return float64(f32(b)) }
	}
	return f64
}

// compute does one operation and rounds it. A double has more than twice the digits of a real, so that rounding to double and then to real
// gives the same as rounding once.
func compute(op byte, x, y float64, round func(float64) float64) (float64, error) {
	var r float64
	switch op {
	case '+':
		r = round(x + y)
	case '-':
		r = round(x - y)
	case '*':
		r = round(x * y)
		if r == 0 && x != 0 && y != 0 {
			return 0, errUnderflow
		}
	case '/':
		if y == 0 && !math.IsNaN(x) {
			return 0, errDivision
		}
		r = round(x / y)
		if r == 0 && x != 0 && !math.IsInf(y, 0) {
			return 0, errUnderflow
		}
	}
	if math.IsInf(r, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return 0, errOverflow
	}
	return r, nil
}
