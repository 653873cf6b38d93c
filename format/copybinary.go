package format

import (
	"bytes"
	"encoding/binary"
)

// copySignature begins the data of a binary COPY.
const copySignature = "PGCOPY\n\xff\r\n\x00"

// unread is what was filled and not taken yet.
func (s *CopySplitter) unread() []byte {
	if s.buf == nil {
		return nil
	}
	return s.buf.data[s.at:s.filled]
}

// binaryRow adds the next row of binary COPY data, behind the header at the beginning.
func (s *CopySplitter) binaryRow() (more bool, err error) {
	if !s.started {
		if ok, err := s.binaryHeader(); !ok || err != nil {
			return false, err
		}
	}
	n, err := s.wholeRow()
	if n == 0 || err != nil {
		return false, err
	}
	s.line++
	if s.ended {
		s.at = s.filled
		return false, nil
	}
	s.add(s.at, s.at+n)
	s.at += n
	s.scanned, s.fields = s.at, 0
	return true, nil
}

// binaryHeader reads the signature, flags and extension. ok is false when they are not all there.
func (s *CopySplitter) binaryHeader() (ok bool, err error) {
	rest := s.unread()
	n := min(len(rest), len(copySignature))
	if !bytes.Equal(rest[:n], []byte(copySignature[:n])) || s.finished && n < len(copySignature) {
		return false, errorf(codeBadCopy, "COPY file signature not recognized")
	}
	const flags, extension = len(copySignature), len(copySignature) + 4
	if len(rest) < extension+4 {
		return false, s.cutShort("invalid COPY file header (missing flags)")
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
		return false, s.cutShort("invalid COPY file header (wrong length)")
	}
	s.at += extension + 4 + length
	s.scanned, s.started = s.at, true
	return true, nil
}

// cutShort is the error for input that ends in the middle, nil when more may come.
func (s *CopySplitter) cutShort(message string) error {
	if !s.finished {
		return nil
	}
	return errorf(codeBadCopy, "%s", message)
}

// wholeRow is how many bytes the next row has, 0 when they are not all there. It goes on at the field where it stopped the last time.
func (s *CopySplitter) wholeRow() (int, error) {
	rest := s.unread()
	if len(rest) < 2 {
		if len(rest) == 0 {
			return 0, nil
		}
		return 0, s.atRow(s.cutShort("unexpected EOF in COPY data"))
	}
	n := int(int16(binary.BigEndian.Uint16(rest)))
	if n == -1 {
		s.ended = true
		return 2, nil
	}
	if n != s.columns {
		return 0, s.atRow(errorf(codeBadCopy, "row field count is %d, expected %d", n, s.columns))
	}
	at := max(2, s.scanned-s.at)
	for ; s.fields < n && at+4 <= len(rest); s.fields++ {
		size := int(int32(binary.BigEndian.Uint32(rest[at:])))
		if size < -1 || size > maxCopyLine-at {
			return 0, s.atRow(errorf(codeBadCopy, "invalid field size"))
		}
		if at += 4; size > 0 {
			at += size
		}
	}
	s.scanned = s.at + at
	if s.fields < n || len(rest) < at {
		return 0, s.atRow(s.cutShort("unexpected EOF in COPY data"))
	}
	return at, nil
}

// atRow adds the number of the row that is being read to err.
func (s *CopySplitter) atRow(err error) error {
	if err == nil {
		return nil
	}
	return s.opts.where(err, s.line+1, nil)
}
