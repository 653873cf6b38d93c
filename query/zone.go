package query

import (
	"time"
)

// addToInstant is t + v where months and days are those of the zone's calendar.
func addToInstant(t int64, v interval, zone *time.Location) (int64, error) {
	if !finiteStamp(t) {
		return t, nil
	}
	if v.months != 0 || v.days != 0 {
		local, err := addToStamp(toLocal(t, zone), interval{months: v.months, days: v.days})
		if err != nil {
			return 0, err
		}
		t = toInstant(local, zone)
	}
	return sumStamp(0, t, v.us)
}

// offset is the zone's offset at an instant, in microseconds east of UTC.
func offset(t int64, zone *time.Location) int64 {
	if zone == nil || zone == time.UTC {
		return 0
	}
	_, s := time.Unix(floorDiv(t+epochUs, usSecond), 0).In(zone).Zone()
	return int64(s) * usSecond
}

// toLocal is an instant as the zone's clocks show it.
func toLocal(t int64, zone *time.Location) int64 {
	if !finiteStamp(t) {
		return t
	}
	return t + offset(t, zone)
}

// toInstant is when the zone's clocks show t. Of two such instants it is the later one; a time that the clocks skip is read with the offset
// before.
func toInstant(t int64, zone *time.Location) int64 {
	if !finiteStamp(t) {
		return t
	}
	before, after := offset(t-usDay, zone), offset(t+usDay, zone)
	if before == after {
		return t - before
	}
	early, late := t-before, t-after
	switch earlyOK, lateOK := offset(early, zone) == before, offset(late, zone) == after; {
	case lateOK:
		return late
	case earlyOK:
		return early
	}
	return early
}
