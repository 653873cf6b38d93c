package query

import (
	"strings"
	"unicode/utf8"
)

// numPicture is a format of to_char and to_number for numbers, read: PostgreSQL's NUMDesc and the nodes of its format.
type numPicture struct {
	parts []numPart
	// pre and post are the digits before and behind the point, multi those that V shifts by.
	pre, post, multi                                                              int
	sign                                                                          signPlace // of S
	beforeSign                                                                    int       // digits before S
	zeroFrom, zeroTo                                                              int       // places between which zeros are printed, from 1; 0 for none
	zero, fill, bracket, minus, plus, roman, decimal, shift, scientific, blank, s bool
}

// numPart is a keyword, or text to be printed as it is.
type numPart struct {
	key  string
	text string
}

type signPlace uint8

const (
	signNone signPlace = iota
	signBefore
	signBehind
)

// numKeywords are the keywords, longer ones first.
var numKeywords = []string{"EEEE", "FM", "MI", "PL", "PR", "RN", "SG", "SP", "TH", ",", ".", "0", "9", "B", "C", "D", "G", "L", "S", "V"}

// readPicture reads a format.
func readPicture(format string) (*numPicture, error) {
	p := &numPicture{}
	for format != "" {
		key := ""
		for _, k := range numKeywords {
			if len(format) >= len(k) && (format[:len(k)] == k || format[:len(k)] == strings.ToLower(k)) {
				key = k
				break
			}
		}
		switch {
		case key != "":
			if err := p.note(key); err != nil {
				return nil, err
			}
			word := key
			if (key == "TH" || key == "RN") && format[0] >= 'a' {
				word = strings.ToLower(key)
			}
			p.parts = append(p.parts, numPart{key: word})
			format = format[len(key):]
		case format[0] == '"':
			format = p.quoted(format[1:])
		default:
			if strings.HasPrefix(format, `\"`) {
				format = format[1:]
			}
			_, n := utf8.DecodeRuneInString(format)
			p.parts = append(p.parts, numPart{text: format[:n]})
			format = format[n:]
		}
	}
	return p, nil
}

func (p *numPicture) quoted(s string) string {
	for s != "" {
		if s[0] == '"' {
			return s[1:]
		}
		if s[0] == '\\' && len(s) > 1 {
			s = s[1:]
		}
		_, n := utf8.DecodeRuneInString(s)
		p.parts = append(p.parts, numPart{text: s[:n]})
		s = s[n:]
	}
	return s
}

func pictureError(format string, args ...any) error { return raise(codeSyntax, format, args...) }

// note takes a keyword into the description: NUMDesc_prepare.
func (p *numPicture) note(key string) error {
	if p.scientific && key != "EEEE" {
		return pictureError("\"EEEE\" must be the last pattern used")
	}
	switch key {
	case "9", "0":
		return p.digit(key)
	case "B":
		p.blank = p.blank || p.pre == 0 && p.post == 0 && !p.zero
	case "D", ".":
		switch {
		case p.decimal:
			return pictureError("multiple decimal points")
		case p.shift:
			return pictureError("cannot use \"V\" and decimal point together")
		}
		p.decimal = true
	case "FM":
		p.fill = true
	case "S":
		return p.anchored()
	case "MI", "PL", "SG":
		if p.s {
			return pictureError("cannot use \"S\" and \"%s\" together", key)
		}
		p.minus = p.minus || key != "PL"
		p.plus = p.plus || key != "MI"
	case "PR":
		if p.s || p.plus || p.minus {
			return pictureError("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together")
		}
		p.bracket = true
	case "RN":
		p.roman = true
	case "V":
		if p.decimal {
			return pictureError("cannot use \"V\" and decimal point together")
		}
		p.shift = true
	case "EEEE":
		if p.scientific {
			return pictureError("cannot use \"EEEE\" twice")
		}
		if p.blank || p.fill || p.s || p.bracket || p.minus || p.plus || p.roman || p.shift {
			e := raise(codeSyntax, "\"EEEE\" is incompatible with other formats")
			e.Detail = "\"EEEE\" may only be used together with digit and decimal point patterns."
			return e
		}
		p.scientific = true
	}
	return nil
}

func (p *numPicture) digit(key string) error {
	if p.bracket {
		return pictureError("\"%s\" must be ahead of \"PR\"", key)
	}
	if key == "9" && p.shift {
		p.multi++
		return nil
	}
	if key == "0" && !p.zero && !p.decimal {
		p.zero, p.zeroFrom = true, p.pre+1
	}
	if p.decimal {
		p.post++
	} else {
		p.pre++
	}
	if key == "0" {
		p.zeroTo = p.pre + p.post
	}
	return nil
}

// anchored is S: a sign beside the first or the last digit.
func (p *numPicture) anchored() error {
	switch {
	case p.s:
		return pictureError("cannot use \"S\" twice")
	case p.plus || p.minus || p.bracket:
		return pictureError("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together")
	case !p.decimal:
		p.sign, p.beforeSign, p.s = signBefore, p.pre, true
	case p.sign == signNone:
		p.sign, p.s = signBehind, true
	}
	return nil
}
