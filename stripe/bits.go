package stripe

import "encoding/binary"

// Booleans are BITS: value i is bit i%8 of byte i/8, bits past the last value are 0. FOR with a width of 1 takes as many, but a byte of eight
// values in order is decoded in a handful of instructions.

// appendBits adds the BITS stream of v, all 0 or 1.
func appendBits(dst []byte, v []int64) []byte {
	dst, at := openStream(dst, encBits, 0, len(v))
	for ; len(v) >= 8; v = v[8:] {
		dst = append(dst, byte(v[0]|v[1]<<1|v[2]<<2|v[3]<<3|v[4]<<4|v[5]<<5|v[6]<<6|v[7]<<7))
	}
	if len(v) > 0 {
		last := byte(0)
		for i, x := range v {
			last |= byte(x) << i
		}
		dst = append(dst, last)
	}
	closeStream(dst, at)
	return dst
}

// decodeBits fills dst from the body of a BITS stream.
func decodeBits[T integer](dst []T, body []byte) error {
	n := len(dst)
	if len(body) != (n+7)/8 || n&7 != 0 && body[n>>3]>>(n&7) != 0 {
		return corrupt("%d bytes of %d bits", len(body), n)
	}
	if narrow, ok := any(dst).([]int8); ok {
		out := bytesOf(narrow)
		for ; len(out) >= 8; out, body = out[8:], body[1:] {
			binary.LittleEndian.PutUint64(out, spreadBits(body[0]))
		}
		dst = dst[n&^7:]
	}
	for i := range dst {
		dst[i] = T(body[i>>3] >> (i & 7) & 1)
	}
	return nil
}

// spreadBits gives a byte of 0 or 1 for each bit of b, the lowest first: copies of b, of which each keeps a bit of its own, which adding 0x7f
// then carries to the top of the byte.
func spreadBits(b byte) uint64 {
	x := uint64(b) * 0x0101010101010101 & 0x8040201008040201
	return (x + 0x7f7f7f7f7f7f7f7f) >> 7 & 0x0101010101010101
}
