package query

import (
	"fmt"
	"math"
	"math/bits"
)

// mathEntries are the functions and operators of integers. Sums and products are DuckDB's: it checks for overflow, and says in which type.
var mathEntries = []entry{
	{name: "+", args: "ss", ret: "s", sql: "({1} + {2})"},
	{name: "+", args: "ii", ret: "i", sql: "({1} + {2})"},
	{name: "+", args: "ll", ret: "l", sql: "({1} + {2})"},
	{name: "-", args: "ss", ret: "s", sql: "({1} - {2})"},
	{name: "-", args: "ii", ret: "i", sql: "({1} - {2})"},
	{name: "-", args: "ll", ret: "l", sql: "({1} - {2})"},
	{name: "*", args: "ss", ret: "s", sql: "({1} * {2})"},
	{name: "*", args: "ii", ret: "i", sql: "({1} * {2})"},
	{name: "*", args: "ll", ret: "l", sql: "({1} * {2})"},
	{name: "/", args: "ss", ret: "s", impl: divide(i16, put16, "smallint")},
	{name: "/", args: "ii", ret: "i", impl: divide(i32, put32, "integer")},
	{name: "/", args: "ll", ret: "l", impl: divide(i64, put64, "bigint")},
	{name: "%", args: "ss", ret: "s", impl: remainder(i16, put16)},
	{name: "%", args: "ii", ret: "i", impl: remainder(i32, put32)},
	{name: "%", args: "ll", ret: "l", impl: remainder(i64, put64)},
	{name: "mod", args: "ss", ret: "s", impl: remainder(i16, put16)},
	{name: "mod", args: "ii", ret: "i", impl: remainder(i32, put32)},
	{name: "mod", args: "ll", ret: "l", impl: remainder(i64, put64)},
	{name: "prefix -", args: "s", ret: "s", impl: negate(i16, put16, "smallint")},
	{name: "prefix -", args: "i", ret: "i", impl: negate(i32, put32, "integer")},
	{name: "prefix -", args: "l", ret: "l", impl: negate(i64, put64, "bigint")},
	{name: "prefix +", args: "s", ret: "s", sql: "{1}"},
	{name: "prefix +", args: "i", ret: "i", sql: "{1}"},
	{name: "prefix +", args: "l", ret: "l", sql: "{1}"},
	{name: "abs", args: "s", ret: "s", impl: absolute(i16, put16, "smallint")},
	{name: "abs", args: "i", ret: "i", impl: absolute(i32, put32, "integer")},
	{name: "abs", args: "l", ret: "l", impl: absolute(i64, put64, "bigint")},
	{name: "prefix @", args: "i", ret: "i", impl: absolute(i32, put32, "integer")},
	{name: "prefix @", args: "l", ret: "l", impl: absolute(i64, put64, "bigint")},
	{name: "&", args: "ss", ret: "s", sql: "({1} & {2})"},
	{name: "&", args: "ii", ret: "i", sql: "({1} & {2})"},
	{name: "&", args: "ll", ret: "l", sql: "({1} & {2})"},
	{name: "|", args: "ss", ret: "s", sql: "({1} | {2})"},
	{name: "|", args: "ii", ret: "i", sql: "({1} | {2})"},
	{name: "|", args: "ll", ret: "l", sql: "({1} | {2})"},
	{name: "#", args: "ss", ret: "s", sql: "xor({1}, {2})"},
	{name: "#", args: "ii", ret: "i", sql: "xor({1}, {2})"},
	{name: "#", args: "ll", ret: "l", sql: "xor({1}, {2})"},
	{name: "prefix ~", args: "s", ret: "s", sql: "(~{1})"},
	{name: "prefix ~", args: "i", ret: "i", sql: "(~{1})"},
	{name: "prefix ~", args: "l", ret: "l", sql: "(~{1})"},
	{name: "<<", args: "ii", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return put32(d, i32(a[0])<<(i32(a[1])&31)), nil }},
	{name: "<<", args: "li", ret: "l", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return put64(d, i64(a[0])<<(i32(a[1])&63)), nil }},
	{name: ">>", args: "ii", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return put32(d, i32(a[0])>>(i32(a[1])&31)), nil }},
	{name: ">>", args: "li", ret: "l", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return put64(d, i64(a[0])>>(i32(a[1])&63)), nil }},
	{name: "gcd", args: "ii", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		g := gcd(int64(i32(a[0])), int64(i32(a[1])))
		if g > math.MaxInt32 {
			return nil, outOfRange("integer")
		}
		return put32(d, int32(g)), nil
	}},
	{name: "gcd", args: "ll", ret: "l", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		g := gcd(i64(a[0]), i64(a[1]))
		if g > math.MaxInt64 {
			return nil, outOfRange("bigint")
		}
		return put64(d, int64(g)), nil
	}},
	{name: "lcm", args: "ii", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		v, ok := lcm(int64(i32(a[0])), int64(i32(a[1])))
		if !ok || v > math.MaxInt32 {
			return nil, outOfRange("integer")
		}
		return put32(d, int32(v)), nil
	}},
	{name: "lcm", args: "ll", ret: "l", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		v, ok := lcm(i64(a[0]), i64(a[1]))
		if !ok || v > math.MaxInt64 {
			return nil, outOfRange("bigint")
		}
		return put64(d, int64(v)), nil
	}},
	{name: "to_hex", args: "i", ret: "t", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		return fmt.Appendf(d, "%x", uint32(i32(a[0]))), nil
	}},
	{name: "to_hex", args: "l", ret: "t", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		return fmt.Appendf(d, "%x", uint64(i64(a[0]))), nil
	}},
}

func outOfRange(typ string) error { return raise(codeOutOfRange, "%s out of range", typ) }

type integer interface{ ~int16 | ~int32 | ~int64 }

// divide truncates toward zero.
func divide[T integer](get func([]byte) T, put func([]byte, T) []byte, typ string) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		x, y := get(a[0]), get(a[1])
		switch {
		case y == 0:
			return nil, errDivision
		case y == -1:
			if x != 0 && -x == x {
				return nil, outOfRange(typ)
			}
			return put(dst, -x), nil
		}
		return put(dst, x/y), nil
	}
}

func remainder[T integer](get func([]byte) T, put func([]byte, T) []byte) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		x, y := get(a[0]), get(a[1])
		if y == 0 {
			return nil, errDivision
		}
		return put(dst, x%y), nil
	}
}

func negate[T integer](get func([]byte) T, put func([]byte, T) []byte, typ string) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		x := get(a[0])
		if x != 0 && -x == x {
			return nil, outOfRange(typ)
		}
		return put(dst, -x), nil
	}
}

func absolute[T integer](get func([]byte) T, put func([]byte, T) []byte, typ string) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		x := get(a[0])
		if x < 0 {
			x = -x
		}
		if x < 0 {
			return nil, outOfRange(typ)
		}
		return put(dst, x), nil
	}
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

func gcd(a, b int64) uint64 {
	x, y := magnitude(a), magnitude(b)
	for y != 0 {
		x, y = y, x%y
	}
	return x
}

func lcm(a, b int64) (uint64, bool) {
	g := gcd(a, b)
	if g == 0 {
		return 0, true
	}
	hi, lo := bits.Mul64(magnitude(a)/g, magnitude(b))
	return lo, hi == 0
}
