package parse

import (
	"errors"
	"strings"
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// parser walks over the tokens of one statement. Its methods return the first mistake as a syntax error at the token they stand on.
type parser struct {
	st   *Statement
	text string // the statement with its semicolon
	toks []token
	i    int
}

// at reports whether token i is word.
func (p *parser) at(i int, word string) bool { return i < len(p.toks) && p.toks[i].is(word) }

// find is the first token that is word outside parentheses, -1 when there is none.
func (p *parser) find(word string) int {
	depth := 0
	for i, t := range p.toks {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth == 0 && t.is(word):
			return i
		}
	}
	return -1
}

// match is the token that closes the parenthesis at token i, -1 when nothing does.
func (p *parser) match(i int) int {
	for depth := 0; i < len(p.toks); i++ {
		if p.toks[i].is("(") {
			depth++
		} else if p.toks[i].is(")") {
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// accept steps over words if they come next.
func (p *parser) accept(words ...string) bool {
	for k, w := range words {
		if !p.at(p.i+k, w) {
			return false
		}
	}
	p.i += len(words)
	return true
}

// expect is accept of one word after another, else a syntax error.
func (p *parser) expect(words ...string) error {
	for _, w := range words {
		if !p.accept(w) {
			return p.unexpected()
		}
	}
	return nil
}

// end demands that nothing follows.
func (p *parser) end() error {
	if p.i < len(p.toks) {
		return p.unexpected()
	}
	return nil
}

// loc is the byte offset of the next token.
func (p *parser) loc() int32 { return int32(p.offset(p.i)) }

// offset is where token i begins, where the statement ends when there is none.
func (p *parser) offset(i int) int {
	if i < len(p.toks) {
		return p.toks[i].start
	}
	if strings.HasSuffix(p.text, ";") {
		return len(p.text) - 1
	}
	return len(p.text)
}

// unexpected is the syntax error at the next token.
func (p *parser) unexpected() error { return p.unexpectedAt(p.i) }

func (p *parser) unexpectedAt(i int) error {
	at := p.offset(i)
	message := "syntax error at end of input"
	if i < len(p.toks) {
		message = "syntax error at or near \"" + p.toks[i].text + "\""
	} else if strings.HasSuffix(p.text, ";") {
		message = "syntax error at or near \";\""
	}
	return &tailrace.Error{Code: "42601", Message: message, Position: utf8.RuneCountInString(p.text[:at]) + 1}
}

// identifier reads one name.
func (p *parser) identifier() (string, error) {
	if p.i >= len(p.toks) {
		return "", p.unexpected()
	}
	t := p.toks[p.i]
	switch {
	case t.text[0] == '"':
		p.i++
		return strings.ReplaceAll(t.text[1:len(t.text)-1], `""`, `"`), nil
	case t.kind == pg_query.Token_IDENT,
		t.keyword == pg_query.KeywordKind_UNRESERVED_KEYWORD, t.keyword == pg_query.KeywordKind_COL_NAME_KEYWORD:
		p.i++
		return strings.ToLower(t.text), nil
	}
	return "", p.unexpected()
}

// name reads a possibly qualified name. The database part of a three-part name is dropped.
func (p *parser) name() (Name, error) {
	n := Name{Loc: p.loc()}
	for {
		part, err := p.identifier()
		if err != nil {
			return n, err
		}
		n.Schema, n.Name = n.Name, part
		if !p.accept(".") {
			return n, nil
		}
	}
}

// str reads a string constant.
func (p *parser) str() (string, error) {
	if p.i >= len(p.toks) || (p.toks[p.i].kind != pg_query.Token_SCONST && p.toks[p.i].kind != pg_query.Token_USCONST) {
		return "", p.unexpected()
	}
	t := p.toks[p.i]
	p.i++
	if t.text[0] == '\'' {
		return strings.ReplaceAll(t.text[1:len(t.text)-1], "''", "'"), nil
	}
	n, err := p.expression(p.i-1, p.i) // E'...', $$...$$ and U&'...': PostgreSQL's grammar decodes them
	if err != nil {
		return "", err
	}
	return n.GetAConst().GetSval().GetSval(), nil
}

// expression parses tokens [from, to) as an expression by PostgreSQL's grammar.
func (p *parser) expression(from, to int) (*pg_query.Node, error) {
	if from >= to {
		return nil, p.unexpectedAt(from)
	}
	const head = "SELECT "
	start, end := p.toks[from].start, p.toks[to-1].end
	text := strings.Repeat(" ", start-len(head)) + head + p.text[start:end] // what comes before is never shorter than head
	tree, err := grammar(text)
	if err != nil {
		return nil, p.inner(err, text, to)
	}
	sel := tree[0].Stmt.GetSelectStmt()
	if len(tree) != 1 || len(sel.GetTargetList()) != 1 || sel.FromClause != nil || sel.WhereClause != nil || sel.Op != pg_query.SetOperation_SETOP_NONE ||
		sel.SortClause != nil || sel.GroupClause != nil || sel.LimitCount != nil || sel.LimitOffset != nil {
		return nil, p.unexpectedAt(from)
	}
	t := sel.TargetList[0].GetResTarget()
	if t == nil || t.Name != "" || t.Val == nil {
		return nil, p.unexpectedAt(from)
	}
	return t.Val, nil
}

// inner is relocate for an error of a part of the statement that ends before token to: what was missing there is missing before that token.
func (p *parser) inner(err error, text string, to int) error {
	if e := (*tailrace.Error)(nil); errors.As(err, &e) && strings.HasSuffix(e.Message, "at end of input") {
		return p.unexpectedAt(to)
	}
	return p.relocate(err, text)
}

// blank returns the statement's text with bytes [from, to) replaced by with and blanks; with is not longer than they are.
func (p *parser) blank(text string, from, to int, with string) string {
	return text[:from] + with + strings.Repeat(" ", to-from-len(with)) + text[to:]
}
