package query

import (
	"math"

	"tailrace/duckdb"
)

// statistic is what a state of sums is asked for at the end.
type statistic uint8

const (
	wantSum statistic = iota
	wantAvg
	wantVarSamp
	wantVarPop
	wantDevSamp
	wantDevPop
)

func (s statistic) sample() bool { return s == wantVarSamp || s == wantDevSamp }
func (s statistic) root() bool   { return s == wantDevSamp || s == wantDevPop }

// floatStats is PostgreSQL's float8_accum: count, sum, and the sum of squared differences from the mean by Youngs and Cramer.
type floatStats struct {
	want      statistic
	n, sx, ss float64
}

func (s *floatStats) Add(args []*duckdb.Vector, i int) error {
	if args[0].IsNull(i) {
		return nil
	}
	x := duckdb.Values[float64](args[0], i+1)[i]
	if s.want <= wantAvg {
		if s.n++; s.n == 1 && s.want == wantSum { // a sum begins with its first value: that of -0 is -0
			s.sx = x
			return nil
		}
		return s.grow(s.sx+x, x)
	}
	old := s.n
	s.n++
	before := s.sx
	s.sx += x
	if old > 0 {
		d := x*s.n - s.sx
		s.ss += d * d / (s.n * old)
		if (math.IsInf(s.sx, 0) || math.IsInf(s.ss, 0)) && !math.IsInf(before, 0) && !math.IsInf(x, 0) {
			return carry(errOverflow)
		}
		if math.IsInf(s.ss, 0) {
			s.ss = math.NaN()
		}
	} else if math.IsNaN(x) || math.IsInf(x, 0) {
		s.ss = math.NaN()
	}
	return nil
}

func (s *floatStats) grow(sum, x float64) error {
	if math.IsInf(sum, 0) && !math.IsInf(s.sx, 0) && !math.IsInf(x, 0) {
		return carry(errOverflow)
	}
	s.sx = sum
	return nil
}

// Merge is float8_combine.
func (s *floatStats) Merge(other duckdb.State) error {
	o := other.(*floatStats)
	switch {
	case o.n == 0:
		return nil
	case s.n == 0:
		*s = *o
		return nil
	}
	if s.want > wantAvg {
		d := s.sx/s.n - o.sx/o.n
		s.ss += o.ss + s.n*o.n*d*d/(s.n+o.n)
	}
	s.n += o.n
	return s.grow(s.sx+o.sx, o.sx)
}

func (s *floatStats) Result(out *duckdb.Vector, i int) error {
	if s.n == 0 || s.want.sample() && s.n == 1 {
		out.SetNull(i)
		return nil
	}
	var r float64
	switch s.want {
	case wantSum:
		r = s.sx
	case wantAvg:
		r = s.sx / s.n
	case wantVarSamp, wantDevSamp:
		r = s.ss / (s.n - 1)
	default:
		r = s.ss / s.n
	}
	if s.want.root() {
		r = math.Sqrt(r)
	}
	duckdb.Values[float64](out, i+1)[i] = r
	return nil
}

// realSum adds reals as reals, as sum(real) does.
type realSum struct {
	any bool
	sum float32
}

func (s *realSum) Add(args []*duckdb.Vector, i int) error {
	if args[0].IsNull(i) {
		return nil
	}
	return s.add(duckdb.Values[float32](args[0], i+1)[i])
}

func (s *realSum) add(x float32) error {
	if !s.any {
		s.any, s.sum = true, x
		return nil
	}
	r := s.sum + x
	if math.IsInf(float64(r), 0) && !math.IsInf(float64(s.sum), 0) && !math.IsInf(float64(x), 0) {
		return carry(errOverflow)
	}
	s.sum = r
	return nil
}

func (s *realSum) Merge(other duckdb.State) error {
	if o := other.(*realSum); o.any {
		return s.add(o.sum)
	}
	return nil
}

func (s *realSum) Result(out *duckdb.Vector, i int) error {
	if !s.any {
		out.SetNull(i)
		return nil
	}
	duckdb.Values[float32](out, i+1)[i] = s.sum
	return nil
}
