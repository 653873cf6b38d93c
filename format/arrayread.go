package format

import (
	"math"
	"strings"

	"tailrace"
)

// maxArrayElements is the most elements of an array, PostgreSQL's own limit.
const maxArrayElements = 134_217_727

func tooManyDims(n int) error {
	return errorf(codeTooLarge, "number of array dimensions (%d) exceeds the maximum allowed (%d)", n, tailrace.MaxDims)
}

// arrayElements is how many elements an array of these dimensions has, 0 if any has no length.
func arrayElements(dims []tailrace.Dim) (int, error) {
	n := int64(min(1, len(dims)))
	for _, d := range dims {
		if n *= int64(d.Length); d.Length < 0 || n > math.MaxInt32 {
			return 0, errorf(codeTooLarge, "array size exceeds the maximum allowed (%d)", maxArrayElements)
		}
	}
	if n > maxArrayElements {
		return 0, errorf(codeTooLarge, "array size exceeds the maximum allowed (%d)", maxArrayElements)
	}
	for _, d := range dims {
		if int64(d.Lower)+int64(d.Length) > math.MaxInt32 {
			return 0, errorf(codeTooLarge, "array lower bound is too large: %d", d.Lower)
		}
	}
	return int(n), nil
}

// parseArray reads {1,NULL,"a b"} or [2:3]={...}. Elements are read by their own type's function.
func parseArray(c *tailrace.Column, t tailrace.Type, text string, s *Settings) error {
	if err := checkText(text); err != nil {
		return err
	}
	bounds, rest, err := parseBounds(text)
	if err != nil {
		return err
	}
	lengths, err := (&braces{text: rest}).count()
	if err != nil {
		return err
	}
	dims := make([]tailrace.Dim, len(lengths))
	for i, n := range lengths {
		dims[i] = tailrace.Dim{Length: n, Lower: 1}
	}
	if bounds != nil {
		same := len(bounds) == len(dims)
		for i := 0; same && i < len(dims); i++ {
			same = bounds[i].Length == dims[i].Length
		}
		if !same {
			return malformedArray(text, "Specified array dimensions do not match array contents.")
		}
		dims = bounds
	}
	n, err := arrayElements(dims)
	if err != nil {
		return err
	}
	if n == 0 {
		c.Append(tailrace.AppendArray(nil, nil))
		return nil
	}
	r := arrayItems{text: rest, whole: text, dims: dims, want: n, element: t.Element(), s: s, out: tailrace.AppendArray(nil, dims)}
	if err := r.read(); err != nil {
		return err
	}
	c.Append(r.out)
	return nil
}

// parseBounds reads the dimensions before the = and returns what follows, which begins with {. bounds is nil when there are none.
func parseBounds(text string) (bounds []tailrace.Dim, rest string, err error) {
	for rest = skipArraySpace(text); strings.HasPrefix(rest, "["); rest = skipArraySpace(rest) {
		if len(bounds) == tailrace.MaxDims {
			return nil, "", tooManyDims(len(bounds) + 1)
		}
		number, after := cutBound(rest[1:])
		if number == "" {
			return nil, "", malformedArray(text, "\"[\" must introduce explicitly-specified array dimensions.")
		}
		low := int32(1)
		if strings.HasPrefix(after, ":") {
			low = boundOf(number)
			if number, after = cutBound(after[1:]); number == "" {
				return nil, "", malformedArray(text, "Missing array dimension value.")
			}
		}
		if !strings.HasPrefix(after, "]") {
			return nil, "", malformedArray(text, "Missing \"]\" after array dimensions.")
		}
		high := boundOf(number)
		if high < low {
			return nil, "", errorf("2202E", "upper bound cannot be less than lower bound")
		}
		bounds = append(bounds, tailrace.Dim{Length: int(high - low + 1), Lower: low}) // wraps around as PostgreSQL's does; such a length matches nothing
		rest = after[1:]
	}
	switch {
	case bounds == nil && !strings.HasPrefix(rest, "{"):
		return nil, "", malformedArray(text, "Array value must start with \"{\" or dimension information.")
	case bounds == nil:
		return nil, rest, nil
	case !strings.HasPrefix(rest, "="):
		return nil, "", malformedArray(text, "Missing \"=\" after array dimensions.")
	}
	if rest = skipArraySpace(rest[1:]); !strings.HasPrefix(rest, "{") {
		return nil, "", malformedArray(text, "Array contents must start with \"{\".")
	}
	return bounds, rest, nil
}

func skipArraySpace(s string) string {
	for s != "" && arraySpace(s[0]) {
		s = s[1:]
	}
	return s
}

// cutBound cuts digits and signs off the front of s.
func cutBound(s string) (number, rest string) {
	i := 0
	for i < len(s) && (isDigit(s[i]) || s[i] == '-' || s[i] == '+') {
		i++
	}
	return s[:i], s[i:]
}

// boundOf reads as C's atoi does: the number that s begins with, 0 for none, cut to 32 bits.
func boundOf(s string) int32 {
	v, _, ok := cInt64(s)
	if !ok && s[0] == '-' {
		v = math.MinInt64
	} else if !ok {
		v = math.MaxInt64
	}
	return int32(v)
}

// arrayItems reads the elements of text, whose braces have been checked, and adds them to out.
type arrayItems struct {
	text, whole string
	dims        []tailrace.Dim
	want        int
	element     tailrace.Type
	s           *Settings
	out         []byte

	done    int // elements read
	at      int // the next byte of text
	depth   int
	place   [tailrace.MaxDims]int // of the next element in each dimension
	scratch tailrace.Column
	buf     []byte
}

func (r *arrayItems) read() error {
	r.scratch = tailrace.MakeColumn(r.element.Kind, 1)
	for ended := false; !ended; {
		item, quoted, at, last, err := r.item()
		if err != nil {
			return err
		}
		if ended = last; at != r.done || at >= r.want { // braces of several depths side by side: PostgreSQL moves or drops elements of most
			return malformedArray(r.whole, unevenArray)
		}
		r.done++
		if !quoted && len(item) == 4 && strings.EqualFold(item, "NULL") {
			r.out = tailrace.AppendNullElement(r.out)
			continue
		}
		r.scratch.Reset()
		if err := parseValue(&r.scratch, r.element, item, r.s); err != nil {
			return err
		}
		r.out = tailrace.AppendElement(r.out, r.scratch.Bytes(0))
	}
	if r.done != r.want {
		return malformedArray(r.whole, unevenArray)
	}
	return nil
}

// item reads up to the end of the next element: its text without quotes, backslashes and the blanks around it, its number in the array, and whether
// it is the last.
func (r *arrayItems) item() (item string, quoted bool, at int, last bool, err error) {
	at = -1
	end, inQuotes := 0, false // end is where the item ends in buf, without blanks
	r.buf = r.buf[:0]
	for r.at < len(r.text) {
		c := r.text[r.at]
		r.at++
		switch {
		case c == '\\' && r.at < len(r.text):
			r.buf = append(r.buf, r.text[r.at])
			r.at++
			end, quoted = len(r.buf), true
		case c == '"':
			if inQuotes = !inQuotes; !inQuotes {
				end = len(r.buf)
			}
			quoted = true
		case inQuotes:
			r.buf = append(r.buf, c)
		case c == '{':
			if r.depth == len(r.dims) {
				return "", false, 0, false, malformedArray(r.whole, "")
			}
			r.place[r.depth] = 0
			r.depth++
		case c == '}' && r.depth > 0:
			if at < 0 {
				at = r.number()
			}
			r.depth--
			if r.place[r.depth] = 0; r.depth == 0 {
				return string(r.buf[:end]), quoted, at, true, nil
			}
			r.place[r.depth-1]++
		case c == arrayDelimiter:
			if at < 0 {
				at = r.number()
			}
			r.place[len(r.dims)-1]++
			return string(r.buf[:end]), quoted, at, false, nil
		case arraySpace(c):
			if len(r.buf) > 0 || quoted {
				r.buf = append(r.buf, c)
			}
		default:
			r.buf = append(r.buf, c)
			end = len(r.buf)
		}
	}
	return "", false, 0, false, malformedArray(r.whole, "")
}

// number is that of the element at place.
func (r *arrayItems) number() int {
	n := 0
	for i, d := range r.dims {
		n = n*d.Length + r.place[i]
	}
	return n
}
