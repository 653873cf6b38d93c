package stripe

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"tailrace"
)

// dictTexts is a chunk of two groups with texts of 0 to 40 bytes, some NULL, about half of them met before. The last ones lie at the end of their memory.
func dictTexts(rng *rand.Rand, rows int) *chunk {
	c := &chunk{typ: tailrace.TypeOf(tailrace.KindText), rows: rows}
	var known []string
	for _, n := range []int{rows / 3, rows - rows/3} {
		col := tailrace.MakeColumn(tailrace.KindText, n)
		for range n {
			switch k := rng.IntN(8); {
			case k == 0:
				col.AppendNull()
			case k < 5 && len(known) > 0:
				col.AppendString(known[rng.IntN(len(known))])
			default:
				text := strings.Repeat("\x00", rng.IntN(3)) + strings.Repeat(string(rune('a'+rng.IntN(26))), rng.IntN(36)) + string(rune('a'+rng.IntN(26)))
				known = append(known, text[:max(0, len(text)-rng.IntN(2))])
				col.AppendString(known[len(known)-1])
			}
		}
		col.Data = col.Data[:len(col.Data):len(col.Data)]
		c.groups = append(c.groups, columnRows{&col, 0, n})
	}
	return c
}

func TestDictionaryIsThatOfAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var dict dictBuilder
	for _, rows := range []int{1, 3, 40, 9000, 20} {
		c := dictTexts(rng, rows)
		codes, ok := dict.build(c)
		if !ok {
			t.Fatalf("%d rows: no dictionary", rows)
		}
		texts, want := dict.texts(), map[string]int{}
		row := 0
		for _, g := range c.groups {
			for i := range g.n {
				code := 0
				if !g.col.IsNull(i) {
					text := string(g.col.Bytes(i))
					if _, ok := want[text]; !ok {
						want[text] = len(want)
					}
					if code = want[text]; string(texts.at(code)) != text {
						t.Fatalf("%d rows: text %d is %q, want %q", rows, code, texts.at(code), text)
					}
				}
				if int(codes[row]) != code {
					t.Fatalf("%d rows: row %d has code %d, want %d", rows, row, codes[row], code)
				}
				row++
			}
		}
		if texts.n() != len(want) {
			t.Errorf("%d rows: %d different texts, want %d", rows, texts.n(), len(want))
		}
	}
}

func TestDictionaryHasItsLimits(t *testing.T) {
	var dict dictBuilder
	for name, value := range map[string]string{"texts": "", "bytes": strings.Repeat("x", 2000)} {
		col := tailrace.MakeColumn(tailrace.KindText, 0)
		n := maxDictTexts + 1
		if value != "" {
			n = maxDictBytes/len(value) + 1
		}
		for i := range n {
			col.AppendString(string(rune(0x4e00+i%0x4000)) + string(rune(0x4e00+i/0x4000)) + value)
		}
		c := &chunk{typ: tailrace.TypeOf(tailrace.KindText), rows: n, groups: []columnRows{{&col, 0, n}}}
		if _, ok := dict.build(c); ok {
			t.Errorf("%d %s are in one dictionary", n, name)
		}
	}
}

func TestSumOfAPageIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, bits := range []int{1, 8, 49, 50, 63} {
		v := make([]int64, PageRows-3)
		for i := range v {
			v[i] = rng.Int64() >> (63 - bits)
			if rng.IntN(2) == 0 {
				v[i] = -v[i]
			}
		}
		var f frames
		f.measure(v)
		var p encodedPage
		want := new(big.Int)
		for range 3 { // the pages of a chunk do not share one, but it must not matter
			p.addInts(v, &f)
			for _, x := range v {
				want.Add(want, big.NewInt(x))
			}
		}
		got := new(big.Int).Lsh(big.NewInt(int64(p.sumHigh)), 64)
		if got.Add(got, new(big.Int).SetUint64(p.sumLow)); got.Cmp(want) != 0 {
			t.Errorf("%d bits: got %v, want %v", bits, got, want)
		}
	}
}

// TestHashesTellTextsApart has texts that differ in their last bytes and their length only, as the counter of a sample meets them.
func TestHashesTellTextsApart(t *testing.T) {
	seen := map[uint64]string{}
	data := make([]byte, 0, 64)
	for n := range 16 {
		for last := range 1 << 12 {
			data = append(data[:0], "0103fdffff0703c3"[:n]...)
			data = append(data, byte(last), byte(last>>8))
			for _, size := range []int{n, n + 1, n + 2} {
				k := keyAt(data[:size], 0, size)
				text := string(data[:size])
				if other, ok := seen[k.hash()|1]; ok && other != text {
					t.Fatalf("%q and %q have one hash", other, text)
				}
				seen[k.hash()|1] = text
			}
		}
	}
}
