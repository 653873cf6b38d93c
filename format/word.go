package format

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tailrace"
)

// maxNameBytes is the most bytes of an identifier; PostgreSQL's NAMEDATALEN counts one more.
const maxNameBytes = 63

// parseName cuts text to what an identifier holds, between characters.
func parseName(c *tailrace.Column, _ tailrace.Type, text string, _ *Settings) error {
	if err := checkText(text); err != nil {
		return err
	}
	c.AppendString(clipName(text))
	return nil
}

func clipName(text string) string {
	if len(text) <= maxNameBytes {
		return text
	}
	n := maxNameBytes
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// parseLetter keeps the first byte of text, or reads \ooo as the byte of that octal number.
func parseLetter(c *tailrace.Column, _ tailrace.Type, text string, _ *Settings) error {
	if err := checkText(text); err != nil {
		return err
	}
	raw := []byte(text[:min(1, len(text))])
	if len(text) == 4 && isOctalByte(text) {
		raw = []byte{octalByte(text)}
	}
	if len(raw) == 0 {
		raw = []byte{0}
	}
	return parseLetterBinary(c, raw)
}

// noLetter refuses what PostgreSQL stores as a part of a character.
func noLetter() error {
	return &tailrace.Error{Code: "0A000", Message: "a value of type \"char\" that is no ASCII character is not supported", Hint: "Use text."}
}

// appendLetterBinary sends the one byte that every "char" has in PostgreSQL, 0 for the empty one.
func appendLetterBinary(dst, raw []byte) []byte {
	if len(raw) == 0 {
		return append(dst, 0)
	}
	return append(dst, raw[0])
}

func parseLetterBinary(c *tailrace.Column, raw []byte) error {
	switch {
	case len(raw) == 0:
		return errShortBinary()
	case len(raw) > 1:
		return badBinaryLength()
	case raw[0] >= utf8.RuneSelf:
		return noLetter()
	case raw[0] == 0:
		c.AppendString("")
	default:
		c.Append(raw)
	}
	return nil
}

// parseEnum takes a label of the enum.
func parseEnum(c *tailrace.Column, t tailrace.Type, text string, s *Settings) error {
	if err := checkText(text); err != nil {
		return err
	}
	if s != nil && s.Labels != nil {
		if labels := s.Labels(t.ID); labels != nil && !slices.Contains(labels, text) {
			return errorf(codeBadText, "invalid input value for enum %s: \"%s\"", t, text)
		}
	}
	c.AppendString(text)
	return nil
}

func parseOID(c *tailrace.Column, _ tailrace.Type, text string, _ *Settings) error {
	v, err := oidOf(text)
	if err == nil {
		c.AppendInt32(int32(v))
	}
	return err
}

// oidOf reads an OID as C's strtoul does: -1 is the largest.
func oidOf(text string) (uint32, error) {
	s := trimSpace(text)
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || digits == "" || !isDigit(digits[0]) {
		return 0, badSyntax("oid", text)
	}
	end := 0
	for end < len(digits) && isDigit(digits[end]) {
		end++
	}
	v, err := strconv.ParseUint(digits[:end], 10, 64)
	if err != nil {
		return 0, intRange(text, "oid")
	}
	if end < len(digits) {
		return 0, badSyntax("oid", text)
	}
	if s[0] == '-' {
		v = -v
	}
	if v > math.MaxUint32 && v < 1<<64-1<<31 {
		return 0, intRange(text, "oid")
	}
	return uint32(v), nil
}

func appendOID(dst, raw []byte, _ *session) []byte {
	return strconv.AppendUint(dst, uint64(le32(raw)), 10)
}

// parseReg reads what names an object: its OID, - for none, or its name.
func parseReg(c *tailrace.Column, t tailrace.Type, text string, s *Settings) error {
	if text == "-" {
		c.AppendInt32(0)
		return nil
	}
	if text != "" && strings.Trim(text, "0123456789") == "" {
		return parseOID(c, t, text, s)
	}
	if err := checkText(text); err != nil {
		return err
	}
	oid, err := namedObject(t.Kind, text, s)
	if err == nil {
		c.AppendInt32(int32(oid))
	}
	return err
}

func namedObject(k tailrace.Kind, text string, s *Settings) (uint32, error) {
	if s != nil && s.Names != nil {
		return s.Names.OID(k, text)
	}
	switch k {
	case tailrace.KindRegclass:
		return 0, errorf("42P01", "relation \"%s\" does not exist", text)
	case tailrace.KindRegnspace:
		return 0, errorf("3F000", "schema \"%s\" does not exist", text)
	case tailrace.KindRegrole:
		return 0, errorf("42704", "role \"%s\" does not exist", text)
	case tailrace.KindRegproc:
		return 0, errorf("42883", "function \"%s\" does not exist", text)
	}
	for b := tailrace.KindBool; b.Valid(); b++ {
		for _, t := range [...]tailrace.Type{tailrace.TypeOf(b), tailrace.ArrayOf(tailrace.TypeOf(b))} {
			if _, builtin := tailrace.BuiltinOf(t.OID()); builtin && plainName(t) == text {
				return t.OID(), nil
			}
		}
	}
	return 0, errorf("42704", "type \"%s\" does not exist", text)
}

// regAppender is the function that prints OIDs of objects of kind k by their names.
func regAppender(k tailrace.Kind) textAppender {
	return func(dst, raw []byte, s *session) []byte {
		oid := le32(raw)
		if oid == 0 {
			return append(dst, '-')
		}
		if s != nil && s.Settings != nil && s.Names != nil {
			if name := s.Names.Name(k, oid); name != "" {
				return append(dst, name...)
			}
		} else if t, ok := tailrace.BuiltinOf(oid); ok && k == tailrace.KindRegtype {
			return append(dst, plainName(t)...)
		}
		return strconv.AppendUint(dst, uint64(oid), 10)
	}
}
