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
	d := reader{src: b[entryHeader:]}
	if n := d.count(2); n > 0 { // a transaction takes two bytes at least
		e.Txns = make([]Committed, 0, n)
		for range n {
			at = d.txn(&e, at)
		}
	}
	e.Time = endOf(e.Txns, at)
	if d.bad == "" && len(d.src) > 0 {
		d.bad = "bytes after the end"
	}
	if d.bad != "" {
		return fail(d.bad)
	}
	return e, nonce, session, nil
}

func fail(what string) (Entry, uint64, string, error) {
	return Entry{}, 0, "", fmt.Errorf("decode log entry: %s: %w", what, tailrace.ErrCorrupt)
}

// txn reads a transaction that follows one at time last and returns its time.
func (d *reader) txn(e *Entry, last tailrace.Time) tailrace.Time {
	t := last + tailrace.Time(d.uvarint())
	if t < last || (t == last && len(e.Txns) > 0) {
		d.fail("times out of order")
	}
	c := Committed{Time: t}
	if n := d.count(5); n > 0 { // a record takes five bytes at least
		c.Records = make([]Record, n)
		for i := range c.Records {
			d.record(&c.Records[i])
		}
	}
	e.Txns = append(e.Txns, c)
	return t
}

func (d *reader) record(r *Record) {
	head := d.take(2)
	if head == nil {
		return
	}
	r.Kind = Kind(head[0])
	r.Whole = head[1]&flagWhole != 0
	if head[1]&^flagWhole != 0 {
		d.fail("record flags")
	}
	r.Collection = tailrace.CollectionID(d.uvarint())
	if n := d.count(8); n > 0 {
		raw := d.take(8 * n)
		r.Keys = make([]uint64, n)
		for i := range r.Keys {
			r.Keys[i] = binary.LittleEndian.Uint64(raw[8*i:])
		}
	}
	r.Payload = d.take(d.count(1))
}

// reader takes values off the front of src until the first thing that is wrong, which bad keeps; after that it reads zeros.
type reader struct {
	src []byte
	bad string
}

func (d *reader) fail(what string) {
	if d.bad == "" {
		d.bad = what
	}
	d.src = nil
}

func (d *reader) take(n int) []byte {
	if n > len(d.src) {
		d.fail("short")
		return nil
	}
	out := d.src[:n:n]
	d.src = d.src[n:]
	return out
}

func (d *reader) uvarint() uint64 {
	v, n := binary.Uvarint(d.src)
	if n <= 0 {
		d.fail("number")
		return 0
	}
	d.src = d.src[n:]
	return v
}

// count reads how many things of at least size bytes follow. More than fit is an error.
func (d *reader) count(size int) int {
	v := d.uvarint()
	if v > uint64(len(d.src)/size) {
		d.fail("count")
		return 0
	}
	return int(v)
}
