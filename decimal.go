package tailrace

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
)

// A numeric is stored as its display scale (u16, little-endian: digits after the point, 0..16383) and its unscaled value as a
// big-endian two's complement number of the fewest bytes (none for 0). So 12.30 is 02 00 | 04 ce, and 1.0 and 1.00 differ in bytes but are
// equal as SQL values. Three values have only a marker for a scale: -infinity, infinity and NaN.
const (
	decimalNegInf = 0xfffd
	decimalInf    = 0xfffe
	decimalNaN    = 0xffff
	// MaxDecimalScale is the most digits after the point that a numeric may have.
	MaxDecimalScale = 16383
)

// DecimalForm says what a stored numeric is.
type DecimalForm uint8

// The forms of a numeric.
const (
	DecimalFinite DecimalForm = iota
	DecimalNegInf
	DecimalInf
	DecimalNaN
)

// AppendDecimal64 adds the stored bytes of unscaled / 10^scale.
func AppendDecimal64(dst []byte, unscaled int64, scale int) []byte {
	dst = append(dst, byte(scale), byte(scale>>8))
	if unscaled == 0 {
		return dst
	}
	n := (bits.Len64(uint64(unscaled^(unscaled>>63))) + 8) / 8 // bytes with room for a sign bit
	for i := n - 1; i >= 0; i-- {
		dst = append(dst, byte(unscaled>>(8*i)))
	}
	return dst
}

// AppendDecimal adds the stored bytes of unscaled / 10^scale.
func AppendDecimal(dst []byte, unscaled *big.Int, scale int) []byte {
	if unscaled.IsInt64() {
		return AppendDecimal64(dst, unscaled.Int64(), scale)
	}
	dst = append(dst, byte(scale), byte(scale>>8))
	if unscaled.Sign() > 0 {
		raw := unscaled.Bytes()
		if raw[0]&0x80 != 0 {
			dst = append(dst, 0)
		}
		return append(dst, raw...)
	}
	n := (new(big.Int).Not(unscaled).BitLen() + 8) / 8
	mod := new(big.Int).Lsh(big.NewInt(1), uint(8*n))
	return append(dst, mod.Add(mod, unscaled).Bytes()...) // two's complement; its first bit is set, so no byte is dropped
}

// AppendDecimalForm adds the stored bytes of an infinity or NaN.
func AppendDecimalForm(dst []byte, f DecimalForm) []byte {
	m := map[DecimalForm]uint16{DecimalNegInf: decimalNegInf, DecimalInf: decimalInf, DecimalNaN: decimalNaN}[f]
	return binary.LittleEndian.AppendUint16(dst, m)
}

// DecimalParts splits a stored numeric. ok64 tells that a finite one's unscaled value fits v; else use DecimalBig.
func DecimalParts(raw []byte) (form DecimalForm, v int64, scale int, ok64 bool) {
	if len(raw) < 2 {
		return DecimalNaN, 0, 0, false
	}
	switch s := binary.LittleEndian.Uint16(raw); s {
	case decimalNegInf:
		return DecimalNegInf, 0, 0, false
	case decimalInf:
		return DecimalInf, 0, 0, false
	case decimalNaN:
		return DecimalNaN, 0, 0, false
	default:
		scale = int(s)
	}
	body := raw[2:]
	if len(body) > 8 {
		return DecimalFinite, 0, scale, false
	}
	if len(body) > 0 {
		v = int64(int8(body[0]))
		for _, b := range body[1:] {
			v = v<<8 | int64(b)
		}
	}
	return DecimalFinite, v, scale, true
}

// DecimalBig is the unscaled value of a finite stored numeric.
func DecimalBig(raw []byte) *big.Int {
	body := raw[2:]
	v := new(big.Int).SetBytes(body)
	if len(body) > 0 && body[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(body))))
	}
	return v
}

// appendDecimalKey adds bytes that order as numerics do: -infinity, finite values, infinity, NaN.
//
// A finite value is sign, then the place of its first digit (digits before the point, negative below 0.1) as a biased u32, then its
// digits without trailing zeros, two to a byte as 1 + 10a + b and ended by 0; a negative one has everything after the sign inverted.
func appendDecimalKey(dst, raw []byte) []byte {
	form, v, scale, ok := DecimalParts(raw)
	switch form {
	case DecimalNegInf:
		return append(dst, 0)
	case DecimalInf:
		return append(dst, 4)
	case DecimalNaN:
		return append(dst, 5)
	}
	var digits []byte
	var buf [20]byte
	neg := v < 0
	if ok {
		u := uint64(v)
		if neg {
			u = -u
		}
		i := len(buf)
		for ; u > 0; u /= 10 {
			i--
			buf[i] = byte(u % 10)
		}
		digits = buf[i:]
	} else {
		b := DecimalBig(raw)
		neg = b.Sign() < 0
		digits = []byte(b.Abs(b).String())
		for i := range digits {
			digits[i] -= '0'
		}
	}
	if len(digits) == 0 {
		return append(dst, 2)
	}
	place := uint32(len(digits)-scale) + 1<<31
	for digits[len(digits)-1] == 0 {
		digits = digits[:len(digits)-1]
	}
	sign, flip := byte(3), byte(0)
	if neg {
		sign, flip = 1, 0xff
	}
	dst = append(dst, sign, byte(place>>24)^flip, byte(place>>16)^flip, byte(place>>8)^flip, byte(place)^flip)
	for i := 0; i < len(digits); i += 2 {
		p := 1 + 10*digits[i]
		if i+1 < len(digits) {
			p += digits[i+1]
		}
		dst = append(dst, p^flip)
	}
	return append(dst, flip)
}

// floatKey maps a float's order (-infinity, numbers with -0 equal to 0, infinity, NaN) to that of unsigned integers.
func floatKey(f float64) uint64 {
	switch {
	case math.IsNaN(f):
		return math.MaxUint64
	case f == 0:
		f = 0 // -0 and 0 are one SQL value
	}
	u := math.Float64bits(f)
	if u>>63 != 0 {
		return ^u
	}
	return u | 1<<63
}
