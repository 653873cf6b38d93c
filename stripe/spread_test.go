package stripe

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// plainSpread is spread with a branch a row.
func plainSpread[T integer](v []T, bitmap []byte) []T {
	out := make([]T, len(v))
	for i, n := 0, 0; i < len(v); i++ {
		if bitmap[i>>3]>>(i&7)&1 == 1 {
			out[i] = v[n]
			n++
		}
	}
	return out
}

// plainSpreadEnds is spreadEnds by the sizes of the texts.
func plainSpreadEnds(v []int32, bitmap []byte) []int32 {
	sizes := make([]int32, len(v)-1)
	for i := range sizes {
		sizes[i] = v[i+1] - v[i]
	}
	out := []int32{v[0]}
	for _, n := range plainSpread(sizes, bitmap) {
		out = append(out, out[len(out)-1]+n)
	}
	return out
}

// genBitmap is one of rows bits, of which n are set, each with a chance of one in so many not.
func genBitmap(rng *rand.Rand, rows, null int) (bitmap []byte, n int) {
	bitmap = make([]byte, (rows+7)/8)
	for i := range rows {
		if rng.IntN(null) > 0 {
			bitmap[i>>3] |= 1 << (i & 7)
			n++
		}
	}
	return bitmap, n
}

func testSpread[T integer](t *testing.T, rng *rand.Rand, rows int, bitmap []byte, n int) {
	t.Helper()
	v := make([]T, rows)
	for i := range v {
		v[i] = T(rng.Uint64())
	}
	want := plainSpread(v, bitmap)
	if spread(v, n, bitmap); !slices.Equal(v, want) {
		t.Errorf("%d rows, %d values: got %v, want %v", rows, n, v, want)
	}
}

func TestSpreadIsThePlainTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	for _, rows := range []int{1, 2, 7, 8, 9, 16, 63, 65, 200, PageRows} {
		for _, null := range []int{1, 2, 3, 9, 100} {
			bitmap, n := genBitmap(rng, rows, null)
			testSpread[int8](t, rng, rows, bitmap, n)
			testSpread[int16](t, rng, rows, bitmap, n)
			testSpread[int32](t, rng, rows, bitmap, n)
			testSpread[int64](t, rng, rows, bitmap, n)
			ends := make([]int32, rows+1)
			ends[0] = 12
			for i := range rows {
				ends[i+1] = ends[i] + int32(rng.IntN(20))
			}
			want := plainSpreadEnds(ends, bitmap)
			if spreadEnds(ends, n, bitmap); !slices.Equal(ends, want) {
				t.Errorf("ends of %d rows, %d values: got %v, want %v", rows, n, ends, want)
			}
		}
	}
}
