package postgres

import (
	"slices"

	"tailrace"
)

// sinkColumn is a column of a target's table as the target describes it.
type sinkColumn struct {
	name      string // as it is, not quoted
	notNull   bool
	generated bool
	filled    bool     // has a default or is an identity: an INSERT may leave it out
	base      uint32   // OID of the type, of a domain the one under it
	mod       int32    // of base
	cast      string   // base as SQL, without a modifier: a cast to it never cuts a value short; the assignment to the column then refuses what is too long
	labels    []string // of an enum
	isEnum    bool
}

// typ is the column's type as a type here; one that has no kind here is a foreign one under its name.
func (c *sinkColumn) typ() tailrace.Type {
	t, ok := tailrace.BuiltinOf(c.base)
	if !ok {
		return tailrace.Type{Kind: tailrace.KindForeign, Mod: -1, Name: c.cast}
	}
	t.Mod = c.mod
	return t
}

// holds reports whether every value of type t can be put into the column and is the same value there. labels are those of t if it is an enum; key says
// that the column is part of a key, so that values must also be equal there exactly when they are equal here.
func (c *sinkColumn) holds(t tailrace.Type, labels []string, key bool) bool {
	to := c.typ()
	if t.Kind == tailrace.KindEnum && c.isEnum {
		return !slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(c.labels, l) })
	}
	if t.Kind == tailrace.KindForeign {
		return to.Kind == tailrace.KindForeign && to.Name == t.Name || unlimitedText(to)
	}
	if t.Kind == tailrace.KindArray && to.Kind == tailrace.KindArray {
		if t.Elem == tailrace.KindEnum || t.Elem == tailrace.KindForeign {
			return to.Elem == tailrace.KindText
		}
		return t.Elem == to.Elem && modHolds(t.Element(), to.Element())
	}
	if t.Kind == to.Kind {
		return modHolds(t, to)
	}
	if unlimitedText(to) {
		return !key || oneText(t.Kind)
	}
	if digits := integerDigits(t.Kind); digits > 0 {
		if to.Kind == tailrace.KindNumeric {
			return to.Mod < 0 || to.Precision()-to.Scale() >= digits
		}
		return integerDigits(to.Kind) >= digits && (t.Kind != tailrace.KindOID || to.Kind == tailrace.KindInt8)
	}
	switch {
	case t.Kind == tailrace.KindVarchar && to.Kind == tailrace.KindVarchar:
		return modHolds(t, to)
	case t.Kind == tailrace.KindEnum && to.Kind == tailrace.KindVarchar, t.Kind == tailrace.KindName && to.Kind == tailrace.KindVarchar:
		return to.Length() >= 63
	case t.Kind == tailrace.KindFloat4:
		return to.Kind == tailrace.KindFloat8
	case t.Kind == tailrace.KindJSONB:
		return to.Kind == tailrace.KindJSON && !key
	}
	return false
}

// integerDigits is the most decimal digits that a kind of integers has, 0 for others.
func integerDigits(k tailrace.Kind) int {
	switch k {
	case tailrace.KindInt2:
		return 5
	case tailrace.KindInt4, tailrace.KindOID:
		return 10
	case tailrace.KindInt8:
		return 19
	}
	return 0
}

func unlimitedText(t tailrace.Type) bool {
	return t.Kind == tailrace.KindText || t.Kind == tailrace.KindVarchar && t.Mod < 0
}

// oneText tells the kinds whose values have one text each: equal values, equal texts.
func oneText(k tailrace.Kind) bool {
	switch k {
	case tailrace.KindNumeric, tailrace.KindFloat4, tailrace.KindFloat8, tailrace.KindInterval, tailrace.KindChar, tailrace.KindArray:
		return false
	}
	return true
}

// modHolds reports whether a value that fits t's modifier fits to's, for types of one kind.
func modHolds(t, to tailrace.Type) bool {
	if to.Mod < 0 || t.Mod == to.Mod {
		return true
	}
	switch t.Kind {
	case tailrace.KindVarchar:
		return t.Length() >= 0 && t.Length() <= to.Length()
	case tailrace.KindNumeric:
		return t.Mod >= 0 && t.Scale() <= to.Scale() && t.Precision()-t.Scale() <= to.Precision()-to.Scale()
	case tailrace.KindTime, tailrace.KindTimestamp, tailrace.KindTimestamptz:
		return to.Mod >= 6 || t.Mod >= 0 && t.Mod <= to.Mod
	}
	return false
}

// sinkDeclare is the type that a column of type t is made with. A type that is no built-in one of the target, and an enum, become text.
func sinkDeclare(t tailrace.Type, known func(name string) bool) string {
	switch {
	case t.Kind == tailrace.KindEnum:
		return "text"
	case t.Kind == tailrace.KindForeign:
		if known(t.Name) {
			return t.Name
		}
		return "text"
	case t.Kind == tailrace.KindArray && (t.Elem == tailrace.KindEnum || t.Elem == tailrace.KindForeign):
		return "text[]"
	}
	return t.String()
}
