package format

import (
	"bytes"
	"slices"

	"tailrace"
)

// maxJSONString is the longest string or key of a jsonb, in bytes, and the most elements of an array or object.
const maxJSONString = 1<<28 - 1

// jsonbWriter builds the text that PostgreSQL prints for a jsonb: one blank after colons and commas, numbers as numerics, an object's keys ordered by
// length and then by bytes, of equal keys the last. Objects are put in order when they close.
type jsonbWriter struct {
	out   []byte
	stack []jsonbLevel
	pairs []jsonbPair // of all open objects, the innermost last
}

type jsonbLevel struct {
	object bool
	start  int // of its bytes in out
	first  int // of its pairs in pairs
	count  int
}

// jsonbPair is one key and value in out: "key": value.
type jsonbPair struct {
	key      []byte // as the string is, without escapes
	from, to int
}

func parseJSONB(c *tailrace.Column, _ tailrace.Type, text string, _ *Settings) error {
	value, err := canonicalJSON(text)
	if err == nil {
		c.Append(value)
	}
	return err
}

func canonicalJSON(text string) ([]byte, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	w := jsonbWriter{out: make([]byte, 0, len(text)+len(text)/8)}
	r := jsonReader{text: text, sink: &w}
	if err := r.document(); err != nil {
		return nil, err
	}
	return w.out, nil
}

// element makes room for the next element of an array; an object's values stand after their keys.
func (w *jsonbWriter) element() {
	if n := len(w.stack); n > 0 && !w.stack[n-1].object {
		if w.stack[n-1].count > 0 {
			w.out = append(w.out, ", "...)
		}
		w.stack[n-1].count++
	}
}

// ended notes where the value that was just written ends.
func (w *jsonbWriter) ended() {
	if n := len(w.stack); n > 0 && w.stack[n-1].object {
		w.pairs[len(w.pairs)-1].to = len(w.out)
	}
}

func (w *jsonbWriter) str(s []byte) error {
	if len(s) > maxJSONString {
		return errorf(codeTooLarge, "string too long to represent as jsonb string")
	}
	w.element()
	w.out = appendJSONString(w.out, s)
	w.ended()
	return nil
}

// scalar writes true, false, null or a number.
func (w *jsonbWriter) scalar(token string) error {
	w.element()
	if token[0] == 't' || token[0] == 'f' || token[0] == 'n' {
		w.out = append(w.out, token...)
		w.ended()
		return nil
	}
	if v, scale, ok := parseNumeric64(token); ok {
		var buf [16]byte
		w.out = appendNumeric(w.out, tailrace.AppendDecimal64(buf[:0], v, scale), nil)
		w.ended()
		return nil
	}
	d, err := parseDecimal(token)
	if err == nil {
		err = d.settle(0)
	}
	if err != nil {
		return err
	}
	if d.neg && len(d.digits) > 0 {
		w.out = append(w.out, '-')
	}
	w.out = appendPoint(w.out, d.digits, d.scale)
	w.ended()
	return nil
}

func (w *jsonbWriter) key(s []byte) error {
	if len(s) > maxJSONString {
		return errorf(codeTooLarge, "string too long to represent as jsonb string")
	}
	from := len(w.out)
	w.out = append(appendJSONString(w.out, s), ": "...)
	w.pairs = append(w.pairs, jsonbPair{key: bytes.Clone(s), from: from})
	w.stack[len(w.stack)-1].count++
	return nil
}

func (w *jsonbWriter) open(object bool) {
	w.element()
	w.stack = append(w.stack, jsonbLevel{object: object, start: len(w.out), first: len(w.pairs)})
	if object {
		w.out = append(w.out, '{')
	} else {
		w.out = append(w.out, '[')
	}
}

func (w *jsonbWriter) close() {
	level := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	if level.object {
		w.order(level)
		w.out = append(w.out, '}')
	} else {
		w.out = append(w.out, ']')
	}
	w.ended()
}

// order rewrites an object's pairs in their order and separates them.
func (w *jsonbWriter) order(level jsonbLevel) {
	pairs := w.pairs[level.first:]
	w.pairs = w.pairs[:level.first]
	if len(pairs) == 0 {
		return
	}
	slices.SortStableFunc(pairs, func(a, b jsonbPair) int {
		if len(a.key) != len(b.key) {
			return len(a.key) - len(b.key)
		}
		return bytes.Compare(a.key, b.key)
	})
	body := make([]byte, 0, len(w.out)-level.start+2*len(pairs))
	for i, p := range pairs {
		if i+1 < len(pairs) && bytes.Equal(p.key, pairs[i+1].key) {
			continue
		}
		if len(body) > 0 {
			body = append(body, ", "...)
		}
		body = append(body, w.out[p.from:p.to]...)
	}
	w.out = append(w.out[:level.start+1], body...)
}
