package fsst

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// texts are the texts that tests and benchmarks code, by name: what columns of a database hold.
var texts = []struct {
	name string
	make func(rng *rand.Rand) string
}{
	{"words", func(rng *rand.Rand) string { return sentence(rng, 12) }},
	{"emails", func(rng *rand.Rand) string {
		return fmt.Sprintf("%s.%s%d@%s.example.com", pick(rng), pick(rng), rng.IntN(1000), pick(rng))
	}},
	{"urls", func(rng *rand.Rand) string {
		return fmt.Sprintf("https://www.%s.example/%s/%s?id=%d", pick(rng), pick(rng), pick(rng), rng.IntN(1_000_000))
	}},
	{"hex", func(rng *rand.Rand) string { return fmt.Sprintf("%016x%016x", rng.Uint64(), rng.Uint64()) }},
	{"json", func(rng *rand.Rand) string {
		return fmt.Sprintf(`{"id": %d, "name": %q, "active": %v, "tags": ["%s", "%s"], "score": %.3f}`,
			rng.IntN(1_000_000), pick(rng)+" "+pick(rng), rng.IntN(2) == 0, pick(rng), pick(rng), rng.Float64())
	}},
	{"bytes", func(rng *rand.Rand) string {
		raw := make([]byte, rng.IntN(40))
		for i := range raw {
			raw[i] = byte(rng.Uint32())
		}
		return string(raw)
	}},
}

var vocabulary = strings.Fields(`the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one you were all
her she there would their we him been has when who will no more if out so up said what its about than into them can only other time new some could these two
may first then do any like my now over such our man me even most made after also did many off before must well back through years where much your way down
should because long each just state those people too mr how little good world make very year still see own work men day get here between river mill stone
wheel harbour lantern winter orchard copper meadow station engine ticket platform journey morning evening`)

func pick(rng *rand.Rand) string {
	n := len(vocabulary)
	return vocabulary[min(rng.IntN(n), rng.IntN(n))]
}

func sentence(rng *rand.Rand, words int) string {
	var out []string
	for range words {
		out = append(out, pick(rng))
	}
	return strings.Join(out, " ")
}

// column is n texts laid end to end, and each.
func column(i, n int) (all []byte, each [][]byte) {
	rng := rand.New(rand.NewPCG(7, uint64(i)))
	for range n {
		s := texts[i].make(rng)
		all = append(all, s...)
		each = append(each, []byte(s))
	}
	return all, each
}

// manyWords is n words of a vocabulary of 3,000, laid end to end and in texts of ten.
func manyWords(n int) (all []byte, each [][]byte) {
	rng := rand.New(rand.NewPCG(3, 5))
	list := make([]string, 3000)
	for i := range list {
		for range 2 + rng.IntN(3) {
			list[i] += string("bcdfghklmnprstvwz"[rng.IntN(17)]) + string("aeiou"[rng.IntN(5)])
		}
	}
	for from := 0; n > 0; n-- {
		all = append(append(all, list[rng.IntN(len(list))]...), ' ')
		if n%10 == 1 {
			each = append(each, all[from:])
			from = len(all)
		}
	}
	return all, each
}
