package index

// filter tells of most keys that a table does not have that it does not have them: a Bloom filter cut into blocks of a cache line, so that asking it
// costs one miss (Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007). nil holds every key.
type filter []uint64

const (
	filterBits  = 12 // a key: about 1 in 150 keys that are not there passes
	filterWords = 8  // of a block: 64 bytes
	filterTries = 6  // bits of a key in its block
)

// newFilter is a filter of the keys with the hashes.
func newFilter(hashes []uint64) filter {
	blocks := max(1, (len(hashes)*filterBits+511)/512)
	f := make(filter, blocks*filterWords)
	for _, h := range hashes {
		block, bits := f.place(h)
		for range filterTries {
			block[bits>>6&7] |= 1 << (bits & 63)
			bits >>= 9
		}
	}
	return f
}

// place is the block of a key, and 9 bits for each of its bits in it.
func (f filter) place(hash uint64) (block []uint64, bits uint64) {
	blocks := uint64(len(f) / filterWords)
	i := (hash >> 32) * blocks >> 32 * filterWords // blocks is below 2^32
	return f[i : i+filterWords], hash * 0x9e3779b97f4a7c15 >> 10
}

// mayHold reports false when the key with the hash is surely not there.
func (f filter) mayHold(hash uint64) bool {
	if len(f) == 0 {
		return true
	}
	block, bits := f.place(hash)
	for range filterTries {
		if block[bits>>6&7]>>(bits&63)&1 == 0 {
			return false
		}
		bits >>= 9
	}
	return true
}
