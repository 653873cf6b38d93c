package format

import (
	"math"
	"strings"
	"time"

	"tailrace"
)

// dateFault is why a date, time or interval was refused. PostgreSQL gives each its own SQLSTATE.
type dateFault uint8

const (
	faultNone     dateFault = iota
	faultFormat             // no date at all
	faultRange              // a field is out of range
	faultMonthDay           // a month or day is, perhaps since day and month are the other way round
	faultOffset             // a time zone's offset is
	faultInterval           // an interval as a whole is
	faultZoneName           // a time zone that does not exist
)

// dateReader gathers a date, a time, or both, from fields. Which field means what depends on those before it; the rules are those of PostgreSQL's
// datetime.c.
type dateReader struct {
	civil
	s         *Settings
	dayOfYear int
	special   int // wordEpoch, wordEarly or wordLate instead of a date
	timeOnly  bool

	seen      fieldSet
	labelled  int  // the unit that a word gave the next number, 0 for none
	textMonth bool // a month was given by name
	julian    bool // the year is final
	twoDigits bool // the year has one or two digits
	bc        bool
	half      int // halfAM, halfPM, 0

	west    int            // the zone's offset, in seconds west of Greenwich as POSIX counts
	zone    *time.Location // a zone whose offset depends on the date
	abbrev  string         // and the abbreviation that named it
	badZone string         // for faultZoneName
}

// read takes all fields and settles what follows from all of them together.
func (r *dateReader) read(fields []field) dateFault {
	for i, f := range fields {
		var got fieldSet
		fault := faultFormat
		switch f.kind {
		case fieldDate:
			got, fault = r.dateField(fields, i)
		case fieldTime:
			if !r.timeOnly {
				if r.labelled != 0 && r.labelled != unitTime {
					return faultFormat
				}
				r.labelled = 0
			}
			if got, fault = r.clock(f.text); fault == faultNone && !r.timeOnly && r.pastMidnight() {
				return faultRange
			}
		case fieldSigned:
			r.west, fault = zoneOffset(f.text)
			got = setZone
		case fieldNumber:
			got, fault = r.numberField(fields, i)
		case fieldWord, fieldSpecial:
			var ignore bool
			if got, ignore, fault = r.wordField(fields, i); ignore {
				continue
			}
		}
		if fault != faultNone {
			return fault
		}
		if got&r.seen != 0 {
			return faultFormat
		}
		r.seen |= got
	}
	if r.special != 0 {
		return faultNone
	}
	return r.settle()
}

// knownDate is what has been seen for reading numbers: a time alone has a date, in the sense that no number is part of one.
func (r *dateReader) knownDate() fieldSet {
	if r.timeOnly {
		return r.seen | setDate
	}
	return r.seen
}

// dateField reads digits and separators: a date, a zone's name, or a time run together with an offset.
func (r *dateReader) dateField(fields []field, i int) (fieldSet, dateFault) {
	text := fields[i].text
	switch {
	case r.timeOnly:
		if i == 0 && len(fields) >= 2 && (fields[len(fields)-1].kind == fieldDate || fields[1].kind == fieldTime) {
			return r.date(text)
		}
	case r.labelled == unitJulian: // a Julian day with an offset
		day, rest, ok := cInt(text)
		if !ok || day < 0 {
			return 0, faultRange
		}
		r.setJulian(day)
		r.labelled = 0
		var fault dateFault
		r.west, fault = zoneOffset(rest)
		return setDate | setTime | setZone, fault
	case r.labelled == 0 && r.seen&(setMonth|setDay) != setMonth|setDay:
		return r.date(text)
	}
	if !isDigit(text[0]) && (r.timeOnly || r.labelled == 0) {
		return setZone, r.setZoneName(text)
	}
	if !r.timeOnly && r.labelled != 0 {
		if r.labelled != unitTime {
			return 0, faultFormat
		}
		r.labelled = 0
	}
	if r.seen&setTime == setTime {
		return 0, faultFormat
	}
	hyphen := strings.IndexByte(text, '-')
	if hyphen < 0 {
		return 0, faultFormat
	}
	var fault dateFault
	if r.west, fault = zoneOffset(text[hyphen:]); fault != faultNone {
		return 0, fault
	}
	got, fault := r.runTogether(text[:hyphen], r.knownDate())
	return got | setZone, fault
}

// setZoneName takes a zone by name; its offset is worked out when the date is known.
func (r *dateReader) setZoneName(name string) dateFault {
	if r.zone = loadZone(name); r.zone == nil {
		r.badZone = name
		return faultZoneName
	}
	r.abbrev = ""
	return faultNone
}

func (r *dateReader) setJulian(day int) {
	r.year, r.month, r.day = dateOf(int64(day) - epochJulian)
	r.julian = true
}

// numberField reads digits, perhaps with a point.
func (r *dateReader) numberField(fields []field, i int) (fieldSet, dateFault) {
	text := fields[i].text
	if r.labelled != 0 {
		got, fault := r.labelledNumber(text)
		r.labelled, r.special = 0, 0
		return got, fault
	}
	point := strings.IndexByte(text, '.')
	if r.timeOnly {
		switch {
		case point >= 0 && i == 0 && len(fields) >= 2 && fields[len(fields)-1].kind == fieldDate:
			return r.date(text)
		case point > 2, point < 0 && len(text) > 4:
			return r.runTogether(text, r.knownDate())
		case point >= 0:
			return 0, faultFormat
		}
		return r.number(text, r.knownDate(), false)
	}
	switch {
	case point >= 0 && r.seen&setDate == 0:
		return r.date(text)
	case point > 2, point < 0 && len(text) >= 6 && (r.seen&setDate == 0 || r.seen&setTime == 0):
		return r.runTogether(text, r.seen)
	}
	return r.number(text, r.seen, r.textMonth)
}

// labelledNumber reads a number after a word such as y or j: y2001m02d04.
func (r *dateReader) labelledNumber(text string) (fieldSet, dateFault) {
	v, rest, ok := cInt(text)
	if !ok {
		return 0, faultRange
	}
	pointed := strings.HasPrefix(rest, ".")
	if pointed && r.labelled != unitJulian && r.labelled != unitTime && r.labelled != unitSecond || !pointed && rest != "" {
		return 0, faultFormat
	}
	switch r.labelled {
	case unitYear:
		r.year = v
		return setYear, faultNone
	case unitMonth:
		if r.seen&setMonth != 0 && r.seen&kindHour.set() != 0 { // m after an hour is minutes
			r.minute = v
			return kindMinute.set(), faultNone
		}
		r.month = v
		return setMonth, faultNone
	case unitDay:
		r.day = v
		return setDay, faultNone
	case unitHour:
		r.hour = v
		return kindHour.set(), faultNone
	case unitMinute:
		r.minute = v
		return kindMinute.set(), faultNone
	case unitSecond:
		r.second = v
		if !pointed {
			return kindSecond.set(), faultNone
		}
		return setSecs, r.setFraction(rest)
	case unitJulian:
		if v < 0 {
			return 0, faultRange
		}
		r.setJulian(v)
		if !pointed {
			return setDate, faultNone
		}
		part, ok := fraction(rest)
		if !ok {
			return 0, faultFormat
		}
		r.setTime(int64(part * float64(microsPerDay)))
		return setDate | setTime, faultNone
	case unitTime:
		got, fault := r.runTogether(text, r.seen|setDate)
		if fault == faultNone && got != setTime {
			return 0, faultFormat
		}
		return got, fault
	}
	return 0, faultFormat
}

// setFraction takes ".789" as microseconds, rounded.
func (r *dateReader) setFraction(text string) dateFault {
	v, ok := fraction(text)
	if !ok {
		return faultFormat
	}
	r.micro = int(math.RoundToEven(v * 1e6))
	return faultNone
}

// dateError is the error for a fault, as PostgreSQL words it.
func dateError(fault dateFault, typeName, text, badZone string) error {
	switch fault {
	case faultRange:
		return errorf(codeDateRange, "date/time field value out of range: \"%s\"", text)
	case faultMonthDay:
		err := errorf(codeDateRange, "date/time field value out of range: \"%s\"", text)
		err.Hint = "Perhaps you need a different \"datestyle\" setting."
		return err
	case faultInterval:
		return errorf(codeIntervalRange, "interval field value out of range: \"%s\"", text)
	case faultOffset:
		return errorf(codeZoneRange, "time zone displacement out of range: \"%s\"", text)
	case faultZoneName:
		return errorf(codeBadParameter, "time zone \"%s\" not recognized", badZone)
	}
	return &tailrace.Error{Code: codeBadDate, Message: "invalid input syntax for type " + typeName + ": \"" + text + "\""}
}
