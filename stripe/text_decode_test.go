package stripe

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tailrace"
)

// genDictionary is n texts of at most longest bytes, and the dictionary of them.
func genDictionary(rng *rand.Rand, n, longest int) ([]string, *dictionary) {
	var all []string
	t := &dictionary{longest: longest}
	for i := range n {
		text := strings.Repeat(fmt.Sprint(i, "."), longest)[:rng.IntN(longest+1)]
		if i == 0 {
			text = strings.Repeat("x", longest)
		}
		all = append(all, text)
		t.places = append(t.places, place(len(t.words)<<32|len(text)))
		t.words = append(t.words, text...)
	}
	t.words = append(t.words, make([]byte, slack)...)
	return all, t
}

func TestGatherIsThePlainTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	for _, longest := range []int{0, 1, slack / 2, slack/2 + 1, slack, slack + 1, 300} {
		all, dict := genDictionary(rng, 40, longest)
		for _, n := range []int{0, 1, 7, 1000} {
			codes, ends := make([]uint16, n), make([]int32, n)
			want, wantEnds := []byte("before"), []int32{}
			at := len(want)
			for i := range codes {
				codes[i] = uint16(rng.IntN(len(all)))
				want = append(want, all[codes[i]]...)
				wantEnds = append(wantEnds, int32(len(want)))
			}
			data := append(make([]byte, 0, len(want)+slack), want[:at]...)[:len(want)]
			if end := dict.gather(ends, data, at, codes); end != len(want) || !bytes.Equal(data, want) || !slices.Equal(ends, wantEnds) {
				t.Errorf("%d texts of up to %d bytes: got %q to %d, ends %v, want %q, ends %v", n, longest, data, end, ends, want, wantEnds)
			}
		}
	}
}

func TestGatherStopsAtTheEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 74))
	for _, longest := range []int{9, 20, 100} {
		_, dict := genDictionary(rng, 3, longest)
		for name, codes := range map[string][]uint16{"too many texts": make([]uint16, 200), "a code of no text": {0, 3}, "the greatest code": {math.MaxUint16}} {
			room := bytes.Repeat([]byte{0xee}, 150+slack+1)
			if end := dict.gather(make([]int32, len(codes)), room[:150], 0, codes); end >= 0 && end <= 150 {
				t.Errorf("%s of up to %d bytes: got end %d, want none in 150 bytes", name, longest, end)
			}
			if room[150+slack] != 0xee {
				t.Errorf("%s of up to %d bytes: written behind the slack", name, longest)
			}
		}
	}
}

func TestGatherAllocs(t *testing.T) {
	rng := rand.New(rand.NewPCG(75, 76))
	for _, longest := range []int{16, 90} {
		_, dict := genDictionary(rng, 40, longest)
		codes, ends := make([]uint16, 100), make([]int32, 100)
		data := make([]byte, 100*longest, 100*longest+slack)
		if n := testing.AllocsPerRun(100, func() { dict.gather(ends, data, 0, codes) }); n != 0 {
			t.Errorf("texts of up to %d bytes: got %v allocations, want 0", longest, n)
		}
	}
}

func TestStoredNumericsAreThoseOfAppendDecimal64(t *testing.T) {
	rng := rand.New(rand.NewPCG(77, 78))
	ints := []int64{0, 1, -1, 127, 128, -128, -129, math.MaxInt64, math.MinInt64, 1 << 55, 1<<55 - 1, -1 << 55}
	for range 1000 {
		ints = append(ints, int64(rng.Uint64())>>rng.IntN(64))
	}
	for _, same := range []bool{true, false} {
		scale, ends := make([]uint16, len(ints)), make([]int32, len(ints))
		want, wantEnds := []byte("before"), []int32{}
		at := len(want)
		for i, v := range ints {
			scale[i] = 700
			if !same {
				scale[i] = uint16(rng.IntN(tailrace.MaxDecimalScale + 1))
			}
			want = tailrace.AppendDecimal64(want, v, int(scale[i]))
			wantEnds = append(wantEnds, int32(len(want)))
		}
		store := func(data []byte) int { return storeDecimals(ends, data, at, ints, scale) }
		if same {
			store = func(data []byte) int { return storeScaled(ends, data, at, ints, 700) }
		}
		data := append(make([]byte, 0, len(want)+slack), want[:at]...)[:len(want)]
		if end := store(data); end != len(want) || !bytes.Equal(data, want) || !slices.Equal(ends, wantEnds) {
			t.Errorf("one scale: %v: got %d bytes, want %d, or they differ", same, end, len(want))
		}
		room := bytes.Repeat([]byte{0xee}, at+50+slack+1)
		if end := store(room[:at+50]); end >= 0 || room[at+50+slack] != 0xee {
			t.Errorf("one scale: %v: got end %d and byte %x behind the slack, want -1 and ee", same, end, room[at+50+slack])
		}
	}
}
