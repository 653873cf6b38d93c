package query

import (
	"strings"
	"unicode/utf8"
)

// regexpEntries are the functions of regular expressions and of SIMILAR TO, which becomes one. Regular expressions are are's.
var regexpEntries = []entry{
	{name: "~", args: "ct", ret: "b", impl: match(false, false)},
	{name: "!~", args: "ct", ret: "b", impl: match(true, false)},
	{name: "~*", args: "ct", ret: "b", impl: match(false, true)},
	{name: "!~*", args: "ct", ret: "b", impl: match(true, true)},
	{name: "regexp_replace", args: "ttti", ret: "t", impl: regexpReplaceFrom},
	{name: "regexp_replace", args: "tttii", ret: "t", impl: regexpReplaceFrom},
	{name: "regexp_replace", args: "tttiit", ret: "t", impl: regexpReplaceFrom},
	{name: "regexp_like", args: "tt", ret: "b", impl: regexpLike},
	{name: "regexp_like", args: "ttt", ret: "b", impl: regexpLike},
	{name: "regexp_count", args: "tt", ret: "i", impl: regexpCount},
	{name: "regexp_count", args: "tti", ret: "i", impl: regexpCount},
	{name: "regexp_count", args: "ttit", ret: "i", impl: regexpCount},
	{name: "regexp_instr", args: "tt", ret: "i", impl: regexpInstr},
	{name: "regexp_instr", args: "tti", ret: "i", impl: regexpInstr},
	{name: "regexp_instr", args: "ttii", ret: "i", impl: regexpInstr},
	{name: "regexp_instr", args: "ttiii", ret: "i", impl: regexpInstr},
	{name: "regexp_instr", args: "ttiiit", ret: "i", impl: regexpInstr},
	{name: "regexp_instr", args: "ttiiiti", ret: "i", impl: regexpInstr},
	{name: "regexp_substr", args: "tt", ret: "t", impl: regexpSubstr},
	{name: "regexp_substr", args: "tti", ret: "t", impl: regexpSubstr},
	{name: "regexp_substr", args: "ttii", ret: "t", impl: regexpSubstr},
	{name: "regexp_substr", args: "ttiit", ret: "t", impl: regexpSubstr},
	{name: "regexp_substr", args: "ttiiti", ret: "t", impl: regexpSubstr},
	{name: "regexp_match", args: "tt", ret: "[t", impl: regexpMatch},
	{name: "regexp_match", args: "ttt", ret: "[t", impl: regexpMatch},
	{name: "similar_to_escape", args: "t", ret: "t", impl: similarEscape},
	{name: "similar_to_escape", args: "tt", ret: "t", impl: similarEscape},
	{name: "substring", args: "ttt", ret: "t", sql: "tr_f_substring_text_text({1}, tr_f_similar_to_escape_text_text({2}, {3}))"},
}

func regexpLike(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	o, err := onlyFirst(last(a, 2), "regexp_like")
	if err != nil {
		return nil, err
	}
	re, err := f.expression(a[1], o.Flags)
	if err != nil {
		return nil, err
	}
	ok, err := re.Match(a[0])
	if err != nil {
		return nil, regexpError(err)
	}
	return putBool(dst, ok), nil
}

// last is argument n, or nothing.
func last(a [][]byte, n int) []byte {
	if n < len(a) {
		return a[n]
	}
	return nil
}

func regexpCount(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	from := 0
	var err error
	if len(a) > 2 {
		if from, err = place(a[0], i32(a[2])); err != nil {
			return nil, err
		}
	}
	o, err := onlyFirst(last(a, 3), "regexp_count")
	if err != nil {
		return nil, err
	}
	re, err := f.expression(a[1], o.Flags)
	if err != nil {
		return nil, err
	}
	found, err := matches(re, a[0], from, true)
	return put32(dst, int32(len(found))), err
}

// nth is the match and group that regexp_instr and regexp_substr ask for; from and to are -1 when there is none.
func (f *frame) nth(a [][]byte, flags []byte, group int32, function string) (from, to int, err error) {
	start, n := 0, int32(1)
	if len(a) > 2 {
		if start, err = place(a[0], i32(a[2])); err != nil {
			return -1, -1, err
		}
	}
	if len(a) > 3 {
		if n = i32(a[3]); n <= 0 {
			return -1, -1, raise(codeInvalid, "invalid value for parameter \"n\": %d", n)
		}
	}
	o, err := onlyFirst(flags, function)
	if err != nil {
		return -1, -1, err
	}
	if group < 0 {
		return -1, -1, raise(codeInvalid, "invalid value for parameter \"subexpr\": %d", group)
	}
	re, err := f.expression(a[1], o.Flags)
	if err != nil {
		return -1, -1, err
	}
	found, err := matches(re, a[0], start, n > 1)
	if err != nil || int(n) > len(found) || int(group) > re.Groups() {
		return -1, -1, err
	}
	m := found[n-1]
	return m[2*group], m[2*group+1], nil
}

func regexpInstr(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	end, group := int32(0), int32(0)
	if len(a) > 4 {
		if end = i32(a[4]); end != 0 && end != 1 {
			return nil, raise(codeInvalid, "invalid value for parameter \"endoption\": %d", end)
		}
	}
	if len(a) > 6 {
		group = i32(a[6])
	}
	from, to, err := f.nth(a[:min(len(a), 4)], last(a, 5), group, "regexp_instr")
	if err != nil {
		return nil, err
	}
	if from < 0 {
		return put32(dst, 0), nil
	}
	if end == 1 {
		from = to
	}
	return put32(dst, int32(utf8.RuneCount(a[0][:from])+1)), nil
}

func regexpSubstr(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	group := int32(0)
	if len(a) > 5 {
		group = i32(a[5])
	}
	from, to, err := f.nth(a[:min(len(a), 4)], last(a, 4), group, "regexp_substr")
	if err != nil {
		return nil, err
	}
	if from < 0 {
		return nil, errNull
	}
	return append(dst, a[0][from:to]...), nil
}

// regexpMatch is regexp_match: the groups of the first match as an array, or the match.
func regexpMatch(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	o, err := readOptions(last(a, 2))
	if err != nil {
		return nil, err
	}
	if o.all {
		e := raise(codeInvalid, "regexp_match() does not support the \"global\" option")
		e.Hint = "Use the regexp_matches function instead."
		return nil, e
	}
	re, err := f.expression(a[1], o.Flags)
	if err != nil {
		return nil, err
	}
	m, err := re.Find(a[0], 0)
	if err != nil {
		return nil, regexpError(err)
	}
	if m == nil {
		return nil, errNull
	}
	return flat(groupsOf(a[0], m)).put(dst), nil
}

// groupsOf are the groups of a match, or the match when there are none.
func groupsOf(text []byte, m []int) [][]byte {
	if len(m) > 2 {
		m = m[2:]
	}
	var out [][]byte
	for i := 0; i < len(m); i += 2 {
		if m[i] < 0 {
			out = append(out, nil)
		} else {
			out = append(out, append([]byte{}, text[m[i]:m[i+1]]...))
		}
	}
	return out
}

// similarEscape makes a regular expression of a pattern of SIMILAR TO. Two escaped double quotes cut the pattern in three, of which substring
// returns the middle one.
func similarEscape(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	escape := `\`
	if len(a) > 1 {
		if escape = string(a[1]); utf8.RuneCountInString(escape) > 1 {
			e := raise("22025", "invalid escape string")
			e.Hint = "Escape string must be empty or one character."
			return nil, e
		}
	}
	dst = append(dst, "^(?:"...)
	escaped, inBracket, quotes := false, false, 0
	for _, r := range string(a[0]) {
		switch {
		case escaped && r == '"' && !inBracket:
			if quotes == 2 {
				return nil, raise("2200C", "SQL regular expression may not contain more than two escape-double-quote separators")
			}
			dst = append(dst, []string{"){1,1}?(", "){1,1}(?:"}[quotes]...)
			quotes++
			escaped = false
		case escaped:
			dst = utf8.AppendRune(append(dst, '\\'), r)
			escaped = false
		case string(r) == escape:
			escaped = true
		case inBracket:
			if r == '\\' {
				dst = append(dst, '\\')
			}
			dst = utf8.AppendRune(dst, r)
			inBracket = r != ']'
		case r == '[':
			dst = append(dst, '[')
			inBracket = true
		case r == '%':
			dst = append(dst, ".*"...)
		case r == '_':
			dst = append(dst, '.')
		case r == '(':
			dst = append(dst, "(?:"...)
		case strings.ContainsRune(`\.^$`, r):
			dst = utf8.AppendRune(append(dst, '\\'), r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, ")$"...), nil
}

// matchesFunctions are the forms of regexp_matches, which gives a row of groups for each match.
var matchesFunctions = []*function{
	entry{name: "regexp_matches", args: "tt", ret: "[t", sql: "tr_regexp_matches({1}, {2}, '')"}.function(),
	entry{name: "regexp_matches", args: "ttt", ret: "[t", sql: "tr_regexp_matches({1}, {2}, {3})"}.function(),
}

// matchesHelpers are the Go functions behind matchesFunctions.
var matchesHelpers = []entry{
	{name: "tr_regexp_matches", args: "ttt", ret: "L", impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		o, err := readOptions(a[2])
		if err != nil {
			return nil, err
		}
		re, err := f.expression(a[1], o.Flags)
		if err != nil {
			return nil, err
		}
		found, err := matches(re, a[0], 0, o.all)
		if err != nil {
			return nil, err
		}
		var rows [][]byte
		for _, m := range found {
			rows = append(rows, flat(groupsOf(a[0], m)).put(nil))
		}
		return flat(rows).put(dst), nil
	}},
}
