package stripe

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"tailrace"
)

// plainPack is the twin of packVector: bit by bit, as the format describes it.
func plainPack(v []int64, base int64, width int) []byte {
	rows := (len(v) + lanes - 1) / lanes
	out := make([]byte, packedLen(len(v), width))
	for i := range rows * lanes {
		if i >= len(v) {
			continue
		}
		for bit := range width {
			at := i/lanes*width + bit // in lane i%lanes
			byteAt := (at/64*lanes+i%lanes)*8 + at%64/8
			out[byteAt] |= byte(uint64(v[i]-base) >> bit & 1 << (at % 8))
		}
	}
	return out
}

func TestPackedVectorsAreWhatTheFormatSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for width := range 65 {
		for _, n := range []int{1, 15, 16, 17, 500, 1023, 1024} {
			base := rng.Int64() >> 1
			v := make([]int64, n)
			for i := range v {
				v[i] = base + int64(rng.Uint64()&(1<<width-1))
			}
			got, want := packVector(nil, v, base, width), plainPack(v, base, width)
			if !slices.Equal(got, want) {
				t.Fatalf("width %d, %d values: packed bytes differ from the plain twin", width, n)
			}
			back := make([]int64, n)
			unpackVector(back, got, base, width)
			if !slices.Equal(back, v) {
				t.Fatalf("width %d, %d values: got %v, want %v", width, n, back, v)
			}
			narrow := make([]int16, n)
			unpackVector(narrow, got, int16(base), width)
			for i := range v {
				if narrow[i] != int16(v[i]) {
					t.Fatalf("width %d, value %d: got %d, want %d", width, i, narrow[i], int16(v[i]))
				}
			}
		}
	}
}

func TestUnpackAllocs(t *testing.T) {
	v := make([]int64, vectorRows)
	for i := range v {
		v[i] = int64(i * 3)
	}
	packed, dst := packVector(nil, v, 0, 12), make([]int32, vectorRows)
	if n := testing.AllocsPerRun(100, func() { unpackVector(dst, packed, 0, 12) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func TestEachEncodingIsChosenWhereItIsSmallest(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	number := func(f func(i int) int64) func(c *tailrace.Column, i int) {
		return func(c *tailrace.Column, i int) { c.AppendInt64(f(i)) }
	}
	text := func(f func(i int) string) func(c *tailrace.Column, i int) {
		return func(c *tailrace.Column, i int) { c.AppendString(f(i)) }
	}
	few := []int64{math.MinInt64, math.MaxInt64, 77, 1 << 40, -9}
	for _, x := range []struct {
		name string
		kind tailrace.Kind
		make func(c *tailrace.Column, i int)
		want encoding
	}{
		{"one number", tailrace.KindInt8, number(func(int) int64 { return -4 }), encConst},
		{"random bits", tailrace.KindInt8, number(func(int) int64 { return int64(rng.Uint64()) }), encRaw},
		{"small numbers", tailrace.KindInt8, number(func(int) int64 { return int64(rng.IntN(1000)) }), encFOR},
		{"a sequence", tailrace.KindTimestamp, number(func(i int) int64 { return int64(i) * 1_000_003 }), encDelta},
		{"few far apart", tailrace.KindInt8, number(func(int) int64 { return few[rng.IntN(5)] }), encDict},
		{"one text", tailrace.KindText, text(func(int) string { return "same" }), encConst},
		{"few texts", tailrace.KindVarchar, text(func(int) string { return fmt.Sprint("state ", rng.IntN(9)) }), encDict},
		{"many texts", tailrace.KindText, text(func(int) string { return fmt.Sprint(rng.Uint64()) }), encFSST},
		{"random bytes", tailrace.KindBytea, text(func(int) string { return string(binary.LittleEndian.AppendUint64(nil, rng.Uint64())) }), encStr},
		{"money", tailrace.KindNumeric, func(c *tailrace.Column, _ int) { c.Append(tailrace.AppendDecimal64(nil, int64(rng.IntN(1e6)), 2)) }, encDecimal},
		{"many scales", tailrace.KindNumeric, func(c *tailrace.Column, i int) { c.Append(tailrace.AppendDecimal64(nil, int64(rng.IntN(1e6)), i%9)) }, encDecimal},
		{"huge numerics", tailrace.KindNumeric, func(c *tailrace.Column, _ int) {
			c.Append(tailrace.AppendDecimal(nil, new(big.Int).Lsh(big.NewInt(int64(rng.Uint32())), 90), 0))
		}, encStr},
		{"no value", tailrace.KindUUID, func(c *tailrace.Column, _ int) { c.AppendNull() }, encNone},
	} {
		c := tailrace.MakeColumn(x.kind, 0)
		for i := range 3000 {
			x.make(&c, i)
		}
		out, front, _ := encodeColumn(&encoder{opts: Options{}.filled()}, nil, chunkOf(tailrace.TypeOf(x.kind), &c, PageRows))
		h, body, err := openPage(out[front:])
		if err != nil || h.enc != x.want {
			t.Errorf("%s: got encoding %d, %v, want %d", x.name, h.enc, err, x.want)
			continue
		}
		d := new(decoder)
		if front > 0 {
			if d.front, err = d.openFront(out[:front]); err != nil {
				t.Fatalf("%s: front page: %v", x.name, err)
			}
		}
		back := roomFor(c.Width, c.N)
		if err := d.addBody(&back, h, body, c.N); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		got := &tailrace.Batch{N: c.N, Cols: []tailrace.Column{back}}
		if diff := compare(got, &tailrace.Batch{N: c.N, Cols: []tailrace.Column{c}}, 0); diff != "" {
			t.Errorf("%s: %s", x.name, diff)
		}
	}
}
