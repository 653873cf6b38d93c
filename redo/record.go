package redo

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"

	"tailrace"
)

// A record is the smallest piece of a segment that is read and checked by itself:
//
//	length u32 of the payload | crc u32 of all that follows | kind u8 | span u64 | time u64 | payload
//
// The payload is a batch, or JSON of a tailrace.SinkTable or tailrace.SinkAlter.
const (
	recordHead = 25
	maxPayload = 1 << 30
	// kindTable is the table of the rows that follow; the other kinds are those of pieces.
	kindTable Kind = 1
)

// record is one record as it is read; payload is a view.
type record struct {
	kind    Kind
	span    tailrace.CollectionID
	time    tailrace.Time // of the snapshot or the alter, or of the first of the changes
	payload []byte
}

// appendRecord adds a record whose payload is what fill appends.
func appendRecord(dst []byte, kind Kind, span tailrace.CollectionID, time tailrace.Time, fill func(dst []byte) []byte) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0, byte(kind))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(span))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(time))
	dst = fill(dst)
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-recordHead))
	binary.LittleEndian.PutUint32(dst[at+4:], crc32.Checksum(dst[at+8:], castagnoli))
	return dst
}

// recordLength is the length of the record that head begins.
func recordLength(head []byte) int { return recordHead + int(binary.LittleEndian.Uint32(head)) }

// recordKind is the kind and the time of the record that head begins, unchecked.
func recordKind(head []byte) (Kind, tailrace.Time) {
	return Kind(head[8]), tailrace.Time(binary.LittleEndian.Uint64(head[17:]))
}

// readRecord takes a record off the front of src. Any error is ErrCorrupt.
func readRecord(src []byte) (record, []byte, error) {
	d := tailrace.ByteReader{Src: src}
	length, crc := d.Uint32(), d.Uint32()
	checked := d.Src
	r := record{kind: Kind(d.Byte()), span: tailrace.CollectionID(d.Uint64()), time: tailrace.Time(d.Uint64())}
	if length > maxPayload {
		d.Fail("record of %d bytes", length)
	}
	r.payload = d.Take(int(length))
	if d.Err == nil && crc32.Checksum(checked[:recordHead-8+int(length)], castagnoli) != crc {
		d.Fail("checksum of a record")
	}
	if d.Err == nil && (r.kind < kindTable || r.kind > Alter) {
		d.Fail("record of kind %d", r.kind)
	}
	return r, d.Src, d.Err
}

// content is what a record says: one of the three is set.
type content struct {
	table *tailrace.SinkTable
	alter *tailrace.SinkAlter
	rows  *tailrace.Batch
}

// decode reads the payload, with memory of its own. Any error is ErrCorrupt.
func (r *record) decode() (c content, err error) {
	var rest []byte
	switch r.kind {
	case kindTable:
		err = json.Unmarshal(r.payload, &c.table)
		if err == nil && !isTable(c.table) {
			err = fmt.Errorf("a table without columns")
		}
	case Alter:
		err = json.Unmarshal(r.payload, &c.alter)
		if err == nil && (c.alter == nil || !isTable(c.alter.Before) || c.alter.After != nil && !isTable(c.alter.After)) {
			err = fmt.Errorf("a change of no table")
		}
	default:
		c.rows, rest, err = tailrace.DecodeBatch(r.payload)
		if err == nil {
			err = r.checkRows(c.rows, rest)
		}
	}
	if err != nil {
		return content{}, fmt.Errorf("record of span %d: %w: %w", r.span, err, tailrace.ErrCorrupt)
	}
	return c, nil
}

// isTable reports whether t can be worked with: its key is of columns that it has.
func isTable(t *tailrace.SinkTable) bool {
	if t == nil || t.Columns == nil {
		return false
	}
	for _, k := range t.Columns.Key {
		if k < 0 || k >= len(t.Columns.Fields) {
			return false
		}
	}
	return true
}

func (r *record) checkRows(rows *tailrace.Batch, rest []byte) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%d bytes after the batch", len(rest))
	case r.kind == Snapshot && rows.Times != nil:
		return fmt.Errorf("a snapshot with times")
	case r.kind == Changes && (rows.N == 0 || rows.Times == nil || rows.Times[0] != r.time):
		return fmt.Errorf("changes that do not begin at %d", r.time)
	}
	for i := 1; i < len(rows.Times); i++ {
		if rows.Times[i] < rows.Times[i-1] {
			return fmt.Errorf("time %d after %d", rows.Times[i], rows.Times[i-1])
		}
	}
	return nil
}
