package query

import (
	"strings"
)

// inCase writes s as the keyword k is written.
func inCase(s, k string) string {
	switch k {
	case strings.ToUpper(k):
		return strings.ToUpper(s)
	case strings.ToLower(k):
		return strings.ToLower(s)
	}
	return s
}

// ordinal is st, nd, rd or th.
func ordinal(n int64, suffix string) string {
	if suffix == "" {
		return ""
	}
	s := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			s = "st"
		case 2:
			s = "nd"
		case 3:
			s = "rd"
		}
	}
	if suffix == "TH" {
		return strings.ToUpper(s)
	}
	return s
}
