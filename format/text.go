package format

import (
	"strings"
	"unicode/utf8"

	"tailrace"
)

func appendVerbatim(dst, raw []byte, _ *session) []byte { return append(dst, raw...) }

func parseVerbatim(c *tailrace.Column, _ tailrace.Type, text string, _ *Settings) error {
	if err := checkText(text); err != nil {
		return err
	}
	c.AppendString(text)
	return nil
}

func parseVarchar(c *tailrace.Column, t tailrace.Type, text string, _ *Settings) error {
	if err := checkText(text); err != nil {
		return err
	}
	fit, err := fitText(t, text, false)
	if err == nil {
		c.AppendString(fit)
	}
	return err
}

func parseChar(c *tailrace.Column, t tailrace.Type, text string, _ *Settings) error {
	if err := checkText(text); err != nil {
		return err
	}
	fit, err := fitText(t, text, false)
	if err == nil {
		c.AppendString(padText(t, fit))
	}
	return err
}

// fitText cuts text to the length of a varchar(n) or character(n). What is cut off must be blanks, except in an explicit cast.
func fitText(t tailrace.Type, text string, explicitCast bool) (string, error) {
	limit := t.Length()
	if limit < 0 || len(text) <= limit {
		return text, nil
	}
	cut := 0
	for n := 0; n < limit && cut < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[cut:])
		cut += size
	}
	if !explicitCast && strings.Trim(text[cut:], " ") != "" {
		return "", errorf(codeTooLong, "value too long for type %s", t)
	}
	return text[:cut], nil
}

// padText fills text with blanks to the length of a character(n).
func padText(t tailrace.Type, text string) string {
	if missing := t.Length() - utf8.RuneCountInString(text); missing > 0 {
		return text + strings.Repeat(" ", missing)
	}
	return text
}
