package stripe

import (
	"encoding/binary"
	"hash/crc32"
)

// A page is some rows of one column:
//
//	kind u8 | encoding u8 | codec u8 | flags u8 | rows u32 | nulls u32 | raw length u32 | stored length u32 | value bytes u32 | zero u32 |
//	crc32c u32 of what precedes it and the body | body
//
// The body, within the codec, is the null bitmap (flag 1; bit i%8 of byte i/8 is set when row i is not NULL) and the stream of the values that
// are not NULL; neither when all are NULL. Value bytes is what values of varying length take when decoded, 0 for others.
const pageHeaderBytes = 32

const (
	pageData      = 1 // kinds
	pageDict      = 2 // a dictionary that the pages of the chunk share
	pageSymbols   = 3 // a symbol table that they share
	pageHasBitmap = 1 // flag
)

// maxPageBytes bounds a page's body, raw: its values, and for each row at most the lengths or codes.
const maxPageBytes = MaxValueBytes + PageBytes + 16*PageRows + 4096

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// pageHeader is the header of a page.
type pageHeader struct {
	kind        byte
	enc         encoding
	codec       Codec
	bitmap      bool
	rows, nulls int
	raw, stored int // bytes of the body without and with the codec
	valueBytes  int
}

// appendPage adds the page whose body, as stored, is body.
func appendPage(dst []byte, h pageHeader, body []byte) []byte {
	at := len(dst)
	flags := byte(0)
	if h.bitmap {
		flags = pageHasBitmap
	}
	dst = append(dst, h.kind, byte(h.enc), byte(h.codec), flags)
	for _, v := range [...]int{h.rows, h.nulls, h.raw, len(body), h.valueBytes, 0} {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	sum := crc32.Update(crc32.Checksum(dst[at:], castagnoli), castagnoli, body)
	return append(binary.LittleEndian.AppendUint32(dst, sum), body...)
}

// openPage checks the page that src consists of and returns its header and its body as stored.
func openPage(src []byte) (h pageHeader, body []byte, err error) {
	if len(src) < pageHeaderBytes {
		return h, nil, corrupt("page of %d bytes", len(src))
	}
	body = src[pageHeaderBytes:]
	sum := crc32.Update(crc32.Checksum(src[:pageHeaderBytes-4], castagnoli), castagnoli, body)
	if got := binary.LittleEndian.Uint32(src[pageHeaderBytes-4:]); got != sum {
		return h, nil, corrupt("checksum %08x where the page says %08x", sum, got)
	}
	at := func(i int) int { return int(binary.LittleEndian.Uint32(src[i:])) }
	h = pageHeader{
		kind: src[0], enc: encoding(src[1]), codec: Codec(src[2]), bitmap: src[3] == pageHasBitmap,
		rows: at(4), nulls: at(8), raw: at(12), stored: at(16), valueBytes: at(20),
	}
	switch {
	case h.kind < pageData || h.kind > pageSymbols:
		return h, nil, corrupt("page of kind %d", h.kind)
	case src[3] > pageHasBitmap || at(24) != 0:
		return h, nil, corrupt("page flags %d", src[3])
	case h.rows == 0 || h.rows > mostRows(h.kind) || h.nulls > h.rows || h.kind != pageData && h.nulls > 0:
		return h, nil, corrupt("page of %d rows, %d of them null", h.rows, h.nulls)
	case h.bitmap != (h.nulls > 0 && h.nulls < h.rows):
		return h, nil, corrupt("null bitmap of a page with %d nulls of %d rows", h.nulls, h.rows)
	case h.stored != len(body) || h.raw > maxPageBytes || h.valueBytes > MaxValueBytes+PageBytes:
		return h, nil, corrupt("page of %d bytes that says %d stored, %d raw, %d of values", len(src), h.stored, h.raw, h.valueBytes)
	}
	return h, body, nil
}

// valueBytesOf is what the page that src consists of says about its value bytes, unchecked.
func valueBytesOf(src []byte) int {
	if len(src) < pageHeaderBytes {
		return 0
	}
	return int(binary.LittleEndian.Uint32(src[20:]))
}

// maxFrontRows is the most entries of a front page.
const maxFrontRows = 1 << 16

func mostRows(kind byte) int {
	if kind == pageData {
		return PageRows
	}
	return maxFrontRows
}

// bitmapBytes is the length of the null bitmap of a page.
func bitmapBytes(h pageHeader) int {
	if !h.bitmap {
		return 0
	}
	return (h.rows + 7) / 8
}
