// Package are matches PostgreSQL's advanced regular expressions (ARE), exactly.
//
// They are POSIX expressions with most of Perl's escapes, but not Perl's meaning. An expression prefers the longest match of the leftmost
// ones, or the shortest, and what it prefers is a property of its parts: the first quantifier of a branch that has a preference speaks for the
// branch, and alternatives together prefer the longest. Only once the match is known is it divided among the parts, each part taking as much
// (or as little) as it prefers while the parts behind it can still match. So 'xyz' against (x|xy)(z|yz) gives xy and z, where Perl gives x and
// yz. PostgreSQL's manual says it in section 9.7.3.5.
//
//	pattern ──parse──▶ tree ──┬─▶ an expression for Go's regexp, to find matches in linear time, where it has the same meaning
//	                          └─▶ sets of ends: where can this node end if it begins there? For the rest, and to divide a match
//
// Letters, digits and blanks are those of ASCII, and case is, as in PostgreSQL with the locale C. Back references are refused.
package are

import (
	"errors"
	"regexp"
	"unicode/utf8"
)

// ErrUnsupported is wrapped by errors for expressions that PostgreSQL knows and this package does not.
var ErrUnsupported = errors.New("not supported")

// ErrTooComplex tells that a match took more steps than maxSteps.
var ErrTooComplex = errors.New("regular expression is too complex")

// Error is what is wrong with an expression, in PostgreSQL's words.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

// Flags are the embedded options that also functions take as letters.
type Flags struct {
	Fold    bool // i: letters match without regard to case
	Literal bool // q: no character is special
	Extend  bool // x: blanks and comments are left out
	Lines   bool // n: ^ and $ match at lines, . and [^...] no line feed
	Partial bool // p: . and [^...] match no line feed
	Weird   bool // w: ^ and $ match at lines
}

// Regexp is a compiled expression. It may be used by several goroutines.
type Regexp struct {
	root   *node
	nodes  int
	groups int // capturing ones
	// fast finds matches in linear time: as long as possible. nil when Go's syntax cannot say it.
	fast    *regexp.Regexp
	context bool // has constraints that look at what surrounds a position
	short   bool // prefers the shortest match
}

// Compile reads an expression.
func Compile(pattern string, flags Flags) (*Regexp, error) {
	p := &parser{text: pattern, flags: flags}
	root, err := p.parse()
	if err != nil {
		return nil, err
	}
	re := &Regexp{root: root, nodes: p.nodes, groups: p.groups, context: p.context, short: root.prefers() == shortest}
	if text, ok := root.goSyntax(); ok {
		if re.fast, err = regexp.Compile(text); err != nil {
			re.fast = nil // too many repetitions for Go: sets of ends do it
		} else {
			re.fast.Longest()
		}
	}
	return re, nil
}

// Groups is the number of capturing groups.
func (re *Regexp) Groups() int { return re.groups }

// Match reports whether text has a match.
func (re *Regexp) Match(text []byte) (bool, error) {
	if re.fast != nil {
		return re.fast.Match(text), nil
	}
	from, _, err := re.span(text, 0)
	return from >= 0, err
}

// Find is the first match at or behind the byte from: the offsets of begin and end of the match and of each group, -1 for a group that took
// no part; nil when there is none.
func (re *Regexp) Find(text []byte, from int) ([]int, error) {
	begin, end, err := re.span(text, from)
	if begin < 0 || err != nil {
		return nil, err
	}
	m := &matcher{re: re, text: text, limit: end}
	m.groups = make([]int, 2*re.groups+2)
	for i := range m.groups {
		m.groups[i] = -1
	}
	m.groups[0], m.groups[1] = begin, end
	if re.groups > 0 {
		m.dissect(re.root, begin, end)
	}
	return m.groups, m.err
}

// span is where the first match begins and ends; begin is -1 when there is none.
func (re *Regexp) span(text []byte, from int) (begin, end int, err error) {
	m := &matcher{re: re, text: text, limit: len(text)}
	if re.fast != nil && (from == 0 || !re.context) {
		at := re.fast.FindIndex(text[from:])
		if at == nil {
			return -1, -1, nil
		}
		begin, end = at[0]+from, at[1]+from
		if re.short {
			ends := m.ends(re.root, begin)
			if m.err != nil || len(ends) == 0 {
				return -1, -1, m.err
			}
			end = ends[0]
		}
		return begin, end, nil
	}
	for begin = from; begin <= len(text); begin++ {
		if begin < len(text) && !utf8.RuneStart(text[begin]) {
			continue
		}
		ends := m.ends(re.root, begin)
		if m.err != nil {
			return -1, -1, m.err
		}
		if len(ends) > 0 {
			if re.short {
				return begin, ends[0], nil
			}
			return begin, ends[len(ends)-1], nil
		}
	}
	return -1, -1, nil
}
