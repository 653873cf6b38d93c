package query

import (
	"math"
	"strconv"
	"strings"

	"tailrace"
	"tailrace/format"
)

// numericEntries are the functions and operators of numeric.
var numericEntries = []entry{
	{name: "+", args: "nn", ret: "n", impl: numeric2(func(a, b num) (num, error) { return addNum(a, b), nil })},
	{name: "-", args: "nn", ret: "n", impl: numeric2(func(a, b num) (num, error) { return addNum(a, negNum(b)), nil })},
	{name: "*", args: "nn", ret: "n", impl: numeric2(func(a, b num) (num, error) { return mulNum(a, b), nil })},
	{name: "/", args: "nn", ret: "n", impl: numeric2(divNum)},
	{name: "%", args: "nn", ret: "n", impl: numeric2(modNum)},
	{name: "mod", args: "nn", ret: "n", impl: numeric2(modNum)},
	{name: "div", args: "nn", ret: "n", impl: numeric2(func(a, b num) (num, error) {
		if q, err := divNum(a, b); err != nil || !q.finite() || !a.finite() || !b.finite() {
			return q, err
		}
		scale := max(a.scale, b.scale)
		return bigNum(quoTrunc(a.scaledTo(scale), b.scaledTo(scale)), 0), nil
	})},
	{name: "prefix -", args: "n", ret: "n", impl: numeric1(negNum)},
	{name: "prefix +", args: "n", ret: "n", sql: "{1}"},
	{name: "abs", args: "n", ret: "n", impl: numeric1(absNum)},
	{name: "prefix @", args: "n", ret: "n", impl: numeric1(absNum)},
	{name: "sign", args: "n", ret: "n", impl: numeric1(func(a num) num {
		if a.nan() {
			return a
		}
		return intNum(int64(a.sign()))
	})},
	{name: "ceil", args: "n", ret: "n", impl: numericCut(quoCeil)},
	{name: "ceiling", args: "n", ret: "n", impl: numericCut(quoCeil)},
	{name: "floor", args: "n", ret: "n", impl: numericCut(quoFloor)},
	{name: "round", args: "n", ret: "n", impl: numericCut(quoHalfUp)},
	{name: "trunc", args: "n", ret: "n", impl: numericCut(quoTrunc)},
	{name: "round", args: "ni", ret: "n", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		if n := readNum(a[0]); n.finite() {
			return n.rounded(clampScale(i32(a[1]))).put(d)
		}
		return append(d, a[0]...), nil
	}},
	{name: "trunc", args: "ni", ret: "n", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		if n := readNum(a[0]); n.finite() {
			return n.cut(clampScale(i32(a[1])), quoTrunc).put(d)
		}
		return append(d, a[0]...), nil
	}},
	{name: "sqrt", args: "n", ret: "n", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n := readNum(a[0])
		switch {
		case n.sign() < 0:
			return nil, raise("2201F", "cannot take square root of a negative number")
		case !n.finite():
			return append(d, a[0]...), nil
		}
		return rootNum(n, rootScale(n)).put(d)
	}},
	{name: "scale", args: "n", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n := readNum(a[0])
		if !n.finite() {
			return nil, errNull
		}
		return put32(d, int32(n.scale)), nil
	}},
	{name: "trim_scale", args: "n", ret: "n", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n := readNum(a[0])
		if !n.finite() {
			return append(d, a[0]...), nil
		}
		digits := n.unscaled().String()
		zeros := min(len(digits)-len(strings.TrimRight(digits, "0")), n.scale)
		if n.sign() == 0 {
			zeros = n.scale
		}
		return n.cut(n.scale-zeros, quoTrunc).put(d)
	}},
}

// powerEntries are the powers, exponentials and logarithms of numeric.
var powerEntries = []entry{
	{name: "exp", args: "n", ret: "n", impl: numericOf(expNum)},
	{name: "ln", args: "n", ret: "n", impl: numericOf(lnNum)},
	{name: "log", args: "n", ret: "n", impl: numericOf(func(n num) (num, error) { return logNum(intNum(10), n) })},
	{name: "log10", args: "n", ret: "n", impl: numericOf(func(n num) (num, error) { return logNum(intNum(10), n) })},
	{name: "log", args: "nn", ret: "n", impl: numeric2(logNum)},
	{name: "power", args: "nn", ret: "n", impl: numeric2(powerNum)},
	{name: "pow", args: "nn", ret: "n", impl: numeric2(powerNum)},
	{name: "^", args: "nn", ret: "n", impl: numeric2(powerNum)},
}

// numericCasts are the Go functions that casts names for numeric, and those of DuckDB's HUGEINT, which sums of bigints come as.
var numericCasts = []entry{
	{name: "tr_int8_numeric", args: "l", ret: "n", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		return tailrace.AppendDecimal64(d, i64(a[0]), 0), nil
	}},
	{name: "tr_float8_numeric", args: "d", ret: "n", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return floatNumeric(d, f64(a[0]), 15) }},
	{name: "tr_float4_numeric", args: "f", ret: "n", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return floatNumeric(d, float64(f32(a[0])), 6) }},
	{name: "tr_numeric_int2", args: "n", ret: "s", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		v, err := numericInt(a[0], math.MinInt16, math.MaxInt16, "smallint")
		return put16(d, int16(v)), err
	}},
	{name: "tr_numeric_int4", args: "n", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		v, err := numericInt(a[0], math.MinInt32, math.MaxInt32, "integer")
		return put32(d, int32(v)), err
	}},
	{name: "tr_numeric_int8", args: "n", ret: "l", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		v, err := numericInt(a[0], math.MinInt64, math.MaxInt64, "bigint")
		return put64(d, v), err
	}},
	{name: "tr_numeric_float8", args: "n", ret: "d", impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		v, err := numericFloat(f, a[0], 64, "double precision")
		return putF64(d, v), err
	}},
	{name: "tr_numeric_float4", args: "n", ret: "f", impl: func(f *frame, d []byte, a [][]byte) ([]byte, error) {
		v, err := numericFloat(f, a[0], 32, "real")
		return putF32(d, float32(v)), err
	}},
	{name: "tr_steps_numeric", args: "nnn", ret: "l", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		from, to, step := readNum(a[0]), readNum(a[1]), readNum(a[2])
		for i, n := range []num{from, to, step} {
			if !n.finite() {
				what := []string{"start value", "stop value", "step size"}[i]
				return nil, raise(codeInvalid, "%s cannot be %s", what, map[bool]string{true: "NaN", false: "infinity"}[n.nan()])
			}
		}
		if step.sign() == 0 {
			return nil, raise(codeInvalid, "step size cannot equal zero")
		}
		way := addNum(to, negNum(from))
		if way.sign() != 0 && way.sign() != step.sign() {
			return put64(d, -1), nil
		}
		scale := max(way.scale, step.scale)
		n := quoTrunc(way.scaledTo(scale), step.scaledTo(scale))
		if !n.IsInt64() {
			return nil, raise(codeOutOfRange, "bigint out of range")
		}
		return put64(d, n.Int64()), nil
	}},
	{name: "tr_step_at_numeric", args: "nnl", ret: "n", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n := i64(a[2])
		if n == 0 {
			return append(d, a[0]...), nil
		}
		return addNum(readNum(a[0]), mulNum(readNum(a[1]), intNum(n))).put(d)
	}},
	{name: "tr_huge_numeric", args: "h", ret: "n", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return hugeNum(a[0]).put(d) }},
	{name: "tr_huge_avg", args: "hl", ret: "n", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n := i64(a[1])
		if n == 0 {
			return nil, errNull
		}
		q, err := divNum(hugeNum(a[0]), intNum(n))
		if err != nil {
			return nil, err
		}
		return q.put(d)
	}},
}

func numeric1(f func(num) num) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) { return f(readNum(a[0])).put(dst) }
}

func numericOf(f func(num) (num, error)) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		r, err := f(readNum(a[0]))
		if err != nil {
			return nil, err
		}
		return r.put(dst)
	}
}

func numeric2(f func(a, b num) (num, error)) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		r, err := f(readNum(a[0]), readNum(a[1]))
		if err != nil {
			return nil, err
		}
		return r.put(dst)
	}
}

// numericCut drops the digits after the point.
func numericCut(quo func(a, b *bigInt) *bigInt) implementation {
	return numeric1(func(n num) num {
		if !n.finite() || n.scale == 0 {
			return n
		}
		return n.cut(0, quo)
	})
}

func absNum(n num) num {
	if n.sign() < 0 {
		return negNum(n)
	}
	return n
}

// clampScale bounds the second argument of round and trunc as PostgreSQL does.
func clampScale(s int32) int { return int(min(max(s, -2000), 2000)) }

// floatNumeric is a float as a numeric: its first digits, as C's %g prints them.
func floatNumeric(dst []byte, v float64, digits int) ([]byte, error) {
	switch {
	case math.IsNaN(v):
		return tailrace.AppendDecimalForm(dst, tailrace.DecimalNaN), nil
	case math.IsInf(v, 1):
		return tailrace.AppendDecimalForm(dst, tailrace.DecimalInf), nil
	case math.IsInf(v, -1):
		return tailrace.AppendDecimalForm(dst, tailrace.DecimalNegInf), nil
	}
	text := strconv.FormatFloat(v, 'e', digits-1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	if strings.Contains(mantissa, ".") { // %g prints no trailing zeros
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	raw, ok := decimalFromText(mantissa + "e" + exponent)
	if !ok {
		return nil, raise(codeInternal, "a double precision number has no numeric form")
	}
	return append(dst, raw...), nil
}

func numericInt(raw []byte, low, high int64, typ string) (int64, error) {
	n := readNum(raw)
	switch {
	case n.nan():
		return 0, raise(codeUnsupported, "cannot convert NaN to %s", typ)
	case !n.finite():
		return 0, raise(codeUnsupported, "cannot convert infinity to %s", typ)
	}
	v := n.rounded(0).unscaled()
	if !v.IsInt64() || v.Int64() < low || v.Int64() > high {
		return 0, outOfRange(typ)
	}
	return v.Int64(), nil
}

func numericFloat(f *frame, raw []byte, bits int, typ string) (float64, error) {
	n := readNum(raw)
	switch {
	case n.nan():
		return math.NaN(), nil
	case !n.finite():
		return math.Inf(n.sign()), nil
	}
	text := string(format.AppendText(nil, tailrace.TypeOf(kNumeric), f.column(kNumeric, raw), 0, format.Default()))
	v, err := strconv.ParseFloat(text, bits)
	if err != nil || v == 0 && n.sign() != 0 {
		return 0, raise(codeOutOfRange, "\"%s\" is out of range for type %s", text, typ)
	}
	return v, nil
}

// hugeNum reads a HUGEINT: 128 bits, little-endian.
func hugeNum(b []byte) num {
	low, high := uint64(i64(b)), i64(b[8:])
	if high == 0 && low <= math.MaxInt64 || high == -1 && low > math.MaxInt64 {
		return intNum(int64(low))
	}
	v := new(bigInt).Lsh(new(bigInt).SetInt64(high), 64)
	return bigNum(v.Add(v, new(bigInt).SetUint64(low)), 0)
}
