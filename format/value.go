package format

import (
	"encoding/binary"
	"fmt"
	"time"

	"tailrace"
)

func le16(raw []byte) uint16 { return binary.LittleEndian.Uint16(raw) }
func le32(raw []byte) uint32 { return binary.LittleEndian.Uint32(raw) }
func le64(raw []byte) uint64 { return binary.LittleEndian.Uint64(raw) }

// session is Settings with what is worth remembering from one value to the next. It belongs to one goroutine.
type session struct {
	*Settings
	// zone is the last used stretch of the time zone in which the offset is one and the same.
	zone struct {
		from, to int64 // Unix seconds, [from, to)
		offset   int
		name     string
	}
}

// location is the session's time zone.
func (s *Settings) location() *time.Location {
	if s.Location == nil {
		return time.UTC
	}
	return s.Location
}

type (
	textAppender   func(dst, raw []byte, s *session) []byte
	binaryAppender func(dst, raw []byte) []byte
	textParser     func(c *tailrace.Column, t tailrace.Type, text string, s *Settings) error
)

// textAppenders and textParsers have a function for every kind but arrays, whose functions refer to those of the elements.
var (
	textAppenders = [...]textAppender{
		tailrace.KindBool: appendBool, tailrace.KindInt2: appendInt2, tailrace.KindInt4: appendInt4, tailrace.KindInt8: appendInt8,
		tailrace.KindFloat4: appendFloat4, tailrace.KindFloat8: appendFloat8, tailrace.KindNumeric: appendNumeric,
		tailrace.KindText: appendVerbatim, tailrace.KindVarchar: appendVerbatim, tailrace.KindChar: appendVerbatim,
		tailrace.KindBytea: appendBytea, tailrace.KindDate: appendDate, tailrace.KindTime: appendTime, tailrace.KindTimestamp: appendTimestamp,
		tailrace.KindTimestamptz: appendTimestamptz, tailrace.KindInterval: appendInterval, tailrace.KindUUID: appendUUID,
		tailrace.KindJSON: appendVerbatim, tailrace.KindJSONB: appendVerbatim, tailrace.KindForeign: appendVerbatim, tailrace.KindEnum: appendVerbatim,
		tailrace.KindOID: appendOID, tailrace.KindName: appendVerbatim, tailrace.KindLetter: appendVerbatim,
		tailrace.KindRegclass: regAppender(tailrace.KindRegclass), tailrace.KindRegtype: regAppender(tailrace.KindRegtype), tailrace.KindRegproc: regAppender(tailrace.KindRegproc),
		tailrace.KindRegnspace: regAppender(tailrace.KindRegnspace), tailrace.KindRegrole: regAppender(tailrace.KindRegrole),
	}
	textParsers = [...]textParser{
		tailrace.KindBool: parseBool, tailrace.KindInt2: parseInt2, tailrace.KindInt4: parseInt4, tailrace.KindInt8: parseInt8,
		tailrace.KindFloat4: parseFloat4, tailrace.KindFloat8: parseFloat8, tailrace.KindNumeric: parseNumeric,
		tailrace.KindText: parseVerbatim, tailrace.KindVarchar: parseVarchar, tailrace.KindChar: parseChar,
		tailrace.KindBytea: parseBytea, tailrace.KindDate: parseDate, tailrace.KindTime: parseTime, tailrace.KindTimestamp: parseTimestamp,
		tailrace.KindTimestamptz: parseTimestamptz, tailrace.KindInterval: parseInterval, tailrace.KindUUID: parseUUID,
		tailrace.KindJSON: parseJSON, tailrace.KindJSONB: parseJSONB, tailrace.KindForeign: parseVerbatim, tailrace.KindEnum: parseEnum,
		tailrace.KindOID: parseOID, tailrace.KindName: parseName, tailrace.KindLetter: parseLetter,
		tailrace.KindRegclass: parseReg, tailrace.KindRegtype: parseReg, tailrace.KindRegproc: parseReg,
		tailrace.KindRegnspace: parseReg, tailrace.KindRegrole: parseReg,
	}
)

// appenderOf is the function that prints values of type t. An invalid type is our own bug.
func appenderOf(t tailrace.Type) textAppender {
	if !t.Valid() {
		panic(fmt.Sprintf("print a value of kind %d (elements of %d), which does not exist", t.Kind, t.Elem))
	}
	if t.Kind == tailrace.KindArray {
		return arrayAppender(t.Element())
	}
	return textAppenders[t.Kind]
}

// AppendText adds row i of c, which is not NULL, as PostgreSQL prints it under the settings s.
func AppendText(dst []byte, t tailrace.Type, c *tailrace.Column, i int, s *Settings) []byte {
	raw := c.Bytes(i)
	switch t.Kind { // the kinds whose printing needs no session, and so no memory for one
	case tailrace.KindInt4:
		return appendInt4(dst, raw, nil)
	case tailrace.KindInt8:
		return appendInt8(dst, raw, nil)
	case tailrace.KindText, tailrace.KindVarchar, tailrace.KindChar, tailrace.KindJSON, tailrace.KindJSONB, tailrace.KindForeign, tailrace.KindEnum, tailrace.KindName, tailrace.KindLetter:
		return append(dst, raw...)
	case tailrace.KindNumeric:
		return appendNumeric(dst, raw, nil)
	}
	return appenderOf(t)(dst, raw, &session{Settings: s})
}

// ParseText reads a value of type t as PostgreSQL's input function does, under the settings s, fits it to the type's modifier, and appends it to
// c. Errors are *tailrace.Error with PostgreSQL's code and wording; c is then as it was.
func ParseText(c *tailrace.Column, t tailrace.Type, text string, s *Settings) error {
	if !t.Valid() {
		panic(fmt.Sprintf("read a value of kind %d (elements of %d), which does not exist", t.Kind, t.Elem))
	}
	if err := parseValue(c, t, text, s); err != nil {
		if bad := checkText(text); bad != nil { // PostgreSQL looks at the encoding first
			return bad
		}
		return err
	}
	return nil
}

// parseValue is ParseText without its look at the encoding of a bad text.
func parseValue(c *tailrace.Column, t tailrace.Type, text string, s *Settings) error {
	if t.Kind == tailrace.KindArray {
		return parseArray(c, t, text, s)
	}
	return textParsers[t.Kind](c, t, text, s)
}
