package bench

import (
	"bytes"
	"hash/crc32"
)

// copyRow is a row of COPY (SUBSCRIBE ... WITH (PROGRESS)) TO STDOUT. Its bytes are those of the line that it was read from.
//
//	1796000000000000  f  1  42  xxxx
//	at      progress  diff  columns
type copyRow struct {
	at       int64 // microseconds since 1970
	progress bool
	diff     int64
	columns  []byte // those of the table, with the line's end
}

func readCopyRow(line []byte) (r copyRow) {
	field := func() []byte {
		tab := bytes.IndexByte(line, '\t')
		if tab < 0 {
			return nil
		}
		f := line[:tab]
		line = line[tab+1:]
		return f
	}
	r.at = digits(field())
	r.progress = string(field()) == "t"
	if diff := field(); !r.progress && len(diff) > 0 && diff[0] == '-' {
		r.diff = -digits(diff[1:])
	} else if !r.progress {
		r.diff = digits(diff)
	}
	r.columns = line
	return r
}

// due is the second column of a live row: the moment that its write was due, in microseconds since 1970.
func (r copyRow) due() int64 {
	_, rest, _ := bytes.Cut(r.columns, []byte{'\t'})
	due, _, _ := bytes.Cut(rest, []byte{'\t'})
	return digits(due)
}

// digits reads what a server has printed as a whole number.
func digits(text []byte) (n int64) {
	for _, d := range text {
		n = n*10 + int64(d-'0')
	}
	return n
}

// rowSum is a number of rows and a sum over their bytes: the same in whatever order they come.
type rowSum struct {
	Rows int64
	Sum  uint64
}

// castagnoli is the checksum that the processor makes, so that thousands of clients who check their rows do not use up the server's cores.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// add counts a row diff times.
func (s *rowSum) add(diff int64, columns []byte) {
	s.Rows += diff
	s.Sum += uint64(diff) * uint64(crc32.Checksum(columns, castagnoli))
}

// tally is what a client has of a table, and the place from where it can resume: all rows below progress are in sure, and none of the others.
type tally struct {
	progress    int64
	sure, since rowSum // since: rows after the last progress row
}

func (t *tally) take(r copyRow) {
	if !r.progress {
		t.since.add(r.diff, r.columns)
		return
	}
	t.progress = r.at
	t.sure.Rows += t.since.Rows
	t.sure.Sum += t.since.Sum
	t.since = rowSum{}
}

// forget drops the rows after the last progress row.
func (t *tally) forget() { t.since = rowSum{} }
