package format

import (
	"strings"

	"tailrace"
)

// The reading of arrays follows PostgreSQL's array_in: one pass over the braces that finds the dimensions and most errors (braces), one that takes the
// elements (arrayread.go). What the first pass has just seen decides what may come next.
type arraySight uint8

const (
	sawNothing arraySight = iota
	sawOpen               // {
	sawElement            // part of an element without quotes
	sawQuoted             // an opening quote, or what is inside
	sawUnquote            // a closing quote
	sawClose              // }
	sawCommaAfterElement
	sawCommaAfterClose
)

// braces finds the dimensions of text, which begins with {.
type braces struct {
	text         string
	saw          arraySight
	depth, most  int // of braces: now, and at most so far
	some         bool
	lengths      [tailrace.MaxDims]int
	items        [tailrace.MaxDims]int // of the brace that is open at each depth
	before       [tailrace.MaxDims]int // items of the last brace at this depth, 0 when there was none
	whole, ended bool
}

func malformedArray(text, detail string) error {
	err := errorf(codeBadText, "malformed array literal: \"%s\"", text)
	err.Detail = detail
	return err
}

func (b *braces) malformed(detail string) error { return malformedArray(b.text, detail) }

func (b *braces) unexpected(c byte) error {
	return b.malformed("Unexpected \"" + string(rune(c)) + "\" character.")
}

// count returns the length of each dimension, none for an empty array.
func (b *braces) count() ([]int, error) {
	for i := range b.items {
		b.items[i] = 1
	}
	b.most = 1
	i := 0
	for ; !b.ended; i++ {
		b.some = b.some || b.saw == sawElement || b.saw == sawQuoted
		escape := i < len(b.text) && b.text[i] == '\\'
		if i == len(b.text) || escape && i+1 == len(b.text) && b.mayEscape() {
			return nil, b.malformed("Unexpected end of input.")
		}
		if err := b.see(b.text[i]); err != nil {
			return nil, err
		}
		if escape {
			i++
		}
		if b.whole {
			b.lengths[b.most-1]++
			b.whole = false
		}
	}
	if strings.TrimFunc(b.text[i:], func(r rune) bool { return r < 0x80 && arraySpace(byte(r)) }) != "" {
		return nil, b.malformed("Junk after closing right brace.")
	}
	if !b.some {
		return nil, nil
	}
	return b.lengths[:b.most], nil
}

func (b *braces) mayBegin() bool { return b.saw == sawOpen || b.saw == sawCommaAfterElement }

func (b *braces) mayEscape() bool { return b.mayBegin() || b.saw == sawElement || b.saw == sawQuoted }

// see takes the next character; an escaped one follows the backslash that stands for both.
func (b *braces) see(c byte) error {
	switch {
	case c == '\\':
		if !b.mayEscape() {
			return b.unexpected(c)
		}
		if b.saw != sawQuoted {
			b.saw = sawElement
		}
	case c == '"':
		switch {
		case b.saw == sawQuoted:
			b.saw = sawUnquote
		case b.mayBegin():
			b.saw = sawQuoted
		default:
			return b.malformed("Unexpected array element.")
		}
	case b.saw == sawQuoted || arraySpace(c):
	case c == '{':
		return b.open()
	case c == '}':
		return b.close()
	case c == arrayDelimiter:
		return b.delimit()
	case b.mayBegin() || b.saw == sawElement:
		b.saw = sawElement
	default:
		return b.malformed("Unexpected array element.")
	}
	return nil
}

func (b *braces) open() error {
	if b.saw != sawNothing && b.saw != sawOpen && b.saw != sawCommaAfterClose {
		return b.unexpected('{')
	}
	b.saw = sawOpen
	if b.depth == tailrace.MaxDims {
		return tooManyDims(b.depth + 1)
	}
	b.lengths[b.depth] = 0
	b.depth++
	b.most = max(b.most, b.depth)
	return nil
}

// afterItem reports whether something that a delimiter or a brace can end has just been seen.
func (b *braces) afterItem() bool {
	return b.saw == sawElement || b.saw == sawUnquote || b.saw == sawClose
}

func (b *braces) close() error {
	if !b.afterItem() && (b.depth != 1 || b.saw != sawOpen) {
		return b.unexpected('}')
	}
	b.saw = sawClose
	b.depth--
	d := b.depth
	if b.before[d] != 0 && b.items[d] != b.before[d] {
		return b.malformed(unevenArray)
	}
	b.before[d], b.items[d] = b.items[d], 1
	if d == 0 {
		b.ended, b.whole = true, true
	} else {
		b.lengths[d-1]++
	}
	return nil
}

const unevenArray = "Multidimensional arrays must have sub-arrays with matching dimensions."

func (b *braces) delimit() error {
	if !b.afterItem() {
		return b.unexpected(arrayDelimiter)
	}
	if b.saw == sawClose {
		b.saw = sawCommaAfterClose
	} else {
		b.saw = sawCommaAfterElement
	}
	b.whole = true
	b.items[b.depth-1]++
	return nil
}
