package parse

import (
	"errors"
	"strings"
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	pg_parser "github.com/pganalyze/pg_query_go/v6/parser"

	"tailrace"
)

// token is one token of PostgreSQL's scanner. Comments are left out.
type token struct {
	start, end int // bytes
	kind       pg_query.Token
	keyword    pg_query.KeywordKind
	text       string // as written
	word       string // an unquoted word in upper case, punctuation as it is; "" for constants and quoted names
}

func (t token) is(word string) bool { return t.word == word }

// scan splits sql into tokens.
func scan(sql string) ([]token, error) {
	res, err := pg_query.Scan(sql)
	if err != nil {
		return nil, pgError(err)
	}
	toks := make([]token, 0, len(res.Tokens))
	for _, t := range res.Tokens {
		if t.Token == pg_query.Token_SQL_COMMENT || t.Token == pg_query.Token_C_COMMENT {
			continue
		}
		tok := token{start: int(t.Start), end: int(t.End), kind: t.Token, keyword: t.KeywordKind, text: sql[t.Start:t.End]}
		switch t.Token {
		case pg_query.Token_SCONST, pg_query.Token_USCONST, pg_query.Token_BCONST, pg_query.Token_XCONST, pg_query.Token_UIDENT:
		default:
			if tok.text[0] != '"' {
				tok.word = strings.ToUpper(tok.text)
			}
		}
		toks = append(toks, tok)
	}
	return toks, nil
}

// rebase returns toks with offsets counted from byte offset on.
func rebase(toks []token, offset int) []token {
	out := make([]token, len(toks))
	for i, t := range toks {
		t.start, t.end = t.start-offset, t.end-offset
		out[i] = t
	}
	return out
}

// pgError is an error of PostgreSQL's parser or scanner in our form.
func pgError(err error) error {
	var pe *pg_parser.Error
	if !errors.As(err, &pe) {
		return &tailrace.Error{Code: "42601", Message: err.Error()}
	}
	code := "42601"
	switch {
	case strings.Contains(pe.Message, "not supported"), strings.Contains(pe.Message, "not yet implemented"):
		code = "0A000"
	case strings.Contains(pe.Message, "invalid Unicode escape"):
		code = "22025"
	case strings.HasPrefix(pe.Message, "frame start"), strings.HasPrefix(pe.Message, "frame end"):
		code = "42P20"
	case strings.HasPrefix(pe.Message, "precision for type float"):
		code = "22023"
	case strings.Contains(pe.Message, "memory exhausted"), strings.Contains(pe.Message, "stack depth"):
		code = "54001"
	}
	return &tailrace.Error{Code: code, Message: pe.Message, Position: pe.Cursorpos}
}

// relocate turns an error of parsing text, which has the statement's bytes or blanks in place of some, into one whose Position counts in the
// statement: they differ where blanks stand for characters of several bytes.
func (p *parser) relocate(err error, text string) error {
	var e *tailrace.Error
	if !errors.As(err, &e) || e.Position == 0 {
		return err
	}
	at := 0
	for n := 1; n < e.Position && at < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	at = min(at, len(p.text))
	moved := *e
	moved.Position = utf8.RuneCountInString(p.text[:at]) + 1
	return &moved
}
