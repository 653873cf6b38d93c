package tailrace

import (
	"fmt"
	"strconv"
)

// Kind is the family of an SQL type. The numbers are stored in logs and parts and never reused.
type Kind uint8

// The kinds, with the bytes a value of each is stored as. Fixed-width values are little-endian.
const (
	KindNone        Kind = 0
	KindBool        Kind = 1  // one byte, 0 or 1
	KindInt2        Kind = 2  // int16
	KindInt4        Kind = 3  // int32
	KindInt8        Kind = 4  // int64
	KindFloat4      Kind = 5  // IEEE 754 bits
	KindFloat8      Kind = 6  // IEEE 754 bits
	KindNumeric     Kind = 7  // variable, see decimal.go
	KindText        Kind = 8  // UTF-8
	KindVarchar     Kind = 9  // UTF-8
	KindChar        Kind = 10 // character(n): UTF-8, padded with blanks to n
	KindBytea       Kind = 11 // the bytes
	KindDate        Kind = 12 // int32 days since 2000-01-01; the extremes are -infinity and infinity
	KindTime        Kind = 13 // int64 microseconds since midnight, 0..86,400,000,000 inclusive
	KindTimestamp   Kind = 14 // int64 microseconds since 2000-01-01 00:00; the extremes are -infinity and infinity
	KindTimestamptz Kind = 15 // int64 microseconds since 2000-01-01 00:00 UTC; the extremes are -infinity and infinity
	KindInterval    Kind = 16 // 16 bytes: int32 months, int32 days, int64 microseconds
	KindUUID        Kind = 17 // 16 bytes in text order
	KindJSON        Kind = 18 // the text as given
	KindJSONB       Kind = 19 // the text that PostgreSQL prints for the jsonb value
	KindForeign     Kind = 20 // a source's type that has no kind here: its PostgreSQL text; Type.Name keeps the name
	KindArray       Kind = 21 // see array.go; Type.Elem is the kind of the elements
	KindEnum        Kind = 22 // the label; Type.ID and Type.Name say which enum
	KindOID         Kind = 23 // uint32
	KindName        Kind = 24 // UTF-8 of at most 63 bytes: an identifier
	KindLetter      Kind = 25 // PostgreSQL's "char": UTF-8 of one ASCII letter, or empty
	KindRegclass    Kind = 26 // uint32, the OID of a relation
	KindRegtype     Kind = 27 // uint32, the OID of a type
	KindRegproc     Kind = 28 // uint32, the OID of a function
	KindRegnspace   Kind = 29 // uint32, the OID of a schema: regnamespace
	KindRegrole     Kind = 30 // uint32, the OID of a user
)

// Type is a column's SQL type.
type Type struct {
	Kind Kind
	// Mod is PostgreSQL's type modifier (atttypmod): -1 when there is none, n+4 for varchar(n) and character(n),
	// (precision<<16 | scale)+4 for numeric, the number of fractional digits for time types.
	Mod int32
	// Name is the source's name of a KindForeign type, or the name of a KindEnum type as format_type prints it; empty for all others.
	Name string `json:",omitempty"`
	// Elem is the kind of the elements of a KindArray; Mod, Name and ID are those of the elements then.
	Elem Kind `json:",omitempty"`
	// ID is the object in the catalog that a KindEnum type is, 0 for all others.
	ID CollectionID `json:",omitempty"`
}

// NamedType is what the name of an enum or a domain stands for.
type NamedType struct {
	Type    Type         // an enum, or the type under a domain
	Labels  []string     // of an enum, in order
	Domain  CollectionID // 0 for an enum
	Name    string       // of a domain, as errors print it
	NotNull bool         // of a domain
	Default string       // of a domain: an SQL expression, "" for none
	Checks  []NamedCheck // of a domain
}

// NamedCheck is a condition of a domain: an SQL expression over VALUE that must not be false.
type NamedCheck struct{ Name, Expr string }

type kindInfo struct {
	width int // bytes a value takes; 0 is variable
	oid   uint32
	array uint32 // the OID of the array type; 0: there is none
	size  int16  // pg_type.typlen
	name  string
}

var kinds = [...]kindInfo{
	KindBool:        {1, 16, 1000, 1, "boolean"},
	KindInt2:        {2, 21, 1005, 2, "smallint"},
	KindInt4:        {4, 23, 1007, 4, "integer"},
	KindInt8:        {8, 20, 1016, 8, "bigint"},
	KindFloat4:      {4, 700, 1021, 4, "real"},
	KindFloat8:      {8, 701, 1022, 8, "double precision"},
	KindNumeric:     {0, 1700, 1231, -1, "numeric"},
	KindText:        {0, 25, 1009, -1, "text"},
	KindVarchar:     {0, 1043, 1015, -1, "character varying"},
	KindChar:        {0, 1042, 1014, -1, "character"},
	KindBytea:       {0, 17, 1001, -1, "bytea"},
	KindDate:        {4, 1082, 1182, 4, "date"},
	KindTime:        {8, 1083, 1183, 8, "time without time zone"},
	KindTimestamp:   {8, 1114, 1115, 8, "timestamp without time zone"},
	KindTimestamptz: {8, 1184, 1185, 8, "timestamp with time zone"},
	KindInterval:    {16, 1186, 1187, 16, "interval"},
	KindUUID:        {16, 2950, 2951, 16, "uuid"},
	KindJSON:        {0, 114, 199, -1, "json"},
	KindJSONB:       {0, 3802, 3807, -1, "jsonb"},
	KindForeign:     {0, 25, 1009, -1, "text"},
	KindArray:       {0, 2277, 0, -1, "anyarray"},
	KindEnum:        {0, 3500, 0, 4, "anyenum"},
	KindOID:         {4, 26, 1028, 4, "oid"},
	KindName:        {0, 19, 1003, 64, "name"},
	KindLetter:      {0, 18, 1002, 1, "\"char\""},
	KindRegclass:    {4, 2205, 2210, 4, "regclass"},
	KindRegtype:     {4, 2206, 2211, 4, "regtype"},
	KindRegproc:     {4, 24, 1008, 4, "regproc"},
	KindRegnspace:   {4, 4089, 4090, 4, "regnamespace"},
	KindRegrole:     {4, 4096, 4097, 4, "regrole"},
}

// UserOID is the PostgreSQL OID that clients see for an object of the catalog: a table, a view, an enum.
func UserOID(id CollectionID) uint32 { return firstUserOID + uint32(id) }

// userArrayOID is the OID of the array type of an enum.
func userArrayOID(id CollectionID) uint32 { return firstUserArrayOID + uint32(id) }

const (
	firstUserOID      = 16384 // PostgreSQL's FirstNormalObjectId
	firstUserArrayOID = 1 << 30
)

// Valid reports whether k is one of the kinds above.
func (k Kind) Valid() bool { return k != KindNone && int(k) < len(kinds) }

// Width is the number of bytes a stored value takes, 0 when it varies.
func (k Kind) Width() int { return kinds[k].width }

// OID is the PostgreSQL type OID sent to clients; KindForeign is sent as text.
func (t Type) OID() uint32 {
	switch t.Kind {
	case KindEnum:
		return UserOID(t.ID)
	case KindArray:
		switch {
		case t.Elem == KindEnum:
			return userArrayOID(t.ID)
		case t.Vector():
			return map[string]uint32{int2Vector: 22, oidVector: 30}[t.Name]
		}
		return kinds[t.Elem].array
	}
	return kinds[t.Kind].oid
}

// PostgreSQL's lists of numbers in its catalog: int2vector and oidvector.
const (
	int2Vector = "int2vector"
	oidVector  = "oidvector"
)

// VectorOf is int2vector for KindInt2 and oidvector for KindOID: arrays whose first subscript is 0 and that print as numbers with blanks between.
func VectorOf(element Kind) Type {
	t := ArrayOf(TypeOf(element))
	t.Name = map[Kind]string{KindInt2: int2Vector, KindOID: oidVector}[element]
	return t
}

// Vector reports whether t, or the array type that t is the element of, is int2vector or oidvector.
func (t Type) Vector() bool {
	return t.Kind != KindForeign && t.Kind != KindEnum && (t.Name == int2Vector || t.Name == oidVector)
}

// Size is PostgreSQL's typlen: the size in bytes, -1 when it varies.
func (t Type) Size() int16 { return kinds[t.Kind].size }

// BuiltinOf returns the built-in type whose OID is oid, without a modifier; ok is false if there is none.
func BuiltinOf(oid uint32) (t Type, ok bool) {
	for k := KindBool; k.Valid(); k++ {
		switch {
		case k == KindForeign || k == KindArray || k == KindEnum || oid == 0:
		case kinds[k].oid == oid:
			return TypeOf(k), true
		case kinds[k].array == oid:
			return ArrayOf(TypeOf(k)), true
		}
	}
	return Type{}, false
}

// ArrayOf is the type of arrays of t, which is no array itself.
func ArrayOf(t Type) Type {
	return Type{Kind: KindArray, Mod: t.Mod, Name: t.Name, Elem: t.Kind, ID: t.ID}
}

// Element is the type of the elements of an array type.
func (t Type) Element() Type { return Type{Kind: t.Elem, Mod: t.Mod, Name: t.Name, ID: t.ID} }

// Plain is t without a modifier.
func (t Type) Plain() Type {
	t.Mod = -1
	return t
}

// Same reports whether t and u are one type but for their modifiers: a value of one is stored as a value of the other.
func (t Type) Same(u Type) bool {
	return t.Kind == u.Kind && t.Elem == u.Elem && t.ID == u.ID
}

// Valid reports whether the type is one that columns can have.
func (t Type) Valid() bool {
	if t.Kind == KindArray {
		return t.Elem.Valid() && t.Elem != KindArray
	}
	return t.Kind.Valid()
}

// TypeOf is the type of kind k without a modifier.
func TypeOf(k Kind) Type { return Type{Kind: k, Mod: -1} }

// String is the type as PostgreSQL's format_type prints it, for example numeric(12,2).
func (t Type) String() string {
	switch {
	case t.Kind == KindForeign, t.Kind == KindEnum:
		return t.Name
	case t.Kind == KindArray && t.Vector():
		return t.Name
	case t.Kind == KindArray:
		return t.Element().String() + "[]"
	case !t.Kind.Valid():
		return fmt.Sprintf("kind %d", t.Kind)
	case t.Mod < 0:
		if t.Kind == KindChar {
			return "bpchar"
		}
		return kinds[t.Kind].name
	}
	switch t.Kind {
	case KindVarchar, KindChar:
		return kinds[t.Kind].name + "(" + strconv.Itoa(int(t.Mod-4)) + ")"
	case KindNumeric:
		return fmt.Sprintf("numeric(%d,%d)", (t.Mod-4)>>16, t.Scale())
	case KindTime, KindTimestamp, KindTimestamptz:
		base, rest := "time", " without time zone"
		if t.Kind != KindTime {
			base = "timestamp"
		}
		if t.Kind == KindTimestamptz {
			rest = " with time zone"
		}
		return fmt.Sprintf("%s(%d)%s", base, t.Mod, rest)
	case KindInterval:
		if p := t.Mod & 0xffff; p != 0xffff {
			return fmt.Sprintf("interval(%d)", p)
		}
	}
	return kinds[t.Kind].name
}

// Length is n of varchar(n) and character(n) in characters, -1 when there is no limit.
func (t Type) Length() int {
	if t.Mod < 4 || (t.Kind != KindVarchar && t.Kind != KindChar) {
		return -1
	}
	return int(t.Mod - 4)
}

// Scale is s of numeric(p,s), -1 when there is none. PostgreSQL 15 allows -1000..1000; a negative scale is reported as it is declared.
func (t Type) Scale() int {
	if t.Kind != KindNumeric || t.Mod < 4 {
		return -1
	}
	s := (t.Mod - 4) & 0x7ff
	return int(s^1024) - 1024
}

// Precision is p of numeric(p,s) in digits, -1 when there is none.
func (t Type) Precision() int {
	if t.Kind != KindNumeric || t.Mod < 4 {
		return -1
	}
	return int((t.Mod - 4) >> 16)
}
