package query

import (
	"errors"
	"strings"
)

// function is one signature of PostgreSQL's and how it is done here.
type function struct {
	args []kind
	rest bool // the last argument may come any number of times, at least once
	ret  kind // kAny: the type of the first argument
	// sql is DuckDB SQL with {1}, {2} for the arguments, {*} for all of them joined by commas, {k1} for the first one's key, {r} for the
	// run. In an aggregate, {d}, {o} and {f} are where DISTINCT, ORDER BY, and FILTER and OVER go.
	sql string
	// ours tells that an aggregate is written in Go, see over.
	ours bool
}

// wants is the kind of argument i.
func (f *function) wants(i int) kind { return f.args[min(i, len(f.args)-1)] }

func (f *function) takes(n int) bool {
	return n == len(f.args) || f.rest && n >= len(f.args)
}

// errAmbiguous is resolve's answer when several functions fit equally well.
var errAmbiguous = errors.New("several functions fit equally well")

// resolve picks the function that PostgreSQL picks for args and converts them. nil means that none fits.
func (p *planner) resolve(candidates []*function, args []expr) (*function, []expr, error) {
	kinds := make([]kind, len(args))
	for i, a := range args {
		kinds[i] = textLike(kindOf(a.typ))
	}
	f, unique := pick(candidates, kinds)
	if !unique {
		return nil, nil, errAmbiguous
	}
	if f == nil {
		return nil, nil, nil
	}
	out := make([]expr, len(args))
	for i, a := range args {
		var err error
		if a.typ.Kind == kRow && !f.takesRows() {
			return nil, nil, p.refuse(a.loc, "a row as a value")
		}
		if w := f.wants(i); w == kAny {
			out[i], err = p.typed(a)
		} else {
			out[i], err = p.convert(a, typeOfKind(w), false)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return f, out, nil
}

// pick is func_select_candidate of PostgreSQL. unique is false when several fit equally well.
func pick(candidates []*function, kinds []kind) (f *function, unique bool) {
	var fit []*function
	for _, c := range candidates {
		if !c.takes(len(kinds)) {
			continue
		}
		ok, exact := true, true
		for i, k := range kinds {
			ok = ok && becomes(k, c.wants(i))
			exact = exact && k == c.wants(i)
		}
		if exact {
			return c, true
		}
		if ok {
			fit = append(fit, c)
		}
	}
	fit = most(fit, kinds, func(k, w kind) bool { return k == w })
	fit = most(fit, kinds, func(k, w kind) bool { return k == w || preferred(w) && category(k) == category(w) })
	if len(fit) > 1 {
		fit = byCategory(fit, kinds)
	}
	if len(fit) > 1 {
		fit = byOther(fit, kinds)
	}
	switch len(fit) {
	case 0:
		return nil, true
	case 1:
		return fit[0], true
	}
	return nil, false
}

// most keeps the functions for which good holds at the most arguments of known type.
func most(fs []*function, kinds []kind, good func(k, w kind) bool) []*function {
	best, out := -1, fs[:0:0]
	for _, f := range fs {
		n := 0
		for i, k := range kinds {
			if k != kUnknown && good(k, f.wants(i)) {
				n++
			}
		}
		if n > best {
			best, out = n, out[:0:0]
		}
		if n == best {
			out = append(out, f)
		}
	}
	return out
}

// byCategory chooses by the categories that the functions have where the type is unknown: text when any has it, else the one that all have.
func byCategory(fs []*function, kinds []kind) []*function {
	for i, k := range kinds {
		if k != kUnknown {
			continue
		}
		want, same := category(fs[0].wants(i)), true
		for _, f := range fs {
			c := category(f.wants(i))
			if c == 'S' {
				want, same = 'S', true
				break
			}
			same = same && c == want
		}
		if !same {
			return fs
		}
		var left, best []*function
		for _, f := range fs {
			if category(f.wants(i)) == want {
				left = append(left, f)
				if preferred(f.wants(i)) {
					best = append(best, f)
				}
			}
		}
		if len(best) > 0 {
			left = best
		}
		fs = left
	}
	return fs
}

// byOther takes arguments of unknown type for the one type that all others have.
func byOther(fs []*function, kinds []kind) []*function {
	known := kUnknown
	for _, k := range kinds {
		switch {
		case k == kUnknown:
		case known != kUnknown && known != k:
			return fs
		default:
			known = k
		}
	}
	if known == kUnknown {
		return fs
	}
	var out []*function
	for _, f := range fs {
		ok := true
		for i := range kinds {
			ok = ok && f.wants(i) == known
		}
		if ok {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return fs
	}
	return out
}

// apply is the call of f with converted arguments; more is what else f.sql mentions and what stands for it.
func (p *planner) apply(f *function, args []expr, more ...string) expr {
	e := expr{sql: f.expand(f.sql, args, more...), typ: typeOfKind(f.ret)}
	if f.ret == kAny {
		e.typ = args[0].typ
		e.typ.Mod = -1
	}
	return e
}

// expand writes arguments into a piece of SQL. What is written in is not looked at again: a user's text may hold braces.
func (f *function) expand(sql string, args []expr, more ...string) string {
	pairs := append([]string{
		"{r}", runMark, "{*}", joinSQL(args), "{now}", mark(markNow, 0), "{read}", mark(markRead, 0), "{user}", mark(markUser, 0),
		"{base}", mark(markBase, 0), "{pid}", mark(markPID, 0),
	}, more...)
	var printed []string
	for i, a := range args {
		n := itoa(i + 1)
		printed = append(printed, printedSQL(a, false))
		pairs = append(pairs, "{"+n+"}", a.sql, "{k"+n+"}", key(a.sql, a.typ), "{"+n+":t}", printedSQL(a, true), "{w"+n+"}", rawSQL(a), "{j"+n+"}", rawJSON(a))
	}
	if len(args) > 0 {
		pairs = append(pairs, "{rest:p}", packed(printed[1:]), "{rest:w}", listSQL(args[1:]), "{*:j}", jsonList(args))
		pairs = append(pairs, "{1:o}", printed[0], "{*:o}", strings.Join(printed, ", "), "{rest:o}", strings.Join(printed[1:], ", "))
	}
	return strings.NewReplacer(pairs...).Replace(sql)
}

// printedSQL is a value as text: as a cast gives it, or as it is printed. They differ for booleans and for blanks of character(n).
func printedSQL(e expr, cast bool) string {
	switch {
	case e.typ.Kind == kChar && cast:
		return "rtrim(" + e.sql + ", ' ')"
	case category(e.typ.Kind) == 'S':
		return e.sql
	case e.typ.Kind == kUnknown:
		return e.sql
	case e.typ.Kind == kBool && cast:
		return "CAST(" + e.sql + " AS VARCHAR)"
	}
	return outSQL(e)
}

// signature is a call as PostgreSQL's messages write it.
func signature(name string, args []expr) string {
	var types []string
	for _, a := range args {
		types = append(types, typeName(a.typ))
	}
	return name + "(" + strings.Join(types, ", ") + ")"
}
