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

// finder finds the next of a byte that is rare: it remembers where it looked, so that no byte is looked at twice.
type finder struct {
	c   byte
	at  int
	hit bool // at is one; else there is none before at
}

// next is the place of the first c in data at or after from, len(data) when there is none. from never goes back.
func (f *finder) next(data []byte, from int) int {
	if f.at < from {
		f.at, f.hit = from, false
	}
	if !f.hit && f.at < len(data) {
		i := bytes.IndexByte(data[f.at:], f.c)
		if f.hit = i >= 0; f.hit {
			f.at += i
		} else {
			f.at = len(data)
		}
	}
	return f.at
}

// moved says that what was at byte by is at the beginning now.
func (f *finder) moved(by int) {
	if f.at -= by; f.at < 0 {
		f.at, f.hit = 0, false
	}
}

// nextLine finds the next line, buf[from:to] without its end, moves past it and counts it. ok is false when there is no whole line.
func (s *CopySplitter) nextLine() (from, to int, ok bool, err error) {
	end, next, found, err := s.findEnd()
	if err != nil {
		return 0, 0, false, s.opts.where(err, s.line+s.breaks+1, nil)
	}
	if !found {
		if !s.finished || s.at == s.filled {
			if s.filled-s.at > maxCopyLine {
				return 0, 0, false, s.opts.where(errorf("54000", "a line of COPY data is longer than %d bytes", maxCopyLine), s.line+s.breaks, nil)
			}
			return 0, 0, false, nil
		}
		end, next = s.filled, s.filled // the last line needs no end
		s.buf.data[s.filled] = '\n'    // in the slack: numbers end at it
	}
	from, to = s.at, end
	s.at, s.scanned, s.quoted = next, next, false
	s.line += 1 + s.breaks
	if s.ended && from == to {
		return 0, 0, false, nil
	}
	return from, to, true, nil
}

// findEnd looks for the end of the line that begins at at, from scanned on. When it is not there, scanned is moved to where to go on.
func (s *CopySplitter) findEnd() (end, next int, found bool, err error) {
	for {
		data := s.buf.data[:s.filled]
		i, c := s.special(data)
		if i < 0 {
			return 0, 0, false, nil
		}
		if i == len(data) {
			s.scanned = i
			return 0, 0, false, nil
		}
		switch c {
		case '\n':
			if s.newline > newlineLF {
				return 0, 0, false, s.badNewline("newline", `\n`)
			}
			s.newline = newlineLF
			return i, i + 1, true, nil
		case '\r':
			next, ok, err := s.carriageReturn(i)
			if !ok || err != nil {
				s.scanned = i
				return 0, 0, false, err
			}
			return i, next, true, nil
		}
		if i+1 == len(data) { // a backslash: what follows decides
			s.scanned = i
			return 0, 0, false, nil
		}
		if data[i+1] == '.' {
			marker, ok, err := s.endMarker(i)
			if err != nil || !ok {
				s.scanned = i
				return 0, 0, false, err
			}
			if marker {
				s.ended = true
				return i, s.filled, true, nil
			}
		}
		s.scanned = i + 1
		if s.opts.Layout != CopyCSV {
			s.scanned++ // whatever follows is part of the field
		}
	}
}

// special is the place of the next byte that may end the line, len(data) for none: a line end, or a backslash, which in CSV counts at the beginning of a line
// only. It is -1 for none when a quoted stretch is open, and scanned says where to go on.
func (s *CopySplitter) special(data []byte) (int, byte) {
	if s.opts.Layout == CopyCSV {
		if s.scanned == s.at && s.at < len(data) && data[s.at] == '\\' && s.quote.c != '\\' {
			return s.at, '\\'
		}
		if !s.passQuotes(data) {
			return -1, 0
		}
	}
	lf, cr := s.lf.next(data, s.scanned), s.cr.next(data, s.scanned)
	if s.opts.Layout != CopyCSV {
		if b := s.backslash.next(data, s.scanned); b < lf && b < cr {
			return b, '\\'
		}
	}
	if lf < cr {
		return lf, '\n'
	}
	return cr, '\r'
}

// passQuotes moves scanned past every quoted stretch that begins before the next line end, and counts the lines in them. It is false when one is open: then
// scanned is the end of data, or an escape there, whose meaning the next byte decides.
func (s *CopySplitter) passQuotes(data []byte) bool {
	f := &s.opts.Copy
	for {
		if !s.quoted {
			q := s.quote.next(data, s.scanned)
			if q == len(data) || q > s.lf.next(data, s.scanned) || q > s.cr.next(data, s.scanned) {
				return true
			}
			s.quoted, s.scanned = true, q+1
		}
		q, e := s.quote.next(data, s.scanned), len(data)
		if f.Escape != f.Quote {
			e = s.escape.next(data, s.scanned)
		}
		stop := min(q, e)
		s.countBreaks(data[s.scanned:stop])
		switch {
		case stop == len(data):
			s.scanned = stop
			return false
		case q < e:
			s.quoted, s.scanned = false, q+1
		case e+1 < len(data):
			s.scanned = e + 1
			if c := data[e+1]; c == f.Escape || c == f.Quote {
				s.scanned++
			}
		case s.finished:
			s.scanned = len(data)
			return false
		default:
			s.scanned = e
			return false
		}
	}
}

// countBreaks counts the line ends of a quoted stretch, as PostgreSQL does.
func (s *CopySplitter) countBreaks(b []byte) {
	c := []byte{'\r'}
	if s.newline == newlineLF {
		c[0] = '\n'
	}
	s.breaks += int64(bytes.Count(b, c))
}

// carriageReturn decides what \r at i is. ok is false when that needs the next byte.
func (s *CopySplitter) carriageReturn(i int) (next int, ok bool, err error) {
	if s.newline == newlineLF {
		return 0, false, s.badNewline("carriage return", `\r`)
	}
	if s.newline == newlineCR {
		return i + 1, true, nil
	}
	if i+1 == s.filled && !s.finished {
		return 0, false, nil
	}
	if i+1 < s.filled && s.buf.data[i+1] == '\n' {
		s.newline = newlineCRLF
		return i + 2, true, nil
	}
	if s.newline == newlineCRLF {
		return 0, false, s.badNewline("carriage return", `\r`)
	}
	s.newline = newlineCR
	return i + 1, true, nil
}

// badNewline is the error for a line end of another kind than the first one.
func (s *CopySplitter) badNewline(what, escape string) error {
	if s.opts.Layout == CopyCSV {
		err := errorf(codeBadCopy, "unquoted %s found in data", what)
		err.Hint = "Use quoted CSV field to represent " + what + "."
		return err
	}
	err := errorf(codeBadCopy, "literal %s found in data", what)
	err.Hint = "Use \"" + escape + "\" to represent " + what + "."
	return err
}

// endMarker looks at \. at i: the end of the data when a line end follows. ok is false when that needs more bytes.
func (s *CopySplitter) endMarker(i int) (marker, ok bool, err error) {
	rest := s.buf.data[i+2 : s.filled]
	needed := 1
	if s.newline == newlineCRLF {
		needed = 2
	}
	if len(rest) < needed && !s.finished && (len(rest) == 0 || rest[0] == '\r') {
		return false, false, nil
	}
	ending := newlineUnknown
	switch {
	case bytes.HasPrefix(rest, []byte("\r\n")) && s.newline != newlineCR:
		ending = newlineCRLF
	case bytes.HasPrefix(rest, []byte("\n")):
		ending = newlineLF
	case bytes.HasPrefix(rest, []byte("\r")):
		ending = newlineCR
	}
	switch {
	case ending == newlineUnknown && s.opts.Layout == CopyCSV:
		return false, true, nil
	case ending == newlineUnknown:
		return false, false, errorf(codeBadCopy, "end-of-copy marker corrupt")
	case s.newline != newlineUnknown && ending != s.newline:
		return false, false, &tailrace.Error{Code: codeBadCopy, Message: "end-of-copy marker does not match previous newline style"}
	}
	return true, true, nil
}
