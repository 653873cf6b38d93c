package stripe

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"

	"github.com/FastFilter/xorfilter"
	"github.com/zeebo/xxh3"

	"tailrace"
)

// A filter tells of a chunk that it does not hold a value, wrongly never, and wrongly that it may for one value in 256: a binary fuse filter of 8 bits
// (Graf and Lemire, "Binary Fuse Filters", 2022) over the xxh3 of the keys (tailrace.AppendKey) of the values that are not NULL. It takes about 9 bits
// for each different value.
//
//	seed u64 | segment length u32 | segments u32 | fingerprints, segment length x (segments + 2) bytes
type filter struct {
	chunk int // number, counted as in section
	raw   []byte
}

const (
	filterHeadBytes = 16
	// maxSegment is the longest segment of a filter, in fingerprints.
	maxSegment = 1 << 18
)

// appendFilter adds the filter of c's values, nothing when all are NULL. distinct estimates how many different ones there are.
func (e *encoder) appendFilter(dst []byte, c *chunk, distinct int64) []byte {
	hashes := slices.Grow(e.hashes[:0], c.rows)
	for _, g := range c.groups {
		for i := g.from; i < g.from+g.n; i++ {
			if g.col == nil || g.col.IsNull(i) {
				continue
			}
			e.key = tailrace.AppendKey(e.key[:0], c.typ, g.col, i)
			if h := hashKey(e.key); len(hashes) == 0 || h != hashes[len(hashes)-1] {
				hashes = append(hashes, h)
			}
		}
	}
	e.hashes = hashes
	if len(hashes) == 0 {
		return dst
	}
	if distinct*10 < int64(len(hashes))*9 { // else the few that repeat are dropped while the filter is built
		slices.Sort(hashes)
		hashes = slices.Compact(hashes)
	}
	f, err := xorfilter.BuildBinaryFuse[uint8](&e.fuse, hashes)
	if err != nil {
		return dst // no seed of many thousand fits: a chunk without a filter is read
	}
	dst = binary.LittleEndian.AppendUint64(dst, f.Seed)
	dst = binary.LittleEndian.AppendUint32(dst, f.SegmentLength)
	dst = binary.LittleEndian.AppendUint32(dst, f.SegmentCount)
	return append(dst, f.Fingerprints...)
}

// hashKey is what a filter knows of a key.
func hashKey(key []byte) uint64 { return xxh3.Hash(key) }

// parseFilter reads what appendFilter wrote. The result holds views of src.
func parseFilter(src []byte) (*xorfilter.BinaryFuse[uint8], error) {
	if len(src) < filterHeadBytes {
		return nil, corrupt("filter of %d bytes", len(src))
	}
	f := &xorfilter.BinaryFuse[uint8]{
		Seed: binary.LittleEndian.Uint64(src), SegmentLength: binary.LittleEndian.Uint32(src[8:]), SegmentCount: binary.LittleEndian.Uint32(src[12:]),
		Fingerprints: src[filterHeadBytes:],
	}
	n := uint64(f.SegmentLength) * (uint64(f.SegmentCount) + 2)
	if bits.OnesCount32(f.SegmentLength) != 1 || f.SegmentLength > maxSegment || f.SegmentCount == 0 || n != uint64(len(f.Fingerprints)) {
		return nil, corrupt("filter of %d segments of %d in %d bytes", f.SegmentCount, f.SegmentLength, len(src))
	}
	f.SegmentLengthMask, f.SegmentCountLength = f.SegmentLength-1, f.SegmentLength*f.SegmentCount
	return f, nil
}

// readFilter reads the filter of chunk c of stripe i, nil when it has none.
func (r *Reader) readFilter(ctx context.Context, i, c int) ([]byte, error) {
	at, ok := r.filters[i*len(r.indexes)+c]
	if !ok {
		return nil, nil
	}
	raw, err := fetchExact(ctx, r.fetch, at.offset, at.length)
	if err == nil && crc32.Checksum(raw, castagnoli) != at.sum {
		err = corrupt("checksum")
	}
	return raw, err
}
