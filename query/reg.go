package query

import (
	"tailrace"
)

// The types of the system catalog: an oid names an object; regclass, regtype, regproc, regnamespace and regrole are oids that read and print as the object's name. All are
// UINTEGER in DuckDB. name and "char" are VARCHAR and behave as text.

// identifies reports whether values of kind k are OIDs.
func identifies(k kind) bool { return k == kOID || named(k) }

// named reports whether values of kind k are OIDs that read and print as names.
func named(k kind) bool { return k >= kRegclass && k <= kRegrole }

// oid is what the column tableoid has.
func (t *Table) oid() uint32 {
	if t.OID != 0 {
		return t.OID
	}
	return tailrace.UserOID(t.ID)
}

// systemCast is SQL that casts from or to a type of the system catalog where that is no matter of reading or printing; ok tells whether it is.
func systemCast(sql string, from, to kind) (cast string, ok bool) {
	switch {
	case (from == kName || from == kLetter) && (to == kText || to == kVarchar):
		return sql, true
	case identifies(from) && identifies(to):
		return sql, true
	case identifies(to) && (from == kInt2 || from == kInt4): // a negative number is a large OID, as in PostgreSQL
		return "CAST(CAST(" + sql + " AS BIGINT) & 4294967295 AS UINTEGER)", true
	case identifies(to) && from == kInt8:
		return "tr_int8_oid(" + sql + ")", true
	case identifies(from) && to == kInt8:
		return "CAST(" + sql + " AS BIGINT)", true
	case identifies(from) && to == kInt4:
		return "tr_oid_int4(" + sql + ")", true
	}
	return "", false
}

// oidCasts are those of them that are Go code.
var oidCasts = []entry{
	{name: "tr_int8_oid", args: "l", ret: "o", impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		v := i64(a[0])
		if v != int64(uint32(v)) {
			return nil, raise(codeOutOfRange, "OID out of range")
		}
		return put32(dst, int32(uint32(v))), nil
	}},
	{name: "tr_oid_int4", args: "o", ret: "i", impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		return append(dst, a[0]...), nil
	}},
}
