package redo

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"tailrace"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A frame is an object with a checksum over all of it:
//
//	magic [4] | crc u32 of all that follows | version u8 | flags u8 | body
const (
	frameHead = 10
	crcFrom   = 8
	version   = 1
)

func beginFrame(magic string, flags byte) []byte {
	return append(append([]byte(nil), magic...), 0, 0, 0, 0, version, flags)
}

func endFrame(b []byte) []byte {
	binary.LittleEndian.PutUint32(b[4:], crc32.Checksum(b[crcFrom:], castagnoli))
	return b
}

// openFrame is the body of a frame that is whole.
func openFrame(magic string, b []byte) (flags byte, body tailrace.ByteReader, err error) {
	switch {
	case len(b) < frameHead || string(b[:4]) != magic:
		err = fmt.Errorf("it does not begin as a %s: %w", magic, tailrace.ErrCorrupt)
	case crc32.Checksum(b[crcFrom:], castagnoli) != binary.LittleEndian.Uint32(b[4:]):
		err = fmt.Errorf("checksum: %w", tailrace.ErrCorrupt)
	case b[8] != version:
		err = fmt.Errorf("version %d is not known, only %d: %w", b[8], version, tailrace.ErrCorrupt)
	}
	if err != nil {
		return 0, tailrace.ByteReader{}, err
	}
	return b[9], tailrace.ByteReader{Src: b[frameHead:]}, nil
}
