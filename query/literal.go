package query

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/format"
)

// constant plans a literal.
func (p *planner) constant(n *pg_query.A_Const) (expr, error) {
	e := expr{loc: n.GetLocation(), fixed: true}
	if n.GetIsnull() {
		e = nullExpr()
		e.loc = n.GetLocation()
		return e, nil
	}
	switch v := n.GetVal().(type) {
	case *pg_query.A_Const_Ival:
		e.typ = tailrace.TypeOf(kInt4)
		e.sql = "CAST(" + itoa(int(v.Ival.GetIval())) + " AS INTEGER)"
	case *pg_query.A_Const_Boolval:
		e.typ = tailrace.TypeOf(kBool)
		e.sql = "CAST(" + strconv.FormatBool(v.Boolval.GetBoolval()) + " AS BOOLEAN)"
	case *pg_query.A_Const_Fval:
		return p.number(e, v.Fval.GetFval())
	case *pg_query.A_Const_Sval:
		s := v.Sval.GetSval()
		if strings.ContainsRune(s, 0) {
			return e, p.fail(e.loc, "22021", "invalid byte sequence for encoding \"UTF8\": 0x00")
		}
		e.sql, e.typ, e.lit = quote(s), unknown, &s
	default:
		return e, p.refuse(e.loc, "a bit string")
	}
	return e, nil
}

// number plans a number too big for an integer, or with a point or an exponent.
func (p *planner) number(e expr, text string) (expr, error) {
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		if i == math.MinInt32 { // its digits alone are too big for an integer; with the sign it is one
			e.typ, e.sql = tailrace.TypeOf(kInt4), "CAST("+strconv.FormatInt(i, 10)+" AS INTEGER)"
			return e, nil
		}
		e.typ, e.sql = tailrace.TypeOf(kInt8), "CAST("+strconv.FormatInt(i, 10)+" AS BIGINT)"
		return e, nil
	}
	raw, ok := decimalFromText(text)
	if !ok {
		return e, p.fail(e.loc, codeSyntax, "invalid number \"%s\"", text)
	}
	e.typ, e.sql = tailrace.TypeOf(kNumeric), blob(raw)
	return e, nil
}

// decimalFromText reads digits with an optional point and exponent.
func decimalFromText(text string) ([]byte, bool) {
	mantissa, exponent := strings.ToLower(text), 0
	if m, x, ok := strings.Cut(mantissa, "e"); ok {
		n, err := strconv.Atoi(x)
		if err != nil || n > 131072 || n < -tailrace.MaxDecimalScale {
			return nil, false
		}
		mantissa, exponent = m, n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	u, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return nil, false
	}
	scale := len(fraction) - exponent
	if scale < 0 {
		u.Mul(u, pow10(-scale))
		scale = 0
	}
	if scale > tailrace.MaxDecimalScale {
		return nil, false
	}
	return tailrace.AppendDecimal(nil, u, scale), true
}

// readAtRun reports whether text of kind k reads differently in different sessions, so that it is read when the plan runs.
func readAtRun(k kind) bool { return category(k) == 'D' || k == kInterval || named(k) }

// literal gives a quoted literal the type t.
func (p *planner) literal(e expr, t tailrace.Type) (expr, error) {
	out := expr{typ: t, loc: e.loc, fixed: true}
	if t.Kind == kArray && t.Mod >= 0 { // as a cast: varchar(2)[] cuts
		plain, err := p.literal(e, plainType(t))
		if err != nil {
			return plain, err
		}
		return p.convertCompound(plain, t, true)
	}
	if readAtRun(t.Kind) || t.Kind == kArray && readAtRun(t.Elem) {
		out.sql = inSQL(e.sql, t, p.position(e.loc))
		return out, nil
	}
	col := tailrace.MakeColumn(t.Kind, 1)
	plain := t
	switch t.Kind { // 'abcd'::varchar(2) cuts; the input function would refuse
	case kVarchar, kChar:
		plain.Mod = -1
	}
	if err := format.ParseText(&col, plain, *e.lit, p.settings()); err != nil {
		return out, p.at(e.loc, err)
	}
	raw := col.Bytes(0)
	if plain.Mod != t.Mod {
		cut := tailrace.MakeColumn(t.Kind, 1)
		if err := format.ApplyMod(&cut, t, raw, true); err != nil {
			return out, p.at(e.loc, err)
		}
		raw = cut.Bytes(0)
	}
	out.sql = stored(t.Kind, raw)
	return out, nil
}

// stored is a stored value as a DuckDB literal.
func stored(k kind, raw []byte) string {
	number := func(n int64) string { return "CAST(" + strconv.FormatInt(n, 10) + " AS " + engineTypes[k].name + ")" }
	switch k {
	case kBool:
		return "CAST(" + strconv.FormatBool(raw[0] != 0) + " AS BOOLEAN)"
	case kInt2:
		return number(int64(int16(binary.LittleEndian.Uint16(raw))))
	case kInt4, kDate:
		return number(int64(int32(binary.LittleEndian.Uint32(raw))))
	case kOID, kRegclass, kRegtype, kRegproc, kRegspace, kRegrole:
		return number(int64(binary.LittleEndian.Uint32(raw)))
	case kInt8, kTime, kStamp, kStampTZ:
		return number(int64(binary.LittleEndian.Uint64(raw)))
	case kFloat4:
		return float(float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))), 32)
	case kFloat8:
		return float(math.Float64frombits(binary.LittleEndian.Uint64(raw)), 64)
	case kNumeric, kInterval, kUUID, kBytea, kArray:
		return blob(raw)
	}
	return quote(string(raw))
}

func float(f float64, bits int) string {
	name := "DOUBLE"
	if bits == 32 {
		name = "FLOAT"
	}
	return "CAST('" + strconv.FormatFloat(f, 'g', -1, bits) + "' AS " + name + ")"
}

// null is NULL of kind k.
func null(k kind) string { return "CAST(NULL AS " + engineTypes[k].name + ")" }

// sessionValue plans CURRENT_TIMESTAMP and its like.
func (p *planner) sessionValue(n *pg_query.SQLValueFunction) (expr, error) {
	e := expr{loc: n.GetLocation(), fixed: true}
	now := expr{sql: mark(markNow, 0), typ: tailrace.TypeOf(kStampTZ), loc: e.loc, fixed: true}
	to := func(k kind) (expr, error) {
		t := tailrace.TypeOf(k)
		if n.GetTypmod() >= 0 {
			t.Mod = min(n.GetTypmod(), 6)
		}
		return p.convert(now, t, true)
	}
	switch n.GetOp() {
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_DATE:
		return to(kDate)
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP, pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N:
		return to(kStampTZ)
	case pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP, pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:
		return to(kStamp)
	case pg_query.SQLValueFunctionOp_SVFOP_LOCALTIME, pg_query.SQLValueFunctionOp_SVFOP_LOCALTIME_N:
		return to(kTime)
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:
		e.sql = mark(markBase, 0)
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:
		return p.function("current_schema", nil, n.GetLocation())
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_USER, pg_query.SQLValueFunctionOp_SVFOP_USER,
		pg_query.SQLValueFunctionOp_SVFOP_SESSION_USER, pg_query.SQLValueFunctionOp_SVFOP_CURRENT_ROLE:
		e.sql = mark(markUser, 0)
	default:
		return e, p.refuse(n.GetLocation(), "time with time zone")
	}
	e.typ = tailrace.TypeOf(kName)
	return e, nil
}
