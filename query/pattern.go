package query

import (
	"strings"
	"unicode/utf8"
)

// like is LIKE and ILIKE: % is any text, _ any character, a backslash takes the next one as it is.
func like(not, fold bool) implementation {
	return func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		s, p := a[0], a[1]
		if fold {
			s, p = folded(s), folded(p)
		}
		ok, err := likeMatch(s, p)
		return putBool(dst, ok != not), err
	}
}

func folded(s []byte) []byte {
	out := make([]byte, len(s))
	for i, c := range s {
		out[i] = lowerByte(c)
	}
	return out
}

// likeMatch walks both from the left; at a mismatch it goes back to the last % and lets that take one character more.
func likeMatch(s, p []byte) (bool, error) {
	star, mark := -1, 0
	i, j := 0, 0
	for i < len(s) {
		switch {
		case j < len(p) && p[j] == '%':
			star, mark = j, i
			j++
			continue
		case j < len(p) && p[j] == '_':
			_, n := utf8.DecodeRune(s[i:])
			i, j = i+n, j+1
			continue
		case j < len(p) && p[j] == '\\':
			if j+1 == len(p) {
				return false, raise("22025", "LIKE pattern must not end with escape character")
			}
			if s[i] == p[j+1] {
				i, j = i+1, j+2
				continue
			}
		case j < len(p) && s[i] == p[j]:
			i, j = i+1, j+1
			continue
		}
		if star < 0 {
			return false, nil
		}
		_, n := utf8.DecodeRune(s[mark:])
		mark += n
		i, j = mark, star+1
	}
	for j < len(p) && p[j] == '%' {
		j++
	}
	return j == len(p), nil
}

// likeEscape rewrites a pattern with another escape character to one with backslash.
func likeEscape(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	escape := string(a[1])
	if utf8.RuneCountInString(escape) > 1 {
		return nil, raise("22025", "invalid escape string")
	}
	p := string(a[0])
	for len(p) > 0 {
		switch {
		case escape != "" && strings.HasPrefix(p, escape):
			p = p[len(escape):]
			if p == "" {
				return append(dst, '\\'), nil
			}
			_, n := utf8.DecodeRuneInString(p)
			dst = append(append(dst, '\\'), p[:n]...)
			p = p[n:]
		case p[0] == '\\':
			dst = append(dst, `\\`...)
			p = p[1:]
		default:
			dst = append(dst, p[0])
			p = p[1:]
		}
	}
	return dst, nil
}
