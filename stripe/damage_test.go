package stripe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tailrace"
)

// edge is a stored value of kind k at an edge of what it can hold.
func edge(rng *rand.Rand, k tailrace.Kind, most int) []byte {
	pick := func(values ...uint64) []byte {
		return binary.LittleEndian.AppendUint64(nil, values[rng.IntN(len(values))])
	}
	switch k {
	case tailrace.KindBool:
		return pick(0, 1)[:1]
	case tailrace.KindFloat4: // -0, infinities, NaNs of either sign, quiet and signalling, with payloads, the least denormal
		return pick(0, 1<<31, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000|rng.Uint64N(1<<22), 0xffc0_0001, 0x7f80_0001, 1, 0x3fc0_0000)[:4]
	case tailrace.KindFloat8:
		return pick(0, 1<<63, 0x7ff0<<48, 0xfff0<<48, 0x7ff8<<48|rng.Uint64N(1<<51), 0xfff8<<48|1, 0x7ff0<<48|1, 1, math.Float64bits(0.1))
	case tailrace.KindNumeric:
		switch rng.IntN(3) {
		case 0:
			return tailrace.AppendDecimalForm(nil, tailrace.DecimalForm(1+rng.IntN(3)))
		case 1:
			return tailrace.AppendDecimal64(nil, math.MinInt64, rng.IntN(17))
		}
		return tailrace.AppendDecimal64(nil, math.MaxInt64, rng.IntN(200))
	case tailrace.KindArray:
		return tailrace.AppendArray(nil, nil)
	}
	if w := k.Width(); w > 0 {
		raw := append(pick(0, 1, math.MaxUint64, 1<<63, 1<<63-1, 1<<31, 1<<31-1), pick(0, math.MaxUint64, 1<<63)...)
		return raw[:w]
	}
	text := []byte{byte('a' + rng.IntN(3))}
	switch rng.IntN(6) {
	case 0:
		return nil
	case 1: // a value of about a page, or of what else fits
		return bytes.Repeat(text, most-1+rng.IntN(3))
	}
	return bytes.Repeat(text, rng.IntN(20))
}

// TestValuesAtTheEdgesComeBack writes rows of every type at its edges, texts around 1 MiB among them, in parts that are empty, of one row and of many.
func TestValuesAtTheEdgesComeBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		s := genSchema(rng, 1+rng.IntN(5), rng.IntN(3))
		rows, most := rapid.SampledFrom([]int{0, 1, 2, 40, 700, 3}).Draw(rt, "rows"), 300
		if rows <= 3 {
			most = PageBytes
		}
		b := &tailrace.Batch{N: rows}
		for _, f := range s.Fields {
			c := tailrace.MakeColumn(f.Type.Kind, rows)
			nulls := rng.IntN(5)
			for range rows {
				if rng.IntN(4) < nulls-1 {
					c.AppendNull()
				} else {
					c.Append(edge(rng, f.Type.Kind, most))
				}
			}
			b.IDs, b.Cols = append(b.IDs, f.ID), append(b.Cols, c)
		}
		b = sortBatch(s, b)
		part := write(t, s, b, Options{PageRows: 64, StripeRows: rapid.SampledFrom([]int{1, 100, 0}).Draw(rt, "stripe rows"), Filters: ids(s)}, whole)
		if err := readAll(t, part, s, b); err != nil {
			rt.Fatal(err)
		}
		if err := Verify(t.Context(), part); err != nil {
			rt.Fatal(err)
		}
	})
}

// TestFlippedBitFailsOnlyReadsThatNeedItsPage flips a bit anywhere in a page, a front page too, of a part with every encoding, and reads every column of every group.
func TestFlippedBitFailsOnlyReadsThatNeedItsPage(t *testing.T) {
	s, b := everyEncoding()
	part := write(t, s, b, Options{PageRows: 1024, StripeRows: 2048}, whole)
	whole, err := Open(t.Context(), fetchOf(part), int64(len(part)))
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 3))
	for round := range 2 * len(s.Fields) {
		col := round % len(s.Fields)
		x, err := whole.index(col + 2)
		if err != nil {
			t.Fatal(err)
		}
		stripe := rng.IntN(len(whole.footer.Stripes))
		m := &whole.footer.Stripes[stripe]
		start := m.Offset + m.Chunks[col+2].Offset
		first, last := whole.StripeGroups(stripe)
		group, where := -1, "front page" // all of the stripe's
		at, n := start, x.front[stripe]
		if n == 0 || round < len(s.Fields) {
			page := int(x.group[first]) + rng.IntN(int(x.group[last]-x.group[first]))
			group, _ = slices.BinarySearch(x.group, int32(page+1))
			group--
			at, n, where = x.off[page], x.pages[page].bytes, fmt.Sprintf("page %d", page)
		}
		bad := slices.Clone(part)
		bad[at+rng.Int64N(int64(n))] ^= 1 << rng.IntN(8)
		r, err := Open(t.Context(), fetchOf(bad), int64(len(bad)))
		if err != nil {
			t.Fatal(err)
		}
		r.Name = "p"
		for g := range r.Groups() {
			for c := range s.Fields {
				_, err := r.Read(t.Context(), g, []tailrace.ColumnID{s.Fields[c].ID})
				needs := c == col && (g == group || group < 0 && g >= first && g < last)
				if needs != (err != nil) || err != nil && (!errors.Is(err, tailrace.ErrCorrupt) || !strings.HasPrefix(err.Error(), fmt.Sprintf("part p: column %q, %s: ", s.Fields[c].Name, where))) {
					t.Errorf("seed %d: flipped %s of column c%d, stripe %d: group %d of column c%d: got %v", seed, where, col+1, stripe, g, c+1, err)
				}
			}
		}
	}
}
