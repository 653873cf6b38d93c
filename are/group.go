package are

import (
	"fmt"
	"strings"
)

func (p *parser) parenthesis() (*node, bool, error) {
	rest := p.text[p.at:]
	n := p.make(opGroup)
	skip, constraint := 1, false
	switch {
	case strings.HasPrefix(rest, "(?:"):
		skip = 3
		n = nil
	case strings.HasPrefix(rest, "(?#"):
		end := strings.IndexByte(rest, ')')
		if end < 0 {
			return nil, false, errParens
		}
		p.at += end + 1
		return nil, true, nil
	case strings.HasPrefix(rest, "(?="), strings.HasPrefix(rest, "(?!"):
		skip, constraint = 3, true
		n.op, n.what = opLook, rest[2]
	case strings.HasPrefix(rest, "(?<="), strings.HasPrefix(rest, "(?<!"):
		skip, constraint = 4, true
		n.op, n.what, n.behind = opLook, rest[3], true
	case strings.HasPrefix(rest, "(?"):
		return nil, false, errOperand
	default:
		p.groups++
		n.index = p.groups
	}
	p.at += skip
	before := p.groups
	inner, err := p.alternatives()
	if err != nil {
		return nil, false, err
	}
	if p.at >= len(p.text) {
		return nil, false, errParens
	}
	p.at++
	if n == nil {
		return inner, false, nil
	}
	if constraint {
		p.context = true
		if p.groups > before { // parentheses in a lookaround capture nothing
			return nil, false, fmt.Errorf("capturing parentheses in a lookaround constraint are %w", ErrUnsupported)
		}
	}
	n.kids = []*node{inner}
	return n, constraint, nil
}
