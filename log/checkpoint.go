package log

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"tailrace"
)

// Checkpoint is the folded state after applying the entry Seq: a section for each fold, in its own encoding. Names that begin with "log"
// are the log's own.
type Checkpoint struct {
	Seq      tailrace.SeqNo
	Time     tailrace.Time // Seq's
	Sections map[string][]byte
}

// The layouts, all integers little-endian; docs/format/log.md gives them byte by byte.
//
//	checkpoint: magic "TRCP" | crc u32 of all that follows | version u8 | flags u8 | seq u64 | time u64 | sections uvarint | section ...
//	section:    name length uvarint | name | length uvarint | bytes
//	pointer:    magic "TRCK" | crc u32 of all that follows | version u8 | flags u8 | nonce u64 | seq u64 | time u64 | size u64 | crc u32 | blob key
const (
	checkpointMagic   = "TRCP"
	checkpointVersion = 1
	checkpointHeader  = 4 + 4 + 1 + 1 + 8 + 8

	pointerMagic   = "TRCK"
	pointerVersion = 1
	pointerHeader  = 4 + 4 + 1 + 1 + 8 + 8 + 8 + 8 + 4
)

// Encode appends the checkpoint's bytes to dst. Equal checkpoints have equal bytes.
func (c *Checkpoint) Encode(dst []byte) []byte {
	from := len(dst)
	dst = append(dst, checkpointMagic...)
	dst = append(dst, 0, 0, 0, 0, checkpointVersion, 0)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(c.Seq))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(c.Time))
	dst = binary.AppendUvarint(dst, uint64(len(c.Sections)))
	for _, name := range slices.Sorted(maps.Keys(c.Sections)) {
		dst = binary.AppendUvarint(dst, uint64(len(name)))
		dst = append(dst, name...)
		dst = binary.AppendUvarint(dst, uint64(len(c.Sections[name])))
		dst = append(dst, c.Sections[name]...)
	}
	putCRC(dst[from:])
	return dst
}

// DecodeCheckpoint reads what Encode wrote. Sections are views into b. Any error is tailrace.ErrCorrupt.
func DecodeCheckpoint(b []byte) (*Checkpoint, error) {
	var d tailrace.ByteReader
	switch {
	case len(b) < checkpointHeader || string(b[:4]) != checkpointMagic:
		d.Fail("not a checkpoint")
	case !isCRC(b):
		d.Fail("checksum")
	case b[8] != checkpointVersion || b[9] != 0:
		d.Fail("version %d flags %d, which this build does not know", b[8], b[9])
	default:
		d.Src = b[checkpointHeader:]
	}
	c := &Checkpoint{Sections: map[string][]byte{}}
	if d.Err == nil {
		c.Seq = tailrace.SeqNo(binary.LittleEndian.Uint64(b[10:]))
		c.Time = tailrace.Time(binary.LittleEndian.Uint64(b[18:]))
	}
	for range d.Items(2) { // a section takes two bytes at least
		name := string(d.Take(d.Items(1)))
		c.Sections[name] = d.Take(d.Items(1))
	}
	if err := d.End(); err != nil {
		return nil, fmt.Errorf("decode checkpoint: %w", err)
	}
	return c, nil
}

// pointer names the newest checkpoint: the value of the Consensus key "checkpoint".
type pointer struct {
	seq  tailrace.SeqNo
	time tailrace.Time
	size uint64 // of the blob, bytes
	crc  uint32 // of the blob
	key  string
}

func (p *pointer) encode() []byte {
	dst := append([]byte(pointerMagic), 0, 0, 0, 0, pointerVersion, 0)
	for _, v := range []uint64{rand.Uint64(), uint64(p.seq), uint64(p.time), p.size} { // the nonce makes equal pointers differ
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	dst = append(binary.LittleEndian.AppendUint32(dst, p.crc), p.key...)
	putCRC(dst)
	return dst
}

func decodePointer(b []byte) (*pointer, error) {
	if len(b) < pointerHeader || string(b[:4]) != pointerMagic || b[8] != pointerVersion || b[9] != 0 ||
		!isCRC(b) {
		return nil, fmt.Errorf("decode checkpoint pointer: %w", tailrace.ErrCorrupt)
	}
	return &pointer{
		seq:  tailrace.SeqNo(binary.LittleEndian.Uint64(b[18:])),
		time: tailrace.Time(binary.LittleEndian.Uint64(b[26:])),
		size: binary.LittleEndian.Uint64(b[34:]),
		crc:  binary.LittleEndian.Uint32(b[42:]),
		key:  string(b[pointerHeader:]),
	}, nil
}
