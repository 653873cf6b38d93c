package log

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tailrace"
)

func TestCheckpointRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := &Checkpoint{
			Seq: tailrace.SeqNo(rapid.Uint64().Draw(t, "seq")), Time: tailrace.Time(rapid.Uint64().Draw(t, "time")),
			Sections: rapid.MapOfN(rapid.StringN(0, 10, 30), rapid.SliceOfN(rapid.Byte(), 0, 100), 0, 5).Draw(t, "sections"),
		}
		raw := want.Encode(nil)
		got, err := DecodeCheckpoint(raw)
		if diff := cmp.Diff(got, want); diff != "" || err != nil {
			t.Fatalf("decode: got %v (-) want (+):\n%s", err, diff)
		}
		at := rapid.IntRange(0, len(raw)-1).Draw(t, "at")
		flipped := bytes.Clone(raw)
		flipped[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		for _, bad := range [][]byte{flipped, raw[:at]} {
			if _, err := DecodeCheckpoint(bad); !errors.Is(err, tailrace.ErrCorrupt) {
				t.Fatalf("changed or cut at byte %d: got %v, want ErrCorrupt", at, err)
			}
		}
	})
}

// The bytes that docs/format/log.md shows.
func TestCheckpointBytesAreAsDocumented(t *testing.T) {
	c := &Checkpoint{Seq: 3, Time: 1_000_005, Sections: map[string][]byte{"b": []byte("xyz"), "a": nil}}
	want := "54524350" + "9f15ff35" + "01" + "00" + "0300000000000000" + "45420f0000000000" + "02" + "01" + "61" + "00" + "01" + "62" + "03" + "78797a"
	if got := hex.EncodeToString(c.Encode(nil)); got != want {
		t.Errorf("encode:\n got %s\nwant %s", got, want)
	}
}

func TestPointerRoundTrip(t *testing.T) {
	want := &pointer{seq: 3, time: 4, size: 5, crc: 6, key: "checkpoint/x"}
	raw := want.encode()
	got, err := decodePointer(raw)
	if err != nil || *got != *want {
		t.Errorf("decode: got %v %v, want %v", got, err, want)
	}
	if bytes.Equal(raw, want.encode()) {
		t.Errorf("encode twice: got equal bytes, want a nonce of its own in each")
	}
	for i := range raw {
		raw[i] ^= 1
		if _, err := decodePointer(raw); !errors.Is(err, tailrace.ErrCorrupt) {
			t.Errorf("byte %d changed: got %v, want ErrCorrupt", i, err)
		}
		raw[i] ^= 1
	}
}

func TestSessionsFoldTwiceAndLateAlike(t *testing.T) {
	s := newSessions()
	changes := []SessionChange{{Session: "00000000000000aa"}, {Session: "00000000000000aa", Ended: true}, {Session: "00000000000000bb"}}
	for _, c := range append(changes, changes...) {
		s.fold(c)
	}
	again, err := decodeSessions(s.encode())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*sessions{s, again} {
		_, isOpen := x.open["00000000000000bb"]
		if !x.ended["00000000000000aa"] || len(x.open) != 1 || !isOpen || len(x.order) != 1 {
			t.Errorf("sessions: got open %v ended %v, want bb and aa", x.open, x.ended)
		}
	}
	ending := s.ending("00000000000000cc")
	if len(ending) != 1 || !bytes.Equal(ending[0].Payload, SessionChange{Session: "00000000000000bb", Ended: true}.Record().Payload) {
		t.Errorf("ending: got %v, want the end of bb", ending)
	}
}

func TestEndedSessionsAreBounded(t *testing.T) {
	s := newSessions()
	for i := range maxEnded + 10 {
		s.fold(SessionChange{Session: fmt.Sprintf("%016x", i), Ended: true})
	}
	if len(s.ended) != maxEnded || len(s.order) != maxEnded || s.ended[fmt.Sprintf("%016x", 9)] || !s.ended[fmt.Sprintf("%016x", 10)] {
		t.Errorf("ended: got %d, want the newest %d", len(s.ended), maxEnded)
	}
}

func FuzzDecodeCheckpoint(f *testing.F) {
	f.Add((&Checkpoint{Seq: 1, Time: 2, Sections: map[string][]byte{"a": []byte("b")}}).Encode(nil))
	f.Add((&pointer{seq: 3, key: "checkpoint/x"}).encode())
	s := newSessions()
	s.fold(SessionChange{Session: "00000000000000aa", Ended: true})
	f.Add(s.encode())
	f.Add(SessionChange{Session: "00000000000000aa", Reads: 7}.Record().Payload)
	f.Add(claimChange{name: "source/1", session: "00000000000000aa", gives: 5}.record().Payload)
	f.Add(claims{"source/1": {"00000000000000aa", 5}}.encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, b := range [][]byte{raw, withCRC(raw)} {
			c, err := DecodeCheckpoint(b)
			if err == nil {
				_, err = DecodeCheckpoint(c.Encode(nil))
			}
			_, err2 := decodePointer(b)
			_, err3 := decodeSessions(b)
			_, err4 := DecodeSession(b)
			_, err5 := decodeClaim(b)
			_, err6 := decodeClaims(b)
			for _, err := range []error{err, err2, err3, err4, err5, err6} {
				if err != nil && !errors.Is(err, tailrace.ErrCorrupt) {
					t.Fatalf("decode: got %v, want ErrCorrupt", err)
				}
			}
		}
	})
}
