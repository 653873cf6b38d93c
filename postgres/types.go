package postgres

import "tailrace"

// typeFor maps a column's type at the source to ours. oid and mod are those of the type, or, for a domain, of the type under it. A type that has no
// kind here is carried as its text under its name; so is an array of such a type.
func typeFor(oid uint32, mod int32, name string) tailrace.Type {
	t, ok := tailrace.BuiltinOf(oid)
	k := t.Kind
	if k == tailrace.KindArray {
		k = t.Elem
	}
	if !ok || !carried(k) {
		return tailrace.Type{Kind: tailrace.KindForeign, Mod: -1, Name: name}
	}
	t.Mod = mod
	return t
}

// carried tells the kinds whose values at a source are values here. regclass and its kin print as names of the source's own objects, which mean nothing
// here as numbers; "char" may hold a byte that is no character.
func carried(k tailrace.Kind) bool {
	return k < tailrace.KindForeign || k == tailrace.KindOID || k == tailrace.KindName
}
