package format

import (
	"strings"

	"tailrace"
)

// parseBool accepts any beginning of true, false, yes and no, beginnings of on and off that tell them apart, 1 and 0, in any case.
func parseBool(c *tailrace.Column, _ tailrace.Type, text string, _ *Settings) error {
	s := trimSpace(text)
	for _, word := range [...]struct {
		word  string
		least int
		value bool
	}{{"true", 1, true}, {"false", 1, false}, {"yes", 1, true}, {"no", 1, false}, {"on", 2, true}, {"off", 2, false}, {"1", 1, true}, {"0", 1, false}} {
		if len(s) >= word.least && len(s) <= len(word.word) && strings.EqualFold(s, word.word[:len(s)]) {
			c.AppendBool(word.value)
			return nil
		}
	}
	return badSyntax("boolean", text)
}

func appendBool(dst, raw []byte, _ *session) []byte {
	if raw[0] != 0 {
		return append(dst, 't')
	}
	return append(dst, 'f')
}
