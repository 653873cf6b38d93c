package expr

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"tailrace"
	"tailrace/format"
)

func int16Value(v int16) Value { return Value{Raw: binary.LittleEndian.AppendUint16(nil, uint16(v))} }
func int32Value(v int32) Value { return Value{Raw: binary.LittleEndian.AppendUint32(nil, uint32(v))} }
func int64Value(v int64) Value { return Value{Raw: binary.LittleEndian.AppendUint64(nil, uint64(v))} }

// integer is an int2, int4 or int8, a date, time or timestamp, as an int64.
func integer(v Value) int64 {
	switch len(v.Raw) {
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(v.Raw)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(v.Raw)))
	}
	return int64(binary.LittleEndian.Uint64(v.Raw))
}

// integerOf is v as kind k, 22003 when it does not fit.
func integerOf(v int64, k tailrace.Kind) (Value, error) {
	switch k {
	case tailrace.KindInt2:
		if v != int64(int16(v)) {
			return null, failure("22003", "smallint out of range")
		}
		return int16Value(int16(v)), nil
	case tailrace.KindInt4:
		if v != int64(int32(v)) {
			return null, failure("22003", "integer out of range")
		}
		return int32Value(int32(v)), nil
	}
	return int64Value(v), nil
}

func float(k tailrace.Kind, v Value) float64 {
	if k == tailrace.KindFloat4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(v.Raw)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(v.Raw))
}

func floatOf(f float64, k tailrace.Kind) (Value, error) {
	if k == tailrace.KindFloat8 {
		return Value{Raw: binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))}, nil
	}
	g := float32(f)
	switch {
	case math.IsInf(float64(g), 0) && !math.IsInf(f, 0):
		return null, failure("22003", "value out of range: overflow")
	case g == 0 && f != 0:
		return null, failure("22003", "value out of range: underflow")
	}
	return Value{Raw: binary.LittleEndian.AppendUint32(nil, math.Float32bits(g))}, nil
}

// Convert turns v, not NULL, from one type into another that CastContext allows. explicit is a cast, which cuts strings where an assignment refuses.
func Convert(v Value, from, to tailrace.Type, explicit bool, s *format.Settings) (Value, error) {
	out, err := convertKind(v, from, to, s)
	if err != nil || to.Mod < 0 || out.Null {
		return out, err
	}
	c := tailrace.MakeColumn(to.Kind, 1)
	if err := format.ApplyMod(&c, to, out.Raw, explicit); err != nil {
		return null, err
	}
	return Value{Raw: c.Bytes(0)}, nil
}

func convertKind(v Value, from, to tailrace.Type, s *format.Settings) (Value, error) {
	f, t := from.Kind, to.Kind
	switch {
	case from.Same(to):
		return v, nil
	case f == tailrace.KindArray && t == tailrace.KindArray:
		return convertElements(v, from.Element(), to.Element(), s)
	case isObject(f) && (isObject(t) || t == tailrace.KindInt4):
		return v, nil
	case isObject(f) && t == tailrace.KindInt8:
		return int64Value(int64(uint32(integer(v)))), nil
	case rank(f) > 0 && isObject(t):
		return integerToObject(integer(v))
	case isText(f) && isText(t):
		if f == tailrace.KindChar {
			v.Raw = []byte(strings.TrimRight(string(v.Raw), " "))
		}
		return v, nil
	case isText(t):
		if f == tailrace.KindBool { // the cast says true where the output function says t
			return Value{Raw: []byte(strconv.FormatBool(v.Raw[0] != 0))}, nil
		}
		return Value{Raw: print(from, v, s)}, nil
	case isText(f), f == tailrace.KindJSON, f == tailrace.KindJSONB, f == tailrace.KindName, f == tailrace.KindLetter:
		text := string(v.Raw)
		if f == tailrace.KindChar {
			text = strings.TrimRight(text, " ")
		}
		return read(to.Plain(), text, s)
	case rank(f) > 0 && rank(t) > 0:
		return convertNumber(v, f, t, s)
	case f == tailrace.KindBool:
		return int32Value(int32(v.Raw[0])), nil
	case t == tailrace.KindBool:
		return boolean(integer(v) != 0), nil
	}
	return convertTime(v, f, t, s)
}

// convertElements converts every element of an array.
func convertElements(v Value, from, to tailrace.Type, s *format.Settings) (Value, error) {
	dims, elements, err := tailrace.ReadArray(from.Kind, v.Raw)
	if err != nil {
		return null, err
	}
	out := tailrace.AppendArray(nil, dims)
	for elements.Left > 0 {
		raw, isNull := elements.Next()
		if isNull {
			out = tailrace.AppendNullElement(out)
			continue
		}
		e, err := convertKind(Value{Raw: raw}, from, to, s)
		if err != nil {
			return null, err
		}
		out = appendElement(out, e)
	}
	return Value{Raw: out}, nil
}

func appendElement(dst []byte, v Value) []byte {
	if v.Null {
		return tailrace.AppendNullElement(dst)
	}
	return tailrace.AppendElement(dst, v.Raw)
}

// integerToObject is an integer as an OID; a negative one stands for its bits.
func integerToObject(v int64) (Value, error) {
	if v < math.MinInt32 || v > math.MaxUint32 {
		return null, failure("22003", "OID out of range")
	}
	return int32Value(int32(v)), nil
}

func convertNumber(v Value, from, to tailrace.Kind, s *format.Settings) (Value, error) {
	switch {
	case rank(from) <= 3 && rank(to) <= 3:
		return integerOf(integer(v), to)
	case rank(from) <= 3 && to == tailrace.KindNumeric:
		return Value{Raw: tailrace.AppendDecimal64(nil, integer(v), 0)}, nil
	case rank(from) <= 3:
		if to == tailrace.KindFloat4 {
			return floatOf(float64(float32(integer(v))), to)
		}
		return floatOf(float64(integer(v)), to)
	case from == tailrace.KindNumeric && rank(to) <= 3:
		return numericToInteger(v, to)
	case from == tailrace.KindNumeric:
		return read(tailrace.TypeOf(to), string(print(tailrace.TypeOf(from), v, s)), s)
	case to == tailrace.KindNumeric:
		return floatToNumeric(float(from, v), from, s)
	case rank(to) <= 3:
		return floatToInteger(float(from, v), to)
	}
	return floatOf(float(from, v), to)
}

// floatToNumeric keeps the digits that a float of its width surely has, as PostgreSQL does.
func floatToNumeric(f float64, from tailrace.Kind, s *format.Settings) (Value, error) {
	digits := 15
	if from == tailrace.KindFloat4 {
		digits = 6
	}
	text := strconv.FormatFloat(f, 'g', digits, 64)
	switch {
	case math.IsInf(f, 1):
		text = "Infinity"
	case math.IsInf(f, -1):
		text = "-Infinity"
	}
	if mantissa, exp, ok := strings.Cut(text, "e"); ok {
		text = trimZeros(mantissa) + "e" + exp
	} else {
		text = trimZeros(text)
	}
	return read(tailrace.TypeOf(tailrace.KindNumeric), text, s)
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

func floatToInteger(f float64, to tailrace.Kind) (Value, error) {
	f = math.RoundToEven(f)
	if math.IsNaN(f) || f < -9223372036854775808 || f >= 9223372036854775808 {
		return null, outOfRange(to)
	}
	return integerOf(int64(f), to)
}

func outOfRange(k tailrace.Kind) error {
	return failure("22003", bare(tailrace.TypeOf(k))+" out of range")
}

func numericToInteger(v Value, to tailrace.Kind) (Value, error) {
	switch form, _, _, _ := tailrace.DecimalParts(v.Raw); form {
	case tailrace.DecimalNaN:
		return null, failure("0A000", "cannot convert NaN to "+bare(tailrace.TypeOf(to)))
	case tailrace.DecimalInf, tailrace.DecimalNegInf:
		return null, failure("0A000", "cannot convert infinity to "+bare(tailrace.TypeOf(to)))
	}
	d := decimalOf(v)
	n := d.rescale(0).unscaled
	if !n.IsInt64() {
		return null, outOfRange(to)
	}
	return integerOf(n.Int64(), to)
}

// StoredNow is a moment as a stored timestamptz.
func StoredNow(t time.Time) int64 { return stored(t) }

// LogicalTime is a stored timestamptz as a time of the log; ok false for one before 1970 or an infinity.
func LogicalTime(micros int64) (t tailrace.Time, ok bool) {
	if micros == timeInfinity || micros == timeNegInf || micros < -unixTo2000*1e6 || micros > math.MaxInt64-unixTo2000*1e6 {
		return 0, false
	}
	return tailrace.Time(micros + unixTo2000*1e6), true
}

// NumericTime is a stored numeric as a time of the log, rounded to a whole number; ok false when it is none.
func NumericTime(raw []byte) (t tailrace.Time, ok bool) {
	if form, _, _, _ := tailrace.DecimalParts(raw); form != tailrace.DecimalFinite {
		return 0, false
	}
	d := decimalOf(Value{Raw: raw})
	whole := d.rescale(0)
	if whole.unscaled.Sign() < 0 || !whole.unscaled.IsUint64() || d.cmp(whole) != 0 {
		return 0, false
	}
	return tailrace.Time(whole.unscaled.Uint64()), true
}

// TimeNumeric is a time of the log as a stored numeric.
func TimeNumeric(t tailrace.Time) []byte {
	return tailrace.AppendDecimal(nil, new(big.Int).SetUint64(uint64(t)), 0)
}
