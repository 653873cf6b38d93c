package are

import (
	"strings"
	"unicode/utf8"
)

// parser reads an expression by recursive descent: alternatives of branches of quantified atoms.
type parser struct {
	text    string
	at      int
	flags   Flags
	nodes   int
	groups  int
	depth   int
	context bool
}

// maxNesting bounds parentheses within parentheses.
const maxNesting = 500

var (
	errParens   = &Error{"parentheses () not balanced"}
	errBrackets = &Error{"brackets [] not balanced"}
	errOperand  = &Error{"quantifier operand invalid"}
	errCount    = &Error{"invalid repetition count(s)"}
	errEscape   = &Error{"invalid escape \\ sequence"}
	errRange    = &Error{"invalid character range"}
	errClass    = &Error{"invalid character class"}
	errCollate  = &Error{"invalid collating element"}
	errOption   = &Error{"invalid embedded option"}
	errBraces   = &Error{"braces {} not balanced"}
)

func (p *parser) make(o op, kids ...*node) *node {
	p.nodes++
	return &node{op: o, id: p.nodes, kids: kids}
}

func (p *parser) parse() (*node, error) {
	if err := p.prefix(); err != nil {
		return nil, err
	}
	if p.flags.Literal {
		return p.literal(), nil
	}
	n, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if p.at < len(p.text) { // only a closing parenthesis ends alternatives early
		return nil, errParens
	}
	return n, nil
}

// prefix reads *** directors and (?options).
func (p *parser) prefix() error {
	if strings.HasPrefix(p.text, "***") {
		switch {
		case strings.HasPrefix(p.text, "***="):
			p.flags.Literal, p.at = true, 4
			return nil
		case strings.HasPrefix(p.text, "***:"):
			p.at = 4
		default:
			return errOperand
		}
	}
	if p.flags.Literal || !strings.HasPrefix(p.text[p.at:], "(?") || len(p.text) < p.at+3 || p.text[p.at+2] < 'a' || p.text[p.at+2] > 'z' {
		return nil
	}
	end := strings.IndexByte(p.text[p.at:], ')')
	if end < 0 {
		return errOption
	}
	for _, c := range p.text[p.at+2 : p.at+end] {
		if !p.flags.Set(c) {
			return errOption
		}
	}
	p.at += end + 1
	return nil
}

// Set turns on the option that a letter stands for; it reports false for an unknown letter. b and e, other kinds of expressions, are
// unknown.
func (f *Flags) Set(letter rune) bool {
	switch letter {
	case 'c':
		f.Fold = false
	case 'i':
		f.Fold = true
	case 'n', 'm':
		f.Lines, f.Partial, f.Weird = true, false, false
	case 'p':
		f.Lines, f.Partial, f.Weird = false, true, false
	case 'w':
		f.Lines, f.Partial, f.Weird = false, false, true
	case 's':
		f.Lines, f.Partial, f.Weird = false, false, false
	case 'q':
		f.Literal = true
	case 't':
		f.Extend = false
	case 'x':
		f.Extend = true
	default:
		return false
	}
	return true
}

func (p *parser) literal() *node {
	n := p.make(opCat)
	for _, r := range p.text[p.at:] {
		n.kids = append(n.kids, p.char(r))
	}
	return n
}

// char is a set of one character, and of its other case if case does not matter.
func (p *parser) char(r rune) *node {
	n := p.make(opSet)
	n.ranges = p.folded([]rune{r, r})
	return n
}

func (p *parser) more() bool {
	if p.flags.Extend {
		p.skip()
	}
	return p.at < len(p.text)
}

// skip passes blanks and comments of expanded syntax.
func (p *parser) skip() {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case strings.IndexByte(" \t\n\r\f\v", c) >= 0:
			p.at++
		case c == '#':
			end := strings.IndexByte(p.text[p.at:], '\n')
			if end < 0 {
				end = len(p.text) - p.at
			}
			p.at += end
		default:
			return
		}
	}
}

func (p *parser) alternatives() (*node, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, &Error{"nesting too deep"}
	}
	defer func() { p.depth-- }()
	first, err := p.branch()
	if err != nil {
		return nil, err
	}
	if !p.more() || p.text[p.at] != '|' {
		return first, nil
	}
	n := p.make(opAlt, first)
	for p.more() && p.text[p.at] == '|' {
		p.at++
		b, err := p.branch()
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, b)
	}
	return n, nil
}

func (p *parser) branch() (*node, error) {
	n := p.make(opCat)
	for p.more() && p.text[p.at] != '|' && p.text[p.at] != ')' {
		if p.quantifierNext() {
			return nil, errOperand
		}
		atom, constraint, err := p.atom()
		if err != nil {
			return nil, err
		}
		if p.more() && p.quantifierNext() {
			if constraint {
				return nil, errOperand
			}
			if atom, err = p.quantified(atom); err != nil {
				return nil, err
			}
			if p.more() && p.quantifierNext() {
				return nil, errOperand
			}
		}
		if atom != nil {
			n.kids = append(n.kids, atom)
		}
	}
	switch len(n.kids) {
	case 0:
		return p.make(opEmpty), nil
	case 1:
		return n.kids[0], nil
	}
	return n, nil
}

// atom reads one atom or constraint. It may be nil: a comment.
func (p *parser) atom() (n *node, constraint bool, err error) {
	c := p.text[p.at]
	switch c {
	case '(':
		return p.parenthesis()
	case '[':
		if strings.HasPrefix(p.text[p.at:], "[[:<:]]") || strings.HasPrefix(p.text[p.at:], "[[:>:]]") {
			what := map[byte]byte{'<': 'm', '>': 'M'}[p.text[p.at+3]]
			p.at += 7
			return p.assert(what), true, nil
		}
		n, err = p.bracket()
		return n, false, err
	case '^', '$':
		p.at++
		if p.flags.Lines || p.flags.Weird {
			c = map[byte]byte{'^': 'l', '$': 'r'}[c]
		}
		return p.assert(c), true, nil
	case '.':
		p.at++
		n = p.make(opSet)
		if n.ranges = []rune{0, utf8.MaxRune}; p.flags.Lines || p.flags.Partial {
			n.ranges = []rune{0, '\n' - 1, '\n' + 1, utf8.MaxRune}
		}
		return n, false, nil
	case '\\':
		return p.escape()
	}
	r, w := utf8.DecodeRuneInString(p.text[p.at:])
	p.at += w
	return p.char(r), false, nil
}

func (p *parser) assert(what byte) *node {
	p.context = true
	n := p.make(opAssert)
	n.what = what
	return n
}
