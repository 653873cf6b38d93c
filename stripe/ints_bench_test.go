package stripe

import "testing"

// benchPlans are pages that each encoding of numbers is good for, named by what should be chosen for them.
var benchPlans = []struct{ name, column string }{
	{"CONST", "id/0"},
	{"RAW8", "random"},
	{"RAW4", "random int4"},
	{"FOR4", "20 bits"},
	{"FOR8", "timestamp with jitter/0"},
	{"DELTA8", "timestamp with jitter"},
	{"DELTA-OF-DELTA8", "speeding up"},
	{"DELTA-SPARSE8", "id with gaps"},
	{"RLE4", "sorted with repeats/RLE"},
	{"DICT8", "few far apart"},
	{"SPARSE8-mostly", "sparse zeros"},
	{"SPARSE8-outliers", "outliers above"},
	{"BITS", "one bit"},
	{"ALP8", "price float8"},
	{"ALP8-exact", "large price float8"},
	{"ALP4", "price float4"},
	{"SPLIT8", "normal float8"},
}

// benchPage is a page for benchmark i, and how it is encoded.
func benchPage(tb testing.TB, i int) (v []int64, width int, plan intPlan) {
	name, forced := benchPlans[i].column, ""
	for j := range name {
		if name[j] == '/' {
			name, forced = name[:j], name[j+1:]
			break
		}
	}
	for j := range realColumns {
		if realColumns[j].name != name {
			continue
		}
		typ, c, all := realColumn(j, 4*PageRows)
		k := chunkOf(typ, &c, PageRows)
		e := &encoder{opts: Options{}.filled()}
		if plan = e.decideInts(nil, k); classOf(typ.Kind) == classFloats {
			plan = e.decideFloats(nil, k)
		}
		switch v = all[:PageRows]; forced {
		case "0":
			plan = intPlan{}
			if i == 0 {
				fill(v, 7)
			}
		case "RLE":
			plan = intPlan{nodes: [maxIntDepth - 1]encoding{encRLE}}
		}
		return v, c.Width, plan
	}
	tb.Fatalf("no column %q", name)
	return nil, 0, plan
}

// BenchmarkIntsEncode is the plan's work on a page whose values are widened and measured.
func BenchmarkIntsEncode(b *testing.B) {
	for i := range benchPlans {
		v, width, plan := benchPage(b, i)
		b.Run(benchPlans[i].name, func(b *testing.B) {
			e := new(encoder)
			b.SetBytes(int64(width * len(v)))
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				e.frames.measure(v)
				out = e.appendInts(out[:0], v, &e.frames, width, &plan)
			}
			b.ReportMetric(8*float64(len(out))/float64(len(v)), "bits/value")
		})
	}
}

// BenchmarkIntsDecode decodes the same pages to the width of their columns.
func BenchmarkIntsDecode(b *testing.B) {
	for i := range benchPlans {
		v, width, plan := benchPage(b, i)
		b.Run(benchPlans[i].name, func(b *testing.B) {
			e, d := new(encoder), new(decoder)
			e.frames.measure(v)
			s, _, err := cutStream(e.appendInts(nil, v, &e.frames, width, &plan))
			if err != nil {
				b.Fatal(err)
			}
			switch width {
			case 1:
				benchDecode[int8](b, d, s)
			case 4:
				benchDecode[int32](b, d, s)
			default:
				benchDecode[int64](b, d, s)
			}
		})
	}
}

func benchDecode[T integer](b *testing.B, d *decoder, s stream) {
	dst := make([]T, s.count)
	b.SetBytes(int64(len(bytesOf(dst))))
	b.ReportAllocs()
	for b.Loop() {
		if err := decodeInts(d, dst, s); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIntsDecide makes the plans of whole chunks.
func BenchmarkIntsDecide(b *testing.B) {
	for i, spec := range realColumns {
		typ, c, _ := realColumn(i, StripeRows)
		k := chunkOf(typ, &c, PageRows)
		b.Run(spec.name, func(b *testing.B) {
			e := &encoder{opts: Options{}.filled()}
			b.SetBytes(int64(len(c.Data)))
			for b.Loop() {
				if classOf(spec.kind) == classFloats {
					e.decideFloats(nil, k)
				} else {
					e.decideInts(nil, k)
				}
			}
		})
	}
}
