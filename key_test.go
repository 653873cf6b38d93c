package tailrace

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
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

// TestKeysOrderAsValuesDo lists values of each kind in PostgreSQL's order; equal ones share a line.
func TestKeysOrderAsValuesDo(t *testing.T) {
	f64 := func(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }
	i32 := func(v int32) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(v)) }
	interval := func(months, days int32, micros int64) []byte {
		return binary.LittleEndian.AppendUint64(append(i32(months), i32(days)...), uint64(micros))
	}
	one := func(v ...[]byte) [][]byte { return v }
	u32 := func(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
	ints := func(dims []Dim, values ...[]byte) [][]byte { return one(storeArray(dims, values)) }
	from := func(lower int32, lengths ...int) (dims []Dim) {
		for _, l := range lengths {
			dims = append(dims, Dim{Length: l, Lower: lower})
		}
		return dims
	}
	for _, x := range []struct {
		kind  Kind
		lines [][][]byte
	}{
		{KindInt4, [][][]byte{one(i32(math.MinInt32)), one(i32(-1)), one(i32(0)), one(i32(256)), one(i32(math.MaxInt32))}},
		{KindFloat8, [][][]byte{
			one(f64(math.Inf(-1))), one(f64(-2)), one(f64(-math.SmallestNonzeroFloat64)), one(f64(math.Copysign(0, -1)), f64(0)),
			one(f64(1e-300)), one(f64(math.Inf(1))), one(f64(math.NaN()), f64(-math.NaN())),
		}},
		{KindText, [][][]byte{one([]byte("")), one([]byte("\x00")), one([]byte("\x00\x00")), one([]byte("a")), one([]byte("a\x00")), one([]byte("ab")), one([]byte("b"))}},
		{KindChar, [][][]byte{one([]byte(""), []byte("  ")), one([]byte("a"), []byte("a ")), one([]byte("b"))}},
		{KindInterval, [][][]byte{
			one(interval(-1, 0, 0)), one(interval(0, -1, 0), interval(0, 0, -86_400_000_000)), one(interval(0, 0, 0)),
			one(interval(1, 0, 0), interval(0, 30, 0)), one(interval(0, 30, 1)), one(interval(math.MaxInt32, math.MaxInt32, math.MaxInt64)),
		}},
		{KindNumeric, [][][]byte{
			one(AppendDecimalForm(nil, DecimalNegInf)), one(AppendDecimal64(nil, -1000, 0)), one(AppendDecimal64(nil, -1, 3)), one(AppendDecimal64(nil, 0, 0), AppendDecimal64(nil, 0, 5)),
			one(AppendDecimal64(nil, 1, 3)), one(AppendDecimal64(nil, 10, 1), AppendDecimal64(nil, 100, 2)), one(AppendDecimal64(nil, 11, 1)), one(AppendDecimalForm(nil, DecimalInf)), one(AppendDecimalForm(nil, DecimalNaN)),
		}},
		{KindOID, [][][]byte{one(u32(0)), one(u32(1)), one(u32(math.MaxInt32)), one(u32(1 << 31)), one(u32(math.MaxUint32))}},
		{KindRegclass, [][][]byte{one(u32(0)), one(u32(math.MaxInt32)), one(u32(math.MaxUint32))}},
		{KindName, [][][]byte{one([]byte("")), one([]byte("a")), one([]byte("aa")), one([]byte("b"))}},
		{KindLetter, [][][]byte{one([]byte("")), one([]byte("i")), one([]byte("r"))}},
		{KindEnum, [][][]byte{one([]byte("")), one([]byte("ok")), one([]byte("sad"))}},
		{KindArray, [][][]byte{ // elements of int4
			ints(nil), ints(from(1, 1), i32(-5)), ints(from(-7, 1), i32(1)), ints(from(1, 1), i32(1)), ints(from(2, 1), i32(1)), ints(from(1, 1, 1), i32(1)),
			ints(from(1, 2), i32(1), i32(-9)), ints(from(1, 3), i32(1), i32(2), i32(3)), ints(from(1, 4), i32(1), i32(2), i32(3), i32(0)), ints(from(-1, 1, 4), i32(1), i32(2), i32(3), i32(0)),
			ints(from(3, 1, 4), i32(1), i32(2), i32(3), i32(0)), ints(from(-1, 2, 2), i32(1), i32(2), i32(3), i32(0)), ints(from(1, 2, 2), i32(1), i32(2), i32(3), i32(0)), ints(from(1, 2), i32(1), nil),
			ints(from(1, 1), i32(2)), ints(from(1, 1), nil), ints(from(1, 2), nil, i32(-1)), ints(from(1, 2), nil, nil),
		}},
	} {
		c := MakeColumn(x.kind, 0)
		var rank []int
		for line, values := range x.lines {
			for _, v := range values {
				c.Append(v)
				rank = append(rank, line)
			}
		}
		c.AppendNull()
		rank = append(rank, len(x.lines))
		for i := range c.N {
			for j := range c.N {
				typ := Type{Kind: x.kind, Mod: -1, Elem: KindInt4}
				got := bytes.Compare(AppendKey(nil, typ, &c, i), AppendKey(nil, typ, &c, j))
				if want := cmp.Compare(rank[i], rank[j]); got != want {
					t.Errorf("%v: value %d against %d: got %d, want %d", TypeOf(x.kind), i, j, got, want)
				}
			}
		}
	}
}
