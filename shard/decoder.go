package shard

import (
	"fmt"

	"tailrace"
)

// decoder reads the room's encodings.
type decoder struct{ tailrace.ByteReader }

func newDecoder(raw []byte) *decoder {
	d := &decoder{tailrace.ByteReader{Src: raw}}
	if v := d.Byte(); v != encodingVersion {
		d.Fail("version %d, which this build does not know", v)
	}
	return d
}

// end returns the first error, or one when bytes are left over.
func (d *decoder) end(what string) error {
	if err := d.End(); err != nil {
		return fmt.Errorf("decode %s: %w", what, err)
	}
	return nil
}

func (d *decoder) flag() bool {
	b := d.Byte()
	if b > 1 {
		d.Fail("flag")
	}
	return b == 1
}

func (d *decoder) time() tailrace.Time { return tailrace.Time(d.Uint64()) }

func (d *decoder) bytes(limit uint64) []byte {
	return append([]byte(nil), d.Take(d.Count(limit))...)
}

func (d *decoder) runs() []*run {
	var runs []*run
	for range d.Count(maxRuns) {
		if d.Err != nil {
			return nil
		}
		runs = append(runs, d.run())
	}
	return runs
}

func (d *decoder) run() *run {
	r := &run{lower: d.time(), upper: d.time()}
	for range d.Count(1 << 16) {
		if d.Err != nil {
			return r
		}
		r.order = append(r.order, tailrace.ColumnID(d.Count(1<<32-1)))
	}
	for range d.Count(maxParts) {
		if d.Err != nil {
			return r
		}
		r.parts = append(r.parts, d.part())
	}
	if r.upper < r.lower {
		d.Fail("time range")
	}
	return r
}

func (d *decoder) part() *part {
	p := &part{key: string(d.bytes(maxKeyName)), size: int64(d.Uvarint()), rows: int64(d.Uvarint()), base: d.time(), flags: d.Byte()}
	p.first, p.last = d.bytes(maxBound), d.bytes(maxBound)
	if p.size < 0 || p.rows < 0 || p.flags&^partFlags != 0 {
		d.Fail("part")
	}
	return p
}
