package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sort"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"tailrace"
)

// A table is a file of rows in key order:
//
//	block ... | directory | footer
//	directory: for each block: end u32 | its first key: length u32, and the bytes one after another | filter: u64 ...
//	footer:    blocks u32 | bytes of keys u32 | words of the filter u32 | crc32c u32 of directory and footer up to here | magic
//
// Numbers are little-endian. Keys in the directory lack what all keys of the table begin with.
const (
	tableMagic  = "TLRCROWS"
	footerBytes = 4*4 + len(tableMagic)
)

// table is one file. It is never changed.
type table struct {
	number      uint64
	size, rows  int64
	first, last []byte // keys

	file      *os.File
	directory atomic.Pointer[directory] // nil while nobody needs it

	// Guarded by Store.mu.
	uses int  // views that have it
	gone bool // the file is removed when nobody uses it
}

// directory finds a key's block.
type directory struct {
	common   int      // how many bytes all keys begin with
	ends     []uint32 // where each block ends
	prefixes []uint64 // what each block's first key goes on with; that shortened, see starts
	starts   []uint32 // where the keys end in keys
	keys     []byte
	filter   filter
}

// hashOf is what filters and memtables know a key by.
func hashOf(key []byte) uint64 { return xxh3.Hash(key) }

// prefixOf are the first eight bytes of a key as a number that compares as they do, zeros in the place of those that it has not.
func prefixOf(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// commonPrefix is how many bytes a and b begin with alike.
func commonPrefix(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func (s *Store) tablePath(number uint64) string {
	return filepath.Join(s.dir, fmt.Sprintf("%d.rows", number))
}

// openTable opens the file of a table that the manifest names.
func (s *Store) openTable(t *table) error {
	f, err := os.Open(s.tablePath(t.number))
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err == nil && st.Size() != t.size {
		err = fmt.Errorf("table %d has %d bytes, not %d: %w", t.number, st.Size(), t.size, tailrace.ErrCorrupt)
	}
	if err != nil {
		f.Close()
		return err
	}
	t.file = f
	return nil
}

func (t *table) corrupt(what string) error {
	return fmt.Errorf("table %d: %s: %w", t.number, what, tailrace.ErrCorrupt)
}

// readDirectory reads and checks the table's.
func (t *table) readDirectory() (*directory, error) {
	var foot [footerBytes]byte
	if _, err := t.file.ReadAt(foot[:], t.size-int64(footerBytes)); err != nil {
		return nil, err
	}
	blocks, keys, words := int64(binary.LittleEndian.Uint32(foot[:])), int64(binary.LittleEndian.Uint32(foot[4:])), int64(binary.LittleEndian.Uint32(foot[8:]))
	size := blocks*8 + keys + words*8
	if string(foot[16:]) != tableMagic || blocks == 0 || size > t.size-int64(footerBytes) || words%filterWords != 0 {
		return nil, t.corrupt("footer")
	}
	raw := make([]byte, size, size+12)
	if _, err := t.file.ReadAt(raw, t.size-int64(footerBytes)-size); err != nil {
		return nil, err
	}
	if sum := crc32.Checksum(append(raw, foot[:12]...), castagnoli); sum != binary.LittleEndian.Uint32(foot[12:]) {
		return nil, t.corrupt("checksum of its directory")
	}
	d := &directory{common: commonPrefix(t.first, t.last), keys: raw[blocks*8 : blocks*8+keys : blocks*8+keys]}
	d.ends, d.starts = make([]uint32, blocks), make([]uint32, blocks)
	d.prefixes = make([]uint64, blocks)
	from := uint32(0)
	for i := range d.ends {
		d.ends[i] = binary.LittleEndian.Uint32(raw[i*8:])
		from += binary.LittleEndian.Uint32(raw[i*8+4:])
		d.starts[i] = from
		if int64(from) > keys || i > 0 && d.ends[i] <= d.ends[i-1] {
			return nil, t.corrupt("directory")
		}
		d.prefixes[i] = prefixOf(d.start(i))
	}
	if int64(d.ends[blocks-1]) != t.size-int64(footerBytes)-size {
		return nil, t.corrupt("directory")
	}
	d.filter = make(filter, words)
	for i := range d.filter {
		d.filter[i] = binary.LittleEndian.Uint64(raw[blocks*8+keys+int64(i)*8:])
	}
	return d, nil
}

// bytes is what the directory takes of memory.
func (d *directory) bytes() int64 {
	return int64(len(d.ends))*16 + int64(cap(d.keys)) + int64(len(d.filter))*8
}

// start is the first key of block i, but for what is common.
func (d *directory) start(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = d.starts[i-1]
	}
	return d.keys[from:d.starts[i]]
}

// block is the one that has key if any has. key lies between the table's first and last.
func (d *directory) block(key []byte) int {
	rest := key[d.common:] // as long as it is between those
	p := prefixOf(rest)
	n := sort.Search(len(d.prefixes), func(i int) bool {
		q := d.prefixes[i]
		return q > p || q == p && bytes.Compare(d.start(i), rest) > 0
	})
	return max(0, n-1)
}

// bounds are where block i lies in the file.
func (d *directory) bounds(i int) (from, to int64) {
	if i > 0 {
		from = int64(d.ends[i-1])
	}
	return from, int64(d.ends[i])
}

// run is tables whose keys follow one another.
type run []*table

// table is the one that has key if any has, nil when none has.
func (r run) table(key []byte) *table {
	n := sort.Search(len(r), func(i int) bool { return bytes.Compare(r[i].last, key) >= 0 })
	if n == len(r) || bytes.Compare(r[n].first, key) > 0 {
		return nil
	}
	return r[n]
}

func (r run) size() int64 {
	n := int64(0)
	for _, t := range r {
		n += t.size
	}
	return n
}
