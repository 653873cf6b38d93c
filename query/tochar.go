package query

import (
	"fmt"
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

// toChar prints a local time by a template: keywords stand for fields, text in double quotes and everything else for itself.
func toChar(dst []byte, local int64, format string, zone *time.Time) ([]byte, error) {
	if !finiteStamp(local) || format == "" {
		return nil, errNull
	}
	p := charPrinter{dst: dst, day: floorDiv(local, usDay), zone: zone}
	p.us = local - p.day*usDay
	p.year, p.month, p.mday = civil(p.day)
	for format != "" {
		switch {
		case format[0] == '"':
			format = p.quoted(format[1:])
			continue
		case format[0] == '\\' && len(format) > 1:
			p.dst, format = append(p.dst, format[1]), format[2:]
			continue
		}
		fill := true
		rest := format
		for strings.HasPrefix(rest, "FM") || strings.HasPrefix(rest, "fm") {
			fill, rest = false, rest[2:]
		}
		if strings.HasPrefix(rest, "FX") || strings.HasPrefix(rest, "TM") {
			return nil, raise(codeUnsupported, "the prefix %s of to_char is not supported", rest[:2])
		}
		k := keyword(rest)
		if k == "" {
			p.dst, format = append(p.dst, format[0]), format[1:]
			continue
		}
		rest = rest[len(k):]
		suffix := ""
		if strings.HasPrefix(rest, "TH") || strings.HasPrefix(rest, "th") {
			suffix, rest = rest[:2], rest[2:]
		}
		if err := p.field(k, fill, suffix); err != nil {
			return nil, err
		}
		format = rest
	}
	return p.dst, nil
}

type charPrinter struct {
	dst               []byte
	day, us           int64
	year, month, mday int64
	zone              *time.Time
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

// field prints one keyword; without fill, zeros and blanks are left out.
func (p *charPrinter) field(k string, fill bool, suffix string) error {
	if n, width, ok := p.number(k); ok {
		if !fill {
			width = 0
		}
		if n < 0 && width > 0 {
			width++
		}
		text := fmt.Sprintf("%0*d", width, n)
		p.dst = append(append(p.dst, text...), ordinal(n, suffix)...)
		return nil
	}
	if s, width, ok := p.word(k); ok {
		if fill {
			s = fmt.Sprintf("%-*s", width, s)
		}
		p.dst = append(p.dst, s...)
		return nil
	}
	return p.zoned(k)
}

// number is the value of a numeric keyword and how many digits it has at least.
func (p *charPrinter) number(k string) (n int64, width int, ok bool) {
	hour, year := p.us/usHour, p.shown()
	iso, week := isoWeek(p.day)
	doy := p.day - dayOf(p.year, 1, 1) + 1
	switch k {
	case "HH24":
		return hour, 2, true
	case "HH", "HH12":
		return (hour+11)%12 + 1, 2, true
	case "MI":
		return p.us / usMinute % 60, 2, true
	case "SS":
		return p.us / usSecond % 60, 2, true
	case "SSSS", "SSSSS":
		return p.us / usSecond, 0, true
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
		return doy, 3, true
	case "D":
		return weekday(p.day) + 1, 0, true
	case "ID":
		return (weekday(p.day)+6)%7 + 1, 0, true
	case "W":
		return (p.mday-1)/7 + 1, 0, true
	case "WW":
		return (doy-1)/7 + 1, 2, true
	case "IW":
		return week, 2, true
	case "CC":
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
	if p.year <= 0 {
		return 1 - p.year
	}
	return p.year
}

// word is the value of a keyword that prints letters, and the width it is padded to.
func (p *charPrinter) word(k string) (s string, width int, ok bool) {
	month, weekdayName := time.Month(p.month).String(), time.Weekday(weekday(p.day)).String()
	switch k {
	case "MONTH", "Month", "month":
		return inCase(month, k), 9, true
	case "MON", "Mon", "mon":
		return inCase(month[:3], k), 0, true
	case "DAY", "Day", "day":
		return inCase(weekdayName, k), 9, true
	case "DY", "Dy", "dy":
		return inCase(weekdayName[:3], k), 0, true
	case "AM", "PM", "A.M.", "P.M.", "am", "pm", "a.m.", "p.m.":
		s := "a"
		if p.us >= 12*usHour {
			s = "p"
		}
		return inCase(strings.Replace(strings.ToLower(k), strings.ToLower(k[:1]), s, 1), k), 0, true
	case "BC", "AD", "B.C.", "A.D.", "bc", "ad", "b.c.", "a.d.":
		s := "ad"
		if p.year <= 0 {
			s = "bc"
		}
		if strings.Contains(k, ".") {
			s = s[:1] + "." + s[1:] + "."
		}
		return inCase(s, k), 0, true
	case "Y,YYY":
		return fmt.Sprintf("%d,%03d", p.shown()/1000, p.shown()%1000), 0, true
	case "RM", "rm":
		return inCase(strings.Fields("I II III IV V VI VII VIII IX X XI XII")[p.month-1], k), 4, true
	}
	return "", 0, false
}

func (p *charPrinter) zoned(k string) error {
	seconds, name := 0, ""
	if p.zone != nil {
		name, seconds = p.zone.Zone()
	}
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	switch {
	case k == "TZ":
		p.dst = append(p.dst, strings.ToUpper(name)...)
	case k == "tz":
		p.dst = append(p.dst, strings.ToLower(name)...)
	case k == "TZH":
		p.dst = fmt.Appendf(p.dst, "%c%02d", sign, seconds/3600)
	case k == "TZM":
		p.dst = fmt.Appendf(p.dst, "%02d", seconds/60%60)
	case k == "OF":
		p.dst = fmt.Appendf(p.dst, "%c%02d", sign, seconds/3600)
		if seconds%3600 != 0 {
			p.dst = fmt.Appendf(p.dst, ":%02d", seconds/60%60)
		}
	default:
		return raise(codeUnsupported, "the template %s of to_char is not supported", k)
	}
	return nil
}
