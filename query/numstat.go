package query

import (
	"math/big"

	"tailrace"
	"tailrace/duckdb"
)

// numericStats is PostgreSQL's numeric_accum: count, sum and sum of squares, exactly.
type numericStats struct {
	want   statistic
	n      int64
	sum    num
	square num
}

func (s *numericStats) Add(args []*duckdb.Vector, i int) error {
	if args[0].IsNull(i) {
		return nil
	}
	return s.take(args[0].Bytes(i))
}

func (s *numericStats) take(raw []byte) error {
	x := readNum(raw)
	s.n++
	s.sum = addNum(s.sum, x)
	if s.want > wantAvg {
		s.square = addNum(s.square, mulNum(x, x))
	}
	return nil
}

func (s *numericStats) Merge(other duckdb.State) error {
	o := other.(*numericStats)
	s.n += o.n
	s.sum = addNum(s.sum, o.sum)
	s.square = addNum(s.square, o.square)
	return nil
}

func (s *numericStats) Result(out *duckdb.Vector, i int) error {
	r, null, err := s.result()
	if err != nil {
		return carry(err)
	}
	if null {
		out.SetNull(i)
		return nil
	}
	raw, err := r.put(nil)
	if err != nil {
		return carry(err)
	}
	out.SetBytes(i, raw)
	return nil
}

func (s *numericStats) result() (r num, null bool, err error) {
	if s.n == 0 || s.want.sample() && s.n == 1 {
		return num{}, true, nil
	}
	switch {
	case s.want == wantSum:
		return s.sum, false, nil
	case s.want == wantAvg:
		r, err = divNum(s.sum, intNum(s.n))
		return r, false, err
	case !s.sum.finite():
		return formNum(tailrace.DecimalNaN), false, nil
	}
	// n * sum(x*x) - sum(x)*sum(x), over n*n or n*(n-1).
	n := intNum(s.n)
	above := addNum(mulNum(n, s.square), negNum(mulNum(s.sum, s.sum)))
	if above.sign() <= 0 {
		return num{}, false, nil
	}
	m := s.n
	if s.want.sample() {
		m--
	}
	below := bigNum(new(big.Int).Mul(big.NewInt(s.n), big.NewInt(m)), 0)
	scale := divScale(above, below)
	r = quotient(above, below, scale)
	if s.want.root() {
		r = rootNum(r, scale)
	}
	return r, false, nil
}

// intervalSum adds intervals.
type intervalSum struct {
	avg bool
	n   int64
	sum interval
}

func (s *intervalSum) Add(args []*duckdb.Vector, i int) error {
	if args[0].IsNull(i) {
		return nil
	}
	return s.take(args[0].Bytes(i))
}

func (s *intervalSum) take(raw []byte) error {
	s.n++
	return s.add(readInterval(raw))
}

func (s *intervalSum) add(v interval) (err error) {
	if s.sum, err = addInterval(s.sum, v); err != nil {
		return carry(err)
	}
	return nil
}

func (s *intervalSum) Merge(other duckdb.State) error {
	o := other.(*intervalSum)
	s.n += o.n
	return s.add(o.sum)
}

func (s *intervalSum) Result(out *duckdb.Vector, i int) error {
	if s.n == 0 {
		out.SetNull(i)
		return nil
	}
	raw, err := s.sum.put(nil)
	if err == nil && s.avg {
		raw, err = divideInterval(nil, s.sum, float64(s.n))
	}
	if err != nil {
		return carry(err)
	}
	out.SetBytes(i, raw)
	return nil
}
