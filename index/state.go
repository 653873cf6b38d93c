package index

import (
	"encoding/binary"
	"fmt"

	"tailrace"
)

// maxShape bounds a State's shape, in bytes.
const maxShape = 1 << 16

// State is what the rows of a collection stand for: every update at or before Low, none after High.
type State struct {
	Low, High tailrace.Time
	Seq       tailrace.SeqNo // the newest log entry that was applied when this was written
	Shape     []byte         // what keys look like; the caller's own
}

// Its layout: version u8 | low u64 | high u64 | seq u64 | shape length uvarint | shape. Integers are little-endian.
func (st *State) encode() []byte {
	dst := []byte{formatVersion}
	for _, v := range []uint64{uint64(st.Low), uint64(st.High), uint64(st.Seq)} {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return append(binary.AppendUvarint(dst, uint64(len(st.Shape))), st.Shape...)
}

// decodeState reads what encode wrote. Any error is tailrace.ErrCorrupt.
func decodeState(raw []byte) (State, error) {
	d := tailrace.ByteReader{Src: raw}
	if v := d.Byte(); v != formatVersion {
		d.Fail("version %d, which this build does not know", v)
	}
	st := State{Low: tailrace.Time(d.Uint64()), High: tailrace.Time(d.Uint64()), Seq: tailrace.SeqNo(d.Uint64())}
	st.Shape = append([]byte(nil), d.Take(d.Count(maxShape))...)
	if st.Low > st.High {
		d.Fail("times")
	}
	if err := d.End(); err != nil {
		return State{}, fmt.Errorf("decode index state: %w", err)
	}
	return st, nil
}
