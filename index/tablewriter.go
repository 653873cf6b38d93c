package index

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
)

const (
	// blockBytes is where a block is cut: what a lookup reads and looks through.
	blockBytes = 4 << 10
	// TableBytes is where a table is cut when Options do not say. Its directory is read and let go as one.
	TableBytes = 128 << 20
	// writeBytes is how much is written at once.
	writeBytes = 1 << 20
	// syncBytes is how much is written between two syncs: the log, which is synced on the same disk all the time, waits for no more than that.
	syncBytes = 16 << 20
)

// runWriter writes rows, in key order, to the tables of a run. It is used by one goroutine.
type runWriter struct {
	s        *Store
	filtered bool // an older run has most of the keys that are looked up
	tables   run  // those that are complete
	w        *tableWriter
	key      []byte // a merge's last
}

// tableWriter is the table under way.
type tableWriter struct {
	t                 *table
	out               []byte // blocks that are not written yet, and the one under way
	block             int    // where that one begins in out
	written, unsynced int64
	ends, lengths     []uint32 // of blocks, and of their first keys
	keys              []byte   // first keys
	hashes            []uint64
}

// add adds a row whose key is above all before.
func (w *runWriter) add(r row) error {
	if w.w == nil {
		if err := w.begin(r.key); err != nil {
			return err
		}
	}
	x := w.w
	if len(x.out) == x.block {
		x.keys, x.lengths = append(x.keys, r.key...), append(x.lengths, uint32(len(r.key)))
	}
	x.out = appendRow(x.out, r)
	x.t.rows++
	x.t.last = append(x.t.last[:0], r.key...)
	if w.filtered {
		x.hashes = append(x.hashes, hashOf(r.key))
	}
	if len(x.out)-x.block < blockBytes {
		return nil
	}
	if err := x.endBlock(); err != nil {
		return w.s.failed("write", err)
	}
	if x.written+int64(len(x.out)) >= w.s.opts.TableBytes {
		return w.end()
	}
	return nil
}

func (w *runWriter) begin(first []byte) error {
	if err := w.s.checkFree(0); err != nil {
		return err
	}
	t := &table{number: w.s.number.Add(1), first: slices.Clone(first)}
	f, err := os.OpenFile(w.s.tablePath(t.number), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return w.s.failed("write", err)
	}
	t.file = f
	w.w = &tableWriter{t: t}
	return nil
}

// endBlock ends the block under way.
func (x *tableWriter) endBlock() error {
	sum := crc32.Checksum(x.out[x.block:], castagnoli)
	x.out = binary.LittleEndian.AppendUint32(x.out, sum)
	x.block = len(x.out)
	x.ends = append(x.ends, uint32(x.written+int64(len(x.out))))
	if len(x.out) < writeBytes {
		return nil
	}
	return x.write()
}

// write writes what there is.
func (x *tableWriter) write() error {
	n, err := x.t.file.Write(x.out)
	x.written += int64(n)
	x.out, x.block = x.out[:0], 0
	if x.unsynced += int64(n); err == nil && x.unsynced >= syncBytes {
		x.unsynced = 0
		err = x.t.file.Sync()
	}
	return err
}

// end finishes the table under way.
func (w *runWriter) end() error {
	x := w.w
	if x == nil {
		return nil
	}
	if len(x.out) > x.block {
		if err := x.endBlock(); err != nil {
			return w.s.failed("write", err)
		}
	}
	x.appendDirectory()
	if err := x.write(); err != nil {
		return w.s.failed("write", err)
	}
	if err := x.t.file.Sync(); err != nil {
		return w.s.failed("write", err)
	}
	x.t.size = x.written
	w.tables, w.w = append(w.tables, x.t), nil
	return nil
}

func (x *tableWriter) appendDirectory() {
	from := len(x.out)
	common := commonPrefix(x.t.first, x.t.last)
	for i := range x.ends {
		x.out = binary.LittleEndian.AppendUint32(x.out, x.ends[i])
		x.out = binary.LittleEndian.AppendUint32(x.out, x.lengths[i]-uint32(common))
	}
	keys, bytes := x.keys, 0
	for _, n := range x.lengths {
		x.out = append(x.out, keys[common:n]...)
		keys, bytes = keys[n:], bytes+int(n)-common
	}
	var f filter
	if len(x.hashes) > 0 {
		f = newFilter(x.hashes)
	}
	for _, word := range f {
		x.out = binary.LittleEndian.AppendUint64(x.out, word)
	}
	for _, n := range []int{len(x.ends), bytes, len(f)} {
		x.out = binary.LittleEndian.AppendUint32(x.out, uint32(n))
	}
	x.out = binary.LittleEndian.AppendUint32(x.out, crc32.Checksum(x.out[from:], castagnoli))
	x.out = append(x.out, tableMagic...)
}

// finish ends the last table and returns the run.
func (w *runWriter) finish() (run, error) {
	if err := w.end(); err != nil {
		return nil, err
	}
	return w.tables, nil
}

// discard removes what was written.
func (w *runWriter) discard() {
	tables := w.tables
	if w.w != nil {
		tables = append(tables, w.w.t)
	}
	for _, t := range tables {
		w.s.remove(t)
	}
	w.tables, w.w = nil, nil
}

// remove closes and removes a table's file. One that stays is removed by the next start.
func (s *Store) remove(t *table) {
	t.file.Close()
	if err := os.Remove(s.tablePath(t.number)); err != nil && s.damaged.Load() == nil {
		s.opts.Logger.Warn("remove a table of the index", "error", fmt.Errorf("table %d: %w", t.number, err))
	}
}
