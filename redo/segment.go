package redo

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"

	"tailrace"
)

// A segment is the updates that were collected for a while, span by span:
//
//	magic "TRRS" | version u8 | flags u8 | region of a span | region of the next span | ...
//
// A region is records. The manifest tells where each begins, so that a reader of one span reads that alone. The first record of rows has that of its table before it.
const (
	segmentMagic = "TRRS"
	segmentHead  = 6
)

// recordBytes is what a record of rows is to take at most, so that a reader of many spans holds little of each. One row may take more.
const recordBytes = 256 << 10

// region is where a segment has records of a span.
type region struct {
	span        tailrace.CollectionID
	length      int // bytes
	rows        uint64
	first, last tailrace.Time // of its updates
}

// segment is a segment as a manifest names it.
type segment struct {
	name    string
	size    int64
	crc     uint32 // of all of it
	regions []region
}

// draft is a region that is being written.
type draft struct {
	region
	bytes  []byte
	tabled bool // the table of the next rows is in it
}

// table has the rows that follow be of a table, which is given as its record says it.
func (d *draft) table(raw []byte) {
	if !d.tabled {
		d.bytes = appendRecord(d.bytes, kindTable, d.span, 0, func(dst []byte) []byte { return append(dst, raw...) })
		d.tabled = true
	}
}

// extend notes updates from one time to another.
func (d *draft) extend(first, last tailrace.Time) {
	if len(d.bytes) == 0 || d.first > first {
		d.first = first
	}
	d.last = max(d.last, last)
}

// add writes rows in records of about recordBytes.
func (d *draft) add(kind Kind, rows *tailrace.Batch, at tailrace.Time) {
	each := max(1, int(int64(rows.N)*recordBytes/int64(max(1, rows.Size()))))
	for from := 0; from == 0 || from < rows.N; from += each {
		part := rows
		if each < rows.N {
			part = cut(rows, from, min(from+each, rows.N))
		}
		if kind == Changes {
			at = part.Times[0]
		} else if part.Times != nil {
			part = &tailrace.Batch{N: part.N, IDs: part.IDs, Cols: part.Cols, Diffs: part.Diffs}
		}
		d.bytes = appendRecord(d.bytes, kind, d.span, at, func(dst []byte) []byte { return tailrace.AppendBatch(dst, part) })
	}
	d.rows += uint64(rows.N)
}

// alter writes a change of the table.
func (d *draft) alter(change *tailrace.SinkAlter, at tailrace.Time) error {
	raw, err := json.Marshal(change)
	if err != nil {
		return err
	}
	d.bytes = appendRecord(d.bytes, Alter, d.span, at, func(dst []byte) []byte { return append(dst, raw...) })
	d.tabled = false
	return nil
}

// cut copies updates [from, to) of b.
func cut(b *tailrace.Batch, from, to int) *tailrace.Batch {
	out := &tailrace.Batch{IDs: b.IDs, Cols: make([]tailrace.Column, len(b.Cols))}
	for c := range b.Cols {
		out.Cols[c].Width = b.Cols[c].Width
		if b.Cols[c].Width == 0 {
			out.Cols[c].Offsets = []int32{0}
		}
	}
	appendRows(out, b, from, to)
	return out
}

// appendRows adds updates [from, to) of src to dst, which has the same columns, and times and diffs if src has.
func appendRows(dst, src *tailrace.Batch, from, to int) {
	for c := range dst.Cols {
		dst.Cols[c].AppendRange(&src.Cols[c], from, to)
	}
	if src.Times != nil {
		dst.Times = append(dst.Times, src.Times[from:to]...)
	}
	if src.Diffs != nil {
		for len(dst.Diffs) < dst.N {
			dst.Diffs = append(dst.Diffs, 1)
		}
		dst.Diffs = append(dst.Diffs, src.Diffs[from:to]...)
	} else if dst.Diffs != nil {
		for range to - from {
			dst.Diffs = append(dst.Diffs, 1)
		}
	}
	dst.N += to - from
}

// assemble makes the segment of drafts, called name, and its bytes.
func assemble(name string, drafts map[tailrace.CollectionID]*draft) (segment, []byte) {
	list := make([]*draft, 0, len(drafts))
	size := segmentHead
	for _, d := range drafts {
		list = append(list, d)
		size += len(d.bytes)
	}
	slices.SortFunc(list, func(a, b *draft) int { return cmp.Compare(a.span, b.span) })
	raw := append(make([]byte, 0, size), segmentMagic...)
	raw = append(raw, version, 0)
	s := segment{name: name, size: int64(size)}
	for _, d := range list {
		d.length = len(d.bytes)
		raw = append(raw, d.bytes...)
		s.regions = append(s.regions, d.region)
	}
	s.crc = crc32.Checksum(raw, castagnoli)
	return s, raw
}

// appendSegments adds the descriptions of segments, as manifests and pages have them.
func appendSegments(dst []byte, all []segment) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(all)))
	for i := range all {
		s := &all[i]
		dst = appendText(dst, s.name)
		dst = binary.AppendUvarint(dst, uint64(s.size))
		dst = binary.LittleEndian.AppendUint32(dst, s.crc)
		dst = binary.AppendUvarint(dst, uint64(len(s.regions)))
		for _, r := range s.regions {
			for _, v := range []uint64{uint64(r.span), uint64(r.length), r.rows, uint64(r.first), uint64(r.last - r.first)} {
				dst = binary.AppendUvarint(dst, v)
			}
		}
	}
	return dst
}

// readSegments reads what appendSegments wrote.
func readSegments(d *tailrace.ByteReader) []segment {
	var all []segment
	for range d.Items(8) {
		s := segment{name: readText(d), size: int64(d.Count(1 << 40)), crc: d.Uint32()}
		end := int64(segmentHead)
		for range d.Items(5) {
			r := region{span: tailrace.CollectionID(d.Uvarint()), length: d.Count(1 << 40), rows: d.Uvarint(), first: tailrace.Time(d.Uvarint())}
			r.last = r.first + tailrace.Time(d.Uvarint())
			end += int64(r.length)
			s.regions = append(s.regions, r)
		}
		if d.Err == nil && end != s.size {
			d.Fail("segment %s of %d bytes, its regions of %d", s.name, s.size, end)
		}
		all = append(all, s)
	}
	return all
}

func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

func readText(d *tailrace.ByteReader) string { return string(d.Take(d.Count(1 << 10))) }

// checkHead reports whether a segment begins as one.
func checkHead(raw []byte) error {
	switch {
	case len(raw) < segmentHead || string(raw[:4]) != segmentMagic:
		return fmt.Errorf("it does not begin as a segment: %w", tailrace.ErrCorrupt)
	case raw[4] != version || raw[5] != 0:
		return fmt.Errorf("version %d.%d is not known, only %d.0: %w", raw[4], raw[5], version, tailrace.ErrCorrupt)
	}
	return nil
}
