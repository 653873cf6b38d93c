package log

import (
	"encoding/binary"
	"fmt"

	"tailrace"
)

// DecodeEntry reads what Encode wrote. Keys and payloads are views into b, which must not change while the entry lives; nothing is
// allocated by a count that b is too short for. Any error is tailrace.ErrCorrupt; a newer version of the format is one too, and says so.
func DecodeEntry(b []byte) (e Entry, nonce uint64, session string, err error) {
	switch {
	case len(b) > MaxEntry:
		return fail(fmt.Sprintf("%d bytes", len(b)))
	case len(b) < entryHeader || string(b[:4]) != entryMagic:
		return fail("not an entry")
	case !isCRC(b):
		return fail("checksum")
	case b[8] != entryVersion || b[9] != 0:
		return fail(fmt.Sprintf("version %d flags %d, which this build does not know", b[8], b[9]))
	}
	e.Seq = tailrace.SeqNo(binary.LittleEndian.Uint64(b[10:]))
	nonce = binary.LittleEndian.Uint64(b[18:])
	session = sessionName(binary.LittleEndian.Uint64(b[26:]))
	at := tailrace.Time(binary.LittleEndian.Uint64(b[34:]))
	d := tailrace.ByteReader{Src: b[entryHeader:]}
	if n := d.Items(2); n > 0 { // a transaction takes two bytes at least
		e.Txns = make([]Committed, 0, n)
		for range n {
			at = readTxn(&d, &e, at)
		}
	}
	e.Time = endOf(e.Txns, at)
	if err := d.End(); err != nil {
		return Entry{}, 0, "", fmt.Errorf("decode log entry: %w", err)
	}
	return e, nonce, session, nil
}

func fail(what string) (Entry, uint64, string, error) {
	return Entry{}, 0, "", fmt.Errorf("decode log entry: %s: %w", what, tailrace.ErrCorrupt)
}

// readTxn reads a transaction that follows one at time last and returns its time.
func readTxn(d *tailrace.ByteReader, e *Entry, last tailrace.Time) tailrace.Time {
	t := last + tailrace.Time(d.Uvarint())
	if t < last || (t == last && len(e.Txns) > 0) {
		d.Fail("times out of order")
	}
	c := Committed{Time: t}
	if n := d.Items(5); n > 0 { // a record takes five bytes at least
		c.Records = make([]Record, n)
		for i := range c.Records {
			readRecord(d, &c.Records[i])
		}
	}
	e.Txns = append(e.Txns, c)
	return t
}

func readRecord(d *tailrace.ByteReader, r *Record) {
	head := d.Take(2)
	if head == nil {
		return
	}
	r.Kind = Kind(head[0])
	r.Whole = head[1]&flagWhole != 0
	if head[1]&^flagWhole != 0 {
		d.Fail("record flags")
	}
	r.Collection = tailrace.CollectionID(d.Uvarint())
	if n := d.Items(8); n > 0 {
		raw := d.Take(8 * n)
		r.Keys = make([]uint64, n)
		for i := range r.Keys {
			r.Keys[i] = binary.LittleEndian.Uint64(raw[8*i:])
		}
	}
	r.Payload = d.Take(d.Items(1))
}
