package query

import (
	"math/big"
)

// fixed computes exp and ln of numerics as integers of so many bits after the point. Its results are off by a few units of the last bit;
// callers ask for guard bits more than they print.
type fixed struct{ bits uint }

// guardBits are computed beyond the digits that a result prints.
const guardBits = 64

// fixedFor has room for digits decimal digits after the point, and guards.
func fixedFor(digits int) fixed {
	return fixed{bits: uint(max(digits, 0))*3322/1000 + guardBits}
}

func (f fixed) one() *big.Int { return new(big.Int).Lsh(big.NewInt(1), f.bits) }

// of is a finite numeric as a fixed-point number, rounded down.
func (f fixed) of(n num) *big.Int {
	v := new(big.Int).Lsh(n.unscaled(), f.bits)
	return v.Div(v, pow10(n.scale))
}

// num is v with scale digits after the point, halves away from zero.
func (f fixed) num(v *big.Int, scale int) num {
	return bigNum(quoHalfUp(new(big.Int).Mul(v, pow10(scale)), f.one()), scale)
}

func (f fixed) mul(a, b *big.Int) *big.Int {
	p := new(big.Int).Mul(a, b)
	return p.Rsh(p, f.bits)
}

func (f fixed) div(a, b *big.Int) *big.Int {
	p := new(big.Int).Lsh(a, f.bits)
	return p.Quo(p, b)
}

// atanhOf is the inverse hyperbolic tangent of z, by its series; |z| is at most 1/2.
func (f fixed) atanhOf(z *big.Int) *big.Int {
	sum, term, square := new(big.Int).Set(z), new(big.Int).Set(z), f.mul(z, z)
	for i := int64(3); term.Sign() != 0; i += 2 {
		term = f.mul(term, square)
		if term.Sign() < 0 && term.CmpAbs(big.NewInt(1)) <= 0 {
			break // rounding down never reaches zero from below
		}
		sum.Add(sum, new(big.Int).Quo(term, big.NewInt(i)))
	}
	return sum
}

// ln2 is the logarithm of two: 2 atanh(1/3).
func (f fixed) ln2() *big.Int {
	v := f.atanhOf(f.div(f.one(), new(big.Int).Lsh(big.NewInt(3), f.bits)))
	return v.Lsh(v, 1)
}

// halvings is how often an argument is halved before a series, which then needs few terms.
const halvings = 24

// exp is e to the power x, as mantissa times 2^shift with the mantissa between one half and two.
func (f fixed) exp(x *big.Int) (mantissa *big.Int, shift int64) {
	wide := fixed{bits: f.bits + 2*halvings + 32} // the shift times the error of ln2, and squaring, lose bits
	v := new(big.Int).Lsh(x, wide.bits-f.bits)
	two := wide.ln2()
	k := quoHalfUp(v, two)
	v.Sub(v, new(big.Int).Mul(k, two))
	v.Rsh(v, halvings)
	sum, term := wide.one(), wide.one()
	for i := int64(1); ; i++ {
		term = wide.mul(term, v)
		term.Quo(term, big.NewInt(i))
		if term.CmpAbs(big.NewInt(1)) <= 0 {
			break
		}
		sum.Add(sum, term)
	}
	for range halvings {
		sum = wide.mul(sum, sum)
	}
	return sum.Rsh(sum, wide.bits-f.bits), k.Int64()
}

// ln is the logarithm of a finite numeric above zero.
func (f fixed) ln(n num) *big.Int {
	wide := fixed{bits: f.bits + 64}
	u, scale := n.unscaled(), pow10(n.scale)
	// n = m * 2^k with m near one, so that the logarithm is that of m and k times that of two.
	k := int64(u.BitLen()) - int64(scale.BitLen())
	m := new(big.Int).Lsh(u, wide.bits)
	if k > 0 {
		m.Quo(m, new(big.Int).Lsh(scale, uint(k)))
	} else {
		m.Quo(m.Lsh(m, uint(-k)), scale)
	}
	// Bring m closer to one by square roots, then ln m = 2 atanh((m-1)/(m+1)).
	roots := uint(0)
	one := wide.one()
	for roots < 8 && new(big.Int).Sub(m, one).BitLen() > int(wide.bits)-6 {
		m = new(big.Int).Sqrt(new(big.Int).Lsh(m, wide.bits))
		roots++
	}
	v := wide.atanhOf(wide.div(new(big.Int).Sub(m, one), new(big.Int).Add(m, one)))
	v.Lsh(v, 1+roots)
	v.Add(v, new(big.Int).Mul(big.NewInt(k), wide.ln2()))
	return v.Rsh(v, wide.bits-f.bits)
}
