package are

// quantifierNext reports whether a quantifier begins here; a brace without a digit is a plain character.
func (p *parser) quantifierNext() bool {
	switch p.text[p.at] {
	case '*', '+', '?':
		return true
	case '{':
		return p.at+1 < len(p.text) && p.text[p.at+1] >= '0' && p.text[p.at+1] <= '9'
	}
	return false
}

// maxRepeat is the most that a bound may say, PostgreSQL's DUPMAX.
const maxRepeat = 255

func (p *parser) quantified(atom *node) (*node, error) {
	n := p.make(opRepeat, atom)
	c := p.text[p.at]
	p.at++
	switch c {
	case '*':
		n.max = -1
	case '+':
		n.min, n.max = 1, -1
	case '?':
		n.max = 1
	default:
		if err := p.bound(n); err != nil {
			return nil, err
		}
	}
	if p.at < len(p.text) && p.text[p.at] == '?' {
		n.lazy = true
		p.at++
	}
	if n.min > 0 && atom.captures() {
		return p.unrolled(n), nil
	}
	return n, nil
}

// unrolled is x{m,n} as x{m-1,n-1}x, where only the last x captures: PostgreSQL divides a match that way.
func (p *parser) unrolled(n *node) *node {
	before := p.make(opRepeat, p.plain(n.kids[0]))
	before.min, before.max, before.lazy, before.index = n.min-1, n.max, n.lazy, n.index
	if n.max > 0 {
		before.max--
	}
	return p.make(opCat, before, n.kids[0])
}

// plain is a copy of n that captures nothing.
func (p *parser) plain(n *node) *node {
	if n.op == opGroup {
		return p.plain(n.kids[0])
	}
	c := *n
	p.nodes++
	c.id, c.kids = p.nodes, nil
	for _, k := range n.kids {
		c.kids = append(c.kids, p.plain(k))
	}
	return &c
}

// bound reads m}, m,} or m,n}.
func (p *parser) bound(n *node) error {
	var err error
	if n.min, err = p.count(); err != nil {
		return err
	}
	n.max = n.min
	n.index = fixedCount
	if p.at < len(p.text) && p.text[p.at] == ',' {
		p.at++
		n.max, n.index = -1, 0
		if p.at < len(p.text) && p.text[p.at] != '}' {
			if n.max, err = p.count(); err != nil {
				return err
			}
			if n.max < n.min {
				return errCount
			}
		}
	}
	switch {
	case p.at >= len(p.text):
		return errBraces
	case p.text[p.at] != '}':
		return errCount
	}
	p.at++
	return nil
}

func (p *parser) count() (int, error) {
	v, from := 0, p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		v = v*10 + int(p.text[p.at]-'0')
		if p.at++; v > maxRepeat {
			return 0, errCount
		}
	}
	if p.at == from {
		return 0, errCount
	}
	return v, nil
}
