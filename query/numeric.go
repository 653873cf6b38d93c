package query

import (
	"math"
	"math/big"

	"tailrace"
)

// num is a numeric under computation: unscaled / 10^scale, or one of the forms that are no number. PostgreSQL's rules for the scale of a
// result, which is part of what it prints, are in src/backend/utils/adt/numeric.c.
type num struct {
	form  tailrace.DecimalForm
	scale int
	small int64    // the unscaled value when big is nil
	big   *big.Int // else here; never written to
}

type bigInt = big.Int

// Limits of PostgreSQL's numeric.
const (
	minSignificant = 16     // digits that a division gives at least
	maxScale       = 1000   // digits after the point that a division gives at most
	maxWhole       = 131072 // digits before the point
)

var pows = func() (t [19]int64) {
	t[0] = 1
	for i := 1; i < len(t); i++ {
		t[i] = t[i-1] * 10
	}
	return t
}()

func pow10(n int) *big.Int {
	if n < len(pows) {
		return big.NewInt(pows[n])
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

func readNum(raw []byte) num {
	form, v, scale, ok := tailrace.DecimalParts(raw)
	n := num{form: form, scale: scale, small: v}
	if form == tailrace.DecimalFinite && !ok {
		n.big = tailrace.DecimalBig(raw)
	}
	return n
}

func intNum(v int64) num { return num{small: v} }

func bigNum(v *big.Int, scale int) num { return num{big: v, scale: scale} }

func formNum(f tailrace.DecimalForm) num { return num{form: f} }

// unscaled is the unscaled value, to be read only.
func (n num) unscaled() *big.Int {
	if n.big != nil {
		return n.big
	}
	return big.NewInt(n.small)
}

func (n num) finite() bool { return n.form == tailrace.DecimalFinite }
func (n num) nan() bool    { return n.form == tailrace.DecimalNaN }

// sign is -1, 0 or 1; of NaN it is 0.
func (n num) sign() int {
	switch n.form {
	case tailrace.DecimalInf:
		return 1
	case tailrace.DecimalNegInf:
		return -1
	case tailrace.DecimalNaN:
		return 0
	}
	if n.big != nil {
		return n.big.Sign()
	}
	switch {
	case n.small < 0:
		return -1
	case n.small > 0:
		return 1
	}
	return 0
}

// put appends the stored bytes.
func (n num) put(dst []byte) ([]byte, error) {
	switch {
	case !n.finite():
		return tailrace.AppendDecimalForm(dst, n.form), nil
	case n.big == nil:
		return tailrace.AppendDecimal64(dst, n.small, n.scale), nil
	}
	// log2(10) > 3.32: fewer bits than that cannot have too many digits.
	if bits := n.big.BitLen(); bits > maxWhole*3 && len(new(big.Int).Abs(n.big).String())-n.scale > maxWhole {
		return nil, raise(codeOutOfRange, "value overflows numeric format")
	}
	return tailrace.AppendDecimal(dst, n.big, n.scale), nil
}

// scaledTo is the unscaled value of a finite n for a scale that is at least its own.
func (n num) scaledTo(scale int) *big.Int {
	if scale == n.scale {
		return n.unscaled()
	}
	return new(big.Int).Mul(n.unscaled(), pow10(scale-n.scale))
}

// rounded is a finite n with scale digits after the point (negative: zeros before it), halves away from zero.
func (n num) rounded(scale int) num { return n.cut(scale, quoHalfUp) }

// cut reduces a finite n to scale digits by dividing with quo. Digits beyond its own are added as zeros.
func (n num) cut(scale int, quo func(a, b *big.Int) *big.Int) num {
	if scale >= n.scale {
		return bigNum(n.scaledTo(scale), scale)
	}
	drop := n.scale - scale
	if drop > maxWhole+tailrace.MaxDecimalScale {
		return num{scale: max(scale, 0)}
	}
	q := quo(n.unscaled(), pow10(drop))
	if scale < 0 {
		return bigNum(q.Mul(q, pow10(-scale)), 0)
	}
	return bigNum(q, scale)
}

// quoHalfUp is a/b with halves away from zero.
func quoHalfUp(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Lsh(r.Abs(r), 1).CmpAbs(b) >= 0 {
		if a.Sign()*b.Sign() < 0 {
			return q.Sub(q, big.NewInt(1))
		}
		return q.Add(q, big.NewInt(1))
	}
	return q
}

func quoTrunc(a, b *big.Int) *big.Int { return new(big.Int).Quo(a, b) }

func quoFloor(a, b *big.Int) *big.Int { // b is positive
	return new(big.Int).Div(a, b)
}

func quoCeil(a, b *big.Int) *big.Int {
	q := new(big.Int).Div(new(big.Int).Neg(a), b)
	return q.Neg(q)
}

func addNum(a, b num) num {
	if !a.finite() || !b.finite() {
		switch {
		case a.nan() || b.nan(), !a.finite() && !b.finite() && a.form != b.form:
			return formNum(tailrace.DecimalNaN)
		case !a.finite():
			return a
		}
		return b
	}
	if a.scale == b.scale && a.big == nil && b.big == nil {
		if s := a.small + b.small; (s > a.small) == (b.small > 0) {
			return num{scale: a.scale, small: s}
		}
	}
	scale := max(a.scale, b.scale)
	return bigNum(new(big.Int).Add(a.scaledTo(scale), b.scaledTo(scale)), scale)
}

func negNum(a num) num {
	switch {
	case a.form == tailrace.DecimalInf:
		return formNum(tailrace.DecimalNegInf)
	case a.form == tailrace.DecimalNegInf:
		return formNum(tailrace.DecimalInf)
	case !a.finite():
		return a
	case a.big == nil && a.small != math.MinInt64:
		return num{scale: a.scale, small: -a.small}
	}
	return bigNum(new(big.Int).Neg(a.unscaled()), a.scale)
}

func mulNum(a, b num) num {
	if !a.finite() || !b.finite() {
		switch a.sign() * b.sign() {
		case 1:
			return formNum(tailrace.DecimalInf)
		case -1:
			return formNum(tailrace.DecimalNegInf)
		}
		return formNum(tailrace.DecimalNaN) // a NaN, or infinity times zero
	}
	p := bigNum(new(big.Int).Mul(a.unscaled(), b.unscaled()), a.scale+b.scale)
	if p.scale > tailrace.MaxDecimalScale {
		return p.rounded(tailrace.MaxDecimalScale)
	}
	return p
}
