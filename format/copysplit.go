package format

import (
	"bytes"
	"io"

	"tailrace"
)

// CopySplitter cuts the data of a COPY FROM into morsels: it finds where rows end, and reads nothing else of them. The data may come cut anywhere, and
// is received straight into the memory that it stays in:
//
//	s := NewCopySplitter(opts, types)
//	for {
//		switch m, err := s.Next(); {
//		case m != nil: ...                               // parse it
//		case err != nil: ...                             // io.EOF: that was all
//		case no more comes: s.Finish()
//		default: s.Fill(copy(s.Room(), input))
//		}
//	}
//
// The morsels do not depend on the cuts. Used by one goroutine; morsels are released by any.
type CopySplitter struct {
	opts    CopyOptions
	columns int
	padding int // bytes that every row's values take beside those of the input
	buffers *copyBuffers

	buf      *copyBuffer
	filled   int // bytes of buf
	at       int // where the row under way begins
	scanned  int // buf[at:scanned] holds no end of that row
	finished bool
	ended    bool // the end marker was read: the rest is passed over
	started  bool // the header or signature was read
	newline  newline
	quoted   bool  // CSV: scanned is inside quotes
	breaks   int64 // line ends inside quotes of the row under way
	fields   int   // binary: of the row under way before scanned

	lf, cr, backslash, quote, escape finder

	line int64   // lines of the input before the row under way
	m    *Morsel // under way, nil for none
	open bool    // its last piece is in buf
	err  error   // what comes after m
}

// NewCopySplitter returns a splitter for rows of the given types.
func NewCopySplitter(opts CopyOptions, types []tailrace.Type) *CopySplitter {
	s := &CopySplitter{opts: opts.filled(), columns: len(types), buffers: &copyBuffers{}}
	for _, t := range types {
		if t.Kind == tailrace.KindChar {
			s.padding += max(t.Length(), 0)
		}
	}
	s.lf.c, s.cr.c, s.backslash.c, s.quote.c, s.escape.c = '\n', '\r', '\\', s.opts.Copy.Quote, s.opts.Copy.Escape
	return s
}

// Room is where the next bytes of the input go, at least one; valid until the next call of another method. Fill says how many were put there.
func (s *CopySplitter) Room() []byte {
	if s.ended {
		s.filled = s.at
	}
	if s.buf == nil || len(s.buf.data)-slack-s.filled < fewestFree {
		s.turn()
	}
	return s.buf.data[s.filled : len(s.buf.data)-slack]
}

// Fill says that n bytes were put into Room.
func (s *CopySplitter) Fill(n int) { s.filled += n }

// Finish says that there is no more to come.
func (s *CopySplitter) Finish() { s.finished = true }

// Size is the bytes of the buffers in use: those of morsels that were not released, and what was filled and not split.
func (s *CopySplitter) Size() int64 { return s.buffers.size() }

// Close gives up the buffer under way and the morsel in it. Morsels that were handed out are released by who has them.
func (s *CopySplitter) Close() {
	if s.m != nil {
		s.m.Release()
		s.m = nil
	}
	if s.buf != nil {
		s.buf.release()
		s.buf = nil
	}
	s.filled, s.at, s.ended, s.finished, s.err = 0, 0, true, true, io.EOF
}

// turn takes the next buffer and moves the row under way to its beginning.
func (s *CopySplitter) turn() {
	size, rest := firstBuffer, []byte(nil)
	if s.buf != nil {
		size = min(4*len(s.buf.data), largestBuffer)
		rest = s.buf.data[s.at:s.filled]
	}
	for len(rest)+fewestFree+slack > size/2 {
		size *= 2
	}
	const most = maxCopyLine + largestBuffer
	next := s.buffers.take(min(size, most))
	copy(next.data, rest)
	if s.buf != nil {
		s.buf.release()
	}
	for _, f := range []*finder{&s.lf, &s.cr, &s.backslash, &s.quote, &s.escape} {
		f.moved(s.at)
	}
	s.buf, s.filled, s.scanned, s.at, s.open = next, len(rest), max(0, s.scanned-s.at), 0, false
}

// Next returns the next morsel, or nil when it needs more input for one. After Finish it returns what is left, then io.EOF. The caller releases the
// morsel. An error comes after the rows before it, and ends the splitting; it says where, like PostgreSQL's CONTEXT.
func (s *CopySplitter) Next() (*Morsel, error) {
	for s.err == nil && !s.full() {
		more, err := s.row()
		if err == nil && more {
			continue
		}
		switch {
		case err != nil:
			s.err = err
		case s.finished:
			s.err = io.EOF
		default:
			return nil, nil
		}
	}
	if s.m != nil && s.m.Rows > 0 {
		m := s.m
		s.m, s.open = nil, false
		return m, nil
	}
	return nil, s.err
}

func (s *CopySplitter) full() bool {
	return s.m != nil && (s.m.Rows >= MorselRows || s.m.Bytes+s.padding*s.m.Rows >= MorselBytes)
}

// row adds the next row, or several, to the morsel under way. more is false when there is no whole row.
func (s *CopySplitter) row() (more bool, err error) {
	switch {
	case s.ended:
		return false, nil
	case s.opts.Layout == CopyBinary:
		return s.binaryRow()
	case s.buf == nil:
		return false, nil
	case s.opts.Copy.Header && !s.started:
		return s.header()
	}
	s.started = true
	if s.plainRows() {
		return true, nil
	}
	from, to, ok, err := s.nextLine()
	if ok {
		s.add(from, to)
	}
	return ok, err
}

// morsel is the one under way, begun if need be.
func (s *CopySplitter) morsel() *Morsel {
	if s.m == nil {
		s.m = s.buffers.morsel()
		s.m.line = s.line - 1 - s.breaks // the row that is added was counted
		s.open = false
	}
	return s.m
}

// add adds buf[from:to], a row whose lines were counted, to the morsel.
func (s *CopySplitter) add(from, to int) {
	m := s.morsel()
	if !s.open {
		gap, lineEnd := s.lineEnd()
		m.open(s.buf, from, gap, lineEnd)
		s.open = true
	}
	p := &m.pieces[len(m.pieces)-1]
	p.ends = append(p.ends, int32(to))
	if s.breaks > 0 {
		m.longer = append(m.longer, longerRow{m.Rows, s.breaks})
		s.breaks = 0
	}
	m.Rows++
	m.Bytes += to - from
}

// lineEnd is how many bytes a line end has, and the first of them.
func (s *CopySplitter) lineEnd() (gap int, first byte) {
	switch {
	case s.opts.Layout == CopyBinary:
		return 0, 0
	case s.newline == newlineCRLF:
		return 2, '\r'
	case s.newline == newlineCR:
		return 1, '\r'
	}
	return 1, '\n'
}

// plainRows adds rows until the morsel is full or something needs a closer look: lines that end in a line feed, without escapes, and in CSV with an even number of
// quotes before the end. It reports whether it added any.
//
// Hot: most input is nothing else, and costs what looking for its special bytes costs.
func (s *CopySplitter) plainRows() (added bool) {
	csv := s.opts.Layout == CopyCSV
	if s.newline > newlineLF || csv && (s.newline == newlineUnknown || s.opts.Copy.Escape != s.opts.Copy.Quote) {
		return false
	}
	data := s.buf.data[:s.filled]
	special := s.cr.next(data, s.scanned)
	if !csv {
		special = min(special, s.backslash.next(data, s.scanned))
	}
	for ; !s.full(); added = true {
		end, ok := s.plainEnd(data[:special], csv)
		if !ok {
			break
		}
		s.newline, s.quoted = newlineLF, false
		s.line += 1 + s.breaks
		s.add(s.at, end)
		s.at, s.scanned = end+1, end+1
	}
	return added
}

// plainEnd is the next line feed in data from scanned on that is not in quotes. It moves scanned past those that are.
func (s *CopySplitter) plainEnd(data []byte, csv bool) (end int, ok bool) {
	if csv && s.scanned == s.at && s.at < len(data) && data[s.at] == '\\' {
		return 0, false // perhaps the end marker
	}
	for s.scanned < len(data) {
		n := bytes.IndexByte(data[s.scanned:], '\n')
		if n < 0 {
			return 0, false
		}
		end = s.scanned + n
		if !csv || s.quoted == (bytes.Count(data[s.scanned:end], []byte{s.quote.c})&1 == 1) {
			return end, true
		}
		s.quoted, s.scanned = true, end+1
		s.breaks++
	}
	return 0, false
}

// header passes over the header line, or compares it.
func (s *CopySplitter) header() (more bool, err error) {
	from, to, ok, err := s.nextLine()
	if !ok || err != nil {
		return false, err
	}
	s.started, s.breaks = true, 0
	if !s.opts.HeaderMatch {
		return true, nil
	}
	line := s.buf.data[from:to]
	r := fieldReader{opts: &s.opts}
	if err := r.split(line); err != nil {
		return false, s.opts.where(err, s.line, line)
	}
	if err := s.opts.checkHeader(r.fields, s.columns); err != nil {
		return false, s.opts.where(err, s.line, line)
	}
	return true, nil
}

// checkHeader compares the fields of the header line with the names of the columns.
func (o *CopyOptions) checkHeader(fields []copyField, columns int) error {
	if len(fields) != columns {
		return errorf(codeBadCopy, "wrong number of fields in header line: got %d, expected %d", len(fields), columns)
	}
	for i, f := range fields {
		switch {
		case f.null:
			return errorf(codeBadCopy, "column name mismatch in header line field %d: got null value (\"%s\"), expected \"%s\"", i+1, o.Copy.Null, o.name(i))
		case f.text != o.name(i):
			return errorf(codeBadCopy, "column name mismatch in header line field %d: got \"%s\", expected \"%s\"", i+1, f.text, o.name(i))
		}
	}
	return nil
}
