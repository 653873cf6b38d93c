package parse

import (
	"strings"
)

func (p *parser) statementSubscribe() error {
	s, err := p.subscribe()
	if err != nil {
		return err
	}
	p.st.Subscribe = s
	return p.end()
}

func (p *parser) explainSubscribe() error {
	p.i = 1
	s, err := p.subscribe()
	if err != nil {
		return err
	}
	p.st.ExplainSubscribe = s
	return p.end()
}

// copySubscribe reads COPY (SUBSCRIBE ...) TO STDOUT ...: PostgreSQL's grammar sees a SELECT in its place.
func (p *parser) copySubscribe() error {
	p.i = 2
	s, err := p.subscribe()
	if err != nil {
		return err
	}
	if !p.at(p.i, ")") {
		return p.unexpected()
	}
	text := p.blank(p.text, p.toks[2].start, p.toks[p.i].start, "SELECT 1")
	tree, err := grammar(text)
	if err != nil {
		return p.relocate(err, text)
	}
	c := tree[0].Stmt.GetCopyStmt()
	if c.GetIsProgram() || c.GetFilename() != "" || c.GetIsFrom() {
		return p.unexpectedAt(p.i + 2)
	}
	p.st.CopySubscribe = &CopySubscribe{Subscribe: s, Options: c.GetOptions()}
	return nil
}

// PostgreSQL's bits of DeclareCursorStmt.options.
const (
	cursorBinary = 1
	cursorScroll = 2
	cursorHold   = 32
)

// declareSubscribe reads DECLARE ... FOR SUBSCRIBE ...; token i is FOR.
func (p *parser) declareSubscribe(i int) error {
	text := p.blank(p.text, p.toks[i+1].start, len(strings.TrimSuffix(p.text, ";")), "SELECT 1")
	tree, err := grammar(text)
	if err != nil {
		return p.relocate(err, text)
	}
	d := tree[0].Stmt.GetDeclareCursorStmt()
	p.i = i + 1
	s, err := p.subscribe()
	if err != nil {
		return err
	}
	p.st.DeclareSubscribe = &DeclareSubscribe{
		Cursor: d.GetPortalname(), Hold: d.GetOptions()&cursorHold != 0, Binary: d.GetOptions()&cursorBinary != 0, Subscribe: s,
	}
	return p.end()
}

// subscribe reads from SUBSCRIBE to the last of its clauses, which may come in any order, each once.
func (p *parser) subscribe() (*Subscribe, error) {
	p.i++
	s := &Subscribe{Snapshot: true}
	p.accept("TO")
	if err := p.subject(s); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for p.i < len(p.toks) {
		var clause string
		switch {
		case p.at(p.i, "ENVELOPE"), p.at(p.i, "WITHIN"):
			clause = "output"
		case p.at(p.i, "WITH"), p.at(p.i, "AS"), p.at(p.i, "UP"):
			clause = p.toks[p.i].word
		default:
			return s, nil
		}
		if seen[clause] {
			return nil, p.unexpected()
		}
		seen[clause] = true
		if err := p.clause(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// subject reads what is subscribed to.
func (p *parser) subject(s *Subscribe) error {
	if !p.at(p.i, "(") {
		n, err := p.name()
		s.Object = &n
		return err
	}
	end := p.match(p.i)
	if end < 0 {
		return p.unexpectedAt(len(p.toks))
	}
	from, to := p.toks[p.i].end, p.toks[end].start
	text := strings.Repeat(" ", from) + p.text[from:to]
	tree, err := grammar(text)
	if err != nil {
		return p.inner(err, text, end)
	}
	if len(tree) != 1 || tree[0].Stmt.GetSelectStmt() == nil {
		return p.unexpectedAt(p.i + 1)
	}
	s.Query, s.QueryText = tree[0].Stmt, text
	p.i = end + 1
	return nil
}
