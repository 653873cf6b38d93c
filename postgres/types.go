package postgres

import "tailrace"

// typeFor maps a column's type at the source to ours. oid and mod are those of the type, or, for a domain, of the type under it. A type that has no
// kind here is carried as its text under its name.
func typeFor(oid uint32, mod int32, name string) tailrace.Type {
	t, ok := tailrace.BuiltinOf(oid)
	if !ok || t.Kind > tailrace.KindForeign {
		return tailrace.Type{Kind: tailrace.KindForeign, Mod: -1, Name: name}
	}
	t.Mod = mod
	return t
}
