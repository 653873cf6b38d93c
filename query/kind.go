package query

import (
	"slices"

	"tailrace"
	"tailrace/duckdb"
)

// Short names of the kinds, for the tables of functions.
const (
	kUnknown  = tailrace.KindNone // the type of a quoted literal or NULL that nothing has given a type yet
	kBool     = tailrace.KindBool
	kInt2     = tailrace.KindInt2
	kInt4     = tailrace.KindInt4
	kInt8     = tailrace.KindInt8
	kFloat4   = tailrace.KindFloat4
	kFloat8   = tailrace.KindFloat8
	kNumeric  = tailrace.KindNumeric
	kText     = tailrace.KindText
	kVarchar  = tailrace.KindVarchar
	kChar     = tailrace.KindChar
	kBytea    = tailrace.KindBytea
	kDate     = tailrace.KindDate
	kTime     = tailrace.KindTime
	kStamp    = tailrace.KindTimestamp
	kStampTZ  = tailrace.KindTimestamptz
	kInterval = tailrace.KindInterval
	kUUID     = tailrace.KindUUID
	kJSON     = tailrace.KindJSON
	kJSONB    = tailrace.KindJSONB
	kForeign  = tailrace.KindForeign
	kOID      = tailrace.KindOID
	kName     = tailrace.KindName
	kLetter   = tailrace.KindLetter
	kRegclass = tailrace.KindRegclass
	kRegtype  = tailrace.KindRegtype
	kRegproc  = tailrace.KindRegproc
	kRegspace = tailrace.KindRegnspace
	kRegrole  = tailrace.KindRegrole
	kArray    = tailrace.KindArray
	kEnum     = tailrace.KindEnum
	kAny      = tailrace.Kind(255) // in the tables only: any type, taken as it is
)

type kind = tailrace.Kind

var unknown = tailrace.Type{Kind: kUnknown, Mod: -1}

// typeName is the type as PostgreSQL's messages name it, without modifier.
func typeName(t tailrace.Type) string {
	switch t.Kind {
	case kUnknown:
		return "unknown"
	case kChar:
		return "character"
	case kForeign:
		return "text"
	case kAny:
		return `"any"`
	case kArray:
		return typeName(t.Element()) + "[]"
	case kEnum:
		return t.Name
	case kRow:
		return "record"
	}
	return tailrace.TypeOf(t.Kind).String()
}

// engineTypes says which DuckDB type carries each kind.
var engineTypes = map[kind]struct {
	typ  duckdb.Type
	name string
}{
	kUnknown: {duckdb.Varchar, "VARCHAR"},
	kBool:    {duckdb.Boolean, "BOOLEAN"},
	kInt2:    {duckdb.SmallInt, "SMALLINT"}, kInt4: {duckdb.Integer, "INTEGER"}, kInt8: {duckdb.BigInt, "BIGINT"},
	kFloat4: {duckdb.Float, "FLOAT"}, kFloat8: {duckdb.Double, "DOUBLE"}, kNumeric: {duckdb.Blob, "BLOB"},
	kText: {duckdb.Varchar, "VARCHAR"}, kVarchar: {duckdb.Varchar, "VARCHAR"}, kChar: {duckdb.Varchar, "VARCHAR"},
	kJSON: {duckdb.Varchar, "VARCHAR"}, kJSONB: {duckdb.Varchar, "VARCHAR"}, kForeign: {duckdb.Varchar, "VARCHAR"},
	kBytea: {duckdb.Blob, "BLOB"}, kUUID: {duckdb.Blob, "BLOB"}, kInterval: {duckdb.Blob, "BLOB"},
	kDate: {duckdb.Integer, "INTEGER"}, kTime: {duckdb.BigInt, "BIGINT"},
	kStamp: {duckdb.BigInt, "BIGINT"}, kStampTZ: {duckdb.BigInt, "BIGINT"},
	kOID: {duckdb.UInteger, "UINTEGER"}, kRegclass: {duckdb.UInteger, "UINTEGER"}, kRegtype: {duckdb.UInteger, "UINTEGER"},
	kArray: {duckdb.Blob, "BLOB"}, kEnum: {duckdb.Varchar, "VARCHAR"},
	kRegproc: {duckdb.UInteger, "UINTEGER"}, kRegspace: {duckdb.UInteger, "UINTEGER"}, kRegrole: {duckdb.UInteger, "UINTEGER"}, kName: {duckdb.Varchar, "VARCHAR"}, kLetter: {duckdb.Varchar, "VARCHAR"},
}

// implicit lists what each kind becomes by itself when an operator or function wants it, as pg_cast says.
var implicit = map[kind][]kind{
	kInt2:     {kInt4, kInt8, kNumeric, kFloat4, kFloat8, kOID, kRegclass, kRegtype, kRegproc, kRegspace, kRegrole},
	kInt4:     {kInt8, kNumeric, kFloat4, kFloat8, kOID, kRegclass, kRegtype, kRegproc, kRegspace, kRegrole},
	kInt8:     {kNumeric, kFloat4, kFloat8, kOID, kRegclass, kRegtype, kRegproc, kRegspace, kRegrole},
	kNumeric:  {kFloat4, kFloat8},
	kFloat4:   {kFloat8},
	kVarchar:  {kText, kChar},
	kChar:     {kText, kVarchar},
	kText:     {kVarchar, kChar},
	kForeign:  {kText, kVarchar, kChar},
	kDate:     {kStamp, kStampTZ},
	kStamp:    {kStampTZ},
	kTime:     {kInterval},
	kName:     {kText},
	kLetter:   {kText},
	kOID:      {kRegclass, kRegtype, kRegproc, kRegspace, kRegrole},
	kRegclass: {kOID},
	kRegtype:  {kOID},
	kRegproc:  {kOID},
	kRegspace: {kOID},
	kRegrole:  {kOID},
}

// becomes reports whether a value of kind from may stand where kind to is wanted.
func becomes(from, to kind) bool {
	if isArray(from) && isArray(to) {
		return becomes(from-kArrays, to-kArrays)
	}
	return from == to || from == kUnknown || to == kAny || slices.Contains(implicit[from], to)
}

// category is PostgreSQL's typcategory.
func category(k kind) byte {
	switch k {
	case kBool:
		return 'B'
	case kInt2, kInt4, kInt8, kFloat4, kFloat8, kNumeric, kOID, kRegclass, kRegtype, kRegproc, kRegspace, kRegrole:
		return 'N'
	case kText, kVarchar, kChar, kForeign, kName, kLetter:
		return 'S'
	case kDate, kTime, kStamp, kStampTZ:
		return 'D'
	case kInterval:
		return 'T'
	case kUnknown:
		return 'X'
	case kEnum:
		return 'E'
	}
	if isArray(k) {
		return 'A'
	}
	return 'U' + byte(k) // others are in categories of their own
}

// preferred reports whether k is its category's preferred type.
func preferred(k kind) bool {
	return k == kBool || k == kFloat8 || k == kOID || k == kText || k == kStampTZ || k == kInterval
}

// keyed reports whether the bytes of kind k do not compare as its values do, so that a key must be compared.
func keyed(k kind) bool {
	return k == kNumeric || k == kInterval || k == kChar || k == kJSONB || k == kArray || k == kEnum
}

// unordered reports whether type t has no order and no equality in PostgreSQL.
func unordered(t tailrace.Type) bool { return t.Kind == kJSON || t.Kind == kArray && t.Elem == kJSON }
