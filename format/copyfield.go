package format

import "bytes"

// copyField is a field of a line: text is valid until the next line.
type copyField struct {
	text string
	null bool
}

// fieldReader takes lines of text and CSV apart, a byte at a time where they hold anything special: the plain way, for what the loops over columns leave, and for
// what to say of a bad line.
type fieldReader struct {
	opts    *CopyOptions
	fields  []copyField
	scratch []byte // fields without their escapes
}

// split takes a line's fields apart into r.fields.
func (r *fieldReader) split(line []byte) error {
	r.fields, r.scratch = r.fields[:0], r.scratch[:0]
	for {
		f, rest, last, err := r.next(line)
		if err != nil {
			return err
		}
		r.fields = append(r.fields, f)
		if last {
			return nil
		}
		line = rest
	}
}

// next takes the first field off line. last tells that no other follows.
func (r *fieldReader) next(line []byte) (f copyField, rest []byte, last bool, err error) {
	if r.opts.Layout == CopyCSV {
		return r.nextCSV(line)
	}
	return r.nextText(line)
}

// nextText is next for the text format. NULL is known by the field as it was given, before its escapes are resolved.
func (r *fieldReader) nextText(line []byte) (f copyField, rest []byte, last bool, err error) {
	o := &r.opts.Copy
	raw, end := line, unescapedByte(line, o.Delimiter)
	if end >= 0 {
		raw, rest = line[:end], line[end+1:]
	}
	switch {
	case string(raw) == o.Null:
		f.null = true
	case bytes.IndexByte(raw, '\\') >= 0:
		f.text = r.unescape(raw)
		err = checkText(f.text) // escapes can make bytes that are no text
	default:
		f.text = viewString(raw)
	}
	return f, rest, end < 0, err
}

// unescapedByte is the place of the first c that no backslash precedes, -1 when there is none.
func unescapedByte(line []byte, c byte) int {
	end := bytes.IndexByte(line, c)
	if end < 0 || bytes.IndexByte(line[:end], '\\') < 0 {
		return end
	}
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

// room makes place for n bytes behind the scratch space that is taken. The strings before in the line must stay: so it grows by new memory only.
func (r *fieldReader) room(n int) []byte {
	if cap(r.scratch)-len(r.scratch) < n {
		r.scratch = make([]byte, 0, max(4096, 2*n))
	}
	return r.scratch
}

// unescape resolves backslash sequences: \b \f \n \r \t \v, \ooo, \xhh; any other character stands for itself.
func (r *fieldReader) unescape(raw []byte) string {
	out := r.room(len(raw))
	start := len(out)
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

// nextCSV is next for CSV. NULL is the null string without quotes.
func (r *fieldReader) nextCSV(line []byte) (f copyField, rest []byte, last bool, err error) {
	o := &r.opts.Copy
	raw, end := line, bytes.IndexByte(line, o.Delimiter)
	if end >= 0 {
		raw, rest = line[:end], line[end+1:]
	}
	if bytes.IndexByte(raw, o.Quote) < 0 {
		return copyField{text: viewString(raw), null: string(raw) == o.Null}, rest, end < 0, nil
	}
	f.text, rest, last, err = r.unquote(line)
	return f, rest, last, err
}

// unquote reads the field that line begins with, of which a part is in quotes. last tells that no field follows.
func (r *fieldReader) unquote(line []byte) (text string, rest []byte, last bool, err error) {
	f := &r.opts.Copy
	out := r.room(len(line))
	start := len(out)
	quoted := false
	for i := 0; i < len(line); i++ {
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
