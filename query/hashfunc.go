package query

import (
	"encoding/binary"
	"math/bits"
)

// hashEntries are the hash functions that people partition by.
var hashEntries = []entry{
	{name: "hashtext", args: "t", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) { return put32(d, int32(hashBytes(a[0]))), nil }},
	{name: "hashint2", args: "s", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		return put32(d, int32(hashWord(uint32(int32(i16(a[0])))))), nil
	}},
	{name: "hashint4", args: "i", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		return put32(d, int32(hashWord(uint32(i32(a[0]))))), nil
	}},
	{name: "hashint8", args: "l", ret: "i", impl: func(_ *frame, d []byte, a [][]byte) ([]byte, error) {
		v := i64(a[0])
		low, high := uint32(v), uint32(v>>32)
		if v < 0 {
			high = ^high
		}
		return put32(d, int32(hashWord(low^high))), nil
	}},
}

// jenkins is the state of Bob Jenkins' lookup3 hash, which PostgreSQL calls hash_bytes.
type jenkins struct{ a, b, c uint32 }

func (h *jenkins) mix() {
	h.a -= h.c
	h.a ^= bits.RotateLeft32(h.c, 4)
	h.c += h.b
	h.b -= h.a
	h.b ^= bits.RotateLeft32(h.a, 6)
	h.a += h.c
	h.c -= h.b
	h.c ^= bits.RotateLeft32(h.b, 8)
	h.b += h.a
	h.a -= h.c
	h.a ^= bits.RotateLeft32(h.c, 16)
	h.c += h.b
	h.b -= h.a
	h.b ^= bits.RotateLeft32(h.a, 19)
	h.a += h.c
	h.c -= h.b
	h.c ^= bits.RotateLeft32(h.b, 4)
	h.b += h.a
}

func (h *jenkins) final() uint32 {
	h.c ^= h.b
	h.c -= bits.RotateLeft32(h.b, 14)
	h.a ^= h.c
	h.a -= bits.RotateLeft32(h.c, 11)
	h.b ^= h.a
	h.b -= bits.RotateLeft32(h.a, 25)
	h.c ^= h.b
	h.c -= bits.RotateLeft32(h.b, 16)
	h.a ^= h.c
	h.a -= bits.RotateLeft32(h.c, 4)
	h.b ^= h.a
	h.b -= bits.RotateLeft32(h.a, 14)
	h.c ^= h.b
	h.c -= bits.RotateLeft32(h.b, 24)
	return h.c
}

func hashBytes(k []byte) uint32 {
	start := 0x9e3779b9 + uint32(len(k)) + 3923095
	h := jenkins{start, start, start}
	for len(k) >= 12 {
		h.a += binary.LittleEndian.Uint32(k)
		h.b += binary.LittleEndian.Uint32(k[4:])
		h.c += binary.LittleEndian.Uint32(k[8:])
		h.mix()
		k = k[12:]
	}
	// The lowest byte of c stays free: PostgreSQL keeps it for the length.
	var rest [13]byte
	copy(rest[:8], k)
	if len(k) > 8 {
		copy(rest[9:], k[8:])
	}
	h.a += binary.LittleEndian.Uint32(rest[0:])
	h.b += binary.LittleEndian.Uint32(rest[4:])
	h.c += binary.LittleEndian.Uint32(rest[8:])
	return h.final()
}

func hashWord(k uint32) uint32 {
	start := uint32(0x9e3779b9 + 4 + 3923095)
	h := jenkins{start + k, start, start}
	return h.final()
}
