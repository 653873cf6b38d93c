package duckdb

import (
	capi "github.com/duckdb/duckdb-go-bindings"
)

// A Type is DuckDB's number for a type, a small one, and above it what the number does not say:
//
//	bits 0-15    DuckDB's number
//	bit  16      a list of it
//	bit  17      the JSON alias of Varchar
//	bits 18-23   digits of a Decimal
//	bits 24-29   those after its point
const (
	listBit      Type = 1 << 16
	jsonBit      Type = 1 << 17
	widthShift        = 18
	scaleShift        = 24
	decimalDigit Type = 1<<6 - 1
	numberBits   Type = 1<<16 - 1
)

// The types of values in files, besides those of vector.go. Decimal alone has no digits: see DecimalOf.
const (
	TinyInt      = capi.TypeTinyInt
	UTinyInt     = capi.TypeUTinyInt
	USmallInt    = capi.TypeUSmallInt
	UBigInt      = capi.TypeUBigInt
	Date         = capi.TypeDate              // int32 days since 1970
	Time         = capi.TypeTime              // int64 microseconds since midnight
	Timestamp    = capi.TypeTimestamp         // int64 microseconds since 1970
	TimestampTZ  = capi.TypeTimestampTZ       // the same, UTC
	TimestampNS  = capi.TypeTimestampNS       // int64 nanoseconds
	TimestampMS  = capi.TypeTimestampMS       // int64 milliseconds
	TimestampSec = capi.TypeTimestampS        // int64 seconds
	Interval     = capi.TypeInterval          // read by casts only
	UUID         = capi.TypeUUID              // int128, its first bit inverted
	Decimal      = capi.TypeDecimal           // an integer as wide as its digits need
	JSON         = capi.TypeVarchar | jsonBit // Varchar that files mark as JSON
)

// MaxDecimalDigits is the most digits that a Decimal has.
const MaxDecimalDigits = 38

// ListOf is the type of lists of t, which is no list itself.
func ListOf(t Type) Type { return t | listBit }

// DecimalOf is the type of numbers of width digits (1 to 38), scale of them after the point.
func DecimalOf(width, scale int) Type {
	return Decimal | Type(width)<<widthShift | Type(scale)<<scaleShift
}

// Number is t without what DecimalOf, ListOf and JSON add.
func Number(t Type) Type { return t & numberBits }

// Element is the type of the elements of lists of type t; ok is false when t is no list.
func Element(t Type) (element Type, ok bool) { return t &^ listBit, t&listBit != 0 }

// Nested tells a struct, a map and what else has values within, but for lists.
func Nested(t Type) bool {
	switch Number(t) {
	case capi.TypeStruct, capi.TypeMap, capi.TypeArray, capi.TypeUnion, capi.TypeVariant:
		return true
	}
	return false
}

// Digits are the width and scale of a Decimal.
func Digits(t Type) (width, scale int) {
	return int(t >> widthShift & decimalDigit), int(t >> scaleShift & decimalDigit)
}

// Width is the bytes that a value of a type of fixed width takes in a Vector, 0 for others.
func Width(t Type) int {
	switch Number(t) {
	case Boolean, TinyInt, UTinyInt:
		return 1
	case SmallInt, USmallInt:
		return 2
	case Integer, UInteger, Float, Date:
		return 4
	case BigInt, UBigInt, Double, Time, Timestamp, TimestampTZ, TimestampNS, TimestampMS, TimestampSec:
		return 8
	case HugeInt, UUID:
		return 16
	case Decimal:
		return decimalWidth(t)
	}
	return 0
}

// decimalWidth is the bytes of a Decimal: those of the smallest integer that holds its digits.
func decimalWidth(t Type) int {
	switch digits, _ := Digits(t); {
	case digits <= 4:
		return 2
	case digits <= 9:
		return 4
	case digits <= 18:
		return 8
	}
	return 16
}

// logicalType makes DuckDB's form of t; the caller destroys it.
func logicalType(t Type) capi.LogicalType {
	if element, ok := Element(t); ok {
		e := logicalType(element)
		defer capi.DestroyLogicalType(&e)
		return capi.CreateListType(e)
	}
	if Number(t) == Decimal {
		width, scale := Digits(t)
		return capi.CreateDecimalType(uint8(width), uint8(scale))
	}
	lt := capi.CreateLogicalType(Number(t))
	if t&jsonBit != 0 {
		capi.LogicalTypeSetAlias(lt, "JSON")
	}
	return lt
}

// typeOf reads DuckDB's form of a type, which the caller destroys. A list of lists, and a type that has no number here, is capi.TypeInvalid.
func typeOf(lt capi.LogicalType) Type {
	switch t := capi.GetTypeId(lt); t {
	case capi.TypeDecimal:
		return DecimalOf(int(capi.DecimalWidth(lt)), int(capi.DecimalScale(lt)))
	case capi.TypeList:
		e := capi.ListTypeChildType(lt)
		defer capi.DestroyLogicalType(&e)
		element := typeOf(e)
		if _, nested := Element(element); nested || element == capi.TypeInvalid {
			return capi.TypeInvalid
		}
		return ListOf(element)
	case capi.TypeVarchar:
		if capi.LogicalTypeGetAlias(lt) == "JSON" {
			return JSON
		}
		return t
	default:
		return t
	}
}
