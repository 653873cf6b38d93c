package tail

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"tailrace"
	"tailrace/budget"
)

const (
	// spillBlock is about how much of a run is read at once, in bytes.
	spillBlock = 16 << 10
	// spillRuns of a level are merged into one of the next: while a sort gives its rows it has a block of each run in memory.
	spillRuns = 32
)

// errSpillFull says that the temporary files may not get larger.
var errSpillFull = errors.New("the disk that subscriptions may use is full")

// disk is where rows go that have no room in memory.
type disk struct {
	dir   string
	share *budget.Share
}

// run is sorted rows in a file without a name: it is gone with the process.
//
//	run:   block...
//	block: length u32, little endian | batch (tailrace.AppendBatch)
type run struct {
	disk  *disk
	file  *os.File
	size  int64
	level int // it was merged so many times
}

// write makes a run of what next gives until io.EOF.
func (d *disk) write(level int, next func() (*tailrace.Batch, error)) (r *run, err error) {
	file, err := os.CreateTemp(d.dir, "subscribe-*")
	if err != nil {
		return nil, fmt.Errorf("spill rows of a subscription: %w", err)
	}
	r = &run{disk: d, file: file, level: level}
	defer func() {
		if err != nil {
			r.close()
			r, err = nil, fmt.Errorf("spill rows of a subscription: %w", err)
		}
	}()
	if err := os.Remove(file.Name()); err != nil {
		return r, err
	}
	out := bufio.NewWriterSize(file, spillBlock)
	var block []byte
	for {
		b, err := next()
		if errors.Is(err, io.EOF) {
			return r, out.Flush()
		}
		if err != nil {
			return r, err
		}
		block = tailrace.AppendBatch(append(block[:0], 0, 0, 0, 0), b)
		binary.LittleEndian.PutUint32(block, uint32(len(block)-4))
		if !d.share.TryAcquire(int64(len(block))) {
			return r, errSpillFull
		}
		r.size += int64(len(block))
		if _, err := out.Write(block); err != nil {
			return r, err
		}
	}
}

// close gives the disk back.
func (r *run) close() {
	_ = r.file.Close() // it has no name: nothing to lose
	r.disk.share.Release(r.size)
	r.size = 0
}

// blocks reads the run from its start. The end is io.EOF.
func (r *run) blocks() func() (*tailrace.Batch, error) {
	in := bufio.NewReaderSize(io.NewSectionReader(r.file, 0, r.size), spillBlock)
	return func() (*tailrace.Batch, error) {
		var head [4]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return nil, err
		}
		raw := make([]byte, binary.LittleEndian.Uint32(head[:]))
		if _, err := io.ReadFull(in, raw); err != nil {
			return nil, fmt.Errorf("read spilled rows of a subscription: %w", err)
		}
		b, _, err := tailrace.DecodeBatch(raw)
		return b, err
	}
}
