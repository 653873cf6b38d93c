package query

import (
	"regexp"
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

// compile makes a Go regular expression of a PostgreSQL one. Both agree on the common forms; what only PostgreSQL has is refused.
func (f *frame) compile(pattern string, fold bool) (*regexp.Regexp, error) {
	name := pattern
	if fold {
		name = "\x00" + pattern
	}
	if re, ok := f.cache.value.(*regexp.Regexp); ok && f.cache.pattern == name {
		return re, nil
	}
	if strings.HasPrefix(pattern, "***") || strings.HasPrefix(pattern, "(?") || backReference.MatchString(pattern) {
		return nil, raise(codeUnsupported, "this form of regular expression is not supported")
	}
	flags := "(?s)"
	if fold {
		flags = "(?si)"
	}
	re, err := regexp.Compile(flags + pattern)
	if err != nil {
		return nil, raise("2201B", "invalid regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if !lazy.MatchString(pattern) {
		re.Longest() // as POSIX wants it; of a lazy quantifier both take the first that fits
	}
	f.cache.pattern, f.cache.value = name, re
	return re, nil
}

// backReference finds what Go's syntax has not, or means otherwise: \1, \m, \M, \y, \Y, \A, \Z, lookaround.
var backReference = regexp.MustCompile(`\\[1-9mMyYAZbBcuUxe]|\(\?[=!<]|\[\[[.=:<>]?[.=<>]`)

var lazy = regexp.MustCompile(`[*+?}]\?`)

func match(not, fold bool) implementation {
	return func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		re, err := f.compile(string(a[1]), fold)
		if err != nil {
			return nil, err
		}
		return putBool(dst, re.Match(a[0]) != not), nil
	}
}

// regexpReplace is regexp_replace(text, pattern, replacement [, flags]) with the flags g and i.
func regexpReplace(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	all, fold := false, false
	if len(a) == 4 {
		for _, c := range a[3] {
			switch c {
			case 'g':
				all = true
			case 'i':
				fold = true
			case 'c', 's':
			default:
				return nil, raise(codeUnsupported, "regular expression flag \"%c\" is not supported", c)
			}
		}
	}
	re, err := f.compile(string(a[1]), fold)
	if err != nil {
		return nil, err
	}
	rest := a[0]
	at := 0
	for _, m := range re.FindAllSubmatchIndex(rest, -1) {
		dst = append(dst, rest[at:m[0]]...)
		dst = expandMatch(dst, a[2], rest, m)
		at = m[1]
		if !all {
			break
		}
	}
	return append(dst, rest[at:]...), nil
}

// expandMatch writes a replacement: \1 is a group, \& the match, \\ a backslash.
func expandMatch(dst, replacement, text []byte, m []int) []byte {
	for i := 0; i < len(replacement); i++ {
		c := replacement[i]
		if c != '\\' || i+1 == len(replacement) {
			dst = append(dst, c)
			continue
		}
		i++
		group := -1
		switch c := replacement[i]; {
		case c == '&':
			group = 0
		case c >= '1' && c <= '9':
			group = int(c - '0')
		case c == '\\':
			dst = append(dst, '\\')
		default:
			dst = append(dst, '\\', c)
		}
		if group >= 0 && 2*group+1 < len(m) && m[2*group] >= 0 {
			dst = append(dst, text[m[2*group]:m[2*group+1]]...)
		}
	}
	return dst
}

// substringRegexp is substring(text from pattern): the first group, or the whole match.
func substringRegexp(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	re, err := f.compile(string(a[1]), false)
	if err != nil {
		return nil, err
	}
	m := re.FindSubmatchIndex(a[0])
	if m == nil {
		return nil, errNull
	}
	if len(m) > 2 {
		if m[2] < 0 {
			return nil, errNull
		}
		return append(dst, a[0][m[2]:m[3]]...), nil
	}
	return append(dst, a[0][m[0]:m[1]]...), nil
}
