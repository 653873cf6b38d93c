package parse

// readers are the words that a statement with AS OF may begin with, other than DECLARE and CREATE TABLE ... AS.
var readers = []string{"SELECT", "WITH", "VALUES", "TABLE", "(", "INSERT", "EXPLAIN", "COPY", "PREPARE"}

// mayBeAsOf tells cheaply that sql has the word OF, as a SELECT ... AS OF t has.
func mayBeAsOf(sql string) bool {
	for i := 1; i+1 < len(sql); i++ {
		if sql[i]|0x20 == 'o' && sql[i+1]|0x20 == 'f' && !wordByte(sql[i-1]) && (i+2 == len(sql) || !wordByte(sql[i+2])) {
			return true
		}
	}
	return false
}

func wordByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

// withAsOf reads a statement of PostgreSQL's own that may end with AS OF t, which PostgreSQL's grammar must not see:
//
//	SELECT ... AS OF t      COPY (SELECT ... AS OF t) TO STDOUT      INSERT INTO u SELECT ... AS OF t
//
// What follows AS OF must be an expression up to the end, so an alias called of still works everywhere but there: quote it there.
func (p *parser) withAsOf() error {
	i, end := p.asOfAt()
	if i < 0 {
		return p.postgres(p.text)
	}
	at, err := p.expression(i+2, end)
	if err != nil {
		return p.postgres(p.text) // an alias called of, or a mistake that PostgreSQL names better
	}
	p.st.AsOf = at
	return p.postgres(p.blank(p.text, p.toks[i].start, p.toks[end-1].end, ""))
}

// asOfAt is the token where AS OF begins, -1 when there is none, and the one after its expression.
func (p *parser) asOfAt() (from, end int) {
	from, end = -1, len(p.toks)
	inner := 0
	if p.at(0, "COPY") {
		if !p.at(1, "(") {
			return -1, end
		}
		if end = p.match(1); end < 0 {
			return -1, end
		}
		inner = 1
	}
	depth := 0
	for i, t := range p.toks[:end] {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth == inner && i > 0 && t.is("AS") && p.at(i+1, "OF") && i+2 < end:
			from = i
		}
	}
	return from, end
}
