package are

import "slices"

// dissect divides text[i:j], which n matches, among n's parts, and notes the groups.
func (m *matcher) dissect(n *node, i, j int) {
	if m.err != nil || !n.captures() {
		return
	}
	switch n.op {
	case opGroup:
		m.groups[2*n.index], m.groups[2*n.index+1] = i, j
		m.dissect(n.kids[0], i, j)
	case opAlt:
		for _, k := range n.kids {
			if m.exactly(k, i, j) {
				m.dissect(k, i, j)
				return
			}
		}
	case opCat:
		m.concat(n.kids, i, j)
	case opRepeat:
		m.iterate(n, i, j)
	}
}

// exactly reports whether n matches text[i:j] as a whole.
func (m *matcher) exactly(n *node, i, j int) bool {
	_, found := slices.BinarySearch(m.ends(n, i), j)
	return found
}

// concat gives each of the parts as much or as little as it prefers, if the parts behind it can take the rest.
func (m *matcher) concat(parts []*node, i, j int) {
	for k, part := range parts {
		if k == len(parts)-1 {
			m.dissect(part, i, j)
			return
		}
		ends := slices.Clone(m.ends(part, i))
		if part.prefers() != shortest {
			slices.Reverse(ends)
		}
		for _, e := range ends {
			if e <= j && m.follow(parts[k+1:], e, j) {
				m.dissect(part, i, e)
				i = e
				break
			}
		}
	}
}

// follow reports whether the parts, one behind the other, match text[i:j].
func (m *matcher) follow(parts []*node, i, j int) bool {
	at := []int{i}
	for _, p := range parts {
		at = m.after(p, at)
	}
	_, found := slices.BinarySearch(at, j)
	return found
}

// iterate divides text[i:j] into rounds of a repetition that may have none. A group inside keeps what its last round matched. Where there is
// nothing to divide, a part that does not prefer to be short still gets a round, as PostgreSQL gives it one.
func (m *matcher) iterate(n *node, i, j int) {
	if i == j {
		if n.max != 0 && n.kids[0].prefers() != shortest && m.exactly(n.kids[0], i, i) {
			m.dissect(n.kids[0], i, i)
		}
		return
	}
	type place struct{ round, at int }
	dead := map[place]bool{}
	lazy := n.kids[0].prefers() == shortest
	var cuts []int
	var walk func(round, at int) bool
	walk = func(round, at int) bool {
		if m.err != nil || dead[place{round, at}] {
			return false
		}
		ends := slices.Clone(m.ends(n.kids[0], at))
		if !lazy {
			slices.Reverse(ends)
		}
		for _, e := range ends {
			if e > j || e == at {
				continue
			}
			cuts = append(cuts, e)
			if e == j || (n.max < 0 || round < n.max) && walk(round+1, e) {
				return true
			}
			cuts = cuts[:len(cuts)-1]
		}
		dead[place{round, at}] = true
		return false
	}
	if !walk(1, i) {
		return
	}
	for _, e := range cuts {
		m.forget(n.kids[0])
		m.dissect(n.kids[0], i, e)
		i = e
	}
}

// forget clears the groups in n before another round.
func (m *matcher) forget(n *node) {
	if n.op == opGroup {
		m.groups[2*n.index], m.groups[2*n.index+1] = -1, -1
	}
	for _, k := range n.kids {
		m.forget(k)
	}
}
