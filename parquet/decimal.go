package parquet

import (
	"encoding/binary"
	"math/big"

	"tailrace"
	"tailrace/duckdb"
)

// decimals writes the unscaled value of each numeric as an integer of 2 to 16 bytes. Values of a numeric(p,s) column have its scale and fit; others are refused.
func decimals(t tailrace.Type) filler {
	digits, scale := t.Precision(), t.Scale()
	width := duckdb.Width(duckdb.DecimalOf(digits, scale))
	limit := power(digits)
	small := int64(-1) // 10^digits when that fits
	if limit.IsInt64() {
		small = limit.Int64()
	}
	return func(v *duckdb.Vector, c *tailrace.Column, from, n int) error {
		out := v.Fixed(width, n)
		for i := range n {
			if c.IsNull(from + i) {
				continue
			}
			raw, dst := c.Bytes(from+i), out[i*width:(i+1)*width]
			form, x, s, ok := tailrace.DecimalParts(raw)
			if ok && s == scale && (small < 0 || -small < x && x < small) {
				putInteger(dst, x)
				continue
			}
			if form != tailrace.DecimalFinite {
				return &misfit{what: "NaN or infinity, which DECIMAL has not"}
			}
			b, exact := rescale(tailrace.DecimalBig(raw), s, scale)
			if !exact || b.CmpAbs(limit) >= 0 {
				return &misfit{what: "a number of more digits than its type"}
			}
			putBig(dst, b)
		}
		return nil
	}
}

// power is 10^n.
func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// rescale is the unscaled value with scale from as one with scale to; exact is false when digits would be lost.
func rescale(b *big.Int, from, to int) (out *big.Int, exact bool) {
	if from <= to {
		return b.Mul(b, power(to-from)), true
	}
	rest := new(big.Int)
	b.QuoRem(b, power(from-to), rest)
	return b, rest.Sign() == 0
}

// putInteger writes x in the 2, 4, 8 or 16 bytes of dst.
func putInteger(dst []byte, x int64) {
	switch len(dst) {
	case 2:
		binary.LittleEndian.PutUint16(dst, uint16(x))
	case 4:
		binary.LittleEndian.PutUint32(dst, uint32(x))
	default:
		binary.LittleEndian.PutUint64(dst, uint64(x))
		if len(dst) == 16 {
			binary.LittleEndian.PutUint64(dst[8:], uint64(x>>63))
		}
	}
}

// putBig writes b, which fits, in the bytes of dst.
func putBig(dst []byte, b *big.Int) {
	if b.IsInt64() {
		putInteger(dst, b.Int64())
		return
	}
	two := new(big.Int).And(b, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))) // two's complement
	var raw [16]byte
	two.FillBytes(raw[:])
	for i := range raw {
		dst[i] = raw[15-i]
	}
}

// appendDecimal adds the numeric whose unscaled value the bytes at raw, an integer of 2 to 16 bytes, are.
func appendDecimal(dst, raw []byte, scale int) []byte {
	switch len(raw) {
	case 2:
		return tailrace.AppendDecimal64(dst, int64(int16(binary.LittleEndian.Uint16(raw))), scale)
	case 4:
		return tailrace.AppendDecimal64(dst, int64(int32(binary.LittleEndian.Uint32(raw))), scale)
	case 8:
		return tailrace.AppendDecimal64(dst, int64(binary.LittleEndian.Uint64(raw)), scale)
	}
	low, high := binary.LittleEndian.Uint64(raw), int64(binary.LittleEndian.Uint64(raw[8:]))
	b := new(big.Int).Lsh(big.NewInt(high), 64)
	return tailrace.AppendDecimal(dst, b.Add(b, new(big.Int).SetUint64(low)), scale)
}
