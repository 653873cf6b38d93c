package query

import (
	"math"

	"tailrace"
	"tailrace/duckdb"
)

// regression is PostgreSQL's float8_regr_accum: sums of pairs (y, x) by Youngs and Cramer.
type regression struct {
	result                   func(*regression) (float64, bool)
	n, sx, sxx, sy, syy, sxy float64
}

// regressions are the functions of two variables; ok is false for NULL.
var regressions = map[string]func(*regression) (r float64, ok bool){
	"regr_sxx":   func(s *regression) (float64, bool) { return s.sxx, s.n >= 1 },
	"regr_syy":   func(s *regression) (float64, bool) { return s.syy, s.n >= 1 },
	"regr_sxy":   func(s *regression) (float64, bool) { return s.sxy, s.n >= 1 },
	"regr_avgx":  func(s *regression) (float64, bool) { return s.sx / s.n, s.n >= 1 },
	"regr_avgy":  func(s *regression) (float64, bool) { return s.sy / s.n, s.n >= 1 },
	"covar_pop":  func(s *regression) (float64, bool) { return s.sxy / s.n, s.n >= 1 },
	"covar_samp": func(s *regression) (float64, bool) { return s.sxy / (s.n - 1), s.n >= 2 },
	"corr": func(s *regression) (float64, bool) {
		return s.sxy / math.Sqrt(s.sxx*s.syy), s.n >= 1 && s.sxx != 0 && s.syy != 0
	},
	"regr_slope":     func(s *regression) (float64, bool) { return s.sxy / s.sxx, s.n >= 1 && s.sxx != 0 },
	"regr_intercept": func(s *regression) (float64, bool) { return (s.sy - s.sx*s.sxy/s.sxx) / s.n, s.n >= 1 && s.sxx != 0 },
	"regr_r2": func(s *regression) (float64, bool) {
		if s.syy == 0 {
			return 1, s.n >= 1 && s.sxx != 0
		}
		return (s.sxy * s.sxy) / (s.sxx * s.syy), s.n >= 1 && s.sxx != 0
	},
}

// pairEntries are the aggregates of two variables.
var pairEntries = func() []entry {
	out := []entry{{name: "regr_count", args: "dd", ret: "l", sql: "@count(CASE WHEN {1} IS NOT NULL AND {2} IS NOT NULL THEN 1 END)@"}}
	for name := range regressions {
		out = append(out, entry{name: name, args: "dd", ret: "d", sql: "@tr_" + name + "({1}, {2})@"})
	}
	for _, letter := range "sil" {
		out = append(out, entry{name: "bit_xor", args: string(letter), ret: string(letter), sql: "@bit_xor({1})@"})
	}
	return append(out, entry{name: "string_agg", args: "yy", ret: "y", sql: "tr_join_bytea(@list({1})@, @list({2})@)"})
}()

func (s *regression) Add(args []*duckdb.Vector, i int) error {
	if args[0].IsNull(i) || args[1].IsNull(i) {
		return nil
	}
	y, x := duckdb.Values[float64](args[0], i+1)[i], duckdb.Values[float64](args[1], i+1)[i]
	before := *s
	s.n++
	s.sx += x
	s.sy += y
	if before.n > 0 {
		dx, dy := x*s.n-s.sx, y*s.n-s.sy
		scale := 1 / (s.n * before.n)
		s.sxx += dx * dx * scale
		s.syy += dy * dy * scale
		s.sxy += dx * dy * scale
		return s.overflow(&before, x, y)
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		s.sxx, s.sxy = math.NaN(), math.NaN()
	}
	if math.IsNaN(y) || math.IsInf(y, 0) {
		s.syy, s.sxy = math.NaN(), math.NaN()
	}
	return nil
}

// overflow refuses infinite sums of finite values, and makes sums of squares NaN where infinities came in.
func (s *regression) overflow(before *regression, x, y float64) error {
	if math.IsInf(s.sx, 0) || math.IsInf(s.sxx, 0) || math.IsInf(s.sy, 0) || math.IsInf(s.syy, 0) || math.IsInf(s.sxy, 0) {
		wasX, wasY := math.IsInf(before.sx, 0) || math.IsInf(x, 0), math.IsInf(before.sy, 0) || math.IsInf(y, 0)
		if (math.IsInf(s.sx, 0) || math.IsInf(s.sxx, 0)) && !wasX || (math.IsInf(s.sy, 0) || math.IsInf(s.syy, 0)) && !wasY ||
			math.IsInf(s.sxy, 0) && !wasX && !wasY {
			return carry(errOverflow)
		}
	}
	for _, v := range []*float64{&s.sxx, &s.syy, &s.sxy} {
		if math.IsInf(*v, 0) {
			*v = math.NaN()
		}
	}
	return nil
}

// Merge is float8_regr_combine.
func (s *regression) Merge(other duckdb.State) error {
	o := other.(*regression)
	switch {
	case o.n == 0:
		return nil
	case s.n == 0:
		*s = *o
		return nil
	}
	n := s.n + o.n
	dx, dy := s.sx/s.n-o.sx/o.n, s.sy/s.n-o.sy/o.n
	s.sxx += o.sxx + s.n*o.n*dx*dx/n
	s.syy += o.syy + s.n*o.n*dy*dy/n
	s.sxy += o.sxy + s.n*o.n*dx*dy/n
	s.n, s.sx, s.sy = n, s.sx+o.sx, s.sy+o.sy
	return nil
}

func (s *regression) Result(out *duckdb.Vector, i int) error {
	r, ok := s.result(s)
	if !ok {
		out.SetNull(i)
		return nil
	}
	duckdb.Values[float64](out, i+1)[i] = r
	return nil
}

// joinEntries are the Go functions that pairEntries name.
var joinEntries = []entry{
	{name: "tr_join_bytea", args: "LL", ret: "y", impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		_, values, err := tailrace.ReadArray(kBytea, a[0])
		if err != nil {
			return nil, err
		}
		_, delimiters, err := tailrace.ReadArray(kBytea, a[1])
		if err != nil {
			return nil, err
		}
		first := true
		for values.Left > 0 && delimiters.Left > 0 {
			v, null := values.Next()
			d, _ := delimiters.Next()
			if null {
				continue
			}
			if !first {
				dst = append(dst, d...)
			}
			first = false
			dst = append(dst, v...)
		}
		if first {
			return nil, errNull
		}
		return dst, nil
	}},
}

// pairAggregates are the Go aggregates that pairEntries name.
func pairAggregates() []*duckdb.Aggregate {
	var out []*duckdb.Aggregate
	for name, result := range regressions {
		out = append(out, &duckdb.Aggregate{
			Name: "tr_" + name, Params: []duckdb.Type{duckdb.Double, duckdb.Double}, Returns: duckdb.Double,
			New: func() duckdb.State { return &regression{result: result} },
		})
	}
	return out
}
