package shard

import (
	"encoding/binary"
	"fmt"

	"tailrace"
)

// decoder reads from src until the first thing that is wrong, which err keeps. Every count is checked against what is left.
type decoder struct {
	src []byte
	err error
}

func newDecoder(raw []byte) *decoder {
	d := &decoder{src: raw}
	if v := d.byte(); v != encodingVersion {
		d.fail("version")
	}
	return d
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%s: %w", what, tailrace.ErrCorrupt)
	}
	d.src = nil
}

// end returns the first error, or one when bytes are left over.
func (d *decoder) end(what string) error {
	if d.err == nil && len(d.src) > 0 {
		d.fail("bytes after the end")
	}
	if d.err != nil {
		return fmt.Errorf("decode %s: %w", what, d.err)
	}
	return nil
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.src) {
		d.fail("short")
		return nil
	}
	out := d.src[:n:n]
	d.src = d.src[n:]
	return out
}

func (d *decoder) byte() byte {
	if raw := d.take(1); raw != nil {
		return raw[0]
	}
	return 0
}

func (d *decoder) flag() bool {
	b := d.byte()
	if b > 1 {
		d.fail("flag")
	}
	return b == 1
}

func (d *decoder) time() tailrace.Time {
	if raw := d.take(8); raw != nil {
		return tailrace.Time(binary.LittleEndian.Uint64(raw))
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.src)
	if n <= 0 {
		d.fail("number")
		return 0
	}
	d.src = d.src[n:]
	return v
}

// count reads a number of things that take at least a byte each.
func (d *decoder) count(limit int) int {
	v := d.uvarint()
	if v > uint64(limit) {
		d.fail("count")
		return 0
	}
	return int(v)
}

func (d *decoder) bytes(limit int) []byte {
	return append([]byte(nil), d.take(d.count(limit))...)
}

func (d *decoder) runs() []*run {
	var runs []*run
	for range d.count(maxRuns) {
		if d.err != nil {
			return nil
		}
		runs = append(runs, d.run())
	}
	return runs
}

func (d *decoder) run() *run {
	r := &run{lower: d.time(), upper: d.time()}
	for range d.count(1 << 16) {
		if d.err != nil {
			return r
		}
		r.order = append(r.order, tailrace.ColumnID(d.count(1<<32-1)))
	}
	for range d.count(maxParts) {
		if d.err != nil {
			return r
		}
		r.parts = append(r.parts, d.part())
	}
	if r.upper < r.lower {
		d.fail("time range")
	}
	return r
}

func (d *decoder) part() *part {
	p := &part{key: string(d.bytes(maxKeyName)), size: int64(d.uvarint()), rows: int64(d.uvarint()), base: d.time(), flags: d.byte()}
	p.first, p.last = d.bytes(maxBound), d.bytes(maxBound)
	if p.size < 0 || p.rows < 0 || p.flags&^partFlags != 0 {
		d.fail("part")
	}
	return p
}
