package query

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// charNode is one piece of a template of to_date and to_timestamp: a keyword, or a character.
type charNode struct {
	key    string // as dateKeywords has it; "" for a character
	name   string // as it is written
	char   string
	kind   byte // of a character: ' ', 's' for a separator, 'c' for text
	fill   bool // FM
	suffix bool // TH
}

// separatorByte reports whether a character only separates fields.
func separatorByte(c byte) bool {
	return c > 0x20 && c < 0x7f && !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')
}

func blankByte(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// readTemplate cuts a template into its nodes.
func readTemplate(format string) []charNode {
	var out []charNode
	text := func(s string, quoted bool) int {
		_, n := utf8.DecodeRuneInString(s)
		kind := byte('c')
		switch {
		case quoted:
		case blankByte(s[0]):
			kind = ' '
		case separatorByte(s[0]):
			kind = 's'
		}
		out = append(out, charNode{char: s[:n], kind: kind})
		return n
	}
	for format != "" {
		if format[0] == '"' {
			format = format[1:]
			for format != "" && format[0] != '"' {
				if format[0] == '\\' && len(format) > 1 {
					format = format[1:]
				}
				format = format[text(format, true):]
			}
			format = strings.TrimPrefix(format, `"`)
			continue
		}
		n := charNode{}
		rest := format
		for len(rest) > 1 {
			if word := rest[:2]; word == "FM" || word == "fm" {
				n.fill = true
			} else if word != "TM" && word != "tm" {
				break
			}
			rest = rest[2:]
		}
		if n.key = keyword(rest); n.key == "" && strings.HasPrefix(strings.ToUpper(rest), "FX") {
			n.key = "FX"
		}
		if n.key == "" {
			if rest == format {
				if strings.HasPrefix(rest, `\"`) {
					rest = rest[1:]
				}
				rest = rest[text(rest, false):]
			}
			format = rest
			continue
		}
		n.name = rest[:len(n.key)]
		rest = rest[len(n.key):]
		if strings.HasPrefix(rest, "TH") || strings.HasPrefix(rest, "th") {
			n.suffix, rest = true, rest[2:]
		}
		out, format = append(out, n), rest
	}
	return out
}

// digitKeys are the keywords that read digits.
var digitKeys = strings.Fields("HH24 HH12 HH MI SSSSS SSSS SS MS US FF1 FF2 FF3 FF4 FF5 FF6 Y,YYY YYYY YYY YY Y IYYY IYY IY I MM DDD IDDD DD D ID W WW IW CC J Q")

// isoKeys and gregorianKeys are the keywords of the two calendars, which do not mix.
var (
	isoKeys       = strings.Fields("IYYY IYY IY I IDDD ID IW")
	gregorianKeys = strings.Fields("CC DDD DD D MM MONTH Month month MON Mon mon Q RM rm W WW Y,YYY YYYY YYY YY Y")
)

// endsField reports whether what follows nodes[i] cannot go on with its digits, so that they may be any number.
func endsField(nodes []charNode, i int) bool {
	if nodes[i].suffix || i+1 == len(nodes) {
		return true
	}
	next := nodes[i+1]
	if next.key != "" {
		return !slices.Contains(digitKeys, next.key)
	}
	return len(next.char) != 1 || !digitByte(next.char[0])
}
