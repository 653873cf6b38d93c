package format

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"tailrace"
)

// The SQLSTATEs that reading a value can give.
const (
	codeBadText        = "22P02" // invalid_text_representation
	codeBadBinary      = "22P03" // invalid_binary_representation
	codeOutOfRange     = "22003" // numeric_value_out_of_range
	codeTooLong        = "22001" // string_data_right_truncation
	codeBadDate        = "22007" // invalid_datetime_format
	codeDateRange      = "22008" // datetime_field_overflow
	codeIntervalRange  = "22015" // interval_field_overflow
	codeZoneRange      = "22009" // invalid_time_zone_displacement_value
	codeBadParameter   = "22023" // invalid_parameter_value
	codeBadEncoding    = "22021" // character_not_in_repertoire
	codeUntranslatable = "22P05" // untranslatable_character
	codeBadCopy        = "22P04" // bad_copy_file_format
	codeTooDeep        = "54001" // statement_too_complex
	codeTooLarge       = "54000" // program_limit_exceeded
)

func errorf(code, message string, args ...any) *tailrace.Error {
	return &tailrace.Error{Code: code, Message: fmt.Sprintf(message, args...)}
}

func badSyntax(typeName, text string) error {
	return errorf(codeBadText, "invalid input syntax for type %s: \"%s\"", typeName, text)
}

func badBinary(message string) error { return errorf(codeBadBinary, "%s", message) }

// errShortBinary is PostgreSQL's answer to a binary value that ends too early.
func errShortBinary() error {
	return &tailrace.Error{Code: "08P01", Message: "insufficient data left in message"}
}

// incorrectBinary is what is wrong with a binary value that goes on after its end.
const incorrectBinary = "incorrect binary data format"

func badBinaryLength() error { return badBinary(incorrectBinary) }

// checkText refuses what no text value may hold: bytes that are not UTF-8, and NUL.
func checkText(text string) error {
	if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
		return nil
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r != utf8.RuneError && r != 0 || n == 3 {
			i += n
			continue
		}
		n = min(sequenceLength(text[i]), len(text)-i)
		var b strings.Builder
		for j := range n {
			fmt.Fprintf(&b, " 0x%02x", text[i+j])
		}
		return errorf(codeBadEncoding, "invalid byte sequence for encoding \"UTF8\":%s", b.String())
	}
	return nil
}

// sequenceLength is how many bytes the first byte of a UTF-8 sequence announces, 1 for a byte that begins none.
func sequenceLength(first byte) int {
	switch {
	case first&0xe0 == 0xc0:
		return 2
	case first&0xf0 == 0xe0:
		return 3
	case first&0xf8 == 0xf0:
		return 4
	}
	return 1
}
