package expr

import (
	"crypto/rand"
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// call binds a function by name. Others than these are the query engine's.
func (s *Scope) call(f *pg_query.FuncCall) (*Expr, error) {
	if f.AggStar || f.AggDistinct || f.AggFilter != nil || f.Over != nil || f.FuncVariadic || f.AggOrder != nil || len(f.Funcname) == 0 {
		return nil, ErrUnsupported
	}
	if len(f.Funcname) > 1 && f.Funcname[0].GetString_().GetSval() != "pg_catalog" {
		return nil, ErrUnsupported
	}
	name := f.Funcname[len(f.Funcname)-1].GetString_().GetSval()
	if len(f.Args) == 0 {
		return s.clock(name, f.Location)
	}
	if arrayFunctions[name] != nil {
		return s.arrayCall(name, f)
	}
	if len(f.Args) != 1 {
		return nil, ErrUnsupported
	}
	arg, err := Bind(f.Args[0], s)
	if err != nil {
		return nil, err
	}
	switch k := arg.Type.Kind; name {
	case "length", "char_length", "character_length":
		if k != tailrace.KindText && k != tailrace.KindVarchar && k != tailrace.KindNone {
			return nil, ErrUnsupported
		}
		if arg, err = s.asText(arg); err != nil {
			return nil, err
		}
		return s.compute(tailrace.TypeOf(tailrace.KindInt4), f.Location, []*Expr{arg}, func(_ *Row, v []Value) (Value, error) {
			return int32Value(int32(utf8.RuneCount(v[0].Raw))), nil
		})
	case "abs":
		return s.abs(arg, f.Location)
	}
	return nil, ErrUnsupported
}

func (s *Scope) abs(arg *Expr, loc int32) (*Expr, error) {
	k := arg.Type.Kind
	if rank(k) == 0 || rank(k) > 4 {
		return nil, ErrUnsupported
	}
	return s.compute(tailrace.TypeOf(k), loc, []*Expr{arg}, func(_ *Row, v []Value) (Value, error) {
		switch {
		case k == tailrace.KindNumeric:
			form, _, _, _ := tailrace.DecimalParts(v[0].Raw)
			if form == tailrace.DecimalNaN || sign(v[0], form) >= 0 {
				return v[0], nil
			}
			return numericArith("-", zeroOf(k), v[0])
		case integer(v[0]) < 0:
			return integerArith("-", k, 0, integer(v[0]))
		}
		return v[0], nil
	})
}

// clock binds the functions without arguments.
func (s *Scope) clock(name string, loc int32) (*Expr, error) {
	out := func(k tailrace.Kind, f func(*Row) (Value, error)) (*Expr, error) {
		return &Expr{Type: tailrace.TypeOf(k), Column: -1, loc: loc, eval: f}, nil
	}
	switch name {
	case "now", "transaction_timestamp", "statement_timestamp":
		return out(tailrace.KindTimestamptz, func(r *Row) (Value, error) { return int64Value(r.Now), nil })
	case "mz_now":
		return out(tailrace.KindNumeric, func(r *Row) (Value, error) { return Value{Raw: TimeNumeric(r.Logical)}, nil })
	case "gen_random_uuid":
		return out(tailrace.KindUUID, func(*Row) (Value, error) {
			id := make([]byte, 16)
			if _, err := rand.Read(id); err != nil {
				return null, err
			}
			id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
			return Value{Raw: id}, nil
		})
	}
	return nil, ErrUnsupported
}

// valueFunction binds CURRENT_TIMESTAMP and its kin.
func (s *Scope) valueFunction(f *pg_query.SQLValueFunction) (*Expr, error) {
	now, err := s.clock("now", f.Location)
	if err != nil {
		return nil, err
	}
	switch f.Op {
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP:
		return now, nil
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_DATE:
		return s.convert(now, tailrace.TypeOf(tailrace.KindDate), Explicit, f.Location)
	case pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP:
		return s.convert(now, tailrace.TypeOf(tailrace.KindTimestamp), Explicit, f.Location)
	case pg_query.SQLValueFunctionOp_SVFOP_LOCALTIME:
		return s.convert(now, tailrace.TypeOf(tailrace.KindTime), Explicit, f.Location)
	}
	return nil, ErrUnsupported
}
