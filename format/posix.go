package format

import (
	"strings"
	"time"
)

const (
	maxZoneRule = 255 // bytes of a rule
	// The rule where none is given, as PostgreSQL has it: that of the United States.
	defaultRule = ",M3.2.0,M11.1.0"
)

// posixZone makes a zone of a POSIX rule such as EST5EDT,M3.2.0,M11.1.0: a name, the hours west of Greenwich, perhaps the name and offset of summer
// time, and when it is in force. A name is anything up to a digit, sign or comma, as in PostgreSQL.
func posixZone(rule string) *time.Location {
	if len(rule) > maxZoneRule {
		return nil
	}
	name, rest, ok := posixName(rule)
	if !ok || name == "" {
		return nil
	}
	west, rest, ok := posixOffset(rest)
	if !ok {
		return nil
	}
	footer := "<" + name + ">" + posixClock(west)
	if rest != "" {
		summer, rest, ok := posixName(rest)
		if !ok || summer == "" {
			return nil
		}
		summerWest := west - 3600
		if rest != "" && rest[0] != ',' && rest[0] != ';' {
			if summerWest, rest, ok = posixOffset(rest); !ok {
				return nil
			}
		}
		if rest == "" {
			rest = defaultRule
		}
		if !posixRules(rest) {
			return nil
		}
		footer += "<" + summer + ">" + posixClock(summerWest) + "," + rest[1:]
	}
	return zoneOf(rule, name, -west, footer)
}

func posixClock(west int) string {
	if west < 0 {
		return "-" + clockText(west)
	}
	return clockText(west)
}

// posixName splits a name from the front of a rule.
func posixName(rule string) (name, rest string, ok bool) {
	if strings.HasPrefix(rule, "<") {
		return strings.Cut(rule[1:], ">")
	}
	i := 0
	for i < len(rule) && !isDigit(rule[i]) && strings.IndexByte(",-+", rule[i]) < 0 {
		i++
	}
	return rule[:i], rule[i:], true
}

// posixOffset splits [+-]hh[:mm[:ss]] from the front of a rule, in seconds.
func posixOffset(rule string) (seconds int, rest string, ok bool) {
	sign := 1
	if rule != "" && (rule[0] == '-' || rule[0] == '+') {
		if rule[0] == '-' {
			sign = -1
		}
		rule = rule[1:]
	}
	for unit, most := 3600, 167; unit > 0; unit, most = unit/60, 59 {
		if unit == 1 {
			most = 60
		}
		n, rest, ok := posixNumber(rule, 0, most)
		if !ok {
			return 0, "", false
		}
		seconds += n * unit
		rule = rest
		if unit == 1 || rule == "" || rule[0] != ':' {
			break
		}
		rule = rule[1:]
	}
	return sign * seconds, rule, true
}

// posixNumber splits a number from least to most from the front of a rule.
func posixNumber(rule string, least, most int) (n int, rest string, ok bool) {
	i := 0
	for ; i < len(rule) && isDigit(rule[i]); i++ {
		if n = 10*n + int(rule[i]-'0'); n > most {
			return 0, "", false
		}
	}
	return n, rule[i:], i > 0 && n >= least
}

// posixRules reports whether rules is two dates, each after a comma, with perhaps a time of day after a slash.
func posixRules(rules string) bool {
	for n := range 2 {
		if rules == "" || rules[0] != ',' && (n > 0 || rules[0] != ';') {
			return false
		}
		rest, ok := posixDay(rules[1:])
		if ok && strings.HasPrefix(rest, "/") {
			_, rest, ok = posixOffset(rest[1:])
		}
		if !ok {
			return false
		}
		rules = rest
	}
	return rules == ""
}

// posixDay splits a date from the front of a rule: J1 to J365, 0 to 365, or Mmonth.week.weekday.
func posixDay(rule string) (rest string, ok bool) {
	switch {
	case strings.HasPrefix(rule, "J"):
		_, rest, ok = posixNumber(rule[1:], 1, 365)
	case strings.HasPrefix(rule, "M"):
		rest, ok = rule[1:], true
		for i, limits := range [...][2]int{{1, 12}, {1, 5}, {0, 6}} {
			if i > 0 {
				if !strings.HasPrefix(rest, ".") {
					return "", false
				}
				rest = rest[1:]
			}
			if _, rest, ok = posixNumber(rest, limits[0], limits[1]); !ok {
				return "", false
			}
		}
	default:
		_, rest, ok = posixNumber(rule, 0, 365)
	}
	return rest, ok
}
