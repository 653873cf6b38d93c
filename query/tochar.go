package query

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// dateKeywords are to_char's, longest first where one begins another.
var dateKeywords = strings.Fields(`
	HH24 HH12 HH MI SSSSS SSSS SS MS US FF1 FF2 FF3 FF4 FF5 FF6 AM A.M. PM P.M. am a.m. pm p.m. Y,YYY YYYY YYY YY Y IYYY IYY IY I
	BC B.C. AD A.D. bc b.c. ad a.d. MONTH Month month MON Mon mon MM DAY Day day DY Dy dy DDD IDDD DD D ID W WW IW CC J Q RM rm
	TZH TZM TZ tz OF`)

// keyword is the longest of dateKeywords that format begins with. Digits may be written in small letters.
func keyword(format string) string {
	best := ""
	for _, k := range dateKeywords {
		if len(k) <= len(best) {
			continue
		}
		if strings.HasPrefix(format, k) || caseless[k] && len(format) >= len(k) && strings.EqualFold(format[:len(k)], k) {
			best = k
		}
	}
	return best
}

// caseless are the keywords whose case does not matter.
var caseless = func() map[string]bool {
	m := map[string]bool{}
	for _, k := range strings.Fields("HH24 HH12 HH MI SSSSS SSSS SS MS US FF1 FF2 FF3 FF4 FF5 FF6 Y,YYY YYYY YYY YY Y IYYY IYY IY I MM DDD IDDD DD D ID W WW IW CC J Q") {
		m[k] = true
	}
	return m
}()

func stampToChar(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	return toChar(dst, i64(a[0]), string(a[1]), nil)
}

func instantToChar(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	t := i64(a[0])
	at := time.UnixMicro(t + epochUs).In(f.zone())
	return toChar(dst, toLocal(t, f.zone()), string(a[1]), &at)
}

// intervalToChar prints the parts of an interval, which have no weekdays, names or zones.
func intervalToChar(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	if len(a[1]) == 0 {
		return nil, errNull
	}
	v := readInterval(a[0])
	p := charPrinter{dst: dst, interval: true, us: v.us % usDay, hour: v.us / usHour, year: int64(v.months / 12), month: int64(v.months % 12), mday: int64(v.days)}
	p.yday = (p.year*12+p.month)*30 + p.mday
	return p.run(string(a[1]))
}

// toChar prints a local time by a template.
func toChar(dst []byte, local int64, format string, zone *time.Time) ([]byte, error) {
	if !finiteStamp(local) || format == "" {
		return nil, errNull
	}
	p := charPrinter{dst: dst, day: floorDiv(local, usDay), zone: zone}
	p.us = local - p.day*usDay
	p.hour = p.us / usHour
	p.year, p.month, p.mday = civil(p.day)
	p.yday = p.day - dayOf(p.year, 1, 1) + 1
	return p.run(format)
}

// run prints by a template: keywords stand for fields, text in double quotes and everything else for itself.
func (p *charPrinter) run(format string) ([]byte, error) {
	for format != "" {
		switch {
		case format[0] == '"':
			format = p.quoted(format[1:])
			continue
		case strings.HasPrefix(format, `\"`):
			p.dst, format = append(p.dst, '"'), format[2:]
			continue
		case strings.HasPrefix(format, "FX"):
			format = format[2:]
			continue
		}
		fill, names := true, true // TM prints names without blanks behind
		rest := format
		for len(rest) > 1 {
			word := strings.ToUpper(rest[:2])
			if word != rest[:2] && strings.ToLower(word) != rest[:2] || word != "FM" && word != "TM" {
				break
			}
			fill, names, rest = fill && word != "FM", names && word != "TM", rest[2:]
		}
		k := keyword(rest)
		if k == "" {
			if rest != format {
				format = rest
				continue
			}
			p.dst, format = append(p.dst, format[0]), format[1:]
			continue
		}
		rest = rest[len(k):]
		suffix := ""
		if strings.HasPrefix(rest, "TH") || strings.HasPrefix(rest, "th") {
			suffix, rest = rest[:2], rest[2:]
		}
		if err := p.field(k, fill, fill && names, suffix); err != nil {
			return nil, err
		}
		format = rest
	}
	return p.dst, nil
}

type charPrinter struct {
	dst               []byte
	day, us, hour     int64
	year, month, mday int64
	yday              int64
	zone              *time.Time
	interval          bool
}

func (p *charPrinter) quoted(s string) string {
	for s != "" && s[0] != '"' {
		if s[0] == '\\' && len(s) > 1 {
			s = s[1:]
		}
		p.dst, s = append(p.dst, s[0]), s[1:]
	}
	if s != "" {
		s = s[1:]
	}
	return s
}

// notInterval are the keywords that an interval has no value for.
var notInterval = strings.Fields("MONTH Month month MON Mon mon DAY Day day DY Dy dy D ID BC B.C. AD A.D. bc b.c. ad a.d. TZH TZM TZ tz OF")

// field prints one keyword; without fill, zeros and blanks are left out, without names, blanks behind a name.
func (p *charPrinter) field(k string, fill, names bool, suffix string) error {
	if p.interval && slices.Contains(notInterval, k) {
		e := raise("22007", "invalid format specification for an interval value")
		e.Hint = "Intervals are not tied to specific calendar dates."
		return e
	}
	if n, width, ok := p.number(k); ok {
		if !fill {
			width = 0
		}
		if n < 0 && width > 0 && !slices.Contains([]string{"DD", "DDD", "MS", "US"}, k) {
			width++
		}
		text := fmt.Sprintf("%0*d", width, n)
		p.dst = append(append(p.dst, text...), ordinal(n, suffix)...)
		return nil
	}
	if p.interval && (p.month == 0 && k != "Y,YYY") && (k == "RM" || k == "rm") {
		return nil
	}
	if s, width, ok := p.word(k); ok {
		if names {
			s = fmt.Sprintf("%-*s", width, s)
		}
		p.dst = append(p.dst, s...)
		return nil
	}
	return p.zoned(k)
}

// number is the value of a numeric keyword and how many digits it has at least.
func (p *charPrinter) number(k string) (n int64, width int, ok bool) {
	hour, year := p.hour, p.shown()
	iso, week := isoWeek(p.day)
	monday := p.day - (week-1)*7 - (weekday(p.day)+6)%7 // of the first week
	if iso <= 0 {
		iso = 1 - iso
	}
	switch k {
	case "HH24":
		return hour, 2, true
	case "HH", "HH12":
		if h := hour % 12; h != 0 {
			return h, 2, true
		}
		return 12, 2, true
	case "MI":
		return p.us / usMinute % 60, 2, true
	case "SS":
		return p.us / usSecond % 60, 2, true
	case "SSSS", "SSSSS":
		return hour*3600 + p.us%usHour/usSecond, 0, true
	case "MS":
		return p.us % usSecond / 1000, 3, true
	case "US", "FF6":
		return p.us % usSecond, 6, true
	case "FF1", "FF2", "FF3", "FF4", "FF5":
		digits := int(k[2] - '0')
		return p.us % usSecond / pows[6-digits], digits, true
	case "YYYY":
		return year, 4, true
	case "YYY":
		return year % 1000, 3, true
	case "YY":
		return year % 100, 2, true
	case "Y":
		return year % 10, 1, true
	case "IYYY":
		return iso, 4, true
	case "IYY":
		return iso % 1000, 3, true
	case "IY":
		return iso % 100, 2, true
	case "I":
		return iso % 10, 1, true
	case "MM":
		return p.month, 2, true
	case "DD":
		return p.mday, 2, true
	case "DDD":
		return p.yday, 3, true
	case "IDDD":
		return p.day - monday + 1, 3, true
	case "D":
		return weekday(p.day) + 1, 0, true
	case "ID":
		return (weekday(p.day)+6)%7 + 1, 0, true
	case "W":
		return (p.mday-1)/7 + 1, 0, true
	case "WW":
		return (p.yday-1)/7 + 1, 2, true
	case "IW":
		return week, 2, true
	case "CC":
		if p.interval {
			return p.year / 100, 2, true
		}
		return period(p.year, 100), 2, true
	case "J":
		return p.day + 2451545, 0, true
	case "Q":
		return (p.month-1)/3 + 1, 0, true
	}
	return 0, 0, false
}

// shown is the year without its sign.
func (p *charPrinter) shown() int64 {
	if p.year <= 0 && !p.interval {
		return 1 - p.year
	}
	return p.year
}
