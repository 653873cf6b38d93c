package index

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// row is what is kept of a key.
type row struct {
	key, value []byte
	deleted    bool
}

// A block is rows in key order and a checksum:
//
//	row ... | crc32c u32 of the rows, little-endian
//	row: key length uvarint | 0 for a deletion, else value length + 1 uvarint | key | value

// sumBytes is the length of the checksum.
const sumBytes = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendRow(dst []byte, r row) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(r.key)))
	if r.deleted {
		return append(append(dst, 0), r.key...)
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.value))+1)
	return append(append(dst, r.key...), r.value...)
}

// nextRow takes a row off the front of rows; false when they are no rows.
func nextRow(rows []byte) (r row, rest []byte, ok bool) {
	n, a := binary.Uvarint(rows)
	if a <= 0 {
		return r, nil, false
	}
	rows = rows[a:]
	m, b := binary.Uvarint(rows)
	if b <= 0 {
		return r, nil, false
	}
	rows = rows[b:]
	if r.deleted = m == 0; !r.deleted {
		m--
	}
	if n > uint64(len(rows)) || m > uint64(len(rows))-n {
		return r, nil, false
	}
	r.key, r.value = rows[:n:n], rows[n:n+m:n+m]
	return r, rows[n+m:], true
}

// rowsOf are the rows of a block; false when the checksum says that they are not what was written.
func rowsOf(block []byte) ([]byte, bool) {
	if len(block) < sumBytes {
		return nil, false
	}
	n := len(block) - sumBytes
	return block[:n], crc32.Checksum(block[:n], castagnoli) == binary.LittleEndian.Uint32(block[n:])
}

// search finds the row of key among rows, which may not be what they should: then ok is false.
func search(rows, key []byte) (r row, found, ok bool) {
	for len(rows) > 0 {
		if r, rows, ok = nextRow(rows); !ok {
			return row{}, false, false
		}
		if c := bytes.Compare(r.key, key); c >= 0 {
			return r, c == 0, true
		}
	}
	return row{}, false, true
}
