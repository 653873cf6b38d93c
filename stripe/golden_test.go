package stripe

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"tailrace"
)

var rewrite = flag.Bool("rewrite", false, "write the golden parts of the present format anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestGoldenParts reads the parts of every released version of the format, and holds the bytes of the present one.
func TestGoldenParts(t *testing.T) {
	s, b, _ := partOf(t, 300, allKinds[:tailrace.KindForeign])
	testGolden(t, "part-1.0", s, b, nil)
	s, b, _ = partOf(t, 300, allKinds[:tailrace.KindRegrole])
	testGolden(t, "part-1.0-types", s, b, nil)
	s, b, part := partOf(t, 300, allKinds[:tailrace.KindRegrole])
	testGolden(t, "part-1.1", s, b, part)
	s, b = everyEncoding()
	testGolden(t, "part-1.1-encodings", s, b, write(t, s, b, Options{PageRows: 1024, StripeRows: 2048, Filters: []tailrace.ColumnID{1, 4}}, whole))
}

// testGolden reads a golden part of the updates b; present is what a Writer makes of them now, nil if that may have changed since.
func testGolden(t *testing.T, version string, s *tailrace.Schema, b *tailrace.Batch, present []byte) {
	path := filepath.Join("testdata", version+".golden")
	if present != nil && *rewrite {
		if err := os.WriteFile(path, present, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(context.Background(), old); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	if err := readAll(t, old, s, b); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	if present != nil && !bytes.Equal(old, present) {
		t.Errorf("%s: got other bytes than the %d of the golden part (-rewrite accepts them)", path, len(old))
	}
}

// everyEncoding is updates whose part has each encoding and codec somewhere.
func everyEncoding() (*tailrace.Schema, *tailrace.Batch) {
	rng := rand.New(rand.NewPCG(31, 41))
	words := strings.Fields("river mill stone wheel water bridge lock weir sluice meadow willow heron barge harbour ferry anchor tide delta reed marsh")
	run := int64(0)
	columns := []struct {
		kind tailrace.Kind
		add  func(c *tailrace.Column, i int)
	}{
		{tailrace.KindInt8, func(c *tailrace.Column, i int) { c.AppendInt64(int64(i) * 7) }},
		{tailrace.KindTimestamptz, func(c *tailrace.Column, i int) { c.AppendInt64(1_000_000*int64(i) + int64(rng.IntN(900))) }},
		{tailrace.KindInt8, func(c *tailrace.Column, i int) { c.AppendInt64(int64(i)*int64(i)*31 + int64(rng.IntN(2))) }},
		{tailrace.KindInt4, func(c *tailrace.Column, i int) {
			if rng.IntN(60) == 0 {
				run = rng.Int64N(1 << 30)
			}
			c.AppendInt32(int32(run))
		}},
		{tailrace.KindInt8, func(c *tailrace.Column, _ int) {
			c.AppendInt64([]int64{math.MinInt64, math.MaxInt64, 77, 1 << 40, -9}[rng.IntN(5)])
		}},
		{tailrace.KindInt4, func(c *tailrace.Column, _ int) { c.AppendInt32(int32(rng.IntN(1<<30) * boolInt(rng.IntN(40) == 0))) }},
		{tailrace.KindInt8, func(c *tailrace.Column, _ int) { c.AppendInt64(int64(rng.Uint64())) }},
		{tailrace.KindInt4, func(c *tailrace.Column, i int) {
			if c.AppendInt32(int32(rng.IntN(3000))); i%3 == 0 {
				c.AppendNull()
			} else {
				c.AppendInt32(-5)
			}
		}},
		{tailrace.KindBool, func(c *tailrace.Column, _ int) { c.AppendBool(rng.IntN(2) == 0) }},
		{tailrace.KindFloat8, func(c *tailrace.Column, i int) {
			x := float64(rng.IntN(1_000_000)) / 100
			if i%500 == 7 {
				x = math.Copysign(math.NaN(), -1)
			}
			c.AppendInt64(int64(math.Float64bits(x)))
		}},
		{tailrace.KindFloat8, func(c *tailrace.Column, _ int) {
			c.AppendInt64(int64(math.Float64bits(math.Sqrt(100 + rng.Float64()))))
		}},
		{tailrace.KindFloat8, func(c *tailrace.Column, _ int) {
			c.AppendInt64(int64(math.Float64bits((1 + rng.Float64()) * float64(1-2*rng.IntN(2)))))
		}},
		{tailrace.KindFloat4, func(c *tailrace.Column, _ int) { c.AppendInt32(int32(math.Float32bits(float32(rng.IntN(5000)) / 4))) }},
		{tailrace.KindNumeric, func(c *tailrace.Column, i int) {
			c.Append(tailrace.AppendDecimal64(nil, int64(rng.IntN(1e6)), 2+i%2))
		}},
		{tailrace.KindUUID, func(c *tailrace.Column, _ int) {
			c.Append(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, rng.Uint64()), rng.Uint64()))
		}},
		{tailrace.KindUUID, func(c *tailrace.Column, i int) {
			c.Append(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, 0x0190_0000_0000_7000+uint64(i/9)), rng.Uint64()))
		}},
		{tailrace.KindInterval, func(c *tailrace.Column, _ int) {
			c.Append(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(rng.IntN(12))), uint64(rng.IntN(86_400))*1_000_000))
		}},
		{tailrace.KindText, func(c *tailrace.Column, _ int) { c.AppendString("state of " + words[rng.IntN(len(words))]) }},
		{tailrace.KindText, func(c *tailrace.Column, _ int) {
			c.AppendString(fmt.Sprintf("https://example.org/%s/%s?id=%d", words[rng.IntN(20)], words[rng.IntN(20)], rng.IntN(1e6)))
		}},
		{tailrace.KindText, func(c *tailrace.Column, i int) {
			if c.AppendString(fmt.Sprint(rng.Uint64())); i%1000 > 900 {
				c.AppendNull()
			} else {
				c.AppendString("")
			}
		}},
		{tailrace.KindJSONB, func(c *tailrace.Column, i int) {
			c.AppendString(fmt.Sprintf(`{"id": %d, "tags": [%q, %q], "note": %q}`, i, words[rng.IntN(3)], words[i%20], strings.Repeat(words[i/16%20]+" ", 1+rng.IntN(4))))
		}},
		{tailrace.KindBytea, func(c *tailrace.Column, i int) { c.Append(bytes.Repeat([]byte{byte(i >> 6), 2, byte(i >> 8)}, 5+i%3)) }},
		{tailrace.KindBytea, func(c *tailrace.Column, i int) {
			var x []byte
			for range 9 {
				x = binary.LittleEndian.AppendUint64(x, rng.Uint64())
			}
			c.Append(append(x, x...))
		}},
		{tailrace.KindDate, func(c *tailrace.Column, _ int) { c.AppendNull() }},
	}
	s := &tailrace.Schema{Version: 2, NextColumn: 50, Key: []int{0}}
	const rows = 3000
	b := &tailrace.Batch{N: rows}
	for i, x := range columns {
		s.Fields = append(s.Fields, tailrace.Field{ID: tailrace.ColumnID(i + 1), Name: fmt.Sprintf("c%d", i+1), Type: tailrace.TypeOf(x.kind)})
		c := tailrace.MakeColumn(x.kind, rows)
		for row := 0; c.N < rows; row++ {
			x.add(&c, row)
		}
		b.Cols = append(b.Cols, c)
	}
	return s, b
}

// TestEveryEncodingIsInAGoldenPart: a golden file that lacks one would not hold it.
func TestEveryEncodingIsInAGoldenPart(t *testing.T) {
	s, b := everyEncoding()
	part := write(t, s, b, Options{PageRows: 1024, StripeRows: 2048}, whole)
	r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", len(part))
	met := map[string]bool{}
	for i := range r.Footer().Stripes {
		chunks, err := r.Describe(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chunks {
			met["codec "+c.Codec] = true
			for _, tree := range append(c.Encodings, c.Front) {
				for _, enc := range strings.FieldsFunc(tree, func(x rune) bool { return strings.ContainsRune(">(),", x) }) {
					met[enc] = true
				}
			}
		}
	}
	for _, enc := range append(encodingNames[:], "codec none", "codec lz4", "codec zstd") {
		if enc != "" && !met[enc] {
			t.Errorf("no page has %s", enc)
		}
	}
}
