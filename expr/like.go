package expr

import (
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// like binds x LIKE y and x NOT LIKE y of texts. With ESCAPE, and of other types, they are for the query engine.
func (s *Scope) like(op string, a *pg_query.A_Expr) (*Expr, error) {
	l, r, err := s.both(a.Lexpr, a.Rexpr)
	if err != nil {
		return nil, err
	}
	if op != "~~" && op != "!~~" || !likeable(l) || !likeable(r) {
		return nil, ErrUnsupported
	}
	if l, err = s.asText(l); err != nil {
		return nil, err
	}
	if r, err = s.asText(r); err != nil {
		return nil, err
	}
	return s.compute(boolType, a.Location, []*Expr{l, r}, func(_ *Row, v []Value) (Value, error) {
		holds, ok := matchLike(v[0].Raw, v[1].Raw)
		if !ok {
			return null, errLikeEscape
		}
		return boolean(holds == (op == "~~")), nil
	})
}

var errLikeEscape = &tailrace.Error{Code: "22025", Message: "LIKE pattern must not end with escape character"}

func likeable(e *Expr) bool {
	switch e.Type.Kind {
	case tailrace.KindNone, tailrace.KindText, tailrace.KindVarchar:
		return true
	}
	return false
}

// matchLike tells whether text matches pattern: % is any characters, _ is one, \ takes away the meaning of what follows. ok is false when nothing
// follows a \ that was reached.
func matchLike(text, pattern []byte) (holds, ok bool) {
	// After a % the rest of the pattern is tried at each later place of the text; only the last % has to be gone back to.
	again, from := -1, 0
	t, p := 0, 0
	for {
		switch {
		case p < len(pattern) && pattern[p] == '%':
			p++
			again, from = p, t
			continue
		case p == len(pattern) && t == len(text):
			return true, true
		case t == len(text):
			return false, true
		case p < len(pattern) && pattern[p] == '_':
			_, n := utf8.DecodeRune(text[t:])
			t, p = t+n, p+1
			continue
		case p < len(pattern):
			at := p
			if pattern[at] == '\\' {
				if at++; at == len(pattern) {
					return false, false
				}
			}
			if text[t] == pattern[at] {
				t, p = t+1, at+1
				continue
			}
		}
		if again < 0 {
			return false, true
		}
		_, n := utf8.DecodeRune(text[from:])
		from += max(n, 1)
		t, p = from, again
		if from > len(text) {
			return false, true
		}
	}
}
