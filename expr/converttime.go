package expr

import (
	"encoding/binary"
	"math"
	"time"

	"tailrace"
	"tailrace/format"
)

const (
	dayMicros    = int64(86_400_000_000)
	unixTo2000   = int64(946_684_800) // seconds from 1970 to 2000
	timeInfinity = int64(math.MaxInt64)
	timeNegInf   = int64(math.MinInt64)
	dateInfinity = int64(math.MaxInt32)
	// Dates reach from 4714-11-24 BC to 5874897-12-31.
	firstDate  = int64(-2451545)
	endDate    = int64(2147483494 - 2451545)
	dateNegInf = int64(math.MinInt32)
)

// convertTime converts between dates, times, timestamps and intervals.
func convertTime(v Value, from, to tailrace.Kind, s *format.Settings) (Value, error) {
	switch from {
	case tailrace.KindDate:
		days := integer(v)
		switch days {
		case dateInfinity:
			return int64Value(timeInfinity), nil
		case dateNegInf:
			return int64Value(timeNegInf), nil
		}
		if days > 106_751_982 { // the last day of a timestamp
			return null, failure("22008", "date out of range for timestamp")
		}
		if to == tailrace.KindTimestamptz {
			return int64Value(localToUTC(days*dayMicros, s.Location)), nil
		}
		return int64Value(days * dayMicros), nil
	case tailrace.KindTime: // to interval
		return Value{Raw: append(make([]byte, 8), v.Raw...)}, nil
	case tailrace.KindInterval: // to time
		n := int64(binary.LittleEndian.Uint64(v.Raw[8:])) % dayMicros
		return int64Value((n + dayMicros) % dayMicros), nil
	}
	t := integer(v)
	infinite := t == timeInfinity || t == timeNegInf
	if from == tailrace.KindTimestamptz && !infinite {
		t = utcToLocal(t, s.Location)
	}
	switch to {
	case tailrace.KindTimestamp:
		return int64Value(t), nil
	case tailrace.KindTimestamptz:
		if !infinite {
			t = localToUTC(t, s.Location)
		}
		return int64Value(t), nil
	case tailrace.KindTime:
		if infinite {
			return null, nil
		}
		return int64Value(((t % dayMicros) + dayMicros) % dayMicros), nil
	}
	switch t {
	case timeInfinity:
		return int32Value(math.MaxInt32), nil
	case timeNegInf:
		return int32Value(math.MinInt32), nil
	}
	return int32Value(int32(floorDiv(t, dayMicros))), nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// wall is a stored timestamp as a time.Time that reads the same in UTC.
func wall(micros int64) time.Time {
	return time.Unix(unixTo2000+floorDiv(micros, 1e6), (micros-floorDiv(micros, 1e6)*1e6)*1000).UTC()
}

// stored is wall's inverse.
func stored(t time.Time) int64 {
	return (t.Unix()-unixTo2000)*1e6 + int64(t.Nanosecond()/1000)
}

func utcToLocal(micros int64, loc *time.Location) int64 {
	_, offset := wall(micros).In(loc).Zone()
	return micros + int64(offset)*1e6
}

func localToUTC(micros int64, loc *time.Location) int64 {
	t := wall(micros)
	return stored(time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc))
}
