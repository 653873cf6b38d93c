package stripe

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"tailrace"
)

const benchRows = StripeRows

// benchColumns are the columns that benchmarks encode and decode, by name.
var benchColumns = []struct {
	name string
	kind tailrace.Kind
	make func(rng *rand.Rand, c *tailrace.Column, i int)
}{
	{"int4 random 20 bits", tailrace.KindInt4, func(rng *rand.Rand, c *tailrace.Column, _ int) { c.AppendInt32(int32(rng.IntN(1 << 20))) }},
	{"int8 sequence", tailrace.KindInt8, func(_ *rand.Rand, c *tailrace.Column, i int) { c.AppendInt64(int64(i)) }},
	{"int8 random", tailrace.KindInt8, func(rng *rand.Rand, c *tailrace.Column, _ int) { c.AppendInt64(rng.Int64()) }},
	{"timestamptz climbing", tailrace.KindTimestamptz, func(rng *rand.Rand, c *tailrace.Column, i int) {
		c.AppendInt64(700_000_000_000_000 + int64(i)*1000 + int64(rng.IntN(1000)))
	}},
	{"int4 half null", tailrace.KindInt4, func(rng *rand.Rand, c *tailrace.Column, i int) {
		if rng.IntN(2) == 0 {
			c.AppendNull()
			return
		}
		c.AppendInt32(int32(rng.IntN(1000)))
	}},
	{"float8 random", tailrace.KindFloat8, func(rng *rand.Rand, c *tailrace.Column, _ int) { c.AppendInt64(rng.Int64()) }},
	{"numeric(12,2)", tailrace.KindNumeric, func(rng *rand.Rand, c *tailrace.Column, _ int) {
		c.Append(tailrace.AppendDecimal64(nil, int64(rng.IntN(10_000_000)), 2))
	}},
	{"text few", tailrace.KindText, func(rng *rand.Rand, c *tailrace.Column, _ int) {
		c.AppendString([]string{"delivered", "open", "returned", "in transit", "cancelled"}[rng.IntN(5)])
	}},
	{"text short", tailrace.KindText, func(rng *rand.Rand, c *tailrace.Column, _ int) {
		c.AppendString(fmt.Sprintf("customer-%d@example.org", rng.IntN(1_000_000)))
	}},
	{"text sentence", tailrace.KindText, func(rng *rand.Rand, c *tailrace.Column, _ int) {
		for range 8 {
			c.Data = append(c.Data, []string{"the ", "river ", "runs ", "below ", "mill ", "wheel ", "and ", "stone "}[rng.IntN(8)]...)
		}
		c.AppendString(fmt.Sprint(rng.IntN(100000)))
	}},
	{"uuid", tailrace.KindUUID, func(rng *rand.Rand, c *tailrace.Column, _ int) {
		raw := binary.LittleEndian.AppendUint64(nil, rng.Uint64())
		c.Append(binary.LittleEndian.AppendUint64(raw, rng.Uint64()))
	}},
}

func benchColumn(i int) (tailrace.Type, tailrace.Column) {
	spec := benchColumns[i]
	rng := rand.New(rand.NewPCG(1, 2))
	c := tailrace.MakeColumn(spec.kind, benchRows)
	for row := range benchRows {
		spec.make(rng, &c, row)
	}
	return tailrace.TypeOf(spec.kind), c
}

func BenchmarkEncode(b *testing.B) {
	for i, spec := range benchColumns {
		typ, c := benchColumn(i)
		b.Run(spec.name, func(b *testing.B) {
			e := &encoder{opts: Options{}.filled()}
			b.SetBytes(int64(c.Size()))
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				out, _, _ = encodeColumn(e, out[:0], chunkOf(typ, &c, PageRows))
			}
			b.ReportMetric(float64(len(out))/float64(c.Size()), "stored/raw")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for i, spec := range benchColumns {
		typ, c := benchColumn(i)
		b.Run(spec.name, func(b *testing.B) {
			e, d := &encoder{opts: Options{}.filled()}, new(decoder)
			out, front, pages := encodeColumn(e, nil, chunkOf(typ, &c, PageRows))
			if front > 0 {
				var err error
				if d.front, err = d.openFront(out[:front]); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(c.Size()))
			b.ReportAllocs()
			col := roomFor(c.Width, PageRows)
			for b.Loop() {
				src := out[front:]
				for _, p := range pages {
					if col.N, col.Valid = 0, nil; c.Width == 0 {
						col.Data = col.Data[:0]
					}
					if err := d.addPage(&col, src[:p.bytes], p.rows); err != nil {
						b.Fatal(err)
					}
					src = src[p.bytes:]
				}
			}
		})
	}
}

// wideBatch is 41 columns as a fact table has them.
func wideBatch(rows int) (*tailrace.Schema, *tailrace.Batch) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := &tailrace.Schema{Key: []int{0}}
	b := &tailrace.Batch{N: rows}
	for i := range 41 {
		spec := benchColumns[[...]int{0, 6, 7, 3, 0, 4, 5, 0, 8, 0}[i%10]]
		if i == 0 {
			spec = benchColumns[1]
		}
		s.Fields = append(s.Fields, tailrace.Field{ID: tailrace.ColumnID(i + 1), Name: fmt.Sprintf("c%d", i), Type: tailrace.TypeOf(spec.kind)})
		c := tailrace.MakeColumn(spec.kind, rows)
		for row := range rows {
			spec.make(rng, &c, row)
		}
		b.Cols = append(b.Cols, c)
	}
	return s, b
}

func BenchmarkWritePart41Columns(b *testing.B) {
	s, batch := wideBatch(benchRows)
	benchWrite(b, s, batch)
}

func benchWrite(b *testing.B, s *tailrace.Schema, batch *tailrace.Batch) {
	b.SetBytes(int64(batch.Size()))
	b.ReportAllocs()
	for b.Loop() {
		part, err := encodeBatch(s, batch, Options{}, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(part))/float64(batch.Size()), "stored/raw")
	}
}

func BenchmarkReadPart41Columns(b *testing.B) {
	s, batch := wideBatch(benchRows)
	part := write(b, s, batch, Options{}, whole)
	r, err := Open(b.Context(), func(_ context.Context, off, n int64) ([]byte, error) { return part[off : off+n], nil }, int64(len(part)))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(batch.Size()))
	b.ReportAllocs()
	for b.Loop() {
		for g := range r.Groups() {
			if _, err := r.Read(b.Context(), g, ids(s)); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkWritePart1Row is what a small flush pays.
func BenchmarkWritePart1Row(b *testing.B) {
	s, batch := wideBatch(1)
	benchWrite(b, s, batch)
}

// BenchmarkWritePart1000Rows is what a flush pays that is larger, and still encoded at once.
func BenchmarkWritePart1000Rows(b *testing.B) {
	s, batch := wideBatch(1000)
	benchWrite(b, s, batch)
}
