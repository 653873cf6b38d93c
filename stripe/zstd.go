package stripe

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// zstdEncoders and zstdDecoders keep what zstd needs between pages. Each has a concurrency of 1, so what it writes is a pure function of its
// input, and starts no goroutine.
var (
	zstdEncoders = sync.Pool{New: func() any {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true), zstd.WithAllLitEntropyCompression(true))
		if err != nil {
			panic(fmt.Sprintf("zstd refuses the options of an encoder, which are constants: %v", err))
		}
		return w
	}}
	zstdDecoders = sync.Pool{New: func() any {
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxMemory(maxPageBytes))
		if err != nil {
			panic(fmt.Sprintf("zstd refuses the options of a decoder, which are constants: %v", err))
		}
		return r
	}}
)

// zstdRatio is the most bytes that a byte of a zstd frame stands for: a block of 128 KiB takes 3 bytes and more.
const zstdRatio = 128 << 10 / 3

// appendZstd adds src as a zstd frame to dst.
func appendZstd(dst, src []byte) []byte {
	w := zstdEncoders.Get().(*zstd.Encoder)
	defer zstdEncoders.Put(w)
	return w.EncodeAll(src, dst)
}

// readZstd fills dst from the frame src.
func readZstd(dst, src []byte) error {
	var h zstd.Header
	if err := h.Decode(src); err != nil || !h.HasFCS || h.FrameContentSize != uint64(len(dst)) {
		return corrupt("zstd frame that does not hold %d bytes", len(dst))
	}
	r := zstdDecoders.Get().(*zstd.Decoder)
	defer zstdDecoders.Put(r)
	out, err := r.DecodeAll(src, dst[:0:len(dst)])
	if err != nil || len(out) != len(dst) {
		return corrupt("zstd frame (%v, %d of %d bytes)", err, len(out), len(dst))
	}
	return nil
}
