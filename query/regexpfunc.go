package query

import (
	"errors"
	"unicode/utf8"

	"tailrace/are"
)

// options are the flags argument of a function of regular expressions.
type options struct {
	are.Flags
	all bool // g
}

func readOptions(text []byte) (o options, err error) {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == 'g':
			o.all = true
		case !o.Set(r):
			return o, raise(codeInvalid, "invalid regular expression option: \"%s\"", text[:n])
		}
		text = text[n:]
	}
	return o, nil
}

// onlyFirst is readOptions for the functions that have no g.
func onlyFirst(text []byte, function string) (options, error) {
	o, err := readOptions(text)
	if err == nil && o.all {
		err = raise(codeInvalid, "%s() does not support the \"global\" option", function)
	}
	return o, err
}

// expression reads a regular expression, or finds it read already.
func (f *frame) expression(pattern []byte, flags are.Flags) (*are.Regexp, error) {
	type read struct {
		re    *are.Regexp
		flags are.Flags
	}
	if r, ok := f.cache.value.(read); ok && f.cache.pattern == string(pattern) && r.flags == flags {
		return r.re, nil
	}
	re, err := are.Compile(string(pattern), flags)
	if err != nil {
		return nil, regexpError(err)
	}
	f.cache.pattern, f.cache.value = string(pattern), read{re, flags}
	return re, nil
}

// regexpError is an error of the package are for users.
func regexpError(err error) error {
	switch {
	case errors.Is(err, are.ErrUnsupported):
		return raise(codeUnsupported, "%v", err)
	case errors.Is(err, are.ErrTooComplex):
		return raise("54001", "%v", err)
	}
	return raise("2201B", "invalid regular expression: %v", err)
}

// matches are the matches of re from the byte from on, all or the first one: offsets as are.Find gives them.
func matches(re *are.Regexp, text []byte, from int, all bool) ([][]int, error) {
	var out [][]int
	for from <= len(text) {
		m, err := re.Find(text, from)
		if err != nil {
			return nil, regexpError(err)
		}
		if m == nil {
			break
		}
		out = append(out, m)
		if !all {
			break
		}
		if from = m[1]; m[0] == m[1] {
			if from == len(text) {
				break
			}
			_, n := utf8.DecodeRune(text[from:])
			from += n
		}
	}
	return out, nil
}

// cuts are the matches that split a text: an empty one at the start, the end, or right behind a match does not.
func cuts(re *are.Regexp, text []byte) ([][]int, error) {
	found, err := matches(re, text, 0, true)
	out, last := found[:0], 0
	for _, m := range found {
		if m[0] < len(text) && m[1] > last {
			out = append(out, m)
		}
		last = m[1]
	}
	return out, err
}

func match(not, fold bool) implementation {
	return func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		re, err := f.expression(a[1], are.Flags{Fold: fold})
		if err != nil {
			return nil, err
		}
		ok, err := re.Match(a[0])
		if err != nil {
			return nil, regexpError(err)
		}
		return putBool(dst, ok != not), nil
	}
}

// place is where a search from character start (from 1) begins, in bytes.
func place(text []byte, start int32) (int, error) {
	if start <= 0 {
		return 0, raise(codeInvalid, "invalid value for parameter \"start\": %d", start)
	}
	if n := utf8.RuneCount(text); int(start) > n+1 {
		return len(text) + 1, nil // behind the end nothing matches
	}
	return runeOffset(text, int(start)-1), nil
}

// regexpReplace is regexp_replace(text, pattern, replacement [, flags]).
func regexpReplace(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	var o options
	var err error
	if len(a) == 4 {
		if o, err = readOptions(a[3]); err != nil {
			return nil, err
		}
	}
	n := 1
	if o.all {
		n = 0
	}
	return f.replace(dst, a, o.Flags, 0, n)
}

// regexpReplaceFrom is regexp_replace(text, pattern, replacement, start [, n [, flags]]): match n alone, or all for 0.
func regexpReplaceFrom(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	from, err := place(a[0], i32(a[3]))
	if err != nil {
		return nil, err
	}
	n, o := int32(1), options{}
	if len(a) > 4 {
		if n = i32(a[4]); n < 0 {
			return nil, raise(codeInvalid, "invalid value for parameter \"n\": %d", n)
		}
	}
	if len(a) > 5 {
		if o, err = readOptions(a[5]); err != nil {
			return nil, err
		}
	}
	return f.replace(dst, a, o.Flags, from, int(n))
}

func (f *frame) replace(dst []byte, a [][]byte, flags are.Flags, from, n int) ([]byte, error) {
	re, err := f.expression(a[1], flags)
	if err != nil {
		return nil, err
	}
	found, err := matches(re, a[0], from, n != 1)
	if err != nil {
		return nil, err
	}
	at := 0
	for i, m := range found {
		if n > 0 && i != n-1 {
			continue
		}
		dst = append(dst, a[0][at:m[0]]...)
		dst = expandMatch(dst, a[2], a[0], m)
		at = m[1]
	}
	return append(dst, a[0][at:]...), nil
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
	re, err := f.expression(a[1], are.Flags{})
	if err != nil {
		return nil, err
	}
	m, err := re.Find(a[0], 0)
	if err != nil {
		return nil, regexpError(err)
	}
	g := min(re.Groups(), 1)
	if m == nil || m[2*g] < 0 {
		return nil, errNull
	}
	return append(dst, a[0][m[2*g]:m[2*g+1]]...), nil
}
