package stripe

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tailrace"
)

// plainSeek is the twin of SeekGroup: the first group with a row key that is at least key.
func plainSeek(r *Reader, keys [][]byte, key []byte) int {
	for g := range r.Groups() {
		first, n := r.GroupRows(g)
		if bytes.Compare(keys[int(first)+n-1], key) >= 0 {
			return g
		}
	}
	return r.Groups()
}

func TestSeekGroupIsNeverLateAndAtMostOneEarly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, b, opts, rng := drawPart(rt)
		part := write(t, s, b, opts, whole)
		r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
		if err != nil {
			rt.Fatal(err)
		}
		keys := rowKeys(s, b)
		for g := range r.Groups() { // a group's first row is found in it
			first, _ := r.GroupRows(g)
			if key := keys[first]; len(key) <= MaxKeyBytes && plainSeek(r, keys, key) == g && r.SeekGroup(key) != g {
				rt.Fatalf("seek %x, the first of group %d: got group %d", key, g, r.SeekGroup(key))
			}
		}
		for range 20 {
			key := []byte{byte(rng.IntN(4)), byte(rng.Uint32())}
			if b.N > 0 && rng.IntN(5) > 0 {
				key = slices.Clone(keys[rng.IntN(b.N)])
				switch key = key[:len(key)-rng.IntN(len(key)+1)/2]; rng.IntN(3) {
				case 0:
					key = append(key, byte(rng.Uint32()))
				case 1:
					if len(key) > 0 {
						key[len(key)-1]++
					}
				}
			}
			got, want := r.SeekGroup(key), plainSeek(r, keys, key)
			if got > want || got < want-1 {
				rt.Fatalf("seek %x: got group %d, want %d", key, got, want)
			}
		}
	})
}

func TestSeekGroupIsNotLateWhenKeysBeginAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	s := &tailrace.Schema{Fields: []tailrace.Field{{ID: 1, Name: "k", Type: tailrace.TypeOf(tailrace.KindText)}}, Key: []int{0}}
	b := tailrace.NewBatch(s, 0)
	for i := range 400 {
		b.Cols[0].AppendString(strings.Repeat("\xff", i%5*70) + strings.Repeat("x", rng.IntN(3)*200) + string(rune('a'+rng.IntN(26))))
		b.AppendDiff(1)
	}
	b = sortBatch(s, b)
	part := write(t, s, b, Options{PageRows: 16, StripeRows: 100}, whole)
	r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
	if err != nil {
		t.Fatal(err)
	}
	keys := rowKeys(s, b)
	for i, key := range keys {
		for _, k := range [][]byte{key, key[:len(key)/2], append(slices.Clone(key[:len(key)-1]), 1)} {
			if got, want := r.SeekGroup(k), plainSeek(r, keys, k); got > want {
				t.Fatalf("seek near row %d: got group %d, want %d at the latest", i, got, want)
			}
		}
	}
}
