package format

import (
	"strconv"
	"strings"
	"time"

	"tailrace"
)

func badSetting(name, value, detail, hint string) error {
	return &tailrace.Error{
		Code: codeBadParameter, Message: "invalid value for parameter \"" + name + "\": \"" + value + "\"", Detail: detail, Hint: hint,
	}
}

// ParseDateStyle reads a DateStyle value such as "ISO, DMY" or "German" and returns the style and order that it makes of the given ones.
func ParseDateStyle(value, style, order string) (newStyle, newOrder string, err error) {
	var chosen, ordered string
	for part := range strings.SplitSeq(value, ",") {
		word := strings.ToUpper(strings.Trim(trimSpace(part), `"`))
		s, o := "", ""
		switch {
		case word == "ISO":
			s = StyleISO
		case word == "SQL":
			s = StyleSQL
		case strings.HasPrefix(word, "POSTGRES"):
			s = StylePostgres
		case word == "GERMAN":
			s = StyleGerman
		case word == "YMD":
			o = OrderYMD
		case word == "DMY" || strings.HasPrefix(word, "EURO"):
			o = OrderDMY
		case word == "MDY" || word == "US" || strings.HasPrefix(word, "NONEURO"):
			o = OrderMDY
		case word == "DEFAULT":
			s, o = defaultTo(chosen, StyleISO), defaultTo(ordered, OrderMDY)
		default:
			return "", "", badSetting("DateStyle", value, "Unrecognized key word: \""+strings.ToLower(word)+"\".", "Write for example 'ISO, DMY'.")
		}
		if s != "" && chosen != "" && chosen != s || o != "" && ordered != "" && ordered != o {
			return "", "", badSetting("DateStyle", value, "Conflicting \"datestyle\" specifications.", "Name one style and one order.")
		}
		chosen, ordered = defaultTo(s, chosen), defaultTo(o, ordered)
	}
	if chosen == StyleGerman && ordered == "" {
		ordered = OrderDMY
	}
	return defaultTo(chosen, style), defaultTo(ordered, order), nil
}

func defaultTo(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// ParseTimeZone reads a TimeZone value: a zone's name, a POSIX rule (whose offsets count west), or hours east. The result's String is what SHOW TimeZone
// prints.
func ParseTimeZone(value string) (*time.Location, error) {
	if hours, err := strconv.ParseFloat(trimSpace(value), 64); err == nil && hours > -168 && hours < 168 {
		return fixedZone(int(hours * 3600)), nil
	}
	if strings.EqualFold(value, "UTC") {
		return time.UTC, nil
	}
	if loc := loadZone(value); loc != nil {
		return loc, nil
	}
	return nil, badSetting("TimeZone", value, "", "SELECT name FROM pg_timezone_names lists the names on a PostgreSQL server, for example Europe/Paris.")
}
