package expr

import (
	"encoding/binary"
	"math"
	"math/bits"
	"time"

	"tailrace"
)

func integerArith(op string, k tailrace.Kind, a, b int64) (Value, error) {
	var out int64
	overflow := false
	switch op {
	case "+":
		out = a + b
		overflow = (a > 0) == (b > 0) && (out > 0) != (a > 0) && a != 0 && b != 0
	case "-":
		out = a - b
		overflow = (a < 0) != (b < 0) && (out < 0) != (a < 0)
	case "*":
		hi, lo := bits.Mul64(magnitude(a), magnitude(b))
		out = a * b
		negative := (a < 0) != (b < 0)
		overflow = hi != 0 || lo > math.MaxInt64 && !(negative && lo == 1<<63)
	default:
		if b == 0 {
			return null, failure("22012", "division by zero")
		}
		if b == -1 { // the machine traps on the smallest number
			if op == "%" {
				return integerOf(0, k)
			}
			return integerArith("-", k, 0, a)
		}
		if out = a / b; op == "%" {
			out = a % b
		}
	}
	if overflow {
		return null, outOfRange(k)
	}
	return integerOf(out, k)
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

func floatArith(op string, k tailrace.Kind, a, b float64) (Value, error) {
	var out float64
	switch op {
	case "+":
		out = a + b
	case "-":
		out = a - b
	case "*":
		out = a * b
	case "/":
		if b == 0 && !math.IsNaN(a) {
			return null, failure("22012", "division by zero")
		}
		out = a / b
	}
	if k == tailrace.KindFloat4 {
		out = float64(float32(out))
	}
	if math.IsInf(out, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		return null, failure("22003", "value out of range: overflow")
	}
	if out == 0 && a != 0 && (op == "*" && b != 0 || op == "/" && !math.IsInf(b, 0)) {
		return null, failure("22003", "value out of range: underflow")
	}
	return floatOf(out, k)
}

// timeArith binds a timestamp, or a date, plus or minus an interval. nil when that is not what it is.
func (s *Scope) timeArith(op string, l, r *Expr, loc int32) (*Expr, error) {
	moment := func(k tailrace.Kind) bool { return k == tailrace.KindTimestamp || k == tailrace.KindTimestamptz }
	switch lk, rk := l.Type.Kind, r.Type.Kind; {
	case op == "+" && lk == tailrace.KindInterval && moment(rk):
		l, r = r, l
	case (op == "+" || op == "-") && moment(lk) && rk == tailrace.KindInterval:
	case op == "-" && moment(lk) && rk == tailrace.KindNone && r.text != nil:
		return nil, ErrUnsupported // a timestamp or an interval
	case (op == "+" || op == "-") && lk == tailrace.KindDate && (rk == tailrace.KindInt4 || rk == tailrace.KindInt2):
		return s.compute(tailrace.TypeOf(lk), loc, []*Expr{l, r}, func(_ *Row, v []Value) (Value, error) {
			days := integer(v[0])
			if days == dateInfinity || days == dateNegInf {
				return v[0], nil
			}
			out, err := integerArith(op, tailrace.KindInt4, days, integer(v[1]))
			if err != nil || integer(out) < firstDate || integer(out) >= endDate {
				return null, failure("22008", "date out of range")
			}
			return out, nil
		})
	default:
		return nil, nil
	}
	zoned, negative := l.Type.Kind == tailrace.KindTimestamptz, op == "-"
	e, err := s.compute(tailrace.TypeOf(l.Type.Kind), loc, []*Expr{l, r}, func(row *Row, v []Value) (Value, error) {
		zone := time.UTC
		if zoned {
			zone = row.Settings.Location
		}
		return addInterval(integer(v[0]), v[1].Raw, negative, zone)
	})
	if err == nil {
		e.Const = false // the time zone is the row's
	}
	return e, err
}

// addInterval adds months, then days, as the clock on the wall of zone counts them, then microseconds.
func addInterval(t int64, interval []byte, negative bool, zone *time.Location) (Value, error) {
	if t == timeInfinity || t == timeNegInf {
		return int64Value(t), nil
	}
	months := int64(int32(binary.LittleEndian.Uint32(interval)))
	days := int64(int32(binary.LittleEndian.Uint32(interval[4:])))
	micros := int64(binary.LittleEndian.Uint64(interval[8:]))
	if negative {
		months, days, micros = -months, -days, -micros
	}
	if months != 0 || days != 0 {
		at := wall(t).In(zone)
		first := time.Date(at.Year(), at.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
		last := time.Date(first.Year(), first.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
		day := min(at.Day(), last) + int(days)
		t = stored(time.Date(first.Year(), first.Month(), day, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), zone))
	}
	out := t + micros
	if (micros > 0) != (out > t) && micros != 0 || out < -211_813_488_000_000_000 || out >= 9_223_371_331_200_000_000 {
		return null, failure("22008", "timestamp out of range")
	}
	return int64Value(out), nil
}
