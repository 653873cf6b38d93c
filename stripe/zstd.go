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
			zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
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

// compress adds src, compressed, to dst.
func compress(dst, src []byte) []byte {
	w := zstdEncoders.Get().(*zstd.Encoder)
	defer zstdEncoders.Put(w)
	return w.EncodeAll(src, dst)
}

// decompress returns the n bytes that src was compressed from, valid until the next call.
func (d *decoder) decompress(src []byte, n int) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(src); err != nil || !h.HasFCS || h.FrameContentSize != uint64(n) {
		return nil, corrupt("zstd frame that does not hold %d bytes", n)
	}
	if cap(d.raw) < n {
		d.raw = make([]byte, 0, n)
	}
	r := zstdDecoders.Get().(*zstd.Decoder)
	defer zstdDecoders.Put(r)
	out, err := r.DecodeAll(src, d.raw[:0:n])
	if err != nil || len(out) != n {
		return nil, corrupt("zstd frame (%v, %d of %d bytes)", err, len(out), n)
	}
	return out, nil
}
