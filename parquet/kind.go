package parquet

import (
	"fmt"
	"math"

	"tailrace"
	"tailrace/duckdb"
)

// Column is a column to write.
type Column struct {
	Name string
	Type tailrace.Type
	Text bool // as PostgreSQL prints the value, whatever the type
}

// asText tells that a column goes as text although its type may have a better form.
func (c *Column) asText() bool {
	return c.Text || fileType(c.Type) == duckdb.Varchar && !verbatim(c.Type.Kind)
}

// fileType is the type that values of t have in a file.
func fileType(t tailrace.Type) duckdb.Type {
	switch t.Kind {
	case tailrace.KindBool:
		return duckdb.Boolean
	case tailrace.KindInt2:
		return duckdb.SmallInt
	case tailrace.KindInt4:
		return duckdb.Integer
	case tailrace.KindInt8:
		return duckdb.BigInt
	case tailrace.KindFloat4:
		return duckdb.Float
	case tailrace.KindFloat8:
		return duckdb.Double
	case tailrace.KindNumeric:
		if p, s := t.Precision(), t.Scale(); p >= 1 && p <= duckdb.MaxDecimalDigits && s >= 0 && s <= p {
			return duckdb.DecimalOf(p, s)
		}
		return duckdb.Varchar
	case tailrace.KindBytea:
		return duckdb.Blob
	case tailrace.KindDate:
		return duckdb.Date
	case tailrace.KindTime:
		return duckdb.Time
	case tailrace.KindTimestamp:
		return duckdb.Timestamp
	case tailrace.KindTimestamptz:
		return duckdb.TimestampTZ
	case tailrace.KindUUID:
		return duckdb.UUID
	case tailrace.KindJSON, tailrace.KindJSONB:
		return duckdb.JSON
	case tailrace.KindOID, tailrace.KindRegclass, tailrace.KindRegtype, tailrace.KindRegproc, tailrace.KindRegnspace, tailrace.KindRegrole:
		return duckdb.UInteger
	case tailrace.KindArray:
		if t.Vector() {
			return duckdb.Varchar
		}
		return duckdb.ListOf(fileType(t.Element()))
	}
	return duckdb.Varchar
}

// verbatim tells that a value of kind k is stored as the text that it is.
func verbatim(k tailrace.Kind) bool {
	switch k {
	case tailrace.KindText, tailrace.KindVarchar, tailrace.KindChar, tailrace.KindJSON, tailrace.KindJSONB, tailrace.KindForeign, tailrace.KindEnum, tailrace.KindName, tailrace.KindLetter:
		return true
	}
	return false
}

// kindOf is the type that values of a file's type are read as; ok is false when they have to be cast first, see readAs.
func kindOf(t duckdb.Type) (out tailrace.Type, ok bool) {
	if element, list := duckdb.Element(t); list {
		e, ok := kindOf(element)
		return tailrace.ArrayOf(e), ok
	}
	if duckdb.Number(t) == duckdb.Decimal {
		width, scale := duckdb.Digits(t)
		return tailrace.Type{Kind: tailrace.KindNumeric, Mod: int32(width<<16|scale) + 4}, true
	}
	kind, ok := map[duckdb.Type]tailrace.Kind{
		duckdb.Boolean: tailrace.KindBool, duckdb.SmallInt: tailrace.KindInt2, duckdb.Integer: tailrace.KindInt4, duckdb.BigInt: tailrace.KindInt8,
		duckdb.Float: tailrace.KindFloat4, duckdb.Double: tailrace.KindFloat8, duckdb.Varchar: tailrace.KindText, duckdb.JSON: tailrace.KindJSON, duckdb.Blob: tailrace.KindBytea,
		duckdb.Date: tailrace.KindDate, duckdb.Time: tailrace.KindTime, duckdb.Timestamp: tailrace.KindTimestamp, duckdb.TimestampTZ: tailrace.KindTimestamptz, duckdb.UUID: tailrace.KindUUID,
	}[t]
	return tailrace.TypeOf(kind), ok
}

// The difference between PostgreSQL's epoch, 2000, and that of files, 1970.
const (
	epochDays   = 10957
	epochMicros = epochDays * dayMicros
	dayMicros   = 86_400_000_000
)

// Infinity as files have it: the extremes but for the smallest number, which PostgreSQL has for -infinity.
const (
	fileInfinity32, fileNegInfinity32 = math.MaxInt32, -math.MaxInt32
	fileInfinity64, fileNegInfinity64 = math.MaxInt64, -math.MaxInt64
)

// What PostgreSQL's dates and timestamps reach, since 2000: from 4713 BC, dates to before 5874898. Its timestamps end after those of files.
const (
	minDate, endDate = -2451545, 2145031949
	minTimestamp     = -211813488000000000
)

// FileType is DuckDB's name of the type that the column has in a file.
func (c *Column) FileType() string {
	if c.asText() {
		return "VARCHAR"
	}
	return typeName(fileType(c.Type))
}

func typeName(t duckdb.Type) string {
	if element, list := duckdb.Element(t); list {
		return typeName(element) + "[]"
	}
	switch duckdb.Number(t) {
	case duckdb.Decimal:
		width, scale := duckdb.Digits(t)
		return fmt.Sprintf("DECIMAL(%d,%d)", width, scale)
	case duckdb.TimestampTZ:
		return "TIMESTAMP WITH TIME ZONE"
	}
	return map[duckdb.Type]string{
		duckdb.Boolean: "BOOLEAN", duckdb.SmallInt: "SMALLINT", duckdb.Integer: "INTEGER", duckdb.BigInt: "BIGINT", duckdb.UInteger: "UINTEGER", duckdb.Float: "FLOAT",
		duckdb.Double: "DOUBLE", duckdb.Varchar: "VARCHAR", duckdb.JSON: "JSON", duckdb.Blob: "BLOB", duckdb.Date: "DATE", duckdb.Time: "TIME", duckdb.Timestamp: "TIMESTAMP", duckdb.UUID: "UUID",
	}[t]
}
