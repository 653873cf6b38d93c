package parse

import pg_query "github.com/pganalyze/pg_query_go/v6"

// pgAll is how many rows PostgreSQL's grammar gives a FETCH ALL.
const pgAll = int64(1<<63 - 1)

// fetch reads FETCH and MOVE: WITH (TIMEOUT = ...) here, the rest by PostgreSQL's grammar.
func (p *parser) fetch() error {
	f := &Fetch{Move: p.at(0, "MOVE")}
	text := p.text
	if i := p.find("WITH"); i > 0 {
		p.i = i + 1
		if err := p.timeout(f); err != nil {
			return err
		}
		text = p.blank(text, p.toks[i].start, p.toks[p.i-1].end, "")
		if err := p.end(); err != nil {
			return err
		}
	}
	tree, err := grammar(text)
	if err != nil {
		return p.relocate(err, text)
	}
	n := tree[0].Stmt.GetFetchStmt()
	f.Cursor, f.Count = n.GetPortalname(), n.GetHowMany()
	switch {
	case n.GetDirection() != pg_query.FetchDirection_FETCH_FORWARD || f.Count < 0:
		f.Backward = true
	case f.Count == pgAll:
		f.Count = All
	}
	p.st.Fetch = f
	return nil
}

// timeout reads (TIMEOUT [=] '1s').
func (p *parser) timeout(f *Fetch) (err error) {
	if err := p.expect("(", "TIMEOUT"); err != nil {
		return err
	}
	p.accept("=")
	f.HasTimeout, f.TimeoutLoc = true, p.loc()
	sign := ""
	if p.accept("-") {
		sign = "-"
	}
	switch {
	case p.i < len(p.toks) && (p.toks[p.i].kind == pg_query.Token_ICONST || p.toks[p.i].kind == pg_query.Token_FCONST):
		f.Timeout = sign + p.toks[p.i].text
		p.i++
	case sign != "":
		return p.unexpected()
	default:
		if f.Timeout, err = p.str(); err != nil {
			return err
		}
	}
	return p.expect(")")
}
