package format

import "bytes"

// escapedAs is what stands after the backslash for a byte of COPY's text format, 0 for a byte that needs none.
func (e *Encoder) escapedAs(c byte) byte {
	switch c {
	case '\b':
		return 'b'
	case '\f':
		return 'f'
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	case '\t':
		return 't'
	case '\v':
		return 'v'
	case '\\', e.Copy.Delimiter:
		return c
	}
	return 0
}

// escape puts backslashes into the field dst[at:] as COPY's text format wants them.
func (e *Encoder) escape(dst []byte, at int) []byte {
	extra := 0
	for _, c := range dst[at:] {
		if e.escapedAs(c) != 0 {
			extra++
		}
	}
	if extra == 0 {
		return dst
	}
	from := len(dst) - 1
	for range extra {
		dst = append(dst, 0)
	}
	for to := len(dst) - 1; to > from; from-- { // from the end, so that nothing is overwritten before it is read
		as := e.escapedAs(dst[from])
		if as == 0 {
			dst[to] = dst[from]
			to--
			continue
		}
		dst[to], dst[to-1] = as, '\\'
		to -= 2
	}
	return dst
}

// quote puts the field dst[at:] in quotes when force is set or it would else be read as something different.
func (e *Encoder) quote(dst []byte, at int, force bool) []byte {
	f := &e.Copy
	field := dst[at:]
	inner, special := 0, force || string(field) == f.Null || len(e.Columns) == 1 && string(field) == `\.`
	if !special {
		special = bytes.IndexByte(field, f.Delimiter) >= 0 || bytes.IndexByte(field, f.Quote) >= 0 || bytes.IndexByte(field, '\n') >= 0 ||
			bytes.IndexByte(field, '\r') >= 0
	}
	if !special {
		return dst
	}
	for _, c := range field {
		if c == f.Quote || c == f.Escape {
			inner++
		}
	}
	from := len(dst) - 1
	for range inner + 2 {
		dst = append(dst, 0)
	}
	to := len(dst) - 1
	dst[to] = f.Quote
	to--
	for ; from >= at; from-- {
		c := dst[from]
		dst[to] = c
		to--
		if c == f.Quote || c == f.Escape {
			dst[to] = f.Escape
			to--
		}
	}
	dst[at] = f.Quote
	return dst
}
