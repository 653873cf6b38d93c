package query

import (
	"math/big"

	"tailrace"
)

var errDivision = raise(codeDivision, "division by zero")

func divNum(a, b num) (num, error) {
	switch {
	case a.nan() || b.nan():
		return formNum(tailrace.DecimalNaN), nil
	case b.finite() && b.sign() == 0:
		return num{}, errDivision
	case !a.finite() && !b.finite():
		return formNum(tailrace.DecimalNaN), nil
	case !b.finite():
		return num{}, nil
	case !a.finite():
		if a.sign()*b.sign() > 0 {
			return formNum(tailrace.DecimalInf), nil
		}
		return formNum(tailrace.DecimalNegInf), nil
	}
	return quotient(a, b, divScale(a, b)), nil
}

// quotient is a/b, both finite and b not zero, to scale digits.
func quotient(a, b num, scale int) num {
	up := scale + b.scale - a.scale
	x, y := a.unscaled(), b.unscaled()
	if up >= 0 {
		x = new(big.Int).Mul(x, pow10(up))
	} else {
		y = new(big.Int).Mul(y, pow10(-up))
	}
	return bigNum(quoHalfUp(x, y), scale)
}

// divScale is select_div_scale: enough digits for 16 significant ones, by the first base-10,000 digits of both.
func divScale(a, b num) int {
	wa, fa := a.leading()
	wb, fb := b.leading()
	q := wa - wb
	if fa <= fb {
		q--
	}
	return min(max(minSignificant-q*4, a.scale, b.scale, 0), maxScale)
}

// leading is the weight and value of the first base-10,000 digit of a finite n, as PostgreSQL stores it.
func (n num) leading() (weight, digit int) {
	if n.sign() == 0 {
		return 0, 0
	}
	digits := new(big.Int).Abs(n.unscaled()).String()
	place := len(digits) - n.scale - 1 // power of ten of the first digit
	weight = place >> 2                // rounds down also below zero
	for i := range place - weight*4 + 1 {
		digit *= 10
		if i < len(digits) {
			digit += int(digits[i] - '0')
		}
	}
	return weight, digit
}

func modNum(a, b num) (num, error) {
	switch {
	case a.nan() || b.nan():
		return formNum(tailrace.DecimalNaN), nil
	case b.finite() && b.sign() == 0:
		return num{}, errDivision
	case !a.finite():
		return formNum(tailrace.DecimalNaN), nil
	case !b.finite():
		return a, nil
	}
	scale := max(a.scale, b.scale)
	return bigNum(new(big.Int).Rem(a.scaledTo(scale), b.scaledTo(scale)), scale), nil
}

// rootNum is the square root of a finite n that is not negative, to scale digits.
func rootNum(n num, scale int) num {
	up := 2*(scale+1) - n.scale // one digit more, to round by
	x := n.unscaled()
	if up >= 0 {
		x = new(big.Int).Mul(x, pow10(up))
	} else {
		x = new(big.Int).Quo(x, pow10(-up))
	}
	return bigNum(new(big.Int).Sqrt(x), scale+1).rounded(scale)
}

// rootScale is the scale that PostgreSQL gives sqrt(n).
func rootScale(n num) int {
	w, _ := n.leading()
	return min(max(minSignificant-((w+1)*4/2-1), n.scale, 0), maxScale)
}
