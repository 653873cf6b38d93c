package are

import (
	"slices"
	"unicode/utf8"
)

// maxSteps bounds the positions that one search looks at.
const maxSteps = 20_000_000

// matcher is one search.
type matcher struct {
	re     *Regexp
	text   []byte
	limit  int // no match ends behind it
	known  map[[2]int][]int
	steps  int
	groups []int
	err    error
}

// ends are all positions where n can end when it begins at i, in order.
func (m *matcher) ends(n *node, i int) []int {
	if m.steps++; m.steps > maxSteps {
		m.err = ErrTooComplex
	}
	if m.err != nil {
		return nil
	}
	switch n.op {
	case opEmpty:
		return []int{i}
	case opSet:
		if i < m.limit {
			if r, w := utf8.DecodeRune(m.text[i:]); n.has(r) && i+w <= m.limit {
				return []int{i + w}
			}
		}
		return nil
	case opGroup:
		return m.ends(n.kids[0], i)
	case opAssert:
		if m.holds(n.what, i) {
			return []int{i}
		}
		return nil
	case opLook:
		if m.looks(n, i) {
			return []int{i}
		}
		return nil
	}
	at := [2]int{n.id, i}
	if e, ok := m.known[at]; ok {
		return e
	}
	var out []int
	switch n.op {
	case opAlt:
		for _, k := range n.kids {
			out = append(out, m.ends(k, i)...)
		}
	case opCat:
		out = []int{i}
		for _, k := range n.kids {
			out = m.after(k, out)
		}
	case opRepeat:
		out = m.repeated(n, i)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if m.known == nil {
		m.known = map[[2]int][]int{}
	}
	m.known[at] = out
	return out
}

// after are the ends of n from any of the positions.
func (m *matcher) after(n *node, from []int) []int {
	var out []int
	for _, i := range from {
		out = append(out, m.ends(n, i)...)
		m.steps += len(out)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// repeated are the ends of a repetition: rounds go on until no new position comes.
func (m *matcher) repeated(n *node, i int) []int {
	round := []int{i}
	for range n.min {
		if round = m.after(n.kids[0], round); len(round) == 0 {
			return nil
		}
	}
	seen := map[int]bool{}
	for _, e := range round {
		seen[e] = true
	}
	out := slices.Clone(round)
	for k := n.min; (n.max < 0 || k < n.max) && len(round) > 0 && m.err == nil; k++ {
		var fresh []int
		for _, e := range m.after(n.kids[0], round) {
			if !seen[e] {
				seen[e] = true
				fresh = append(fresh, e)
			}
		}
		out, round = append(out, fresh...), fresh
	}
	return out
}

func (m *matcher) looks(n *node, i int) bool {
	limit := m.limit
	m.limit = len(m.text)
	known := m.known
	m.known = nil // ends are other ones with this limit
	found := false
	if n.behind {
		for k := i; k >= 0 && !found; k-- {
			found = slices.Contains(m.ends(n.kids[0], k), i)
		}
	} else {
		found = len(m.ends(n.kids[0], i)) > 0
	}
	m.limit, m.known = limit, known
	return found == (n.what == '=')
}

// holds reports whether a constraint holds at position i of the whole text.
func (m *matcher) holds(what byte, i int) bool {
	before, behind := i > 0 && wordByte(m.text[i-1]), i < len(m.text) && wordByte(m.text[i])
	switch what {
	case '^', 'A':
		return i == 0
	case '$', 'Z':
		return i == len(m.text)
	case 'l':
		return i == 0 || m.text[i-1] == '\n'
	case 'r':
		return i == len(m.text) || m.text[i] == '\n'
	case 'm':
		return !before && behind
	case 'M':
		return before && !behind
	case 'y':
		return before != behind
	}
	return before == behind // Y
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
