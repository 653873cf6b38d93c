package stripe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"tailrace"
)

// A part begins with a header and ends with a tail, each of 64 bytes.
//
//	header: magic [8] | major u16 | minor u16 | writer version u32 | required features u64 | schema version u32 | zero | crc32c u32 of what precedes it
//	tail:   footer offset u64 | footer length u64 | page index offset u64 | required features u64 | footer crc32c u32 | major u16 | minor u16 |
//	        zero | crc32c u32 of what precedes it | magic [8]
const (
	frameBytes    = 64
	magic         = "TLRCPART"
	major         = 1 // a reader refuses another
	minor         = 1 // a reader takes any
	writerVersion = 1
)

// Features are bits of what a reader must know to read a part; it refuses one with others.
const (
	featureTypes   = 1 // a field says the kind of its array's elements and which enum it is
	featureStreams = 2 // there are encodings, codecs or kinds of pages that format 1.0 did not have
	features       = featureTypes | featureStreams
)

// needs is the features that a part has because its schema is s: those it cannot be read without, so that a part without news is readable by
// programs of before.
func needs(s *tailrace.Schema) uint64 {
	for i := range s.Fields {
		if s.Fields[i].Type.Kind >= firstLaterKind {
			return featureTypes
		}
	}
	return 0
}

// firstLaterKind is the first of the kinds that came with featureTypes.
const firstLaterKind = tailrace.KindArray

func appendHeader(dst []byte, s *tailrace.Schema, needs uint64) []byte {
	at := len(dst)
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint16(dst, major)
	dst = binary.LittleEndian.AppendUint16(dst, minor)
	dst = binary.LittleEndian.AppendUint32(dst, writerVersion)
	dst = binary.LittleEndian.AppendUint64(dst, needs)
	dst = binary.LittleEndian.AppendUint32(dst, s.Version)
	dst = append(dst, make([]byte, frameBytes-4-(len(dst)-at))...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[at:], castagnoli))
}

// checkHeader refuses a header that is damaged or from another format.
func checkHeader(h []byte) error {
	switch {
	case string(h[:8]) != magic:
		return corrupt("part header: not a part")
	case crc32.Checksum(h[:frameBytes-4], castagnoli) != binary.LittleEndian.Uint32(h[frameBytes-4:]):
		return corrupt("part header: checksum")
	}
	return checkVersion(binary.LittleEndian.Uint16(h[8:]), binary.LittleEndian.Uint64(h[16:]))
}

// ErrVersion is returned (wrapped) for a part that only a later version of the program can read. It is not damaged.
var ErrVersion = errors.New("written by a later version")

func checkVersion(version uint16, required uint64) error {
	switch {
	case version != major:
		return fmt.Errorf("part of format version %d where this program reads %d: %w", version, major, ErrVersion)
	case required&^features != 0:
		return fmt.Errorf("part that needs features %#x, which this program does not know: %w", required&^features, ErrVersion)
	}
	return nil
}

// tail is where the footer is. Everything from index on is the page indexes, then the footer, then the tail.
type tail struct {
	footer, footerBytes, index int64
	sum                        uint32
	needs                      uint64
}

func (t tail) append(dst []byte) []byte {
	at := len(dst)
	for _, v := range [...]int64{t.footer, t.footerBytes, t.index, int64(t.needs)} {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
	}
	dst = binary.LittleEndian.AppendUint32(dst, t.sum)
	dst = binary.LittleEndian.AppendUint16(dst, major)
	dst = binary.LittleEndian.AppendUint16(dst, minor)
	dst = append(dst, make([]byte, frameBytes-12-(len(dst)-at))...)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[at:], castagnoli))
	return append(dst, magic...)
}

// parseTail reads the tail raw of a part of size bytes.
func parseTail(raw []byte, size int64) (tail, error) {
	var t tail
	switch {
	case string(raw[frameBytes-8:]) != magic:
		return t, corrupt("part tail: not a part, or cut short")
	case crc32.Checksum(raw[:frameBytes-12], castagnoli) != binary.LittleEndian.Uint32(raw[frameBytes-12:]):
		return t, corrupt("part tail: checksum")
	}
	if err := checkVersion(binary.LittleEndian.Uint16(raw[36:]), binary.LittleEndian.Uint64(raw[24:])); err != nil {
		return t, err
	}
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(raw[i:])) }
	t = tail{footer: at(0), footerBytes: at(8), index: at(16), sum: binary.LittleEndian.Uint32(raw[32:]), needs: binary.LittleEndian.Uint64(raw[24:])}
	if t.index < frameBytes || t.footer < t.index || t.footer > size-frameBytes || t.footerBytes != size-frameBytes-t.footer ||
		size-t.index > MaxFooterBytes {
		return t, corrupt("part tail: footer at %d, page indexes at %d of %d bytes", t.footer, t.index, size)
	}
	return t, nil
}
