package parse

// withRetain reads a CREATE or ALTER of PostgreSQL's own that may hold RETAIN HISTORY, which PostgreSQL's grammar must not see.
func (p *parser) withRetain() error {
	i := p.retainAt()
	if i < 0 {
		return p.postgres(p.text)
	}
	if p.at(0, "ALTER") {
		return p.alterRetain()
	}
	p.i = i
	r, err := p.retain(false)
	if err != nil {
		return err
	}
	p.st.Retain = r
	from, to := i, p.i // tokens to blank
	switch {
	case p.at(to, ","):
		to++
	case p.at(from-1, ","):
		from--
	case p.at(from-1, "(") && p.at(to, ")") && p.at(from-2, "WITH"):
		from, to = from-2, to+1
	}
	text := p.blank(p.text, p.toks[from].start, p.toks[to-1].end, "")
	return p.postgres(text)
}

// retainAt is the token where RETAIN HISTORY begins, -1 when the statement has none.
func (p *parser) retainAt() int {
	for i := 1; i < len(p.toks); i++ {
		if p.at(i, "RETAIN") && p.at(i+1, "HISTORY") && (p.at(i-1, "(") || p.at(i-1, ",")) {
			if p.at(i-2, "RESET") || p.at(i+2, "FOR") || p.at(i+2, "=") {
				return i
			}
		}
	}
	return -1
}

// retain reads RETAIN HISTORY [=] [FOR '...'].
func (p *parser) retain(reset bool) (r *Retain, err error) {
	r = &Retain{Reset: reset}
	if err := p.expect("RETAIN", "HISTORY"); err != nil {
		return nil, err
	}
	if reset {
		return r, nil
	}
	p.accept("=")
	if err := p.expect("FOR"); err != nil {
		return nil, err
	}
	r.Loc = p.loc()
	r.For, err = p.str()
	return r, err
}

// alterRetain reads ALTER TABLE [IF EXISTS] [ONLY] name SET | RESET (RETAIN HISTORY ...).
func (p *parser) alterRetain() error {
	p.i = 1
	if err := p.expect("TABLE"); err != nil {
		return err
	}
	missingOK := p.accept("IF", "EXISTS")
	p.accept("ONLY")
	n, err := p.name()
	if err != nil {
		return err
	}
	r, err := p.setRetain()
	if err != nil {
		return err
	}
	r.Table, r.IfExists = &n, missingOK
	p.st.Retain = r
	return p.end()
}

// setRetain reads SET | RESET (RETAIN HISTORY ...).
func (p *parser) setRetain() (*Retain, error) {
	reset := p.accept("RESET")
	if !reset {
		if err := p.expect("SET"); err != nil {
			return nil, err
		}
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	r, err := p.retain(reset)
	if err != nil {
		return nil, err
	}
	r.Only = true
	return r, p.expect(")")
}
