package parse

import (
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

func (p *parser) clause(s *Subscribe) (err error) {
	switch {
	case p.accept("ENVELOPE"):
		return p.envelope(s)
	case p.accept("WITHIN"):
		return p.order(s)
	case p.accept("WITH"):
		return p.options(s)
	case p.accept("AS", "OF"):
		s.AtLeast = p.accept("AT", "LEAST")
		s.AsOf, err = p.timestamp()
	case p.accept("UP", "TO"):
		s.UpTo, err = p.timestamp()
	default: // AS or UP without its second word
		p.i++
		return p.unexpected()
	}
	return err
}

// timestamp reads an expression that ends where the next clause begins.
func (p *parser) timestamp() (*pg_query.Node, error) {
	from := p.i
	p.i = p.clauseEnd(from)
	return p.expression(from, p.i)
}

// clauseEnd is the first token from i on that belongs to the next clause, or closes the parenthesis that the statement is in.
func (p *parser) clauseEnd(i int) int {
	for depth := 0; i < len(p.toks); i++ {
		switch {
		case p.at(i, "("):
			depth++
		case p.at(i, ")"):
			if depth--; depth < 0 {
				return i
			}
		case depth > 0:
		case p.at(i, "ENVELOPE"), p.at(i, "WITHIN"), p.at(i, "WITH") && p.at(i+1, "("), p.at(i, "AS") && p.at(i+1, "OF"), p.at(i, "UP") && p.at(i+1, "TO"):
			return i
		}
	}
	return i
}

// envelope reads UPSERT | DEBEZIUM (KEY (col, ...)).
func (p *parser) envelope(s *Subscribe) error {
	switch {
	case p.accept("UPSERT"):
		s.Envelope = EnvelopeUpsert
	case p.accept("DEBEZIUM"):
		s.Envelope = EnvelopeDebezium
	default:
		return p.unexpected()
	}
	if err := p.expect("(", "KEY", "("); err != nil {
		return err
	}
	for {
		k := KeyColumn{Loc: p.loc()}
		var err error
		if k.Name, err = p.identifier(); err != nil {
			return err
		}
		s.Key = append(s.Key, k)
		if !p.accept(",") {
			return p.expect(")", ")")
		}
	}
}

// order reads TIMESTAMP ORDER BY term, ....
func (p *parser) order(s *Subscribe) error {
	if err := p.expect("TIMESTAMP", "ORDER", "BY"); err != nil {
		return err
	}
	for {
		t, err := p.term()
		if err != nil {
			return err
		}
		s.OrderBy = append(s.OrderBy, t)
		if !p.accept(",") {
			return nil
		}
	}
}

func (p *parser) term() (OrderTerm, error) {
	t := OrderTerm{Loc: p.loc()}
	from, end := p.i, p.termEnd()
	if _, err := p.expression(from, end); err != nil {
		return t, err
	}
	if end == from+1 {
		if tok := p.toks[from]; tok.kind == pg_query.Token_ICONST {
			n, err := strconv.Atoi(tok.text)
			if err != nil {
				return t, p.unexpectedAt(from)
			}
			t.Number = n
		} else if name, err := p.identifier(); err == nil {
			t.Column = name
		}
	}
	p.i = end
	if p.accept("DESC") {
		t.Desc = true
	} else {
		p.accept("ASC")
	}
	t.NullsFirst = t.Desc
	switch {
	case p.accept("NULLS", "FIRST"):
		t.NullsFirst = true
	case p.accept("NULLS", "LAST"):
		t.NullsFirst = false
	}
	return t, nil
}

// termEnd is the token after the expression of an ORDER BY term that begins here.
func (p *parser) termEnd() int {
	last := p.clauseEnd(p.i)
	for i, depth := p.i, 0; i < last; i++ {
		switch {
		case p.at(i, "("):
			depth++
		case p.at(i, ")"):
			depth--
		case depth == 0 && (p.at(i, ",") || p.at(i, "ASC") || p.at(i, "DESC") || p.at(i, "NULLS")):
			return i
		}
	}
	return last
}

// options reads (SNAPSHOT [= bool], PROGRESS [= bool]).
func (p *parser) options(s *Subscribe) error {
	if err := p.expect("("); err != nil {
		return err
	}
	for {
		var target *bool
		switch {
		case p.accept("SNAPSHOT"):
			target = &s.Snapshot
		case p.accept("PROGRESS"):
			target = &s.Progress
		default:
			return p.unexpected()
		}
		v, err := p.boolean()
		if err != nil {
			return err
		}
		*target = v
		if !p.accept(",") {
			return p.expect(")")
		}
	}
}

// boolean reads the value of an option; none means true.
func (p *parser) boolean() (bool, error) {
	if !p.accept("=") && (p.at(p.i, ",") || p.at(p.i, ")")) {
		return true, nil
	}
	if p.i >= len(p.toks) {
		return false, p.unexpected()
	}
	p.i++
	switch strings.ToLower(strings.Trim(p.toks[p.i-1].text, "'\"")) {
	case "true", "on", "1", "yes", "t":
		return true, nil
	case "false", "off", "0", "no", "f":
		return false, nil
	}
	return false, p.unexpectedAt(p.i - 1)
}
