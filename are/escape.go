package are

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// classes are the character classes of the locale C, as pairs of bounds.
var classes = map[string][]rune{
	"alnum": {'0', '9', 'A', 'Z', 'a', 'z'}, "alpha": {'A', 'Z', 'a', 'z'}, "ascii": {0, 127}, "blank": {'\t', '\t', ' ', ' '},
	"cntrl": {0, 31, 127, 127}, "digit": {'0', '9'}, "graph": {33, 126}, "lower": {'a', 'z'}, "print": {32, 126},
	"punct": {33, 47, 58, 64, 91, 96, 123, 126}, "space": {'\t', '\r', ' ', ' '}, "upper": {'A', 'Z'},
	"xdigit": {'0', '9', 'A', 'F', 'a', 'f'}, "word": {'0', '9', 'A', 'Z', '_', '_', 'a', 'z'},
}

// shorthand are the classes of \d, \s and \w; the capital letter means all other characters.
var shorthand = map[byte]string{'d': "digit", 's': "space", 'w': "word"}

// escape reads a backslash and what belongs to it, outside of brackets.
func (p *parser) escape() (n *node, constraint bool, err error) {
	if p.at+1 >= len(p.text) {
		return nil, false, errEscape
	}
	c := p.text[p.at+1]
	switch {
	case strings.IndexByte("AZmMyY", c) >= 0:
		p.at += 2
		return p.assert(c), true, nil
	case c >= '1' && c <= '9':
		return nil, false, fmt.Errorf("a back reference in a regular expression is %w", ErrUnsupported)
	}
	if ranges, ok := p.classEscape(); ok {
		n = p.make(opSet)
		n.ranges = ranges
		return n, false, nil
	}
	r, err := p.charEscape()
	if err != nil {
		return nil, false, err
	}
	return p.char(r), false, nil
}

// classEscape reads \d and its like.
func (p *parser) classEscape() ([]rune, bool) {
	c := p.text[p.at+1]
	name := shorthand[c|0x20]
	if name == "" || c&0x80 != 0 {
		return nil, false
	}
	p.at += 2
	ranges := classes[name]
	if c&0x20 == 0 {
		ranges = others(ranges) // with the line feed, in all modes
	}
	return ranges, true
}

// charEscape reads an escape that stands for one character.
func (p *parser) charEscape() (rune, error) {
	if p.at+1 >= len(p.text) {
		return 0, errEscape
	}
	r, w := utf8.DecodeRuneInString(p.text[p.at+1:])
	p.at += 1 + w
	if r >= utf8.RuneSelf || !wordByte(byte(r)) || r == '_' {
		return r, nil
	}
	if at := strings.IndexByte("abefnrtvB", byte(r)); at >= 0 {
		return rune("\a\b\x1b\f\n\r\t\v\\"[at]), nil
	}
	switch r {
	case 'c':
		if p.at >= len(p.text) {
			return 0, errEscape
		}
		r, w := utf8.DecodeRuneInString(p.text[p.at:])
		p.at += w
		return r & 0x1f, nil
	case 'u':
		return p.digits(16, 4, 4)
	case 'U':
		return p.digits(16, 8, 8)
	case 'x':
		return p.digits(16, 1, 255)
	case '0':
		p.at--
		return p.digits(8, 1, 3)
	}
	return 0, errEscape
}

// digits reads a number of least to most digits.
func (p *parser) digits(base, least, most int) (rune, error) {
	from := p.at
	for p.at < len(p.text) && p.at-from < most {
		if _, err := strconv.ParseUint(p.text[p.at:p.at+1], base, 8); err != nil {
			break
		}
		p.at++
	}
	v, err := strconv.ParseUint(p.text[from:p.at], base, 32)
	if p.at-from < least || err != nil || v > utf8.MaxRune {
		return 0, errEscape
	}
	return rune(v), nil
}

// bracket reads [...].
func (p *parser) bracket() (*node, error) {
	p.at++
	not := p.at < len(p.text) && p.text[p.at] == '^'
	if not {
		p.at++
	}
	n := p.make(opSet)
	for first := true; ; first = false {
		if p.at >= len(p.text) {
			return nil, errBrackets
		}
		if p.text[p.at] == ']' && !first {
			p.at++
			break
		}
		ranges, single, err := p.element()
		if err != nil {
			return nil, err
		}
		if single && p.at+1 < len(p.text) && p.text[p.at] == '-' && p.text[p.at+1] != ']' {
			p.at++
			last, ok, err := p.element()
			if err != nil {
				return nil, err
			}
			if !ok || last[0] < ranges[0] {
				return nil, errRange
			}
			ranges = []rune{ranges[0], last[0]}
		}
		n.ranges = append(n.ranges, ranges...)
	}
	n.ranges = p.folded(n.ranges)
	if not {
		if n.ranges = others(n.ranges); p.flags.Lines || p.flags.Partial {
			n.ranges = without(n.ranges, '\n')
		}
	}
	return n, nil
}

// element reads one element of a bracket; single tells that it is a character, which may begin a range.
func (p *parser) element() (ranges []rune, single bool, err error) {
	rest := p.text[p.at:]
	if len(rest) > 1 && rest[0] == '[' && strings.IndexByte(":=.", rest[1]) >= 0 {
		kind := rest[1]
		end := strings.Index(rest[2:], string(kind)+"]")
		if end < 0 {
			return nil, false, errBrackets
		}
		name := rest[2 : 2+end]
		p.at += end + 4
		if kind == ':' {
			if ranges = classes[name]; ranges == nil {
				return nil, false, errClass
			}
			if p.flags.Fold && (name == "upper" || name == "lower") {
				ranges = classes["alpha"]
			}
			return ranges, false, nil
		}
		if utf8.RuneCountInString(name) != 1 {
			return nil, false, errCollate
		}
		r, _ := utf8.DecodeRuneInString(name)
		return []rune{r, r}, kind == '.', nil
	}
	if rest[0] == '\\' {
		if len(rest) < 2 {
			return nil, false, errEscape
		}
		if ranges, ok := p.classEscape(); ok {
			return ranges, false, nil
		}
		r, err := p.charEscape()
		return []rune{r, r}, true, err
	}
	r, w := utf8.DecodeRuneInString(rest)
	p.at += w
	return []rune{r, r}, true, nil
}

// folded is the set sorted, and with both cases of its ASCII letters if case does not matter.
func (p *parser) folded(ranges []rune) []rune {
	if p.flags.Fold {
		for c := 'a'; c <= 'z'; c++ {
			small, big := (&node{ranges: ranges}).has(c), (&node{ranges: ranges}).has(c-32)
			if small != big {
				ranges = append(slices.Clone(ranges), c, c, c-32, c-32)
			}
		}
	}
	return sorted(ranges)
}

// sorted is a set with its ranges in order and apart.
func sorted(ranges []rune) []rune {
	pairs := make([][2]rune, 0, len(ranges)/2)
	for i := 0; i < len(ranges); i += 2 {
		pairs = append(pairs, [2]rune{ranges[i], ranges[i+1]})
	}
	slices.SortFunc(pairs, func(a, b [2]rune) int { return int(a[0] - b[0]) })
	var out []rune
	for _, r := range pairs {
		if len(out) > 0 && r[0] <= out[len(out)-1]+1 {
			out[len(out)-1] = max(out[len(out)-1], r[1])
			continue
		}
		out = append(out, r[0], r[1])
	}
	return out
}

// others are all characters that are not in the set.
func others(ranges []rune) []rune {
	var out []rune
	next := rune(0)
	ranges = sorted(ranges)
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i] > next {
			out = append(out, next, ranges[i]-1)
		}
		next = ranges[i+1] + 1
	}
	if next <= utf8.MaxRune {
		out = append(out, next, utf8.MaxRune)
	}
	return out
}

func without(ranges []rune, r rune) []rune { return others(append(others(ranges), r, r)) }
