package format

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"tailrace"
)

// maxJSONDepth bounds nested arrays and objects, since reading them takes stack. PostgreSQL's own limit follows from max_stack_depth.
const maxJSONDepth = 6000

// jsonReader reads JSON as RFC 8259 has it. It tells sink what it finds when there is one.
type jsonReader struct {
	text string
	at   int
	sink *jsonbWriter
	buf  []byte // the last string, with escapes resolved; only with a sink
}

func parseJSON(c *tailrace.Column, _ tailrace.Type, text string, _ *Settings) error {
	if err := checkText(text); err != nil {
		return err
	}
	r := jsonReader{text: text}
	if err := r.document(); err != nil {
		return err
	}
	c.AppendString(text)
	return nil
}

func (r *jsonReader) document() error {
	if err := r.value(0); err != nil {
		return err
	}
	if r.space(); r.at < len(r.text) {
		return r.expected("Expected end of input, but found \"%s\".")
	}
	return nil
}

func (r *jsonReader) space() {
	for r.at < len(r.text) {
		if c := r.text[r.at]; c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return
		}
		r.at++
	}
}

// next is the next character that is no blank, 0 at the end.
func (r *jsonReader) next() byte {
	if r.space(); r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func jsonError(detail string) error {
	return &tailrace.Error{Code: codeBadText, Message: "invalid input syntax for type json", Detail: detail}
}

// expected is the error for a token that does not belong where it is; detail has a place for the token.
func (r *jsonReader) expected(detail string) error {
	token, err := r.token()
	if err != nil {
		return err
	}
	return jsonError(fmt.Sprintf(detail, token))
}

// token is what the text goes on with: a string, a number, a word, or one character of punctuation; the error is for anything else.
func (r *jsonReader) token() (string, error) {
	r.space()
	start := r.at
	if start >= len(r.text) {
		return "", jsonError("The input string ended unexpectedly.")
	}
	end, ok := start+1, true
	switch c := r.text[start]; {
	case c == '"':
		if err := r.str(); err != nil {
			return "", err
		}
		return r.text[start:r.at], nil
	case c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':':
	case c == '-' || isDigit(c):
		end, ok = jsonNumber(r.text, start)
	default:
		for end = start; end < len(r.text) && jsonWordByte(r.text[end]); {
			end++
		}
		if end == start {
			_, n := utf8.DecodeRuneInString(r.text[start:])
			end += n
		}
		word := r.text[start:end]
		ok = word == "true" || word == "false" || word == "null"
	}
	if !ok {
		return "", jsonError(fmt.Sprintf("Token \"%s\" is invalid.", r.text[start:end]))
	}
	return r.text[start:end], nil
}

func jsonWordByte(c byte) bool { return isAlpha(c) || isDigit(c) || c == '_' || c >= 0x80 }

// jsonNumber finds the end of the number that begins at i. ok is false when it is none; end is then where the bad token ends.
func jsonNumber(text string, i int) (end int, ok bool) {
	digits := func() {
		start := i
		for i < len(text) && isDigit(text[i]) {
			i++
		}
		ok = ok && i > start
	}
	ok = true
	if text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else {
		digits()
	}
	if i < len(text) && text[i] == '.' {
		i++
		digits()
	}
	if i < len(text) && lower(text[i]) == 'e' {
		i++
		if i < len(text) && (text[i] == '-' || text[i] == '+') {
			i++
		}
		digits()
	}
	for ; i < len(text) && jsonWordByte(text[i]); i++ {
		ok = false
	}
	return i, ok
}

// value reads one value at the given depth.
func (r *jsonReader) value(depth int) error {
	if depth > maxJSONDepth {
		err := errorf(codeTooDeep, "stack depth limit exceeded")
		err.Hint = "Nest arrays and objects less deeply than " + strconv.Itoa(maxJSONDepth) + "."
		return err
	}
	switch r.next() {
	case '{':
		return r.object(depth)
	case '[':
		return r.array(depth)
	case '"':
		if err := r.str(); err != nil {
			return err
		}
		if r.sink != nil {
			return r.sink.str(r.buf)
		}
		return nil
	case '}', ']', ',', ':':
		return r.expected("Expected JSON value, but found \"%s\".")
	}
	token, err := r.token()
	if err != nil {
		return err
	}
	r.at += len(token)
	if r.sink == nil {
		return nil
	}
	err = r.sink.scalar(token)
	if r.space(); err != nil && r.at < len(r.text) {
		if _, bad := r.token(); bad != nil { // PostgreSQL has looked at the next token before it takes this one
			return bad
		}
	}
	return err
}

func (r *jsonReader) array(depth int) error {
	r.at++
	if r.sink != nil {
		r.sink.open(false)
	}
	if r.next() == ']' {
		return r.closed()
	}
	for {
		if err := r.value(depth + 1); err != nil {
			return err
		}
		switch r.next() {
		case ',':
			r.at++
		case ']':
			return r.closed()
		default:
			return r.expected("Expected \",\" or \"]\", but found \"%s\".")
		}
	}
}

func (r *jsonReader) closed() error {
	r.at++
	if r.sink != nil {
		r.sink.close()
	}
	return nil
}

func (r *jsonReader) object(depth int) error {
	r.at++
	if r.sink != nil {
		r.sink.open(true)
	}
	if r.next() == '}' {
		return r.closed()
	}
	for first := true; ; first = false {
		if r.next() != '"' {
			if first {
				return r.expected("Expected string or \"}\", but found \"%s\".")
			}
			return r.expected("Expected string, but found \"%s\".")
		}
		if err := r.str(); err != nil {
			return err
		}
		if r.sink != nil {
			if err := r.sink.key(r.buf); err != nil {
				return err
			}
		}
		if r.next() != ':' {
			return r.expected("Expected \":\", but found \"%s\".")
		}
		r.at++
		if err := r.value(depth + 1); err != nil {
			return err
		}
		switch r.next() {
		case ',':
			r.at++
		case '}':
			return r.closed()
		default:
			return r.expected("Expected \",\" or \"}\", but found \"%s\".")
		}
	}
}
