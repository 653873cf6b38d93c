package are

import (
	"fmt"
	"slices"
	"strings"
)

// op is what a node of the tree does.
type op uint8

const (
	opEmpty  op = iota // matches nothing, at once
	opSet              // one character of ranges
	opCat              // kids one behind the other
	opAlt              // one of the kids
	opRepeat           // the kid min to max times
	opGroup            // the kid, remembered as group number index
	opAssert           // a constraint of kind what
	opLook             // the kid matches from here on (what '='), or does not ('!'); behind: up to here
)

type node struct {
	op       op
	id       int
	ranges   []rune // pairs, sorted
	kids     []*node
	min, max int // max is infinite below 0
	lazy     bool
	index    int
	what     byte // of opAssert: ^ $ A Z m M y Y, and l, r for ^ and $ at lines
	behind   bool
}

// preference says which of several matches a part takes.
type preference uint8

const (
	none preference = iota
	longest
	shortest
)

func (n *node) prefers() preference {
	switch n.op {
	case opGroup:
		return n.kids[0].prefers()
	case opAlt:
		return longest
	case opCat:
		for _, k := range n.kids {
			if p := k.prefers(); p != none {
				return p
			}
		}
	case opRepeat:
		if n.min == n.max && n.index == fixedCount {
			return n.kids[0].prefers()
		}
		if n.lazy {
			return shortest
		}
		return longest
	}
	return none
}

// captures reports whether there is a group in n.
func (n *node) captures() bool {
	return n.op == opGroup || slices.ContainsFunc(n.kids, (*node).captures)
}

// fixedCount in index of a repetition tells that it was written {m}, which has no preference of its own; {m,m} has.
const fixedCount = 1

// goSyntax is the expression in the syntax of Go's regexp. ok is false when that has no word for a part.
func (n *node) goSyntax() (text string, ok bool) {
	switch n.op {
	case opEmpty:
		return "(?:)", true
	case opSet:
		return n.goSet(), true
	case opAssert:
		text, ok = map[byte]string{'^': `\A`, 'A': `\A`, '$': `\z`, 'Z': `\z`, 'l': `(?m:^)`, 'r': `(?m:$)`, 'y': `\b`, 'Y': `\B`}[n.what]
		return text, ok
	case opLook:
		return "", false
	}
	var parts []string
	for _, k := range n.kids {
		t, ok := k.goSyntax()
		if !ok {
			return "", false
		}
		parts = append(parts, t)
	}
	switch n.op {
	case opAlt:
		return "(?:" + strings.Join(parts, "|") + ")", true
	case opRepeat:
		bound := fmt.Sprintf("{%d,%d}", n.min, n.max)
		switch {
		case n.max < 0 && n.min == 0:
			bound = "*"
		case n.max < 0:
			bound = fmt.Sprintf("{%d,}", n.min)
		}
		return "(?:" + parts[0] + ")" + bound, true
	}
	return strings.Join(parts, ""), true
}

func (n *node) goSet() string {
	if len(n.ranges) == 0 {
		return `[^\x00-\x{10FFFF}]`
	}
	var b strings.Builder
	b.WriteByte('[')
	for i := 0; i < len(n.ranges); i += 2 {
		fmt.Fprintf(&b, `\x{%X}-\x{%X}`, n.ranges[i], n.ranges[i+1])
	}
	b.WriteByte(']')
	return b.String()
}

// has reports whether r is one of a set's characters.
func (n *node) has(r rune) bool {
	for i := 0; i < len(n.ranges); i += 2 {
		if r >= n.ranges[i] && r <= n.ranges[i+1] {
			return true
		}
	}
	return false
}
