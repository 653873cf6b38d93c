package stripe

import (
	"encoding/binary"
	"fmt"

	"tailrace"
)

// encoding is a node of the encoding tree. The numbers are stored and never reused; those without a writer here are kept for later, and a
// reader refuses them.
type encoding uint8

const (
	encNone    encoding = 0 // a page without values: all NULL
	encConst   encoding = 1
	encRaw     encoding = 2
	encFOR     encoding = 3
	encDelta   encoding = 4
	encDelta2  encoding = 5 // delta of delta
	encRLE     encoding = 6
	encDict    encoding = 7
	encSparse  encoding = 8  // with patches (PFOR)
	encALP     encoding = 9  // floats as decimals
	encStr     encoding = 10 // lengths, then bytes
	encFSST    encoding = 11 // lengths, then codes of symbols
	encFixed16 encoding = 12
	encBits    encoding = 13
	encDecimal encoding = 14
	encSplit   encoding = 15 // high bits and low bits (ALP-RD)
	encWords   encoding = 16 // values of 16 bytes as two or three integers
	encSymbols encoding = 20 // a symbol table
)

// streamBytes is the length of a stream's header.
const streamBytes = 12

// A stream is one node and what belongs to it, a header of 12 bytes and a body:
//
//	encoding u8 | param u8 | zero u16 | count u32 | length of the body u32 | body
//
// The body of an inner node begins with the streams of its children. A tree is at most three nodes deep: DECIMAL over DELTA or DICT over
// a leaf, DICT over STR over a leaf.
type stream struct {
	enc   encoding
	param uint8
	count int
	body  []byte
}

// openStream adds a header whose length closeStream fills in. It returns where the header is.
func openStream(dst []byte, e encoding, param uint8, count int) ([]byte, int) {
	at := len(dst)
	dst = append(dst, byte(e), param, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(count))
	return append(dst, 0, 0, 0, 0), at
}

func closeStream(dst []byte, at int) {
	binary.LittleEndian.PutUint32(dst[at+8:], uint32(len(dst)-at-streamBytes))
}

// cutStream takes the stream at the start of src, and what follows it.
func cutStream(src []byte) (s stream, rest []byte, err error) {
	if len(src) < streamBytes {
		return s, nil, corrupt("stream of %d bytes", len(src))
	}
	n := int(binary.LittleEndian.Uint32(src[8:]))
	if src[2]|src[3] != 0 || n > len(src)-streamBytes {
		return s, nil, corrupt("stream header")
	}
	s = stream{encoding(src[0]), src[1], int(binary.LittleEndian.Uint32(src[4:])), src[streamBytes : streamBytes+n : streamBytes+n]}
	return s, src[streamBytes+n:], nil
}

// wholeStream takes the stream that src consists of; it must hold count values.
func wholeStream(src []byte, count int) (stream, error) {
	s, rest, err := cutStream(src)
	switch {
	case err != nil:
		return s, err
	case len(rest) != 0:
		return s, corrupt("%d bytes after the stream", len(rest))
	case s.count != count:
		return s, corrupt("stream of %d values where %d belong", s.count, count)
	}
	return s, nil
}

// corrupt is an error that wraps tailrace.ErrCorrupt.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), tailrace.ErrCorrupt)
}
