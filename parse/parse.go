package parse

import (
	"slices"
	"strings"
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// Parse splits sql into statements. An empty text gives none. All of it is parsed before any is returned, so a mistake in the last
// statement keeps the first from running, as in PostgreSQL. The error is a *tailrace.Error with Position: 42601 for wrong syntax.
func Parse(sql string) ([]*Statement, error) {
	if i := badByte(sql); i >= 0 {
		return nil, &tailrace.Error{
			Code: "22021", Message: "invalid byte sequence for encoding \"UTF8\": 0x" + hexByte(sql[i]),
			Hint: "Send the statement as UTF-8 text without NUL bytes.",
		}
	}
	if plain(sql) {
		return parsePlain(sql)
	}
	toks, err := scan(sql)
	if err != nil {
		return nil, err
	}
	var out []*Statement
	lead, counted := 0, 0
	for len(toks) > 0 {
		n := 0
		for n < len(toks) && !toks[n].is(";") {
			n++
		}
		body := toks[:n]
		end := len(sql)
		if n < len(toks) {
			end = toks[n].end
			toks = toks[n+1:]
		} else {
			toks = nil
		}
		if len(body) == 0 {
			continue
		}
		start := body[0].start
		lead += utf8.RuneCountInString(sql[counted:start])
		counted = start
		st := &Statement{Text: sql[start:body[n-1].end], Offset: start, Lead: lead}
		if err := front(st, sql[start:end], body); err != nil {
			return nil, st.Outer(err)
		}
		out = append(out, st)
	}
	return out, nil
}

// parsePlain parses a text that is one statement of PostgreSQL's own at most.
func parsePlain(sql string) ([]*Statement, error) {
	tree, err := grammar(sql)
	if err != nil {
		return nil, err
	}
	if len(tree) == 0 {
		return nil, nil
	}
	return []*Statement{{Text: sql, Tree: tree[0].Stmt}}, nil
}

// plain reports whether sql can go to PostgreSQL's grammar whole: at most one statement, and not one that may be ours.
func plain(sql string) bool {
	if i := strings.IndexByte(sql, ';'); i >= 0 && strings.TrimRight(sql[i+1:], " \t\r\n;") != "" {
		return false
	}
	word := strings.ToUpper(firstWord(sql))
	switch word {
	case "SELECT", "INSERT", "VALUES":
		return !mayBeAsOf(sql)
	case "UPDATE", "DELETE", "BEGIN", "COMMIT", "ROLLBACK", "END", "START", "SET", "SHOW", "TRUNCATE", "EXECUTE":
		return true
	}
	return false
}

// firstWord is the word that sql begins with after blanks, "" when it begins with anything else, such as a comment.
func firstWord(sql string) string {
	sql = strings.TrimLeft(sql, " \t\r\n")
	n := 0
	for n < len(sql) && (sql[n]|0x20 >= 'a' && sql[n]|0x20 <= 'z' || sql[n] == '_') {
		n++
	}
	return sql[:n]
}

// badByte is the place of the first byte that a statement may not hold, -1 when there is none.
func badByte(sql string) int {
	if i := strings.IndexByte(sql, 0); i >= 0 {
		return i
	}
	if utf8.ValidString(sql) {
		return -1
	}
	for i, r := range sql {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(sql[i:]); n == 1 {
				return i
			}
		}
	}
	return -1
}

func hexByte(b byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[b>>4], digits[b&15]})
}

// front parses one statement: by our front parser if it begins with one of our words, by PostgreSQL's grammar else. text is the statement with
// its semicolon, if it has one, so that an error can name it; toks are its tokens without it.
func front(st *Statement, text string, toks []token) error {
	p := &parser{st: st, text: text, toks: rebase(toks, st.Offset)}
	switch {
	case p.at(0, "SUBSCRIBE"):
		return p.statementSubscribe()
	case p.at(0, "COPY") && p.at(1, "(") && p.at(2, "SUBSCRIBE"):
		return p.copySubscribe()
	case p.at(0, "EXPLAIN") && p.at(1, "SUBSCRIBE"):
		return p.explainSubscribe()
	case p.at(0, "DECLARE"):
		if i := p.find("FOR"); i > 0 && p.at(i+1, "SUBSCRIBE") {
			return p.declareSubscribe(i)
		}
		return p.withAsOf()
	case p.at(0, "FETCH") || p.at(0, "MOVE"):
		return p.fetch()
	case p.at(0, "CREATE") && (p.at(1, "SECRET") || p.at(1, "CONNECTION") || p.at(1, "SOURCE")):
		return p.create()
	case p.at(0, "ALTER") && p.at(1, "SOURCE"):
		return p.alterSource()
	case p.at(0, "CREATE") && p.at(1, "SINK"):
		return p.createSink()
	case p.at(0, "ALTER") && p.at(1, "SINK"):
		return p.alterSink()
	case p.at(0, "BACKUP"):
		return p.backup()
	case p.at(0, "DROP") && (p.at(1, "SECRET") || p.at(1, "CONNECTION") || p.at(1, "SOURCE") || p.at(1, "SINK")):
		return p.drop()
	case p.at(0, "CREATE") && p.find("AS") > 0 && (p.at(1, "TABLE") || p.at(1, "UNLOGGED")) && p.retainAt() < 0:
		return p.withAsOf()
	case p.at(0, "CREATE") || p.at(0, "ALTER"):
		return p.withRetain()
	case slices.ContainsFunc(readers, func(word string) bool { return p.at(0, word) }):
		return p.withAsOf()
	}
	return p.postgres(text)
}

// postgres parses text, as long as the statement and its semicolon, by PostgreSQL's grammar.
func (p *parser) postgres(text string) error {
	tree, err := grammar(text)
	if err != nil {
		return p.relocate(err, text)
	}
	if len(tree) == 1 {
		p.st.Tree = tree[0].Stmt
	}
	return nil
}

// grammar calls PostgreSQL's parser. Position in the error counts in text.
func grammar(text string) ([]*pg_query.RawStmt, error) {
	res, err := pg_query.Parse(text)
	if err != nil {
		return nil, pgError(err)
	}
	return res.Stmts, nil
}
