package log

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tailrace"
)

func drawRecord(t *rapid.T) Record {
	r := Record{
		Kind:       Kind(rapid.IntRange(1, 9).Draw(t, "kind")),
		Collection: tailrace.CollectionID(rapid.Uint64().Draw(t, "collection")),
		Whole:      rapid.Bool().Draw(t, "whole"),
		Payload:    rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "payload"),
	}
	if n := rapid.IntRange(0, 5).Draw(t, "keys"); n > 0 {
		r.Keys = rapid.SliceOfN(rapid.Uint64(), n, n).Draw(t, "keys")
	}
	return r
}

func drawEntry(t *rapid.T) Entry {
	e := Entry{
		Seq:  tailrace.SeqNo(rapid.Uint64().Draw(t, "seq")),
		Time: tailrace.Time(rapid.Uint64Range(0, 1<<62).Draw(t, "time")),
	}
	for range rapid.IntRange(0, 5).Draw(t, "txns") {
		e.Time += tailrace.Time(rapid.Uint64Range(1, 1<<50).Draw(t, "step"))
		c := Committed{Time: e.Time}
		for range rapid.IntRange(0, 4).Draw(t, "records") {
			c.Records = append(c.Records, drawRecord(t))
		}
		e.Txns = append(e.Txns, c)
	}
	return e
}

func TestEntryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, wantNonce, wantSession := drawEntry(t), rapid.Uint64().Draw(t, "nonce"), sessionName(rapid.Uint64().Draw(t, "session"))
		raw := want.Encode([]byte("before"), wantNonce, wantSession)[len("before"):]
		got, nonce, session, err := DecodeEntry(raw)
		if err != nil || nonce != wantNonce || session != wantSession {
			t.Fatalf("decode: got nonce %d session %s error %v, want %d %s none", nonce, session, err, wantNonce, wantSession)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Fatalf("decode: got (-) want (+):\n%s", diff)
		}
		at := rapid.IntRange(0, len(raw)-1).Draw(t, "at")
		flipped := bytes.Clone(raw)
		flipped[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		if _, _, _, err := DecodeEntry(flipped); !errors.Is(err, tailrace.ErrCorrupt) {
			t.Fatalf("byte %d changed: got %v, want ErrCorrupt", at, err)
		}
		if _, _, _, err := DecodeEntry(raw[:at]); !errors.Is(err, tailrace.ErrCorrupt) {
			t.Fatalf("cut to %d bytes: got %v, want ErrCorrupt", at, err)
		}
	})
}

// The bytes that docs/format/log.md shows. A change here is a change of the format: it needs a new version.
func TestEntryBytesAreAsDocumented(t *testing.T) {
	e := Entry{Seq: 3, Time: 1_000_005, Txns: []Committed{
		{Time: 1_000_000, Records: []Record{{Kind: KindData, Collection: 7, Keys: []uint64{0x1122334455667788}, Payload: []byte("hi")}}},
		{Time: 1_000_005, Records: []Record{{Kind: KindCatalog, Collection: 300, Whole: true, Payload: nil}}},
	}}
	want := "54524c45" + "5ab76ff3" + "01" + "00" + "0300000000000000" + "0900000000000000" + "efcdab8967452301" + "40420f0000000000" + "02" +
		"00" + "01" + "01" + "00" + "07" + "01" + "8877665544332211" + "02" + "6869" +
		"05" + "01" + "03" + "01" + "ac02" + "00" + "00"
	if got := hex.EncodeToString(e.Encode(nil, 9, "0123456789abcdef")); got != want {
		t.Errorf("encode:\n got %s\nwant %s", got, want)
	}
	tick := Entry{Seq: 4, Time: 1_000_006}
	want = "54524c45" + "5b5940e3" + "01" + "00" + "0400000000000000" + "0900000000000000" + "efcdab8967452301" + "46420f0000000000" + "00"
	if got := hex.EncodeToString(tick.Encode(nil, 9, "0123456789abcdef")); got != want {
		t.Errorf("encode a tick:\n got %s\nwant %s", got, want)
	}
}

func FuzzDecodeEntry(f *testing.F) {
	e := Entry{Seq: 3, Time: 5, Txns: []Committed{{Time: 5, Records: []Record{{Kind: KindData, Collection: 7, Keys: []uint64{1}, Payload: []byte("hi")}}}}}
	f.Add(e.Encode(nil, 1, "0123456789abcdef"))
	f.Add((&Entry{Seq: 1, Time: 9}).Encode(nil, 1, "0123456789abcdef"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, b := range [][]byte{raw, withCRC(raw)} { // with the right checksum, so that the fuzzer gets past it
			e, nonce, session, err := DecodeEntry(b)
			if err != nil {
				if !errors.Is(err, tailrace.ErrCorrupt) {
					t.Fatalf("decode: got %v, want ErrCorrupt", err)
				}
				continue
			}
			again, _, _, err := DecodeEntry(e.Encode(nil, nonce, session))
			if diff := cmp.Diff(again, e); diff != "" || err != nil {
				t.Fatalf("encode and decode again: got %v (-) want (+):\n%s", err, diff)
			}
		}
	})
}

// withCRC is raw with the checksum that makes its first bytes pass.
func withCRC(raw []byte) []byte {
	if len(raw) < crcFrom {
		return raw
	}
	b := bytes.Clone(raw)
	putCRC(b)
	return b
}
