package log

import (
	"encoding/binary"
	"hash/crc32"
	"strconv"

	"tailrace"
)

// The layout of an entry, all integers little-endian; docs/format/log.md gives it byte by byte with an example.
//
//	entry:  magic "TRLE" | crc u32 of all that follows | version u8 | flags u8 | seq u64 | nonce u64 | session u64 | time u64 | txns uvarint | txn ...
//	txn:    time since the one before uvarint | records uvarint | record ...
//	record: kind u8 | flags u8 (1 whole) | collection uvarint | keys uvarint | key u64 ... | length uvarint | payload
const (
	entryMagic   = "TRLE"
	entryVersion = 1
	entryHeader  = 4 + 4 + 1 + 1 + 8 + 8 + 8 + 8 // bytes before txns
	crcFrom      = 8                             // the crc covers the bytes from here

	flagWhole = 1
)

// maxTxn is the largest encoding of one transaction's records, in bytes: what an entry holds beside its header, the count of
// transactions, and a transaction's time.
const maxTxn = MaxEntry - entryHeader - 2*binary.MaxVarintLen64

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode appends the entry's bytes to dst. nonce is unique to the append, session is 16 hex digits. The entry's Time is the
// last transaction's, or a tick's own.
func (e *Entry) Encode(dst []byte, nonce uint64, session string) []byte {
	bodies := make([][]byte, len(e.Txns))
	for i := range e.Txns {
		bodies[i] = appendRecords(nil, e.Txns[i].Records)
	}
	return appendEntry(dst, e, bodies, nonce, session)
}

// appendEntry is Encode with the records of each transaction encoded before, which their committers have done.
func appendEntry(dst []byte, e *Entry, bodies [][]byte, nonce uint64, session string) []byte {
	from := len(dst)
	dst = append(dst, entryMagic...)
	dst = append(dst, 0, 0, 0, 0, entryVersion, 0)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(e.Seq))
	dst = binary.LittleEndian.AppendUint64(dst, nonce)
	dst = binary.LittleEndian.AppendUint64(dst, sessionBits(session))
	last := e.Time
	if len(e.Txns) > 0 {
		last = e.Txns[0].Time
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(last))
	dst = binary.AppendUvarint(dst, uint64(len(e.Txns)))
	for i := range e.Txns {
		dst = binary.AppendUvarint(dst, uint64(e.Txns[i].Time-last))
		dst = append(dst, bodies[i]...)
		last = e.Txns[i].Time
	}
	putCRC(dst[from:])
	return dst
}

// putCRC fills in the checksum of what crcFrom begins.
func putCRC(b []byte) {
	binary.LittleEndian.PutUint32(b[4:], crc32.Checksum(b[crcFrom:], castagnoli))
}

// isCRC says whether the checksum is right.
func isCRC(b []byte) bool {
	return binary.LittleEndian.Uint32(b[4:]) == crc32.Checksum(b[crcFrom:], castagnoli)
}

// appendRecords adds a transaction's records: the part of its encoding that does not depend on its time.
func appendRecords(dst []byte, records []Record) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(records)))
	for i := range records {
		r := &records[i]
		flags := byte(0)
		if r.Whole {
			flags |= flagWhole
		}
		dst = append(dst, byte(r.Kind), flags)
		dst = binary.AppendUvarint(dst, uint64(r.Collection))
		dst = binary.AppendUvarint(dst, uint64(len(r.Keys)))
		for _, k := range r.Keys {
			dst = binary.LittleEndian.AppendUint64(dst, k)
		}
		dst = binary.AppendUvarint(dst, uint64(len(r.Payload)))
		dst = append(dst, r.Payload...)
	}
	return dst
}

// recordsSize is at least the length of what appendRecords adds, in bytes.
func recordsSize(records []Record) int {
	n := binary.MaxVarintLen32
	for i := range records {
		n += 2 + 3*binary.MaxVarintLen64 + 8*len(records[i].Keys) + len(records[i].Payload)
	}
	return n
}

// sessionBits is a session's name as a number. Names that are not 16 hex digits are refused by Open.
func sessionBits(session string) uint64 {
	bits, err := strconv.ParseUint(session, 16, 64)
	if err != nil || len(session) != 16 {
		panic("session " + strconv.Quote(session) + " is not 16 hex digits")
	}
	return bits
}

func sessionName(bits uint64) string {
	const digits = "0123456789abcdef"
	var name [16]byte
	for i := range name {
		name[i] = digits[bits>>(60-4*i)&15]
	}
	return string(name[:])
}

// endOf is the newest time of an entry's transactions, at when it has none.
func endOf(txns []Committed, at tailrace.Time) tailrace.Time {
	if len(txns) == 0 {
		return at
	}
	return txns[len(txns)-1].Time
}
