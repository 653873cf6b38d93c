package stripe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tailrace"
)

// numberShapes are ways in which integers of a page lie, extremes among them.
var numberShapes = []struct {
	name string
	make func(rng *rand.Rand, v []int64)
}{
	{"one", func(rng *rand.Rand, v []int64) { fill(v, rng.Int64()) }},
	{"random", func(rng *rand.Rand, v []int64) {
		for i := range v {
			v[i] = int64(rng.Uint64())
		}
	}},
	{"narrow", func(rng *rand.Rand, v []int64) {
		base, width := int64(rng.Uint64()), rng.IntN(64)
		for i := range v {
			v[i] = base + int64(rng.Uint64()&(1<<width-1))
		}
	}},
	{"extremes", func(rng *rand.Rand, v []int64) {
		few := []int64{math.MinInt64, math.MaxInt64, 0, -1, 1, math.MinInt32, math.MaxInt32, math.MinInt16}
		for i := range v {
			v[i] = few[rng.IntN(len(few))]
		}
	}},
	{"wrapping steps", func(rng *rand.Rand, v []int64) {
		x, step := int64(rng.Uint64()), int64(rng.Uint64())
		for i := range v {
			v[i] = x
			x += step + int64(rng.IntN(3))
		}
	}},
	{"runs", func(rng *rand.Rand, v []int64) {
		x := int64(0)
		for i := range v {
			if rng.IntN(9) == 0 {
				x = int64(rng.Uint64()) >> rng.IntN(64)
			}
			v[i] = x
		}
	}},
	{"mostly zero", func(rng *rand.Rand, v []int64) {
		for i := range v {
			if v[i] = 0; rng.IntN(15) == 0 {
				v[i] = int64(rng.Uint64()) >> rng.IntN(64)
			}
		}
	}},
	{"outliers", func(rng *rand.Rand, v []int64) {
		for i := range v {
			if v[i] = 500 + int64(rng.IntN(100)); rng.IntN(40) == 0 {
				v[i] = int64(rng.Uint64())
			}
		}
	}},
	{"bits", func(rng *rand.Rand, v []int64) {
		for i := range v {
			v[i] = int64(rng.IntN(2))
		}
	}},
	{"decimals", func(rng *rand.Rand, v []int64) {
		for i := range v {
			v[i] = int64(math.Float64bits(float64(rng.IntN(100_000)) / 100))
			if rng.IntN(30) == 0 {
				v[i] = []int64{int64(rng.Uint64()), math.MinInt64, 0x7ff0000000000001, 0x7ff8000000000000, -4503599627370496, 0x7ff0000000000000}[rng.IntN(6)]
			}
		}
	}},
	{"decimals of 4 bytes", func(rng *rand.Rand, v []int64) {
		for i := range v {
			v[i] = int64(math.Float32bits(float32(rng.IntN(10_000)) / 10))
			if rng.IntN(30) == 0 {
				v[i] = []int64{int64(rng.Uint32()), 1 << 31, 0x7f800001, 0x7fc00000, 0xff800000}[rng.IntN(5)]
			}
		}
	}},
}

// allPlans are the plans of every shape with the parameters of one.
func allPlans(rng *rand.Rand, v []int64, width int) (out []intPlan) {
	nodes := []encoding{encNone, encDelta, encDelta2, encRLE, encDict, encSparse, encALP, encSplit}
	for _, a := range nodes {
		if a == encALP && width < 4 {
			continue
		}
		for _, b := range nodes[:6] {
			p := intPlan{nodes: [maxIntDepth - 1]encoding{a, b}, low: uint8(max(8*width-maxHighBits, rng.IntN(8*width)))}
			p.form = decimalForm{e: uint8(rng.IntN(maxExponent + 1))}
			if p.form.divide = rng.IntN(2) == 0; !p.form.divide {
				p.form.f = uint8(rng.IntN(int(p.form.e) + 1))
			}
			if rng.IntN(2) == 0 {
				p.form = decimalForm{e: 2, divide: p.form.divide}
			}
			if p.mostly = rng.IntN(2) == 0; p.mostly && len(v) > 0 {
				p.most = v[rng.IntN(len(v))]
			}
			out = append(out, p)
		}
	}
	return out
}

// wrapped is x as a column of width bytes keeps it.
func wrapped(x int64, width int) int64 {
	switch width {
	case 1:
		return int64(int8(x))
	case 2:
		return int64(int16(x))
	case 4:
		return int64(int32(x))
	}
	return x
}

// decodeWidened decodes raw, a stream of n integers, in a column of width bytes.
func decodeWidened(d *decoder, raw []byte, n, width int) ([]int64, error) {
	s, err := wholeStream(raw, n)
	if err != nil {
		return nil, err
	}
	switch width {
	case 1:
		return decodeAs[int8](d, s)
	case 2:
		return decodeAs[int16](d, s)
	case 4:
		return decodeAs[int32](d, s)
	}
	return decodeAs[int64](d, s)
}

func decodeAs[T integer](d *decoder, s stream) ([]int64, error) {
	dst := make([]T, s.count)
	err := decodeInts(d, dst, s)
	out := make([]int64, len(dst))
	for i, x := range dst {
		out[i] = int64(x)
	}
	return out, err
}

// TestEveryPlanBringsBackEveryValue forces every plan on every shape of values. What a plan cannot hold must have become a leaf.
func TestEveryPlanBringsBackEveryValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	e, d := new(encoder), new(decoder)
	used := map[encoding]int{}
	lengths := []int{1, 2, 3, 15, 16, 17, 100, 1007, 1008, 1009, 1023, 1024, 1025, 2047, PageRows - 1, PageRows}
	for _, shape := range numberShapes {
		for i, n := range lengths {
			width := []int{1, 2, 4, 8}[(i+rng.IntN(2))%4]
			if n > 1025 {
				width = 8 >> rng.IntN(2)
			}
			v := make([]int64, n)
			shape.make(rng, v)
			for i := range v {
				v[i] = wrapped(v[i], width)
			}
			for _, p := range allPlans(rng, v, width) {
				checkPlan(t, e, d, shape.name, v, width, &p, used)
			}
		}
	}
	for _, enc := range []encoding{encConst, encRaw, encFOR, encDelta, encDelta2, encRLE, encDict, encSparse, encALP, encSplit, encBits} {
		if used[enc] == 0 {
			t.Errorf("%v was never kept", enc)
		}
	}
}

func checkPlan(t *testing.T, e *encoder, d *decoder, shape string, v []int64, width int, p *intPlan, used map[encoding]int) {
	t.Helper()
	var f frames
	f.measure(v)
	raw := e.appendInts(nil, v, &f, width, p)
	used[encoding(raw[0])]++
	_, leaf := f.leaf(len(v), width)
	if len(raw) > streamBytes+leaf {
		t.Fatalf("%s, %d values of %d bytes, %v: got %d bytes, more than the %d of a leaf", shape, len(v), width, p, len(raw), streamBytes+leaf)
	}
	streams := [][]byte{raw}
	if out, ok := e.appendPlanned(nil, v, width, p, 0); ok { // though it saves nothing
		streams = append(streams, out)
	}
	for _, raw := range streams {
		got, err := decodeWidened(d, raw, len(v), width)
		if err != nil || !slices.Equal(got, v) {
			i := 0
			for i < min(len(got), len(v))-1 && got[i] == v[i] {
				i++
			}
			t.Fatalf("%s, %d values of %d bytes, %v, root %v: %v; value %d: got %v, want %d", shape, len(v), width, p, encoding(raw[0]), err, i, got[i:min(i+1, len(got))], v[i])
		}
	}
}

// FuzzInts decodes any bytes as a stream of integers of any width, and values of any bytes by any plan.
func FuzzInts(f *testing.F) {
	rng := rand.New(rand.NewPCG(41, 42))
	e := new(encoder)
	for _, shape := range numberShapes {
		v := make([]int64, 200)
		shape.make(rng, v)
		for _, p := range allPlans(rng, v, 8) {
			var m frames
			m.measure(v)
			f.Add(e.appendInts(nil, v, &m, 8, &p), uint16(len(v)), uint8(3))
		}
	}
	d := new(decoder)
	f.Fuzz(func(t *testing.T, raw []byte, n uint16, width uint8) {
		count := int(n) % (PageRows + 1)
		if _, err := decodeWidened(d, raw, count, 1<<(width&3)); err != nil && !errors.Is(err, tailrace.ErrCorrupt) {
			t.Fatalf("got error %v, want one that wraps ErrCorrupt", err)
		}
		dict := &dictionary{places: make([]place, 10), words: make([]byte, slack)}
		if _, err := d.decodeCodes(make([]int32, count), nil, raw, dict, 0); err != nil && !errors.Is(err, tailrace.ErrCorrupt) {
			t.Fatalf("codes: got error %v, want one that wraps ErrCorrupt", err)
		}
	})
}

// TestWordsOf16BytesComeBack writes intervals and uuids of several shapes.
func TestWordsOf16BytesComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	e, d := &encoder{opts: Options{}.filled()}, new(decoder)
	for _, x := range []struct {
		name string
		kind tailrace.Kind
		want encoding
		make func(i int, out []byte)
	}{
		{"hours", tailrace.KindInterval, encWords, func(_ int, out []byte) {
			binary.LittleEndian.PutUint64(out[8:], uint64(rng.IntN(1000))*3_600_000_000)
		}},
		{"days and months below 0", tailrace.KindInterval, encWords, func(_ int, out []byte) {
			binary.LittleEndian.PutUint32(out, uint32(-rng.IntN(12)))
			binary.LittleEndian.PutUint32(out[4:], uint32(rng.IntN(60)-30))
		}},
		{"random intervals", tailrace.KindInterval, encFixed16, func(_ int, out []byte) {
			binary.LittleEndian.PutUint64(out, rng.Uint64())
			binary.LittleEndian.PutUint64(out[8:], rng.Uint64())
		}},
		{"uuid of version 7", tailrace.KindUUID, encWords, func(i int, out []byte) {
			binary.BigEndian.PutUint64(out, uint64(1_700_000_000_000+i*3)<<16|7<<12|uint64(rng.IntN(1<<12)))
			binary.BigEndian.PutUint64(out[8:], rng.Uint64()|1<<63)
		}},
		{"random uuid", tailrace.KindUUID, encFixed16, func(_ int, out []byte) {
			binary.BigEndian.PutUint64(out, rng.Uint64())
			binary.BigEndian.PutUint64(out[8:], rng.Uint64())
		}},
	} {
		for _, n := range []int{1, 2, 16, 100, 1025, PageRows} {
			want := make([]byte, 16*n)
			for i := range n {
				x.make(i, want[16*i:16*i+16])
			}
			c := tailrace.Column{Width: 16, N: n, Data: want}
			e.load(x.kind, &c, 0, n)
			s, _, err := cutStream(e.appendFixed16(nil, x.kind))
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 16*n)
			if err := d.addFixed16(got, s, nil); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %d values, %v: other bytes came back: %v", x.name, n, s.enc, err)
			}
			if n > 1000 && s.enc != x.want {
				t.Errorf("%s: got %v, want %v", x.name, s.enc, x.want)
			}
			for cut := range len(s.body) {
				if cut%97 == 0 {
					bad := stream{s.enc, s.param, s.count, s.body[:cut]}
					if err := d.addFixed16(got, bad, nil); !errors.Is(err, tailrace.ErrCorrupt) && s.enc != encConst {
						t.Errorf("%s cut to %d bytes: got %v, want ErrCorrupt", x.name, cut, err)
					}
				}
			}
		}
	}
}
