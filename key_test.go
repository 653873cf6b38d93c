package tailrace

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestDecimalRoundTripsAndOrders(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	type val struct {
		raw []byte
		r   *big.Rat
	}
	var vals []val
	for range 400 {
		u := randBig(rng, rng.IntN(130)+1)
		if rng.IntN(2) == 0 {
			u.Neg(u)
		}
		scale := rng.IntN(30)
		raw := AppendDecimal(nil, u, scale)
		if got := DecimalBig(raw); got.Cmp(u) != 0 {
			t.Fatalf("unscaled %v read back as %v", u, got)
		}
		if _, v, s, ok := DecimalParts(raw); s != scale || (ok && v != u.Int64()) || ok != u.IsInt64() {
			t.Fatalf("%v/%d: parts %d %d %v", u, scale, v, s, ok)
		}
		den := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
		vals = append(vals, val{raw, new(big.Rat).SetFrac(u, den)})
	}
	for _, a := range vals {
		for _, b := range vals {
			got := bytes.Compare(appendDecimalKey(nil, a.raw), appendDecimalKey(nil, b.raw))
			if want := a.r.Cmp(b.r); got != want {
				t.Fatalf("compare %v with %v: got %d, want %d", a.r, b.r, got, want)
			}
		}
	}
}

func randBig(rng *rand.Rand, bits int) *big.Int {
	raw := make([]byte, (bits+7)/8)
	for i := range raw {
		raw[i] = byte(rng.Uint32())
	}
	v := new(big.Int).SetBytes(raw)
	return v.Rsh(v, uint(8*len(raw)-bits))
}
