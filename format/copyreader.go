package format

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"tailrace"
)

const (
	copyBatchRows  = 8192    // rows of a full batch
	copyBatchBytes = 4 << 20 // bytes of input after which a batch counts as full, so that wide rows stay bounded
	maxCopyLine    = 1 << 30 // bytes of one row; PostgreSQL's own limit
	shownBytes     = 100     // bytes of a line or value that an error shows
)

// CopyOptions are the options of COPY FROM.
type CopyOptions struct {
	Layout  Layout     // CopyText, CopyCSV or CopyBinary
	Copy    CopyFormat // zero: DefaultCopy
	Table   string     // for errors
	Columns []string   // names, for errors and for HeaderMatch
	// HeaderMatch wants the names in the header line to be those of the columns; it takes effect with Copy.Header.
	HeaderMatch bool
	// ForceNotNull and ForceNull are CSV's options by column: the null string counts as text, or as NULL even in quotes. nil is none.
	ForceNotNull, ForceNull []bool
}

// CopyReader turns the data of a COPY FROM into batches. The data may be cut anywhere:
//
//	r := NewCopyReader(opts, types, settings)
//	for chunk := range chunks {
//		r.Feed(chunk)
//		for b, err := r.Next(); b != nil || err != nil; b, err = r.Next() { ... }
//	}
//	r.Finish()
//	for b, err := r.Next(); err != io.EOF; b, err = r.Next() { ... }
//
// The batches do not depend on the cuts. An error ends the reading; it says where like PostgreSQL's CONTEXT, in Error.Where.
type CopyReader struct {
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

// copyField is a field of a line: text is valid until the next line.
type copyField struct {
	text string
	null bool
}

// NewCopyReader returns a reader for rows of the given types.
func NewCopyReader(opts CopyOptions, types []tailrace.Type, s *Settings) *CopyReader {
	if opts.Copy.Delimiter == 0 {
		header := opts.Copy.Header
		opts.Copy = DefaultCopy(opts.Layout)
		opts.Copy.Header = header
	}
	if s == nil {
		s = Default()
	}
	return &CopyReader{opts: opts, types: types, s: s}
}

// Feed gives the reader a copy of the next bytes.
func (r *CopyReader) Feed(chunk []byte) {
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
func (r *CopyReader) Finish() { r.finished = true }

// Next returns a full batch, or nil when it needs more input for one. After Finish it returns what is left, then io.EOF. The caller owns the batch.
func (r *CopyReader) Next() (*tailrace.Batch, error) {
	if r.err != nil {
		return nil, r.err
	}
	for {
		if r.batch == nil {
			r.newBatch()
		}
		if r.batch.N >= copyBatchRows || r.bytes >= copyBatchBytes {
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
func (r *CopyReader) newBatch() {
	const room = 512 // rows of the first
	r.batch, r.bytes = &tailrace.Batch{Cols: make([]tailrace.Column, len(r.types))}, 0
	if r.room == nil {
		for i, t := range r.types {
			r.batch.Cols[i] = tailrace.MakeColumn(t.Kind, room)
		}
		return
	}
	for i, t := range r.types {
		c := tailrace.MakeColumn(t.Kind, copyBatchRows)
		if c.Width == 0 {
			c.Data = make([]byte, 0, r.room[i]+r.room[i]/8)
		}
		r.batch.Cols[i] = c
	}
}

func (r *CopyReader) take() *tailrace.Batch {
	b := r.batch
	r.batch = nil
	if b.N == copyBatchRows { // batches of wide rows are shorter, and grow
		r.room = make([]int, len(b.Cols))
		for i := range b.Cols {
			r.room[i] = len(b.Cols[i].Data)
		}
	}
	return b
}

// row reads one row into the batch. more is false when there is no whole row left.
func (r *CopyReader) row() (more bool, err error) {
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
func (r *CopyReader) convert(line []byte) (more bool, err error) {
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
func (r *CopyReader) forced(f copyField, i int) copyField {
	switch {
	case f.null && i < len(r.opts.ForceNotNull) && r.opts.ForceNotNull[i]:
		return copyField{text: r.opts.Copy.Null}
	case !f.null && f.text == r.opts.Copy.Null && i < len(r.opts.ForceNull) && r.opts.ForceNull[i]:
		return copyField{null: true}
	}
	return f
}

func (r *CopyReader) checkHeader() error {
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

func (r *CopyReader) name(i int) string {
	if i < len(r.opts.Columns) {
		return r.opts.Columns[i]
	}
	return fmt.Sprintf("column%d", i+1)
}

// where adds the place of a whole line to err; line is nil when it is not known as a whole.
func (r *CopyReader) where(err error, line []byte) error {
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
func (r *CopyReader) whereColumn(err error, i int, text string) error {
	var e *tailrace.Error
	if !errors.As(err, &e) {
		return err
	}
	e.Where = fmt.Sprintf("COPY %s, line %d, column %s: \"%s\"", r.opts.Table, r.line, r.name(i), shorten(text))
	return e
}

// shorten cuts text to what an error shows, between characters.
func shorten(text string) string {
	if len(text) <= shownBytes {
		return text
	}
	n := shownBytes
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "..."
}
