package format

import (
	"strconv"
	"strings"

	"tailrace"
)

// arrayDelimiter stands between the elements of an array. PostgreSQL has another only for boxes.
const arrayDelimiter = ','

// arraySpace is what may stand around the elements of an array, and makes one that holds it need quotes.
func arraySpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// arrayAppender is the function that prints arrays of elements of type t.
func arrayAppender(t tailrace.Type) textAppender {
	element, plain := appenderOf(t), neverQuoted(t.Kind)
	return func(dst, raw []byte, s *session) []byte {
		dims, elements, err := tailrace.ReadArray(t.Kind, raw)
		if err != nil {
			return appendDamaged(dst, raw)
		}
		if t.Vector() {
			return appendVector(dst, elements, element, s)
		}
		if len(dims) == 0 {
			return append(dst, '{', '}')
		}
		dst = appendBounds(dst, dims)
		for at := 0; elements.Left > 0; at++ {
			dst = openBraces(dst, dims, at)
			value, null := elements.Next()
			if null {
				dst = append(dst, "NULL"...)
			} else {
				from := len(dst)
				if dst = element(dst, value, s); !plain {
					dst = quoteElement(dst, from)
				}
			}
			dst = closeBraces(dst, dims, at)
		}
		return dst
	}
}

// appendVector prints an int2vector or oidvector: 1 2 3.
func appendVector(dst []byte, elements tailrace.Elements, element textAppender, s *session) []byte {
	for first := true; elements.Left > 0; first = false {
		if !first {
			dst = append(dst, ' ')
		}
		value, _ := elements.Next() // none is NULL
		dst = element(dst, value, s)
	}
	return dst
}

// appendDamaged prints stored bytes that are no value so that neither a reader nor a program can take them for one.
func appendDamaged(dst, raw []byte) []byte {
	dst = append(dst, "damaged array \\x"...)
	for _, b := range raw {
		dst = append(dst, hexDigits[b>>4], hexDigits[b&15])
	}
	return dst
}

// appendBounds adds [2:4][0:1]= when the subscripts of any dimension do not begin with 1.
func appendBounds(dst []byte, dims []tailrace.Dim) []byte {
	usual := true
	for _, d := range dims {
		usual = usual && d.Lower == 1
	}
	if usual {
		return dst
	}
	for _, d := range dims {
		dst = strconv.AppendInt(append(dst, '['), int64(d.Lower), 10)
		dst = strconv.AppendInt(append(dst, ':'), int64(d.Lower)+int64(d.Length)-1, 10)
		dst = append(dst, ']')
	}
	return append(dst, '=')
}

// openBraces adds what stands before element number at: a brace for each dimension that begins with it, a delimiter before all but the first.
func openBraces(dst []byte, dims []tailrace.Dim, at int) []byte {
	if at > 0 {
		dst = append(dst, arrayDelimiter)
	}
	for n, k := 1, len(dims)-1; k >= 0; k-- {
		if n *= dims[k].Length; at%n != 0 {
			break
		}
		dst = append(dst, '{')
	}
	return dst
}

// closeBraces adds a brace for each dimension that ends with element number at.
func closeBraces(dst []byte, dims []tailrace.Dim, at int) []byte {
	for n, k := 1, len(dims)-1; k >= 0; k-- {
		if n *= dims[k].Length; (at+1)%n != 0 {
			break
		}
		dst = append(dst, '}')
	}
	return dst
}

// neverQuoted reports whether no value of kind k prints as something that needs quotes in an array, under any settings.
func neverQuoted(k tailrace.Kind) bool {
	switch k {
	case tailrace.KindBool, tailrace.KindInt2, tailrace.KindInt4, tailrace.KindInt8, tailrace.KindFloat4, tailrace.KindFloat8, tailrace.KindNumeric, tailrace.KindUUID, tailrace.KindOID:
		return true
	}
	return false
}

// quoteElement puts the element dst[at:] in quotes, with backslashes before quotes and backslashes, when it would else read as something different.
func quoteElement(dst []byte, at int) []byte {
	element := dst[at:]
	special, inner := len(element) == 0 || len(element) == 4 && strings.EqualFold(viewString(element), "NULL"), 0
	for _, c := range element {
		switch {
		case c == '"' || c == '\\':
			inner++
			special = true
		case c == '{' || c == '}' || c == arrayDelimiter || arraySpace(c):
			special = true
		}
	}
	if !special {
		return dst
	}
	from := len(dst) - 1
	for range inner + 2 {
		dst = append(dst, 0)
	}
	to := len(dst) - 1
	dst[to] = '"'
	for to--; from >= at; from-- { // from the end, so that nothing is overwritten before it is read
		c := dst[from]
		dst[to] = c
		if to--; c == '"' || c == '\\' {
			dst[to] = '\\'
			to--
		}
	}
	dst[at] = '"'
	return dst
}
