package query

import (
	"math"
	"math/big"
	"strconv"

	"tailrace"
)

// maxResult bounds the exponents of e that PostgreSQL computes: NUMERIC_MAX_RESULT_SCALE.
const maxResult = 2000

var (
	errNumericOverflow = raise(codeOutOfRange, "value overflows numeric format")
	errLogZero         = raise("2201E", "cannot take logarithm of zero")
	errLogNegative     = raise("2201E", "cannot take logarithm of a negative number")
	errPowerZero       = raise("2201F", "zero raised to a negative power is undefined")
	errPowerComplex    = raise("2201F", "a negative number raised to a non-integer power yields a complex result")
)

// log10e is what PostgreSQL multiplies by, digit for digit: the scale of results hangs on it.
const log10e = 0.434294481903252

// float is a finite n as a double, with infinities for what is beyond.
func (n num) float() float64 {
	v, err := strconv.ParseFloat(n.unscaled().String()+"e"+strconv.Itoa(-n.scale), 64)
	if err != nil {
		return math.Inf(n.sign())
	}
	return v
}

// shownScale bounds a result's scale by those of its arguments and by what PostgreSQL prints.
func shownScale(scale int, args ...num) int {
	for _, a := range args {
		scale = max(scale, a.scale)
	}
	return min(max(scale, 0), maxScale)
}

// exponent is the power of ten of the first digit of a finite n that is not zero.
func (n num) exponent() int {
	return len(new(big.Int).Abs(n.unscaled()).String()) - n.scale - 1
}

// lnWeight is estimate_ln_dweight: the power of ten of the first digit of ln(n), about.
func lnWeight(n num) int {
	if n.sign() <= 0 {
		return 0
	}
	if cmpNum(n, scaled(9, 1)) >= 0 && cmpNum(n, scaled(11, 1)) <= 0 {
		if x := addNum(n, intNum(-1)); x.sign() != 0 {
			return x.exponent()
		}
		return 0
	}
	digits := new(big.Int).Abs(n.unscaled()).String()
	first := min(len(digits), 8)
	head, err := strconv.ParseFloat(digits[:first], 64)
	if err != nil {
		return 0
	}
	ln := math.Log(head) + float64(len(digits)-first-n.scale)*2.302585092994046
	return int(math.Log10(math.Abs(ln)))
}

func cmpNum(a, b num) int {
	scale := max(a.scale, b.scale)
	return a.scaledTo(scale).Cmp(b.scaledTo(scale))
}

func expNum(n num) (num, error) {
	switch {
	case n.nan(), n.form == tailrace.DecimalInf:
		return n, nil
	case !n.finite():
		return num{}, nil
	}
	weight := min(max(n.float()*log10e, -maxResult), maxResult)
	return expTo(n, shownScale(minSignificant-int(weight), n))
}

// expTo is e^n to scale digits.
func expTo(n num, scale int) (num, error) {
	switch v := n.float(); {
	case math.Abs(v) < maxResult*3:
	case v > 0:
		return num{}, errNumericOverflow
	default:
		return num{scale: scale}, nil
	}
	weight := int(math.Abs(n.float())*log10e) + 2
	f := fixedFor(scale + weight)
	mantissa, shift := f.exp(f.of(n))
	if shift >= 0 {
		mantissa.Lsh(mantissa, uint(shift))
	} else {
		mantissa.Rsh(mantissa, uint(-shift))
	}
	return f.num(mantissa, scale), nil
}

// checkLog refuses what has no logarithm.
func checkLog(n num) error {
	switch {
	case n.nan():
		return nil
	case n.sign() < 0:
		return errLogNegative
	case n.finite() && n.sign() == 0:
		return errLogZero
	}
	return nil
}

func lnNum(n num) (num, error) {
	if err := checkLog(n); err != nil || !n.finite() {
		return n, err
	}
	return lnTo(n, shownScale(minSignificant-lnWeight(n), n)), nil
}

func lnTo(n num, scale int) num {
	f := fixedFor(scale)
	return f.num(f.ln(n), scale)
}

// logNum is the logarithm of n to a base.
func logNum(base, n num) (num, error) {
	if base.nan() || n.nan() {
		return formNum(tailrace.DecimalNaN), nil
	}
	if err := checkLog(base); err != nil && (base.sign() < 0 || n.sign() >= 0 || n.finite()) {
		return num{}, err
	}
	if err := checkLog(n); err != nil {
		return num{}, err
	}
	switch {
	case !base.finite() && !n.finite():
		return formNum(tailrace.DecimalNaN), nil
	case !base.finite():
		return num{}, nil
	case !n.finite():
		return n, nil
	}
	weight := lnWeight(n) - lnWeight(base)
	scale := shownScale(minSignificant-weight, base, n)
	f := fixedFor(scale + max(weight, 0) + 2*max(-lnWeight(base), 0) + 8)
	below := f.ln(base)
	if base.sign() == 0 || cmpNum(base, intNum(1)) == 0 || below.Sign() == 0 {
		return num{}, errDivision
	}
	return f.num(f.div(f.ln(n), below), scale), nil
}

func (n num) whole() bool {
	return !n.finite() || new(big.Int).Rem(n.unscaled(), pow10(n.scale)).Sign() == 0
}

// odd reports whether a whole n is odd.
func (n num) odd() bool { return n.finite() && n.cut(0, quoTrunc).unscaled().Bit(0) == 1 }

func powerNum(a, b num) (num, error) {
	one := intNum(1)
	switch {
	case a.nan():
		if b.finite() && b.sign() == 0 {
			return one, nil
		}
		return a, nil
	case b.nan():
		if a.finite() && cmpNum(a, one) == 0 {
			return one, nil
		}
		return b, nil
	case a.sign() == 0 && b.sign() < 0:
		return num{}, errPowerZero
	case a.sign() < 0 && !b.whole():
		return num{}, errPowerComplex
	case !a.finite() || !b.finite():
		return infinitePower(a, b), nil
	}
	if b.whole() {
		if e := b.cut(0, quoTrunc).unscaled(); e.IsInt64() && int64(int32(e.Int64())) == e.Int64() {
			return powerInt(a, e.Int64(), shownScale(minSignificant, a))
		}
	}
	if a.sign() == 0 {
		return num{scale: minSignificant}, nil
	}
	return powerReal(a, b)
}

// infinitePower follows pow(3) of POSIX where an operand is infinite.
func infinitePower(a, b num) num {
	one, zero, inf := intNum(1), num{}, formNum(tailrace.DecimalInf)
	switch {
	case a.finite() && cmpNum(a, one) == 0, b.sign() == 0:
		return one
	case a.sign() == 0:
		return zero
	case !b.finite():
		if a.finite() && cmpNum(a, intNum(-1)) == 0 {
			return one
		}
		if larger := !a.finite() || cmpNum(absNum(a), one) > 0; larger == (b.sign() > 0) {
			return inf
		}
		return zero
	case b.sign() < 0:
		return zero
	case a.sign() < 0 && b.odd():
		return formNum(tailrace.DecimalNegInf)
	}
	return inf
}

// powerReal is a^b for a whole b beyond int4 or one that is not whole, as e^(b ln a).
func powerReal(a, b num) (num, error) {
	negative := a.sign() < 0 && b.odd()
	a = absNum(a)
	weight := lnWeight(a)
	estimate := mulNum(lnTo(a, max(8-weight, 0)), b)
	val := estimate.float()
	if math.Abs(val) > maxResult*3.01 {
		if val > 0 {
			return num{}, errNumericOverflow
		}
		return num{scale: maxScale}, nil
	}
	val *= log10e
	scale := shownScale(minSignificant-int(val), a, b)
	digits := max(scale+int(val), 0) - weight + 8
	r, err := expTo(mulNum(lnTo(a, max(digits, 0)+max(b.exponent(), 0)), b).rounded(max(digits, 0)), scale)
	if err != nil || !negative {
		return r, err
	}
	return negNum(r), nil
}
