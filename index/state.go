package index

import (
	"encoding/binary"
	"fmt"

	lsm "github.com/cockroachdb/pebble/v2"

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

// The bytes that tell keys apart.
const (
	ofCollection = 1
	ofState      = 0
	ofRow        = 1

	prefixBytes = 1 + 8
)

func appendPrefix(dst []byte, id tailrace.CollectionID) []byte {
	return binary.BigEndian.AppendUint64(append(dst, ofCollection), uint64(id))
}

func stateKey(id tailrace.CollectionID) []byte { return append(appendPrefix(nil, id), ofState) }

func appendRowKey(dst []byte, id tailrace.CollectionID, key []byte) []byte {
	return append(append(appendPrefix(dst, id), ofRow), key...)
}

// span is all that is kept of a collection.
func span(id tailrace.CollectionID) lsm.KeyRange {
	return lsm.KeyRange{Start: appendPrefix(nil, id), End: appendPrefix(nil, id+1)}
}

// states reads the States of all collections.
func (s *Store) states(o *opened) (out map[tailrace.CollectionID]State, err error) {
	it, err := o.db.NewIter(nil)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := it.Close(); err == nil {
			err = closeErr
		}
	}()
	out = map[tailrace.CollectionID]State{}
	for ok := it.SeekGE([]byte{ofCollection}); ok; {
		k := it.Key()
		if len(k) != prefixBytes+1 || k[0] != ofCollection || k[prefixBytes] != ofState {
			return nil, fmt.Errorf("index key %x: %w", k, tailrace.ErrCorrupt)
		}
		id := tailrace.CollectionID(binary.BigEndian.Uint64(k[1:]))
		raw, err := it.ValueAndErr()
		if err != nil {
			return nil, err
		}
		if out[id], err = decodeState(raw); err != nil {
			return nil, err
		}
		ok = it.SeekGE(appendPrefix(nil, id+1))
	}
	return out, it.Error()
}
