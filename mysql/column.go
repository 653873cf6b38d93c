package mysql

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tailrace"
)

// column is a column of a target's table as information_schema describes it.
type column struct {
	name      string // as it is, not quoted
	data      string // int, varchar, ...
	full      string // int(10) unsigned, varchar(20), ...
	chars     int64  // the most characters; of TEXT and BLOB kinds the most bytes
	precision int    // of decimals, in digits
	scale     int    // of decimals, in digits
	fraction  int    // of times, in digits
	nullable  bool
	generated bool
	filled    bool   // has a default or counts up: an INSERT may leave it out
	charset   string // "" when it is no text
	collation string
}

// isText and isBytes tell the columns of texts and of bytes.
func (c *column) isText() bool { return c.charset != "" && c.data != "enum" && c.data != "set" }

func (c *column) isBytes() bool {
	return slices.Contains([]string{"varbinary", "tinyblob", "blob", "mediumblob", "longblob"}, c.data)
}

func (c *column) isLong() bool {
	return c.data == "text" || c.data == "mediumtext" || c.data == "longtext"
}

// labels of an enum, as its type spells them.
func (c *column) labels() []string {
	list := strings.TrimSuffix(strings.TrimPrefix(c.full, "enum('"), "')")
	parts := strings.Split(list, "','")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "''", "'")
	}
	return parts
}

// integerMax is the largest value of a kind of integers and of a type of integers, 0 for others.
func integerMax(k tailrace.Kind) uint64 {
	switch k {
	case tailrace.KindBool:
		return 1
	case tailrace.KindInt2:
		return math.MaxInt16
	case tailrace.KindInt4:
		return math.MaxInt32
	case tailrace.KindInt8:
		return math.MaxInt64
	case tailrace.KindOID, tailrace.KindRegclass, tailrace.KindRegtype, tailrace.KindRegproc, tailrace.KindRegnspace, tailrace.KindRegrole:
		return math.MaxUint32
	}
	return 0
}

func (c *column) integerMax() uint64 {
	n := map[string]uint64{"tinyint": math.MaxInt8, "smallint": math.MaxInt16, "mediumint": 1<<23 - 1, "int": math.MaxInt32, "bigint": math.MaxInt64}[c.data]
	if strings.Contains(c.full, "unsigned") {
		n = 2*n + 1
	}
	return n
}

// holds reports whether the column can hold values of type t. Where a type there is narrower in what no declaration here bounds (a text, a numeric without precision,
// years), single values are refused when they are sent; see literal.go. labels are those of t if it is an enum; key says that the column is part of the key.
func (c *column) holds(t tailrace.Type, labels []string, key bool) bool {
	if top := integerMax(t.Kind); top > 0 {
		signed := !strings.Contains(c.full, "unsigned") || t.Kind == tailrace.KindBool || top == math.MaxUint32
		if c.data == "decimal" {
			return signed && c.precision-c.scale >= len(fmt.Sprint(top))
		}
		return signed && c.integerMax() >= top
	}
	switch t.Kind {
	case tailrace.KindFloat4:
		return c.data == "float" && !key || c.data == "double"
	case tailrace.KindFloat8:
		return c.data == "double"
	case tailrace.KindNumeric:
		if c.isLong() {
			return !key
		}
		return c.data == "decimal" && (t.Mod < 0 || t.Scale() < 0) || c.data == "decimal" && t.Scale() <= c.scale && t.Precision()-t.Scale() <= c.precision-c.scale
	case tailrace.KindDate:
		return c.data == "date"
	case tailrace.KindTime:
		return c.data == "time" && c.fractionHolds(t)
	case tailrace.KindTimestamp:
		return c.data == "datetime" && c.fractionHolds(t)
	case tailrace.KindTimestamptz:
		return (c.data == "datetime" || c.data == "timestamp") && c.fractionHolds(t)
	case tailrace.KindBytea:
		return c.isBytes() && (!key || c.data == "varbinary")
	case tailrace.KindUUID:
		return c.data == "uuid" || c.isText() && c.chars >= 36
	}
	return c.holdsText(t, labels, key)
}

func (c *column) fractionHolds(t tailrace.Type) bool {
	return c.fraction >= 6 || t.Mod >= 0 && int(t.Mod) <= c.fraction
}

// holdsText is holds for the types that are texts there.
func (c *column) holdsText(t tailrace.Type, labels []string, key bool) bool {
	if c.data == "enum" {
		return t.Kind == tailrace.KindEnum && !slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(c.labels(), l) })
	}
	if key && (c.data != "varchar" || !c.bytewise()) {
		return false
	}
	if c.data == "json" {
		return t.Kind == tailrace.KindJSONB || t.Kind == tailrace.KindJSON
	}
	if c.data != "varchar" && !c.isLong() {
		return false
	}
	switch t.Kind {
	case tailrace.KindVarchar, tailrace.KindChar:
		if n := t.Length(); n >= 0 {
			return c.chars >= int64(n)
		}
		return c.isLong() || key && t.Kind == tailrace.KindVarchar
	case tailrace.KindText:
		return c.isLong() || key
	case tailrace.KindName, tailrace.KindEnum:
		return c.chars >= 63
	case tailrace.KindLetter:
		return c.chars >= 1
	case tailrace.KindInterval:
		return !key && (c.isLong() || c.chars >= 64)
	}
	return !key && c.isLong() // arrays, json, a source's own types
}

// bytewise reports whether texts are equal there exactly when their bytes are.
func (c *column) bytewise() bool {
	return strings.HasSuffix(c.collation, "_nopad_bin") || c.collation == "utf8mb4_0900_bin" || c.collation == "binary"
}

// Key columns need a length: an index takes 3,072 bytes, and a character up to four.
const (
	keyChars = 768
	keyBytes = 3072
)

// declare is the type that a column of type t is made with; "" when none would do. share is how many columns of variable length the key has; 0: the column is not in it.
func declare(t tailrace.Type, bin string, share int) string {
	text := func(n int) string { return fmt.Sprintf("VARCHAR(%d) CHARACTER SET utf8mb4 COLLATE %s", n, bin) }
	switch t.Kind {
	case tailrace.KindBool:
		return "BOOLEAN"
	case tailrace.KindInt2:
		return "SMALLINT"
	case tailrace.KindInt4:
		return "INT"
	case tailrace.KindInt8:
		return "BIGINT"
	case tailrace.KindOID, tailrace.KindRegclass, tailrace.KindRegtype, tailrace.KindRegproc, tailrace.KindRegnspace, tailrace.KindRegrole:
		return "INT UNSIGNED"
	case tailrace.KindFloat4:
		if share > 0 {
			return "DOUBLE"
		}
		return "FLOAT"
	case tailrace.KindFloat8:
		return "DOUBLE"
	case tailrace.KindNumeric:
		if p, s := t.Precision(), t.Scale(); p > 0 && p <= 65 && s >= 0 && s <= 30 && s <= p {
			return fmt.Sprintf("DECIMAL(%d,%d)", p, s)
		}
	case tailrace.KindDate:
		return "DATE"
	case tailrace.KindTime:
		return "TIME(6)"
	case tailrace.KindTimestamp, tailrace.KindTimestamptz:
		return "DATETIME(6)"
	case tailrace.KindUUID:
		return "CHAR(36) CHARACTER SET ascii COLLATE ascii_bin"
	case tailrace.KindName, tailrace.KindEnum:
		return text(63)
	case tailrace.KindLetter:
		return text(1)
	case tailrace.KindBytea:
		if share > 0 {
			return fmt.Sprintf("VARBINARY(%d)", min(255, keyBytes/share))
		}
		return "LONGBLOB"
	case tailrace.KindText, tailrace.KindVarchar, tailrace.KindChar:
		n := t.Length()
		if share > 0 {
			if t.Kind == tailrace.KindChar && n < 0 {
				return ""
			}
			most := min(255, keyChars/share)
			if n < 0 {
				n = most
			}
			if n > most && n*share > keyChars {
				return ""
			}
			return text(n)
		}
		if n >= 0 && n <= 255 {
			return text(n)
		}
	}
	if share > 0 {
		return ""
	}
	return "LONGTEXT CHARACTER SET utf8mb4 COLLATE " + bin
}
