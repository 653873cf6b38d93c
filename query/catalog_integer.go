package query

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"

	"tailrace"
)

// integerEntries are whole-number functions beyond the operators: shifts of smallint, factorials, buckets, sizes in words.
var integerEntries = []entry{
	{name: "<<", args: "si", ret: "s", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		return put16(d, int16(int32(i16(a[0]))<<(i32(a[1])&31))), nil
	}},
	{name: ">>", args: "si", ret: "s", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		return put16(d, int16(int32(i16(a[0]))>>(i32(a[1])&31))), nil
	}},
	{name: "prefix @", args: "s", ret: "s", impl: absolute(i16, put16, "smallint")},
	{name: "prefix @", args: "f", ret: "f", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		return putF32(d, float32(math.Abs(float64(f32(a[0]))))), nil
	}},
	{name: "prefix @", args: "d", ret: "d", impl: float1(math.Abs)},
	{name: "factorial", args: "l", ret: "n", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n := i64(a[0])
		switch {
		case n < 0:
			return nil, raise(codeOutOfRange, "factorial of a negative number is undefined")
		case n > 32177: // 32178! has more digits than a numeric
			return nil, errNumericOverflow
		}
		return bigNum(new(big.Int).MulRange(1, n), 0).put(d)
	}},
	{name: "gcd", args: "nn", ret: "n", impl: numeric2(func(a, b num) (num, error) {
		if !a.finite() || !b.finite() {
			return formNum(tailrace.DecimalNaN), nil
		}
		return gcdNum(a, b), nil
	})},
	{name: "lcm", args: "nn", ret: "n", impl: numeric2(func(a, b num) (num, error) {
		if !a.finite() || !b.finite() {
			return formNum(tailrace.DecimalNaN), nil
		}
		scale := max(a.scale, b.scale)
		g := gcdNum(a, b).unscaled()
		if g.Sign() == 0 {
			return num{scale: scale}, nil
		}
		x := new(big.Int).Quo(a.scaledTo(scale), g)
		return bigNum(x.Abs(x.Mul(x, b.scaledTo(scale))), scale), nil
	})},
	{name: "min_scale", args: "n", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n := readNum(a[0])
		if !n.finite() {
			return nil, errNull
		}
		if n.sign() == 0 {
			return put32(d, 0), nil
		}
		digits := n.unscaled().String()
		return put32(d, int32(max(n.scale-(len(digits)-len(strings.TrimRight(digits, "0"))), 0))), nil
	}},
	{name: "width_bucket", args: "nnni", ret: "i", impl: bucketNumeric},
	{name: "width_bucket", args: "dddi", ret: "i", impl: bucketFloat},
	{name: "num_nulls", args: "?*", ret: "i", sql: "CAST(len(list_filter([{*:o}], lambda x: x IS NULL)) AS INTEGER)"},
	{name: "num_nonnulls", args: "?*", ret: "i", sql: "CAST(len(list_filter([{*:o}], lambda x: x IS NOT NULL)) AS INTEGER)"},
	{name: "bit_count", args: "y", ret: "l", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n := 0
		for _, c := range a[0] {
			n += bits.OnesCount8(c)
		}
		return put64(d, int64(n)), nil
	}},
	{name: "pg_size_pretty", args: "l", ret: "t", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		return prettySize(d, big.NewInt(i64(a[0]))), nil
	}},
	{name: "pg_size_pretty", args: "n", ret: "t", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		n := readNum(a[0])
		if !n.finite() {
			return nil, raise(codeInvalid, "the size must be finite")
		}
		if limit := intNum(10 * 1024); cmpNum(absNum(n), limit) < 0 {
			return append(append(d, decimalText(n)...), " bytes"...), nil
		}
		return prettySize(d, n.cut(0, quoTrunc).unscaled()), nil
	}},
	{name: "pg_size_bytes", args: "t", ret: "l", impl: sizeBytes},
}

func gcdNum(a, b num) num {
	scale := max(a.scale, b.scale)
	x, y := a.scaledTo(scale), b.scaledTo(scale)
	return bigNum(new(big.Int).GCD(nil, nil, new(big.Int).Abs(x), new(big.Int).Abs(y)), scale)
}

// decimalText is a finite n in digits.
func decimalText(n num) string {
	digits := new(big.Int).Abs(n.unscaled()).String()
	if n.scale > 0 {
		if len(digits) <= n.scale {
			digits = strings.Repeat("0", n.scale+1-len(digits)) + digits
		}
		digits = digits[:len(digits)-n.scale] + "." + digits[len(digits)-n.scale:]
	}
	if n.sign() < 0 {
		return "-" + digits
	}
	return digits
}

var (
	errBucketCount = raise("2201G", "count must be greater than zero")
	errBucketNaN   = raise("2201G", "operand, lower bound, and upper bound cannot be NaN")
	errBucketInf   = raise("2201G", "lower and upper bounds must be finite")
	errBucketEqual = raise("2201G", "lower bound cannot equal upper bound")
)

// bucketNumeric is width_bucket(operand, low, high, count) of numerics.
func bucketNumeric(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	x, low, high, count := readNum(a[0]), readNum(a[1]), readNum(a[2]), i32(a[3])
	switch {
	case count <= 0:
		return nil, errBucketCount
	case x.nan() || low.nan() || high.nan():
		return nil, errBucketNaN
	case !low.finite() || !high.finite():
		return nil, errBucketInf
	}
	way := cmpNum(high, low)
	if way == 0 {
		return nil, errBucketEqual
	}
	if way < 0 {
		x, low, high = negNum(x), negNum(low), negNum(high)
	}
	switch {
	case x.form == tailrace.DecimalNegInf || x.finite() && cmpNum(x, low) < 0:
		return put32(dst, 0), nil
	case !x.finite() || cmpNum(x, high) >= 0:
		return lastBucket(dst, count)
	}
	above, width := addNum(x, negNum(low)), addNum(high, negNum(low))
	scale := max(above.scale, width.scale)
	n := new(big.Int).Mul(above.scaledTo(scale), big.NewInt(int64(count)))
	return put32(dst, int32(n.Quo(n, width.scaledTo(scale)).Int64())+1), nil
}

func lastBucket(dst []byte, count int32) ([]byte, error) {
	if count == math.MaxInt32 {
		return nil, outOfRange("integer")
	}
	return put32(dst, count+1), nil
}

// bucketFloat is width_bucket of doubles.
func bucketFloat(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	x, low, high, count := f64(a[0]), f64(a[1]), f64(a[2]), i32(a[3])
	switch {
	case count <= 0:
		return nil, errBucketCount
	case math.IsNaN(x) || math.IsNaN(low) || math.IsNaN(high):
		return nil, errBucketNaN
	case math.IsInf(low, 0) || math.IsInf(high, 0):
		return nil, errBucketInf
	case low == high:
		return nil, errBucketEqual
	}
	if low > high {
		x, low, high = -x, -low, -high
	}
	switch {
	case x < low:
		return put32(dst, 0), nil
	case x >= high:
		return lastBucket(dst, count)
	}
	share := (x - low) / (high - low)
	if math.IsInf(high-low, 0) {
		share = (x/2 - low/2) / (high/2 - low/2)
	}
	n := int64(share * float64(count))
	return put32(dst, int32(min(n, int64(count)-1))+1), nil
}

// sizeUnits are the words of pg_size_pretty, and the size from which on the next one is taken.
var sizeUnits = []struct {
	name  string
	limit int64
	half  bool
	shift uint
}{{"bytes", 10 * 1024, false, 0}, {"kB", 20*1024 - 1, true, 10}, {"MB", 20*1024 - 1, true, 20}, {"GB", 20*1024 - 1, true, 30}, {"TB", 20*1024 - 1, true, 40}, {"PB", 20*1024 - 1, true, 50}}

// prettySize halves the rounding to the last step, as PostgreSQL does.
func prettySize(dst []byte, size *big.Int) []byte {
	v, shift := new(big.Int).Set(size), uint(0)
	for i, u := range sizeUnits {
		if i == len(sizeUnits)-1 || v.CmpAbs(big.NewInt(u.limit)) < 0 {
			if u.half {
				v = quoTrunc(new(big.Int).Add(v, big.NewInt(int64(v.Sign()))), big.NewInt(2))
			}
			return fmt.Appendf(dst, "%s %s", v, u.name)
		}
		next := sizeUnits[i+1]
		// One bit is kept for rounding.
		want := next.shift - 1
		v = quoTrunc(v, new(big.Int).Lsh(big.NewInt(1), want-shift))
		shift = want
	}
	return dst
}

func sizeBytes(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	text := strings.TrimSpace(string(a[0]))
	end := 0
	for end < len(text) && strings.IndexByte("+-0123456789.", text[end]) >= 0 {
		end++
	}
	if end < len(text) && (text[end] == 'e' || text[end] == 'E') {
		tail := strings.TrimLeft(text[end+1:], "+-0123456789")
		if used := len(text) - len(tail); used > end+1 {
			end = used
		}
	}
	raw, ok := decimalFromText(strings.TrimLeft(text[:end], "+-"))
	unit := strings.ToLower(strings.TrimSpace(text[end:]))
	if !ok || end == 0 {
		return nil, raise(codeInvalid, "invalid size: \"%s\"", a[0])
	}
	shift, known := map[string]uint{"": 0, "bytes": 0, "b": 0, "kb": 10, "mb": 20, "gb": 30, "tb": 40, "pb": 50}[unit]
	if !known {
		e := raise(codeInvalid, "invalid size: \"%s\"", a[0])
		e.Detail = "Invalid size unit: \"" + strings.TrimSpace(text[end:]) + "\"."
		e.Hint = "Valid units are \"bytes\", \"B\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\"."
		return nil, e
	}
	n := mulNum(readNum(raw), bigNum(new(big.Int).Lsh(big.NewInt(1), shift), 0)).rounded(0).unscaled()
	if text[0] == '-' {
		n = new(big.Int).Neg(n)
	}
	if !n.IsInt64() {
		return nil, outOfRange("bigint")
	}
	return put64(dst, n.Int64()), nil
}
