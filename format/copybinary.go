package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"tailrace"
)

// copySignature begins the data of a binary COPY.
const copySignature = "PGCOPY\n\xff\r\n\x00"

// binaryRow reads one row of binary COPY data, after the header at the beginning.
func (r *CopyReader) binaryRow() (more bool, err error) {
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
func (r *CopyReader) binaryHeader() (ok bool, err error) {
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
func (r *CopyReader) cutShort(message string) error {
	if !r.finished {
		return nil
	}
	return errorf(codeBadCopy, "%s", message)
}

// wholeRow returns the bytes of the next row and moves past it, nil when they are not all there.
func (r *CopyReader) wholeRow() ([]byte, error) {
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
func (r *CopyReader) atRow(err error) error {
	if e := (*tailrace.Error)(nil); errors.As(err, &e) {
		e.Where = fmt.Sprintf("COPY %s, line %d", r.opts.Table, r.line+1)
	}
	return err
}
