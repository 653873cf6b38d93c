package format

import (
	"bytes"

	"tailrace"
)

// newline is how lines end: as the first one did.
type newline uint8

const (
	newlineUnknown newline = iota
	newlineLF
	newlineCR
	newlineCRLF
)

// nextLine returns the next line without its end, a view until the next call of Feed. ok is false when there is no whole line.
func (r *CopyReader) nextLine() (line []byte, ok bool, err error) {
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
func (r *CopyReader) findEnd() (end, next int, found bool, err error) {
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
func (r *CopyReader) wait(i int) { r.scanned = min(i, len(r.buf)) }

// plain reports whether a stretch without line feeds holds nothing that needs a closer look.
func (r *CopyReader) plain(b []byte) bool {
	if bytes.IndexByte(b, '\r') >= 0 {
		return false
	}
	if r.opts.Layout != CopyCSV {
		return bytes.IndexByte(b, '\\') < 0
	}
	return bytes.IndexByte(b, r.opts.Copy.Quote) < 0 && (r.scanned != r.at || len(b) == 0 || b[0] != '\\')
}

// csvByte follows CSV's quotes and reports whether c is inside them.
func (r *CopyReader) csvByte(c byte) bool {
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
func (r *CopyReader) carriageReturn(i int) (next int, ok bool, err error) {
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
func (r *CopyReader) badNewline(what, escape string) error {
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
func (r *CopyReader) endMarker(i int) (marker, ok bool, err error) {
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
