package stripe

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tailrace"
)

// realColumns are columns as tables have them, for the choice of encodings.
var realColumns = []struct {
	name string
	kind tailrace.Kind
	make func(rng *rand.Rand) func(i int) int64 // the bits of value i
}{
	{"id", tailrace.KindInt8, func(*rand.Rand) func(int) int64 { return func(i int) int64 { return int64(i) + 1 } }},
	{"id with gaps", tailrace.KindInt8, func(rng *rand.Rand) func(int) int64 {
		x := int64(1 << 40)
		return func(int) int64 {
			if x++; rng.IntN(500) == 0 {
				x += int64(rng.IntN(1_000_000))
			}
			return x
		}
	}},
	{"timestamp with jitter", tailrace.KindTimestamptz, func(rng *rand.Rand) func(int) int64 {
		return func(i int) int64 { return 7e14 + int64(i)*1_000_000 + int64(rng.IntN(20_000)) }
	}},
	{"timestamp now and then", tailrace.KindTimestamptz, func(rng *rand.Rand) func(int) int64 {
		x := int64(7e14)
		return func(int) int64 { x += int64(rng.ExpFloat64() * 3e6); return x }
	}},
	{"timestamp every minute", tailrace.KindTimestamp, func(*rand.Rand) func(int) int64 {
		return func(i int) int64 { return 7e14 + int64(i)*60_000_000 + int64(i/2500)*3_600_000_000 }
	}},
	{"speeding up", tailrace.KindInt8, func(rng *rand.Rand) func(int) int64 {
		return func(i int) int64 { return int64(i)*int64(i)*50 + int64(rng.IntN(3)) }
	}},
	{"date sorted", tailrace.KindDate, func(*rand.Rand) func(int) int64 { return func(i int) int64 { return int64(8000 + i/130) } }},
	{"date random", tailrace.KindDate, func(rng *rand.Rand) func(int) int64 { return func(int) int64 { return int64(8000 + rng.IntN(2500)) } }},
	{"order of lines", tailrace.KindInt8, func(rng *rand.Rand) func(int) int64 {
		x, left := int64(1_000_000), 0
		return func(int) int64 {
			if left--; left < 0 {
				x, left = x+1, rng.IntN(7)
			}
			return x
		}
	}},
	{"line of order", tailrace.KindInt4, func(rng *rand.Rand) func(int) int64 {
		n, left := int64(0), 0
		return func(int) int64 {
			if n, left = n+1, left-1; left < 0 {
				n, left = 1, rng.IntN(7)
			}
			return n
		}
	}},
	{"sorted with repeats", tailrace.KindInt4, func(rng *rand.Rand) func(int) int64 {
		x := int64(5)
		return func(int) int64 {
			if rng.IntN(10) == 0 {
				x += int64(rng.IntN(1000))
			}
			return x
		}
	}},
	{"status", tailrace.KindInt2, func(rng *rand.Rand) func(int) int64 {
		return func(int) int64 { return int64([]int{1, 1, 1, 1, 2, 2, 3, 9}[rng.IntN(8)]) }
	}},
	{"few far apart", tailrace.KindInt8, func(rng *rand.Rand) func(int) int64 {
		few := make([]int64, 300)
		for i := range few {
			few[i] = rng.Int64()
		}
		return func(int) int64 { return few[rng.IntN(len(few))] }
	}},
	{"few far apart in runs", tailrace.KindInt8, func(rng *rand.Rand) func(int) int64 {
		few := make([]int64, 20)
		for i := range few {
			few[i] = rng.Int64()
		}
		x, left := int64(0), 0
		return func(int) int64 {
			if left--; left < 0 {
				x, left = few[rng.IntN(20)], rng.IntN(40)
			}
			return x
		}
	}},
	{"sparse zeros", tailrace.KindInt8, func(rng *rand.Rand) func(int) int64 {
		return func(int) int64 {
			if rng.IntN(20) > 0 {
				return 0
			}
			return int64(rng.IntN(1 << 30))
		}
	}},
	{"half zeros", tailrace.KindInt8, func(rng *rand.Rand) func(int) int64 {
		return func(int) int64 {
			if rng.IntN(2) > 0 {
				return 0
			}
			return int64(rng.IntN(1 << 40))
		}
	}},
	{"one bit", tailrace.KindBool, func(rng *rand.Rand) func(int) int64 { return func(int) int64 { return int64(rng.IntN(2)) } }},
	{"rarely true", tailrace.KindBool, func(rng *rand.Rand) func(int) int64 {
		return func(int) int64 { return int64(boolInt(rng.IntN(300) == 0)) }
	}},
	{"true in runs", tailrace.KindBool, func(rng *rand.Rand) func(int) int64 {
		x := 0
		return func(int) int64 {
			if rng.IntN(60) == 0 {
				x ^= 1
			}
			return int64(x)
		}
	}},
	{"random", tailrace.KindInt8, func(rng *rand.Rand) func(int) int64 { return func(int) int64 { return int64(rng.Uint64()) } }},
	{"random int4", tailrace.KindInt4, func(rng *rand.Rand) func(int) int64 { return func(int) int64 { return int64(int32(rng.Uint32())) } }},
	{"20 bits", tailrace.KindInt4, func(rng *rand.Rand) func(int) int64 { return func(int) int64 { return int64(rng.IntN(1 << 20)) } }},
	{"outliers above", tailrace.KindInt8, func(rng *rand.Rand) func(int) int64 {
		return func(int) int64 {
			if rng.IntN(100) == 0 {
				return rng.Int64()
			}
			return int64(rng.IntN(1000))
		}
	}},
	{"outliers on both sides", tailrace.KindInt8, func(rng *rand.Rand) func(int) int64 {
		return func(i int) int64 {
			switch rng.IntN(60) {
			case 0:
				return -1
			case 1:
				return math.MaxInt64
			}
			return 1_000_000 + int64(i) + int64(rng.IntN(1000))
		}
	}},
	{"lognormal", tailrace.KindInt8, func(rng *rand.Rand) func(int) int64 {
		return func(int) int64 { return int64(math.Exp(rng.NormFloat64()*2 + 8)) }
	}},
	{"zipf", tailrace.KindInt4, func(rng *rand.Rand) func(int) int64 {
		z := rand.NewZipf(rng, 1.2, 1, 1<<20)
		return func(int) int64 { return int64(z.Uint64()) }
	}},
	{"random walk", tailrace.KindInt8, func(rng *rand.Rand) func(int) int64 {
		x := int64(1 << 30)
		return func(int) int64 { x += int64(rng.IntN(201)) - 100; return x }
	}},
	{"quiet random walk", tailrace.KindInt8, func(rng *rand.Rand) func(int) int64 {
		x := int64(1 << 30)
		return func(int) int64 {
			if rng.IntN(12) == 0 {
				x += int64(rng.IntN(100001)) - 50000
			}
			return x
		}
	}},
	{"price float8", tailrace.KindFloat8, floats(func(rng *rand.Rand, _ int) float64 { return float64(rng.IntN(100_000)) / 100 })},
	{"large price float8", tailrace.KindFloat8, floats(func(rng *rand.Rand, _ int) float64 { return float64(rng.IntN(1_000_000_000)) / 100 })},
	{"price with NaN", tailrace.KindFloat8, floats(func(rng *rand.Rand, _ int) float64 {
		if rng.IntN(50) == 0 {
			return math.NaN()
		}
		return float64(rng.IntN(100_000)) / 100
	})},
	{"whole float8", tailrace.KindFloat8, floats(func(rng *rand.Rand, _ int) float64 { return float64(rng.IntN(5000)) })},
	{"few float8", tailrace.KindFloat8, floats(func(rng *rand.Rand, _ int) float64 { return []float64{0.05, 0.19, 1.0 / 3, math.Pi}[rng.IntN(4)] })},
	{"float8 in runs", tailrace.KindFloat8, floats(func(rng *rand.Rand, i int) float64 { return math.Sqrt(float64(i / 30)) })},
	{"coordinates", tailrace.KindFloat8, floats(func(rng *rand.Rand, _ int) float64 { return float64(rng.IntN(180_000_000)-90_000_000) / 1e6 })},
	{"sensor walk", tailrace.KindFloat8, walk(0.1)},
	{"random float8", tailrace.KindFloat8, floats(func(rng *rand.Rand, _ int) float64 { return rng.Float64() })},
	{"normal float8", tailrace.KindFloat8, floats(func(rng *rand.Rand, _ int) float64 { return rng.NormFloat64() })},
	{"any bits float8", tailrace.KindFloat8, floats(func(rng *rand.Rand, _ int) float64 { return math.Float64frombits(rng.Uint64()) })},
	{"price float4", tailrace.KindFloat4, floats4(func(rng *rand.Rand, _ int) float32 { return float32(float64(rng.IntN(100_000)) / 100) })},
	{"random float4", tailrace.KindFloat4, floats4(func(rng *rand.Rand, _ int) float32 { return rng.Float32() })},
}

func floats(f func(rng *rand.Rand, i int) float64) func(rng *rand.Rand) func(i int) int64 {
	return func(rng *rand.Rand) func(i int) int64 {
		return func(i int) int64 { return int64(math.Float64bits(f(rng, i))) }
	}
}

func floats4(f func(rng *rand.Rand, i int) float32) func(rng *rand.Rand) func(i int) int64 {
	return func(rng *rand.Rand) func(i int) int64 {
		return func(i int) int64 { return int64(int32(math.Float32bits(f(rng, i)))) }
	}
}

// walk is a measure that changes by little, with one digit after the point.
func walk(step float64) func(rng *rand.Rand) func(i int) int64 {
	return func(rng *rand.Rand) func(i int) int64 {
		x := 200
		return func(int) int64 {
			x += rng.IntN(7) - 3
			return int64(math.Float64bits(float64(x) / 10))
		}
	}
}

// realColumn makes n rows of real column number i.
func realColumn(i, n int) (tailrace.Type, tailrace.Column, []int64) {
	spec := &realColumns[i]
	next := spec.make(rand.New(rand.NewPCG(uint64(i), 77)))
	c, v := tailrace.MakeColumn(spec.kind, n), make([]int64, n)
	for j := range v {
		v[j] = next(j)
		c.Append(little(v[j], c.Width))
	}
	return tailrace.TypeOf(spec.kind), c, v
}

// planSize is the bytes that v takes in pages with plan.
func planSize(e *encoder, v []int64, width int, plan *intPlan) int {
	size := 0
	for from := 0; from < len(v); from += PageRows {
		part := v[from:min(len(v), from+PageRows)]
		var f frames
		f.measure(part)
		size += len(e.appendInts(nil, part, &f, width, plan))
	}
	return size
}

// everyPlan lists the plans that there are for v, with parameters that suit it.
func everyPlan(v []int64, kind tailrace.Kind) []intPlan {
	counts := map[int64]int{}
	most := v[0]
	for _, x := range v {
		if counts[x]++; counts[x] > counts[most] {
			most = x
		}
	}
	var diffs []int64
	often := map[int64]int{}
	for _, d := range appendDiffs(diffs, v) {
		often[d]++
	}
	mostDiff := int64(0)
	for d, n := range often {
		if n > often[mostDiff] {
			mostDiff = d
		}
	}
	nodes := []encoding{encNone, encDelta, encDelta2, encRLE, encDict, encSparse}
	var out []intPlan
	add := func(p intPlan) {
		out = append(out, p)
		if slices.Contains(p.nodes[:], encSparse) {
			for _, x := range []int64{most, mostDiff, 0} {
				p.mostly, p.most = true, x
				out = append(out, p)
			}
		}
	}
	for _, a := range nodes {
		for _, b := range nodes {
			add(intPlan{nodes: [maxIntDepth - 1]encoding{a, b}})
		}
	}
	if classOf(kind) == classFloats {
		for _, b := range nodes {
			for high := 6; high <= maxHighBits; high++ {
				add(intPlan{nodes: [maxIntDepth - 1]encoding{encSplit, b}, low: uint8(8*kind.Width() - high)})
			}
			for _, form := range bestForms(v[:500], kind.Width()) {
				add(intPlan{nodes: [maxIntDepth - 1]encoding{encALP, b}, form: form})
			}
		}
	}
	return out
}

// bestForms are the two of either kind that make v smallest.
func bestForms(v []int64, width int) (out []decimalForm) {
	for _, divide := range []bool{true, false} {
		var forms []decimalForm
		for e := range uint8(maxExponent + 1) {
			for f := range e + 1 {
				if f == 0 || !divide {
					forms = append(forms, decimalForm{e: e, f: f, divide: divide})
				}
			}
		}
		slices.SortStableFunc(forms, func(a, b decimalForm) int { return cmp.Compare(a.cost(v, width), b.cost(v, width)) })
		out = append(out, forms[:2]...)
	}
	return out
}

// depth is how many nodes p has.
func (p *intPlan) depth() (n int) {
	for _, enc := range p.nodes {
		n += boolInt(enc != encNone)
	}
	return n
}

func (p *intPlan) String() string {
	s := fmt.Sprint(p.nodes)
	if p.nodes[0] == encALP {
		s += fmt.Sprint(p.form)
	}
	if p.nodes[0] == encSplit {
		s += fmt.Sprint(p.low)
	}
	if p.mostly {
		s += fmt.Sprint("mostly ", p.most)
	}
	return s
}

// TestChoiceIsNearlyTheSmallest encodes columns in every way that there is, and compares with the plan that the sample led to: it takes at most 6 %
// more than the best, or what it takes more is less than a fiftieth of a leaf.
func TestChoiceIsNearlyTheSmallest(t *testing.T) {
	for i, spec := range realColumns {
		typ, c, v := realColumn(i, 5*PageRows)
		e := &encoder{opts: Options{}.filled()}
		width := c.Width
		k := chunkOf(typ, &c, PageRows)
		e.loadSample(k)
		var plan intPlan
		if classOf(spec.kind) == classFloats {
			plan = e.decideFloats(&e.sample, k)
		} else {
			plan = e.decideInts(&e.sample, k)
		}
		got := planSize(e, v, width, &plan)
		leaf := planSize(e, v, width, &intPlan{})
		few := v[:2*PageRows]
		gotFew := planSize(e, few, width, &plan)
		best, by := gotFew, plan
		for _, p := range everyPlan(few, spec.kind) {
			if n := planSize(e, few, width, &p); n < best {
				best, by = n, p
			}
		}
		bits := func(size, n int) float64 { return 8 * float64(size) / float64(n) }
		t.Logf("%-24s %-28v %6.2f bits a value, a leaf %.2f; best %v, x%.3f", spec.name, &plan, bits(got, len(v)), bits(leaf, len(v)), &by, float64(gotFew)/float64(best))
		if plan.depth() < by.depth() && !saves(best, gotFew) {
			continue // the rule: what takes longer to decode must save a tenth
		}
		if 100*gotFew > 106*best && 50*(gotFew-best)*len(v) > leaf*len(few) {
			t.Errorf("%s: got %.2f bits a value with %v, want about the %.2f of %v", spec.name, bits(gotFew, len(few)), &plan, bits(best, len(few)), &by)
		}
	}
}
