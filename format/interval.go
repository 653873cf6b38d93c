package format

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"

	"tailrace"
)

// interval is an interval as it is stored: the three parts do not convert into each other.
type interval struct {
	months, days int32
	micros       int64
}

func intervalOf(raw []byte) interval {
	return interval{int32(le32(raw)), int32(le32(raw[4:])), int64(le64(raw[8:]))}
}

func (v interval) appendTo(c *tailrace.Column) {
	var raw [16]byte
	binary.LittleEndian.PutUint32(raw[:], uint32(v.months))
	binary.LittleEndian.PutUint32(raw[4:], uint32(v.days))
	binary.LittleEndian.PutUint64(raw[8:], uint64(v.micros))
	c.Append(raw[:])
}

func parseInterval(c *tailrace.Column, t tailrace.Type, text string, s *Settings) error {
	r := intervalReader{units: intervalUnits(t.Mod)}
	fields, ok := splitFields(text, maxIntervalText)
	fault := faultFormat
	if ok {
		fault = r.read(fields, s)
	}
	if fault == faultFormat {
		r = intervalReader{}
		fault = r.readISO(text)
	}
	if fault == faultRange {
		fault = faultInterval
	}
	if fault != faultNone {
		return dateError(fault, "interval", text, "")
	}
	months := int64(r.years)*12 + int64(r.months)
	if months != int64(int32(months)) {
		return errorf(codeDateRange, "interval out of range")
	}
	v := interval{int32(months), r.days, r.micros}
	v.fit(t.Mod).appendTo(c)
	return nil
}

// The bits of an interval's modifier that say which fields it keeps.
const (
	keepMonth  = 1 << 1
	keepYear   = 1 << 2
	keepDay    = 1 << 3
	keepHour   = 1 << 10
	keepMinute = 1 << 11
	keepSecond = 1 << 12
	keepAll    = 0x7fff

	fullPrecision = 0xffff
)

// intervalUnits is the set of fields that a modifier names; all when it names none.
func intervalUnits(mod int32) int32 {
	if mod < 0 {
		return keepAll
	}
	return mod >> 16 & keepAll
}

// fit drops what is finer than the modifier's last field and rounds to its precision.
func (v interval) fit(mod int32) interval {
	if mod < 0 {
		return v
	}
	switch units := intervalUnits(mod); {
	case units == keepAll || units&keepSecond != 0:
	case units == keepYear:
		v = interval{months: v.months / 12 * 12}
	case units&^(keepYear|keepMonth) == 0:
		v = interval{months: v.months}
	case units&keepMinute != 0:
		v.micros = v.micros / microsPerMinute * microsPerMinute
	case units&keepHour != 0:
		v.micros = v.micros / microsPerHour * microsPerHour
	default:
		v.micros = 0
	}
	if digits := mod & fullPrecision; digits != fullPrecision {
		v.micros = roundMicros(v.micros, digits)
	}
	return v
}

// intervalReader sums up an interval from its fields.
type intervalReader struct {
	years, months, days int32
	micros              int64
	units               int32 // the fields that the type's modifier names: what a number without a unit means
}

// read takes the fields from last to first, since a unit follows its number.
func (r *intervalReader) read(fields []field, s *Settings) dateFault {
	negative := r.oneSign(fields, s)
	unit, ago := 0, false
	var seen fieldSet
	for i := len(fields) - 1; i >= 0; i-- {
		f := fields[i]
		var got fieldSet
		var fault dateFault
		switch f.kind {
		case fieldTime:
			got, fault = r.clock(f.text, negative)
			unit = unitDay
		case fieldSigned:
			if strings.IndexByte(f.text[1:], ':') >= 0 {
				if got, fault = r.clock(f.text[1:], false); fault == faultNone {
					if f.text[0] == '-' || negative && r.micros > 0 {
						r.micros = -r.micros
					}
					unit = unitDay
					break
				}
			}
			got, unit, fault = r.number(f.text, unit, negative)
		case fieldDate, fieldNumber:
			got, unit, fault = r.number(f.text, unit, negative)
		case fieldWord, fieldSpecial:
			w, ok := lookupWord(intervalWords, f.text)
			switch {
			case ok && w.kind == kindIgnore:
				continue
			case ok && w.kind == kindUnit:
				unit = w.value
			case ok && w.kind == kindAgo:
				ago, unit = true, unitOther // a number right before it is an error
			default:
				fault = faultFormat
			}
		}
		if fault != faultNone {
			return fault
		}
		if got&seen != 0 {
			return faultFormat
		}
		seen |= got
	}
	switch {
	case seen == 0:
		return faultFormat
	case ago:
		return r.negate()
	}
	return faultNone
}

// oneSign reports whether a minus sign at the front counts for all fields, as the SQL standard has it.
func (r *intervalReader) oneSign(fields []field, s *Settings) bool {
	if s.IntervalStyle != IntervalSQL || len(fields) == 0 || fields[0].text[0] != '-' {
		return false
	}
	for _, f := range fields[1:] {
		if f.text[0] == '-' || f.text[0] == '+' {
			return false
		}
	}
	return true
}

func (r *intervalReader) negate() dateFault {
	if r.micros == math.MinInt64 || r.days == math.MinInt32 || r.months == math.MinInt32 || r.years == math.MinInt32 {
		return faultRange
	}
	r.micros, r.days, r.months, r.years = -r.micros, -r.days, -r.months, -r.years
	return faultNone
}

// clock sets the time part.
func (r *intervalReader) clock(text string, negative bool) (fieldSet, dateFault) {
	hour, minute, second, micro, fault := readClock(text, r.units == keepMinute|keepSecond)
	if fault != faultNone {
		return 0, fault
	}
	r.micros = int64(micro)
	if !r.addMicros(hour, 0, microsPerHour) || !r.addMicros(int64(minute), 0, microsPerMinute) || !r.addMicros(int64(second), 0, microsPerSecond) {
		return 0, faultRange
	}
	if negative && r.micros > 0 {
		r.micros = -r.micros
	}
	return setTime, faultNone
}

// number adds a number of units, seconds when none was named. It returns the unit that a number before it without one has.
func (r *intervalReader) number(text string, unit int, negative bool) (got fieldSet, next int, fault dateFault) {
	if unit == 0 {
		unit = r.lastUnit()
	}
	v, rest, ok := cInt64(text)
	if !ok {
		return 0, 0, faultRange
	}
	part := 0.0
	switch {
	case rest == "":
	case rest[0] == '-': // years-months
		months, after, ok := cInt(rest[1:])
		if !ok || months < 0 || months >= 12 {
			return 0, 0, faultRange
		}
		if after != "" {
			return 0, 0, faultFormat
		}
		unit = unitMonth
		if text[0] == '-' {
			months = -months
		}
		hi, lo := bits.Mul64(uint64(abs64(v)), 12)
		if hi != 0 || lo > math.MaxInt64-12 {
			return 0, 0, faultRange
		}
		v = v*12 + int64(months)
	case rest[0] == '.':
		if part, ok = fraction(rest); !ok {
			return 0, 0, faultFormat
		}
		if text[0] == '-' {
			part = -part
		}
	default:
		return 0, 0, faultFormat
	}
	if negative {
		v, part = -abs64(v), -math.Abs(part)
	}
	got, ok = r.add(v, part, unit)
	switch {
	case got == 0:
		return 0, 0, faultFormat
	case !ok:
		return 0, 0, faultRange
	case unit == unitHour:
		unit = unitDay
	}
	return got, unit, faultNone
}

func abs64(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// lastUnit is the unit of a last number without one: the finest field that the modifier keeps.
func (r *intervalReader) lastUnit() int {
	switch u := r.units; {
	case u == keepAll || u&keepSecond != 0:
		return unitSecond
	case u&keepMinute != 0:
		return unitMinute
	case u&keepHour != 0:
		return unitHour
	case u&keepDay != 0:
		return unitDay
	case u&keepMonth != 0:
		return unitMonth
	case u&keepYear != 0:
		return unitYear
	}
	return unitSecond
}

// add adds v and a part of a unit. got is 0 for a unit that no interval may hold, ok is false when the sum does not fit.
func (r *intervalReader) add(v int64, part float64, unit int) (got fieldSet, ok bool) {
	switch unit {
	case unitMicro:
		return kindMicro.set(), r.addMicros(v, part, 1)
	case unitMilli:
		return kindMilli.set(), r.addMicros(v, part, 1000)
	case unitSecond:
		if part != 0 {
			return setSecs, r.addMicros(v, part, microsPerSecond)
		}
		return kindSecond.set(), r.addMicros(v, part, microsPerSecond)
	case unitMinute:
		return kindMinute.set(), r.addMicros(v, part, microsPerMinute)
	case unitHour:
		return kindHour.set(), r.addMicros(v, part, microsPerHour)
	case unitDay:
		return setDay, addScaled(&r.days, v, 1) && r.addMicros(0, part, microsPerDay)
	case unitWeek:
		return kindWeek.set(), addScaled(&r.days, v, 7) && r.addDayPart(part, 7)
	case unitMonth:
		return setMonth, addScaled(&r.months, v, 1) && r.addDayPart(part, 30)
	case unitYear:
		return setYear, r.addYears(v, part, 1)
	case unitDecade:
		return kindDecade.set(), r.addYears(v, part, 10)
	case unitCentury:
		return kindCentury.set(), r.addYears(v, part, 100)
	case unitMillennium:
		return kindMillennium.set(), r.addYears(v, part, 1000)
	}
	return 0, false
}

func (r *intervalReader) addYears(v int64, part float64, scale int64) bool {
	return addScaled(&r.years, v, scale) && addScaled(&r.months, int64(math.RoundToEven(part*float64(scale)*12)), 1)
}

// addDayPart adds a part of a week or month of the given days, the rest of a day as time.
func (r *intervalReader) addDayPart(part float64, days float64) bool {
	part *= days
	whole := int64(part)
	return addScaled(&r.days, whole, 1) && r.addMicros(0, part-float64(whole), microsPerDay)
}

// addScaled adds v*scale to *sum unless that passes 32 bits.
func addScaled(sum *int32, v, scale int64) bool {
	if v != int64(int32(v)) || v*scale != int64(int32(v*scale)) {
		return false
	}
	total := int64(*sum) + v*scale
	*sum = int32(total)
	return total == int64(int32(total))
}

// addMicros adds (v+part)*scale microseconds unless that passes 64 bits. part is below 1; half a microsecond is dropped.
func (r *intervalReader) addMicros(v int64, part float64, scale int64) bool {
	hi, lo := bits.Mul64(uint64(abs64(v)), uint64(scale))
	if hi != 0 || lo > 1<<63 || lo == 1<<63 && v > 0 {
		return false
	}
	if !addTo(&r.micros, v*scale) {
		return false
	}
	if part == 0 {
		return true
	}
	part *= float64(scale)
	whole := int64(part)
	if rest := part - float64(whole); rest > 0.5 {
		whole++
	} else if rest < -0.5 {
		whole--
	}
	return addTo(&r.micros, whole)
}

func addTo(sum *int64, v int64) bool {
	total := *sum + v
	if (v > 0) != (total > *sum) && v != 0 {
		return false
	}
	*sum = total
	return true
}
