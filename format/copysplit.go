package format

import "bytes"

// split takes a line's fields apart into r.fields.
func (r *CopyReader) split(line []byte) error {
	r.fields, r.scratch = r.fields[:0], r.scratch[:0]
	if r.opts.Layout == CopyCSV {
		return r.splitCSV(line)
	}
	return r.splitText(line)
}

// splitText takes apart a line of the text format. NULL is known by the field as it was given, before its escapes are resolved.
func (r *CopyReader) splitText(line []byte) error {
	f := &r.opts.Copy
	escapes := bytes.IndexByte(line, '\\') >= 0
	for {
		end := bytes.IndexByte(line, f.Delimiter)
		if escapes {
			end = unescapedByte(line, f.Delimiter)
		}
		raw := line
		if end >= 0 {
			raw = line[:end]
		}
		switch {
		case string(raw) == f.Null:
			r.fields = append(r.fields, copyField{null: true})
		case escapes && bytes.IndexByte(raw, '\\') >= 0:
			text := r.unescape(raw)
			if err := checkText(text); err != nil { // escapes can make bytes that are no text
				return err
			}
			r.fields = append(r.fields, copyField{text: text})
		default:
			r.fields = append(r.fields, copyField{text: viewString(raw)})
		}
		if end < 0 {
			return nil
		}
		line = line[end+1:]
	}
}

// unescapedByte is the place of the first c that no backslash precedes, -1 when there is none.
func unescapedByte(line []byte, c byte) int {
	for i := 0; i < len(line); i++ {
		if line[i] == c {
			return i
		}
		if line[i] == '\\' {
			i++
		}
	}
	return -1
}

// unescape resolves backslash sequences: \b \f \n \r \t \v, \ooo, \xhh; any other character stands for itself.
func (r *CopyReader) unescape(raw []byte) string {
	// The scratch space is as large as the line at most, and the strings before it in the line must stay: so it grows by new memory only.
	if cap(r.scratch)-len(r.scratch) < len(raw) {
		r.scratch = make([]byte, 0, max(4096, 2*len(raw)))
	}
	start := len(r.scratch)
	out := r.scratch
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '\\' {
			out = append(out, c)
			continue
		}
		if i++; i == len(raw) {
			break // a backslash at the end means nothing
		}
		switch c = raw[i]; c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'v':
			c = '\v'
		case '0', '1', '2', '3', '4', '5', '6', '7':
			v := int(c - '0')
			for n := 1; n < 3 && i+1 < len(raw) && raw[i+1] >= '0' && raw[i+1] <= '7'; n++ {
				i++
				v = v<<3 + int(raw[i]-'0')
			}
			c = byte(v)
		case 'x':
			if i+1 < len(raw) && hexDigit(raw[i+1]) >= 0 {
				i++
				v := hexDigit(raw[i])
				if i+1 < len(raw) && hexDigit(raw[i+1]) >= 0 {
					i++
					v = v<<4 + hexDigit(raw[i])
				}
				c = byte(v)
			}
		}
		out = append(out, c)
	}
	r.scratch = out
	return viewString(out[start:])
}

// splitCSV takes apart a line of CSV. NULL is the null string without quotes.
func (r *CopyReader) splitCSV(line []byte) error {
	f := &r.opts.Copy
	for {
		end := bytes.IndexByte(line, f.Delimiter)
		raw := line
		if end >= 0 {
			raw = line[:end]
		}
		if bytes.IndexByte(raw, f.Quote) < 0 {
			r.fields = append(r.fields, copyField{text: viewString(raw), null: string(raw) == f.Null})
			if end < 0 {
				return nil
			}
			line = line[end+1:]
			continue
		}
		text, rest, last, err := r.unquote(line)
		if err != nil {
			return err
		}
		r.fields = append(r.fields, copyField{text: text})
		if last {
			return nil
		}
		line = rest
	}
}

// unquote reads the field that line begins with, of which a part is in quotes. last tells that no field follows.
func (r *CopyReader) unquote(line []byte) (text string, rest []byte, last bool, err error) {
	f := &r.opts.Copy
	if cap(r.scratch)-len(r.scratch) < len(line) {
		r.scratch = make([]byte, 0, max(4096, 2*len(line)))
	}
	start := len(r.scratch)
	out := r.scratch
	quoted := false
	i := 0
	for ; i < len(line); i++ {
		c := line[i]
		switch {
		case quoted && c == f.Escape && i+1 < len(line) && (line[i+1] == f.Escape || line[i+1] == f.Quote):
			i++
			out = append(out, line[i])
		case c == f.Quote:
			quoted = !quoted
		case c == f.Delimiter && !quoted:
			r.scratch = out
			return viewString(out[start:]), line[i+1:], false, nil
		default:
			out = append(out, c)
		}
	}
	if quoted {
		return "", nil, true, errorf(codeBadCopy, "unterminated CSV quoted field")
	}
	r.scratch = out
	return viewString(out[start:]), nil, true, nil
}
