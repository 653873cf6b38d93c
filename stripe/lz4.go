package stripe

import (
	"fmt"
	"slices"
	"sync"

	"github.com/pierrec/lz4/v4"
)

// lz4Encoders keeps what lz4 needs between pages. What an encoder writes does not depend on what it wrote before.
var lz4Encoders = sync.Pool{New: func() any { return new(lz4.Compressor) }}

// lz4Ratio is the most bytes that a byte of an LZ4 block stands for.
const lz4Ratio = 255

// appendLZ4 adds src as an LZ4 block to dst.
func appendLZ4(dst, src []byte) []byte {
	w := lz4Encoders.Get().(*lz4.Compressor)
	defer lz4Encoders.Put(w)
	at, room := len(dst), lz4.CompressBlockBound(len(src))
	dst = slices.Grow(dst, room)
	n, err := w.CompressBlock(src, dst[at:at+room])
	if err != nil {
		panic(fmt.Sprintf("lz4 refuses a buffer of the size it asked for: %v", err))
	}
	return dst[:at+n]
}

// readLZ4 fills dst from the block src.
func readLZ4(dst, src []byte) error {
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil || n != len(dst) {
		return corrupt("lz4 block (%v, %d of %d bytes)", err, n, len(dst))
	}
	return nil
}
