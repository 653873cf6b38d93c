package format

import (
	"math"
	"math/bits"
	"unsafe"
)

// values is the memory of column k of a block's rows, as numbers.
func values[T int16 | int32 | int64 | float32 | float64](b *block, k int) []T {
	data := b.out.Cols[k].Data
	all := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/int(unsafe.Sizeof(T(0)))) // see tailrace.Column.Int64s
	return all[b.base : b.base+b.n]
}

func int2Loop(b *block, k int) { intLoop[int16](b, k) }
func int4Loop(b *block, k int) { intLoop[int32](b, k) }
func int8Loop(b *block, k int) { intLoop[int64](b, k) }

// intLoop reads a sign and digits.
func intLoop[T int16 | int32 | int64](b *block, k int) {
	out := values[T](b, k)
	for r := 0; r < b.n; r++ {
		if r = ints(out, b.at[:], b.text, b.end(k), r); r == len(out) {
			return
		}
		if v, e, ok := longInt(b.text, int(b.at[r])); ok && byteAt(b.text, e) == b.end(k) && int64(T(v)) == v {
			out[r], b.at[r] = T(v), int32(e+1)
		} else if !b.leave(k, r) {
			return
		}
	}
}

// ints reads integers of at most 15 digits into out, from row r on, and returns the first row that has something else.
//
// Hot: no call, so that all is in registers, and no branch that depends on a sign.
func ints[T int16 | int32 | int64](out []T, at []int32, text unsafe.Pointer, end byte, r int) int {
	at = at[:len(out)]
	for ; r < len(out); r++ {
		i := int(at[r])
		word := load64(text, i)
		minus := 0
		if byte(word) == '-' {
			minus = -1
		}
		i -= minus
		digits, n := digitsOf(word >> (minus & 8))
		if n == 0 {
			return r
		}
		v := int64(number(digits, n))
		e := i + n
		if n-minus >= 8 { // the word ended among digits, or with them
			more, d := digitsOf(load64(text, e))
			if d == 8 {
				return r
			}
			if d > 0 {
				v = v*int64(pow10[d]) + int64(number(more, d))
				e += d
			}
		}
		v = v ^ int64(minus) - int64(minus)
		if byteAt(text, e) != end || int64(T(v)) != v {
			return r
		}
		out[r], at[r] = T(v), int32(e+1)
	}
	return r
}

// longInt reads a sign and up to 19 digits from byte i of text to e.
func longInt(text unsafe.Pointer, i int) (v int64, e int, ok bool) {
	minus := 0
	if byteAt(text, i) == '-' {
		minus = -1
	}
	i -= minus
	u, n := longNumber(text, i)
	return int64(u) ^ int64(minus) - int64(minus), i + n, n > 0 && u <= math.MaxInt64
}

// numericBytes are the bytes of a numeric of 64 bits with its scale, of which eight are written whatever it is.
const numericBytes = 10

// numericLoop reads a sign and at most 18 digits, perhaps with a point among them, whose scale is the type's or needs zeros.
func numericLoop(b *block, k int) {
	precision, scale := maxDigits64, -1
	if t := b.types[k]; t.Mod >= 4 {
		precision, scale = min(t.Precision(), maxDigits64), t.Scale()
	}
	c := &b.out.Cols[k]
	offsets := c.Offsets[b.base+1:][:b.n]
	for r := 0; r < b.n; r++ {
		b.reserve(k, numericBytes*(b.n-r))
		r, b.used[k] = numerics(c.Data, b.used[k], offsets, b.at[:], b.text, b.end(k), precision, scale, r)
		if r < b.n && !b.leave(k, r) {
			return
		}
	}
}

// numerics puts numerics behind the first used bytes of dst, from row r on, and returns the first row that has something else.
func numerics(dst []byte, used int, offsets, at []int32, text unsafe.Pointer, end byte, precision, scale, r int) (row, size int) {
	at = at[:len(offsets)]
	into := unsafe.Pointer(unsafe.SliceData(dst)) // has numericBytes for each row, and slack
	for ; r < len(offsets); r++ {
		i := int(at[r])
		minus := 0
		if byteAt(text, i) == '-' {
			minus = -1
		}
		v, whole, fraction, e := fixedPoint(text, i-minus)
		shown := fraction
		if scale >= 0 {
			shown = scale
		}
		if byteAt(text, e) != end || whole+fraction == 0 || fraction > shown || whole+shown > precision {
			return r, used
		}
		signed := int64(v * pow10[shown-fraction])
		signed = signed ^ int64(minus) - int64(minus)
		*(*uint16)(unsafe.Add(into, used)) = uint16(shown)
		n := (bits.Len64(uint64(signed^signed>>63)) + 8) >> 3 // bytes with room for a sign bit: see tailrace.AppendDecimal64
		if signed == 0 {
			n = 0
		}
		*(*uint64)(unsafe.Add(into, used+2)) = bits.ReverseBytes64(uint64(signed) << (64 - 8*n))
		used += 2 + n
		offsets[r], at[r] = int32(used), int32(e+1)
	}
	return r, used
}

// fixedPoint reads digits with perhaps a point among them from byte i of text to e: the number without the point, and the digits before and after it.
// whole and fraction are 0 when there are more than 18 in all.
//
// Hot: seven digits before the point and seven after it cost no call.
func fixedPoint(text unsafe.Pointer, i int) (v uint64, whole, fraction, e int) {
	digits, n := digitsOf(load64(text, i))
	if n == 8 {
		return longFixedPoint(text, i)
	}
	if n > 0 {
		v = number(digits, n)
	}
	if e = i + n; byteAt(text, e) != '.' {
		return v, n, 0, e
	}
	digits, f := digitsOf(load64(text, e+1))
	if f == 8 {
		return longFixedPoint(text, i)
	}
	if f > 0 {
		v = v*pow10[f] + number(digits, f)
	}
	return v, n, f, e + 1 + f
}

func longFixedPoint(text unsafe.Pointer, i int) (v uint64, whole, fraction, e int) {
	v, n := longNumber(text, i)
	e = i + n
	if n == 0 && byteAt(text, i) != '.' || n > maxDigits64 {
		return 0, 0, 0, i
	}
	if byteAt(text, e) != '.' {
		return v, n, 0, e
	}
	part, f := longNumber(text, e+1)
	if f == 0 && isDigit(byteAt(text, e+1)) || n+f > maxDigits64 {
		return 0, 0, 0, i
	}
	return v*pow10[f] + part, n, f, e + 1 + f
}

// Such integers are floats without rounding, as are the powers of ten up to 10^22: a quotient of two is rounded once, and so is the nearest (Clinger's fast path).
const maxExactFloat = 1 << 53

// quotient is the float nearest to v / 10^n, for a v above 0 and an n of at most 18. It divides with 64 bits more than v has and rounds the quotient once, to even when
// it lies in the middle and nothing remains.
func quotient(v uint64, n int) float64 {
	const most = 53 // bits of a float
	by := pow10[n]
	up, down := bits.LeadingZeros64(v), bits.LeadingZeros64(by)
	v <<= up
	q, rest := bits.Div64(v>>1, v<<63, by<<down) // 63 or 64 bits
	drop := bits.Len64(q) - most
	middle, tail := uint64(1)<<(drop-1), q&(1<<drop-1)
	q >>= drop
	if tail > middle || tail == middle && (rest > 0 || q&1 == 1) {
		q++
	}
	exponent := drop - 63 + down - up
	return float64(q) * math.Float64frombits(uint64(1023+exponent)<<52)
}

// float8Loop reads what fixedPoint does.
func float8Loop(b *block, k int) {
	out := values[float64](b, k)
	for r := 0; r < b.n; r++ {
		if r = floats(out, b.at[:], b.text, b.end(k), r); r == len(out) || !b.leave(k, r) {
			return
		}
	}
}

// floats reads numbers into out, from row r on, and returns the first row that has something else.
func floats(out []float64, at []int32, text unsafe.Pointer, end byte, r int) int {
	at = at[:len(out)]
	for ; r < len(out); r++ {
		i := int(at[r])
		sign := uint64(0)
		if byteAt(text, i) == '-' {
			sign = 1 << 63
			i++
		}
		v, whole, fraction, e := fixedPoint(text, i)
		if byteAt(text, e) != end || whole+fraction == 0 {
			return r
		}
		var exact float64
		if v <= maxExactFloat {
			exact = float64(v) / float64(pow10[fraction])
		} else {
			exact = quotient(v, fraction)
		}
		out[r], at[r] = math.Float64frombits(math.Float64bits(exact)|sign), int32(e+1)
	}
	return r
}

// boolLoop reads t and f.
func boolLoop(b *block, k int) {
	out := b.out.Cols[k].Data[b.base:][:b.n]
	text, end, at := b.text, b.end(k), b.at[:len(out)]
	for r := range out {
		i := int(at[r])
		c := byteAt(text, i)
		if byteAt(text, i+1) != end || c != 't' && c != 'f' {
			if !b.leave(k, r) {
				return
			}
			continue
		}
		out[r] = (c ^ 'f') >> 4 & 1
		at[r] = int32(i + 2)
	}
}
