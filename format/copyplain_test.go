package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"tailrace"
)

// plainReader turns the data of a COPY FROM into batches. The data may be cut anywhere:
//
//	r := newPlainReader(opts, types, settings)
//	for chunk := range chunks {
//		r.Feed(chunk)
//		for b, err := r.Next(); b != nil || err != nil; b, err = r.Next() { ... }
//	}
//	r.Finish()
//	for b, err := r.Next(); err != io.EOF; b, err = r.Next() { ... }
//
// The batches do not depend on the cuts. An error ends the reading; it says where like PostgreSQL's CONTEXT, in Error.Where.
type plainReader struct {
	opts  CopyOptions
	types []tailrace.Type
	s     *Settings

	buf      []byte // what was fed and not read yet begins at at
	at       int
	scanned  int // buf[:scanned] holds no end of the line that begins at at
	finished bool
	ended    bool // the end marker was read: ignore the rest
	quoted   bool // CSV: scanned is inside quotes
	escaped  bool // CSV: the byte before scanned is an escape inside quotes
	newline  newline

	line    int64 // of the input, counted from 1
	fields  []copyField
	scratch []byte // fields without their escapes
	started bool   // the header or signature has been read
	batch   *tailrace.Batch
	bytes   int   // of the rows in batch
	room    []int // bytes that each column of the last batch took
	err     error
}

// newPlainReader returns a reader for rows of the given types.
func newPlainReader(opts CopyOptions, types []tailrace.Type, s *Settings) *plainReader {
	if opts.Copy.Delimiter == 0 {
		header := opts.Copy.Header
		opts.Copy = DefaultCopy(opts.Layout)
		opts.Copy.Header = header
	}
	if s == nil {
		s = Default()
	}
	return &plainReader{opts: opts, types: types, s: s}
}

// Feed gives the reader a copy of the next bytes.
func (r *plainReader) Feed(chunk []byte) {
	if r.ended {
		return
	}
	if r.at > 0 {
		r.buf = r.buf[:copy(r.buf, r.buf[r.at:])]
		r.scanned -= r.at
		r.at = 0
	}
	r.buf = append(r.buf, chunk...)
}

// Finish says that there is no more to feed.
func (r *plainReader) Finish() { r.finished = true }

// Next returns a full batch, or nil when it needs more input for one. After Finish it returns what is left, then io.EOF. The caller owns the batch.
func (r *plainReader) Next() (*tailrace.Batch, error) {
	if r.err != nil {
		return nil, r.err
	}
	for {
		if r.batch == nil {
			r.newBatch()
		}
		if r.batch.N >= MorselRows || r.bytes >= MorselBytes {
			return r.take(), nil
		}
		more, err := r.row()
		switch {
		case err != nil:
			r.err = err
			return nil, err
		case more:
		case !r.finished && !r.ended:
			return nil, nil
		case r.batch.N > 0:
			return r.take(), nil
		case !r.finished:
			return nil, nil // the end marker was read, the client goes on
		default:
			r.err = io.EOF
			return nil, io.EOF
		}
	}
}

// newBatch begins a batch with room for as much as the last one held: rows of one COPY are much alike.
func (r *plainReader) newBatch() {
	const room = 512 // rows of the first
	r.batch, r.bytes = &tailrace.Batch{Cols: make([]tailrace.Column, len(r.types))}, 0
	if r.room == nil {
		for i, t := range r.types {
			r.batch.Cols[i] = tailrace.MakeColumn(t.Kind, room)
		}
		return
	}
	for i, t := range r.types {
		c := tailrace.MakeColumn(t.Kind, MorselRows)
		if c.Width == 0 {
			c.Data = make([]byte, 0, r.room[i]+r.room[i]/8)
		}
		r.batch.Cols[i] = c
	}
}

func (r *plainReader) take() *tailrace.Batch {
	b := r.batch
	r.batch = nil
	if b.N == MorselRows { // batches of wide rows are shorter, and grow
		r.room = make([]int, len(b.Cols))
		for i := range b.Cols {
			r.room[i] = len(b.Cols[i].Data)
		}
	}
	return b
}

// row reads one row into the batch. more is false when there is no whole row left.
func (r *plainReader) row() (more bool, err error) {
	if r.opts.Layout == CopyBinary {
		return r.binaryRow()
	}
	line, ok, err := r.nextLine()
	if !ok || err != nil {
		return false, err
	}
	r.bytes += len(line)
	header := r.opts.Copy.Header && !r.started
	r.started = true
	if header && !r.opts.HeaderMatch {
		return true, nil
	}
	if err := r.split(line); err != nil {
		return false, r.where(err, line)
	}
	if header {
		err := r.checkHeader()
		return err == nil, r.where(err, line)
	}
	return r.convert(line)
}

// convert appends the fields of line to the batch.
func (r *plainReader) convert(line []byte) (more bool, err error) {
	if len(r.fields) > len(r.types) {
		return false, r.where(errorf(codeBadCopy, "extra data after last expected column"), line)
	}
	for i := range r.types {
		if i >= len(r.fields) {
			return false, r.where(errorf(codeBadCopy, "missing data for column \"%s\"", r.name(i)), line)
		}
		f := r.fields[i]
		if r.opts.Layout == CopyCSV {
			f = r.forced(f, i)
		}
		if f.null {
			r.batch.Cols[i].AppendNull()
			continue
		}
		t := &r.types[i]
		if err := parseValue(&r.batch.Cols[i], *t, f.text, r.s); err != nil {
			if bad := checkText(f.text); bad != nil {
				return false, r.where(bad, nil)
			}
			return false, r.whereColumn(err, i, f.text)
		}
	}
	r.batch.N++
	return true, nil
}

// forced applies CSV's FORCE_NOT_NULL and FORCE_NULL.
func (r *plainReader) forced(f copyField, i int) copyField {
	switch {
	case f.null && i < len(r.opts.ForceNotNull) && r.opts.ForceNotNull[i]:
		return copyField{text: r.opts.Copy.Null}
	case !f.null && f.text == r.opts.Copy.Null && i < len(r.opts.ForceNull) && r.opts.ForceNull[i]:
		return copyField{null: true}
	}
	return f
}

func (r *plainReader) checkHeader() error {
	if len(r.fields) != len(r.types) {
		return errorf(codeBadCopy, "wrong number of fields in header line: got %d, expected %d", len(r.fields), len(r.types))
	}
	for i, f := range r.fields {
		switch {
		case f.null:
			return errorf(codeBadCopy, "column name mismatch in header line field %d: got null value (\"%s\"), expected \"%s\"",
				i+1, r.opts.Copy.Null, r.name(i))
		case f.text != r.name(i):
			return errorf(codeBadCopy, "column name mismatch in header line field %d: got \"%s\", expected \"%s\"", i+1, f.text, r.name(i))
		}
	}
	return nil
}

func (r *plainReader) name(i int) string {
	if i < len(r.opts.Columns) {
		return r.opts.Columns[i]
	}
	return fmt.Sprintf("column%d", i+1)
}

// where adds the place of a whole line to err; line is nil when it is not known as a whole.
func (r *plainReader) where(err error, line []byte) error {
	var e *tailrace.Error
	if !errors.As(err, &e) {
		return err
	}
	e.Where = fmt.Sprintf("COPY %s, line %d", r.opts.Table, r.line)
	if line != nil {
		e.Where += ": \"" + shorten(string(line)) + "\""
	}
	return e
}

// whereColumn adds the place of a value to err.
func (r *plainReader) whereColumn(err error, i int, text string) error {
	var e *tailrace.Error
	if !errors.As(err, &e) {
		return err
	}
	e.Where = fmt.Sprintf("COPY %s, line %d, column %s: \"%s\"", r.opts.Table, r.line, r.name(i), shorten(text))
	return e
}

// nextLine returns the next line without its end, a view until the next call of Feed. ok is false when there is no whole line.
func (r *plainReader) nextLine() (line []byte, ok bool, err error) {
	if r.ended {
		return nil, false, nil
	}
	end, next, found, err := r.findEnd()
	if err != nil {
		r.line++
		return nil, false, r.where(err, nil)
	}
	if !found {
		if !r.finished || r.at == len(r.buf) {
			if len(r.buf)-r.at > maxCopyLine {
				return nil, false, r.where(errorf("54000", "a line of COPY data is longer than %d bytes", maxCopyLine), nil)
			}
			return nil, false, nil
		}
		end, next = len(r.buf), len(r.buf) // the last line needs no end
	}
	line = r.buf[r.at:end]
	r.at, r.scanned, r.quoted, r.escaped = next, next, false, false
	r.line++
	if r.ended {
		r.at = len(r.buf)
		if len(line) == 0 {
			return nil, false, nil
		}
	}
	return line, true, nil
}

// findEnd looks for the end of the line that begins at r.at, from r.scanned on. When it is not there, scanned is moved to where to go on.
func (r *plainReader) findEnd() (end, next int, found bool, err error) {
	rest := r.buf[r.scanned:]
	if lf := bytes.IndexByte(rest, '\n'); lf >= 0 && r.newline <= newlineLF && !r.quoted && r.plain(rest[:lf]) {
		r.newline = newlineLF
		return r.scanned + lf, r.scanned + lf + 1, true, nil
	}
	for i := r.scanned; i < len(r.buf); i++ {
		c := r.buf[i]
		if r.opts.Layout == CopyCSV && r.csvByte(c) {
			continue
		}
		switch {
		case c == '\n':
			if r.newline > newlineLF {
				return 0, 0, false, r.badNewline("newline", `\n`)
			}
			r.newline = newlineLF
			return i, i + 1, true, nil
		case c == '\r':
			next, ok, err := r.carriageReturn(i)
			if !ok || err != nil {
				r.wait(i)
				return 0, 0, false, err
			}
			return i, next, true, nil
		case c == '\\' && (r.opts.Layout != CopyCSV || i == r.at):
			if i+1 == len(r.buf) {
				r.wait(i)
				return 0, 0, false, nil
			}
			if r.buf[i+1] == '.' {
				marker, ok, err := r.endMarker(i)
				if err != nil || !ok {
					r.wait(i)
					return 0, 0, false, err
				}
				if marker {
					r.ended = true
					return i, len(r.buf), true, nil
				}
				continue
			}
			if r.opts.Layout != CopyCSV {
				i++ // whatever follows is part of the field
			}
		}
	}
	r.wait(len(r.buf))
	return 0, 0, false, nil
}

// wait notes that the search goes on at i when there is more. The byte at i has not been looked at, except that its quotes were counted: so a
// byte at which the search stops is none that csvByte counts.
func (r *plainReader) wait(i int) { r.scanned = min(i, len(r.buf)) }

// plain reports whether a stretch without line feeds holds nothing that needs a closer look.
func (r *plainReader) plain(b []byte) bool {
	if bytes.IndexByte(b, '\r') >= 0 {
		return false
	}
	if r.opts.Layout != CopyCSV {
		return bytes.IndexByte(b, '\\') < 0
	}
	return bytes.IndexByte(b, r.opts.Copy.Quote) < 0 && (r.scanned != r.at || len(b) == 0 || b[0] != '\\')
}

// csvByte follows CSV's quotes and reports whether c is inside them.
func (r *plainReader) csvByte(c byte) bool {
	f := &r.opts.Copy
	if r.quoted && f.Escape != f.Quote && c == f.Escape {
		r.escaped = !r.escaped
	}
	if c == f.Quote && !r.escaped {
		r.quoted = !r.quoted
	}
	if f.Escape == f.Quote || c != f.Escape {
		r.escaped = false
	}
	if r.quoted && (c == '\n' && r.newline == newlineLF || c == '\r' && r.newline != newlineLF) {
		r.line++ // as PostgreSQL counts
	}
	return r.quoted
}

// carriageReturn decides what \r at i is. ok is false when that needs the next byte.
func (r *plainReader) carriageReturn(i int) (next int, ok bool, err error) {
	if r.newline == newlineLF {
		return 0, false, r.badNewline("carriage return", `\r`)
	}
	if r.newline == newlineCR {
		return i + 1, true, nil
	}
	if i+1 == len(r.buf) && !r.finished {
		return 0, false, nil
	}
	if i+1 < len(r.buf) && r.buf[i+1] == '\n' {
		r.newline = newlineCRLF
		return i + 2, true, nil
	}
	if r.newline == newlineCRLF {
		return 0, false, r.badNewline("carriage return", `\r`)
	}
	r.newline = newlineCR
	return i + 1, true, nil
}

// badNewline is the error for a line end of another kind than the first one.
func (r *plainReader) badNewline(what, escape string) error {
	if r.opts.Layout == CopyCSV {
		err := errorf(codeBadCopy, "unquoted %s found in data", what)
		err.Hint = "Use quoted CSV field to represent " + what + "."
		return err
	}
	err := errorf(codeBadCopy, "literal %s found in data", what)
	err.Hint = "Use \"" + escape + "\" to represent " + what + "."
	return err
}

// endMarker looks at \. at i: the end of the data when a line end follows. ok is false when that needs more bytes.
func (r *plainReader) endMarker(i int) (marker, ok bool, err error) {
	rest := r.buf[i+2:]
	needed := 1
	if r.newline == newlineCRLF {
		needed = 2
	}
	if len(rest) < needed && !r.finished && (len(rest) == 0 || rest[0] == '\r') {
		return false, false, nil
	}
	ending := newlineUnknown
	switch {
	case bytes.HasPrefix(rest, []byte("\r\n")) && r.newline != newlineCR:
		ending = newlineCRLF
	case bytes.HasPrefix(rest, []byte("\n")):
		ending = newlineLF
	case bytes.HasPrefix(rest, []byte("\r")):
		ending = newlineCR
	}
	switch {
	case ending == newlineUnknown && r.opts.Layout == CopyCSV:
		return false, true, nil
	case ending == newlineUnknown:
		return false, false, errorf(codeBadCopy, "end-of-copy marker corrupt")
	case r.newline != newlineUnknown && ending != r.newline:
		return false, false, &tailrace.Error{Code: codeBadCopy, Message: "end-of-copy marker does not match previous newline style"}
	}
	return true, true, nil
}

// split takes a line's fields apart into r.fields.
func (r *plainReader) split(line []byte) error {
	r.fields, r.scratch = r.fields[:0], r.scratch[:0]
	if r.opts.Layout == CopyCSV {
		return r.splitCSV(line)
	}
	return r.splitText(line)
}

// splitText takes apart a line of the text format. NULL is known by the field as it was given, before its escapes are resolved.
func (r *plainReader) splitText(line []byte) error {
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

// unescape resolves backslash sequences: \b \f \n \r \t \v, \ooo, \xhh; any other character stands for itself.
func (r *plainReader) unescape(raw []byte) string {
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
func (r *plainReader) splitCSV(line []byte) error {
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
func (r *plainReader) unquote(line []byte) (text string, rest []byte, last bool, err error) {
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

// binaryRow reads one row of binary COPY data, after the header at the beginning.
func (r *plainReader) binaryRow() (more bool, err error) {
	if r.ended {
		return false, nil
	}
	if !r.started {
		if ok, err := r.binaryHeader(); !ok || err != nil {
			return false, err
		}
	}
	whole, err := r.wholeRow()
	if err != nil || whole == nil {
		return false, err
	}
	r.line++
	if r.ended {
		r.at = len(r.buf)
		return false, nil
	}
	r.bytes += len(whole)
	at := 2
	for i := range r.types {
		n := int(int32(binary.BigEndian.Uint32(whole[at:])))
		at += 4
		if n < 0 {
			r.batch.Cols[i].AppendNull()
			continue
		}
		if err := ParseBinary(&r.batch.Cols[i], r.types[i], whole[at:at+n], r.s); err != nil {
			if e := (*tailrace.Error)(nil); errors.As(err, &e) {
				e.Where = fmt.Sprintf("COPY %s, line %d, column %s", r.opts.Table, r.line, r.name(i))
			}
			return false, err
		}
		at += n
	}
	r.batch.N++
	return true, nil
}

// binaryHeader reads the signature, flags and extension. ok is false when they are not all there.
func (r *plainReader) binaryHeader() (ok bool, err error) {
	rest := r.buf[r.at:]
	n := min(len(rest), len(copySignature))
	if !bytes.Equal(rest[:n], []byte(copySignature[:n])) || r.finished && n < len(copySignature) {
		return false, errorf(codeBadCopy, "COPY file signature not recognized")
	}
	const flags, extension = len(copySignature), len(copySignature) + 4
	if len(rest) < extension+4 {
		return false, r.cutShort("invalid COPY file header (missing flags)")
	}
	f := binary.BigEndian.Uint32(rest[flags:])
	if f&(1<<16) != 0 {
		return false, errorf(codeBadCopy, "invalid COPY file header (WITH OIDS)")
	}
	if f>>16 != 0 {
		return false, errorf(codeBadCopy, "unrecognized critical flags in COPY file header")
	}
	length := int(int32(binary.BigEndian.Uint32(rest[extension:])))
	if length < 0 || length > maxCopyLine {
		return false, errorf(codeBadCopy, "invalid COPY file header (wrong length)")
	}
	if len(rest) < extension+4+length {
		return false, r.cutShort("invalid COPY file header (wrong length)")
	}
	r.at += extension + 4 + length
	r.started = true
	return true, nil
}

// cutShort is the error for input that ends in the middle, nil when more may come.
func (r *plainReader) cutShort(message string) error {
	if !r.finished {
		return nil
	}
	return errorf(codeBadCopy, "%s", message)
}

// wholeRow returns the bytes of the next row and moves past it, nil when they are not all there.
func (r *plainReader) wholeRow() ([]byte, error) {
	rest := r.buf[r.at:]
	if len(rest) < 2 {
		if len(rest) == 0 {
			return nil, nil
		}
		return nil, r.atRow(r.cutShort("unexpected EOF in COPY data"))
	}
	n := int(int16(binary.BigEndian.Uint16(rest)))
	if n == -1 {
		r.ended = true
		return rest[:2], nil
	}
	if n != len(r.types) {
		return nil, r.atRow(errorf(codeBadCopy, "row field count is %d, expected %d", n, len(r.types)))
	}
	at := 2
	for range n {
		if len(rest) < at+4 {
			return nil, r.atRow(r.cutShort("unexpected EOF in COPY data"))
		}
		size := int(int32(binary.BigEndian.Uint32(rest[at:])))
		if size < -1 || size > maxCopyLine-at {
			return nil, r.atRow(errorf(codeBadCopy, "invalid field size"))
		}
		at += 4 + max(size, 0)
	}
	if len(rest) < at {
		return nil, r.atRow(r.cutShort("unexpected EOF in COPY data"))
	}
	r.at += at
	return rest[:at], nil
}

// atRow adds the number of the row that is being read to err.
func (r *plainReader) atRow(err error) error {
	if e := (*tailrace.Error)(nil); errors.As(err, &e) {
		e.Where = fmt.Sprintf("COPY %s, line %d", r.opts.Table, r.line+1)
	}
	return err
}
