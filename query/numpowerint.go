package query

import (
	"math"
	"math/big"
	"strconv"
)

// powerInt is a^e to scale digits, by repeated squaring.
func powerInt(a num, e int64, scale int) (num, error) {
	switch {
	case e == 0:
		return bigNum(pow10(scale), scale), nil
	case e == 1:
		return a.rounded(scale), nil
	case e == -1:
		return quotient(intNum(1), a, scale), nil
	case e == 2:
		return mulNum(a, a).rounded(scale), nil
	case a.sign() == 0:
		return num{scale: scale}, nil
	}
	digits := new(big.Int).Abs(a.unscaled()).String()
	head, err := strconv.ParseFloat(digits[:min(len(digits), 16)], 64)
	if err != nil {
		return num{}, raise(codeInternal, "the digits of a numeric are damaged")
	}
	weight := float64(e) * (math.Log10(head) + float64(len(digits)-min(len(digits), 16)-a.scale))
	if weight > 3*math.MaxInt16*4 {
		return num{}, errNumericOverflow
	}
	if weight+1 < float64(-scale) || weight+1 < -maxScale {
		return num{scale: scale}, nil
	}
	significant := 1 + scale + int(weight) + int(math.Log(math.Abs(float64(e)))) + 8
	r := num{small: 1}
	for n, square := magnitude(e), a; ; {
		if n&1 == 1 {
			r = mulTo(r, square, significant)
		}
		if n >>= 1; n == 0 {
			break
		}
		square = mulTo(square, square, significant)
	}
	if e < 0 {
		return quotient(intNum(1), r, scale), nil
	}
	return r.rounded(scale), nil
}

// mulTo is a*b to so many significant digits. Its scale may be negative or beyond what a stored numeric may have.
func mulTo(a, b num, significant int) num {
	p := new(big.Int).Mul(a.unscaled(), b.unscaled())
	scale := a.scale + b.scale
	drop := int(float64(p.BitLen())*0.30103) - significant
	if drop > 0 {
		return bigNum(quoHalfUp(p, pow10(drop)), scale-drop)
	}
	return bigNum(p, scale)
}
