package expr

import (
	"math/big"

	"tailrace"
)

// decimal is a finite numeric: unscaled / 10^scale.
type decimal struct {
	unscaled *big.Int
	scale    int
}

func decimalOf(v Value) decimal {
	_, n, scale, ok := tailrace.DecimalParts(v.Raw)
	if ok {
		return decimal{big.NewInt(n), scale}
	}
	return decimal{tailrace.DecimalBig(v.Raw), scale}
}

func (d decimal) value() (Value, error) {
	if d.scale > tailrace.MaxDecimalScale {
		d = d.rescale(tailrace.MaxDecimalScale)
	}
	if len(d.unscaled.Text(10))-d.scale > 131072 {
		return null, failure("22003", "value overflows numeric format")
	}
	return Value{Raw: tailrace.AppendDecimal(nil, d.unscaled, d.scale)}, nil
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// rescale gives d another scale, rounding half away from zero.
func (d decimal) rescale(scale int) decimal {
	if scale >= d.scale {
		return decimal{new(big.Int).Mul(d.unscaled, pow10(scale-d.scale)), scale}
	}
	return decimal{divRound(d.unscaled, pow10(d.scale-scale)), scale}
}

// divRound is a / b rounded half away from zero.
func divRound(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	r.Abs(r).Lsh(r, 1)
	if r.CmpAbs(b) >= 0 {
		if (a.Sign() < 0) != (b.Sign() < 0) {
			return q.Sub(q, big.NewInt(1))
		}
		return q.Add(q, big.NewInt(1))
	}
	return q
}

func (d decimal) cmp(o decimal) int {
	scale := max(d.scale, o.scale)
	return d.rescale(scale).unscaled.Cmp(o.rescale(scale).unscaled)
}

// arithmetic on numerics. Results have the scales that PostgreSQL gives them.
func numericArith(op string, a, b Value) (Value, error) {
	fa, _, _, _ := tailrace.DecimalParts(a.Raw)
	fb, _, _, _ := tailrace.DecimalParts(b.Raw)
	if fa != tailrace.DecimalFinite || fb != tailrace.DecimalFinite {
		return specialArith(op, a, b, fa, fb)
	}
	x, y := decimalOf(a), decimalOf(b)
	scale := max(x.scale, y.scale)
	switch op {
	case "+":
		return decimal{new(big.Int).Add(x.rescale(scale).unscaled, y.rescale(scale).unscaled), scale}.value()
	case "-":
		return decimal{new(big.Int).Sub(x.rescale(scale).unscaled, y.rescale(scale).unscaled), scale}.value()
	case "*":
		return decimal{new(big.Int).Mul(x.unscaled, y.unscaled), x.scale + y.scale}.value()
	}
	if y.unscaled.Sign() == 0 {
		return null, failure("22012", "division by zero")
	}
	if op == "%" {
		return decimal{new(big.Int).Rem(x.rescale(scale).unscaled, y.rescale(scale).unscaled), scale}.value()
	}
	scale = quotientScale(x, y)
	num := new(big.Int).Mul(x.unscaled, pow10(scale+y.scale))
	den := new(big.Int).Mul(y.unscaled, pow10(x.scale))
	return decimal{divRound(num, den), scale}.value()
}

// quotientScale is PostgreSQL's select_div_scale: at least 16 significant digits, counted in its groups of four digits.
func quotientScale(x, y decimal) int {
	wx, dx := x.firstGroup()
	wy, dy := y.firstGroup()
	weight := wx - wy
	if dx <= dy {
		weight--
	}
	return min(max(16-weight*4, x.scale, y.scale, 0), 1000)
}

// firstGroup is the place (0 is just left of the point) and value of the first group of four digits that is not zero.
func (d decimal) firstGroup() (weight, digit int) {
	if d.unscaled.Sign() == 0 {
		return 0, 0
	}
	digits := new(big.Int).Abs(d.unscaled).String()
	whole := len(digits) - d.scale // digits before the point, negative below 0.1
	weight = (whole+3)/4 - 1
	if whole <= 0 {
		weight = -((-whole)/4 + 1)
	}
	n := whole - 4*weight // digits of the first group
	for i := range n {
		digit *= 10
		if i < len(digits) {
			digit += int(digits[i] - '0')
		}
	}
	return weight, digit
}

// specialArith is arithmetic with NaN or an infinity in it.
func specialArith(op string, a, b Value, fa, fb tailrace.DecimalForm) (Value, error) {
	form := func(f tailrace.DecimalForm) (Value, error) {
		return Value{Raw: tailrace.AppendDecimalForm(nil, f)}, nil
	}
	if fa == tailrace.DecimalNaN || fb == tailrace.DecimalNaN {
		return form(tailrace.DecimalNaN)
	}
	signs := [2]int{sign(a, fa), sign(b, fb)}
	infinity := func(s int) (Value, error) {
		switch {
		case s > 0:
			return form(tailrace.DecimalInf)
		case s < 0:
			return form(tailrace.DecimalNegInf)
		}
		return form(tailrace.DecimalNaN)
	}
	infA, infB := fa != tailrace.DecimalFinite, fb != tailrace.DecimalFinite
	switch op {
	case "+", "-":
		if op == "-" {
			signs[1] = -signs[1]
		}
		switch {
		case infA && infB && signs[0] != signs[1]:
			return form(tailrace.DecimalNaN)
		case infA:
			return infinity(signs[0])
		}
		return infinity(signs[1])
	case "*":
		return infinity(signs[0] * signs[1])
	}
	switch {
	case signs[1] == 0:
		return null, failure("22012", "division by zero")
	case infA && (infB || op == "%"):
		return form(tailrace.DecimalNaN)
	case infA:
		return infinity(signs[0] * signs[1])
	case op == "%":
		return a, nil
	}
	return Value{Raw: tailrace.AppendDecimal64(nil, 0, 0)}, nil
}

func sign(v Value, f tailrace.DecimalForm) int {
	switch f {
	case tailrace.DecimalInf:
		return 1
	case tailrace.DecimalNegInf:
		return -1
	}
	return decimalOf(v).unscaled.Sign()
}
