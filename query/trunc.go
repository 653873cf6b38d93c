package query

import (
	"strings"
	"time"
)

// truncated is a local time cut to the unit; calendar tells that the unit is a day or longer.
func truncated(unit string, local int64, typ string) (t int64, calendar bool, err error) {
	u := units[strings.ToLower(unit)]
	size := map[string]int64{"microseconds": 1, "milliseconds": 1000, "second": usSecond, "minute": usMinute, "hour": usHour}[u]
	if size > 0 {
		return floorDiv(local, size) * size, false, nil
	}
	day := floorDiv(local, usDay)
	y, m, _ := civil(day)
	switch u {
	case "day":
	case "week":
		day -= (weekday(day) + 6) % 7
	case "month":
		day = dayOf(y, m, 1)
	case "quarter":
		day = dayOf(y, (m-1)/3*3+1, 1)
	case "year":
		day = dayOf(y, 1, 1)
	case "decade":
		day = dayOf(floorDiv(y, 10)*10, 1, 1)
	case "century":
		day = dayOf(floorDiv(y-1, 100)*100+1, 1, 1)
	case "millennium":
		day = dayOf(floorDiv(y-1, 1000)*1000+1, 1, 1)
	default:
		return 0, false, unitError(unit, typ)
	}
	return day * usDay, true, nil
}

func truncStamp(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	if t := i64(a[1]); !finiteStamp(t) {
		return put64(dst, t), nil
	}
	t, _, err := truncated(string(a[0]), i64(a[1]), "timestamp without time zone")
	if err != nil {
		return nil, err
	}
	return putStamp(dst, t)
}

func truncInstant(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	return truncatedInstant(dst, string(a[0]), i64(a[1]), f.zone())
}

// truncatedInstant cuts what the zone's clocks show.
func truncatedInstant(dst []byte, unit string, t int64, zone *time.Location) ([]byte, error) {
	if !finiteStamp(t) {
		return put64(dst, t), nil
	}
	local, calendar, err := truncated(unit, toLocal(t, zone), "timestamp with time zone")
	if err != nil {
		return nil, err
	}
	if calendar {
		return putStamp(dst, toInstant(local, zone))
	}
	return putStamp(dst, local-offset(t, zone))
}

func truncInterval(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	v, unit := readInterval(a[1]), string(a[0])
	u := units[strings.ToLower(unit)]
	months := map[string]int32{"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, "millennium": 12000}[u]
	size := map[string]int64{"microseconds": 1, "milliseconds": 1000, "second": usSecond, "minute": usMinute, "hour": usHour}[u]
	switch {
	case months > 0:
		v.months, v.days, v.us = v.months/months*months, 0, 0
	case u == "day":
		v.us = 0
	case size > 0:
		v.us = v.us / size * size
	default:
		return nil, unitError(unit, "interval")
	}
	return v.put(dst)
}
