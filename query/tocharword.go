package query

import (
	"fmt"
	"strings"
	"time"
)

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
		if p.hour%24 >= 12 {
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
