package shard

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"tailrace"
	"tailrace/internal/sim"
)

func exampleRuns() []*run {
	p := &part{key: "part/00000000000000aa/1", size: 5000, rows: 7, base: 9, flags: flagSingle, first: []byte("a"), last: []byte("q")}
	return []*run{{lower: 3, upper: 9, order: []tailrace.ColumnID{2, 1}, parts: []*part{p, p.at(4)}}, {lower: 9, upper: 9}}
}

func TestRecordsReadBack(t *testing.T) {
	ref := &refRecord{runs: exampleRuns()}
	if got, err := decodeRef(ref.encode()); err != nil || !bytes.Equal(got.encode(), ref.encode()) {
		t.Errorf("ref: got %v, %v", got, err)
	}
	flush := &flushRecord{lower: 3, upper: 9, runs: exampleRuns()}
	if got, err := decodeFlush(flush.encode()); err != nil || !bytes.Equal(got.encode(), flush.encode()) {
		t.Errorf("flush: got %v, %v", got, err)
	}
	merge := &mergeRecord{merges: 300, folded: 8, keep: 2, runs: exampleRuns()}
	if got, err := decodeMerge(merge.encode()); err != nil || !bytes.Equal(got.encode(), merge.encode()) {
		t.Errorf("merge: got %v, %v", got, err)
	}
	hold := &holdRecord{name: "feed", at: 5, free: true}
	if got, err := decodeHold(hold.encode()); err != nil || *got != *hold {
		t.Errorf("hold: got %v, %v", got, err)
	}
	if got, err := decodeSince(SinceRecord(1, 77).Payload); err != nil || got != 77 {
		t.Errorf("since: got %v, %v", got, err)
	}
}

func TestCheckpointReadsBack(t *testing.T) {
	w := filled(t, 1, true)
	w.try("flush", w.shard().flush(context.Background(), w.commit, 1))
	w.write(context.Background(), 3)
	raw := w.set.Encode()
	other := New(w.blob, "00000000000000cc", Options{})
	if err := other.Restore(raw); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(other.Encode(), raw) {
		t.Fatal("a restored checkpoint encodes differently")
	}
	for cut := range len(raw) {
		if err := other.Restore(raw[:cut]); !errors.Is(err, tailrace.ErrCorrupt) {
			t.Fatalf("cut at %d: got %v, want ErrCorrupt", cut, err)
		}
	}
}

func FuzzRecords(f *testing.F) {
	f.Add((&refRecord{runs: exampleRuns()}).encode())
	f.Add((&flushRecord{lower: 1, upper: 2, runs: exampleRuns()}).encode())
	f.Add((&mergeRecord{merges: 1, folded: 2, runs: exampleRuns()}).encode())
	f.Add((&holdRecord{name: "x", at: 4}).encode())
	f.Add((&compactRecord{instead: []string{"a", "b"}, runs: exampleRuns()}).encode())
	f.Add(SinceRecord(1, 5).Payload)
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, ref := decodeRef(raw)
		_, flush := decodeFlush(raw)
		_, merge := decodeMerge(raw)
		_, hold := decodeHold(raw)
		_, since := decodeSince(raw)
		_, compact := decodeCompact(raw)
		for _, err := range []error{ref, flush, merge, hold, since, compact} {
			if err != nil && !errors.Is(err, tailrace.ErrCorrupt) {
				t.Fatalf("got %v, want ErrCorrupt", err)
			}
		}
	})
}

func FuzzRestore(f *testing.F) {
	s := New(sim.NewBlob(), "00000000000000aa", Options{})
	s.Define(table, &tailrace.Schema{Fields: []tailrace.Field{{ID: 1, Name: "a", Type: tailrace.TypeOf(tailrace.KindInt4)}}}, 0, 5)
	f.Add(s.Encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := New(sim.NewBlob(), "00000000000000aa", Options{})
		if err := s.Restore(raw); err != nil {
			if !errors.Is(err, tailrace.ErrCorrupt) {
				t.Fatalf("got %v, want ErrCorrupt", err)
			}
			return
		}
		s.Encode()
	})
}

// FuzzAfter continues snapshots after keys that nobody made.
func FuzzAfter(f *testing.F) {
	f.Add([]byte{1, 0x80, 0, 0, 5})
	f.Add([]byte{2})
	f.Fuzz(func(t *testing.T, key []byte) {
		for kind := tailrace.KindBool; kind.Valid(); kind++ {
			for _, typ := range []tailrace.Type{tailrace.TypeOf(kind), tailrace.ArrayOf(tailrace.TypeOf(kind))} {
				if n := keyLength(typ, key); n > len(key) || n == 0 {
					t.Fatalf("%+v: key of %d bytes in %d", typ, n, len(key))
				}
			}
		}
	})
}

// TestKeyLengthFindsTheEnd holds keyLength against tailrace.AppendKey.
func TestKeyLengthFindsTheEnd(t *testing.T) {
	w := newWorld(t, 3, false)
	fields := []tailrace.Field{w.schema.Fields[0], w.schema.Fields[1], w.schema.Fields[2]}
	for range 2000 {
		f := &fields[w.rng.IntN(3)]
		c := tailrace.MakeColumn(f.Type.Kind, 1)
		switch v := w.randomCell(f); {
		case v == nil:
			c.AppendNull()
		case f.Type.Kind == tailrace.KindText && w.rng.IntN(2) == 0:
			c.AppendString(*v + "\x00" + *v)
		case f.Type.Kind == tailrace.KindNumeric:
			c.Append(tailrace.AppendDecimal64(nil, w.rng.Int64()-1<<62, w.rng.IntN(20)))
		default:
			c.AppendString(*v)
		}
		checkKeyLength(t, f.Type, &c)
	}
}

// TestKeyLengthFindsTheEndOfEveryKind holds it for random bytes of every kind and for arrays of them.
func TestKeyLengthFindsTheEndOfEveryKind(t *testing.T) {
	const seed = 4
	rng := rand.New(rand.NewPCG(seed, 0))
	for kind := tailrace.KindBool; kind.Valid(); kind++ {
		if kind == tailrace.KindArray {
			continue
		}
		for range 50 {
			value := func() []byte {
				raw := make([]byte, rng.IntN(20))
				if w := kind.Width(); w > 0 {
					raw = make([]byte, w)
				}
				for i := range raw {
					raw[i] = byte(rng.IntN(3) * 127)
				}
				return raw
			}
			c := tailrace.MakeColumn(kind, 1)
			c.Append(value())
			checkKeyLength(t, tailrace.TypeOf(kind), &c)
			raw := tailrace.AppendArray(nil, []tailrace.Dim{{Length: 3, Lower: -1}})
			raw = tailrace.AppendElement(tailrace.AppendNullElement(tailrace.AppendElement(raw, value())), value())
			a := tailrace.MakeColumn(tailrace.KindArray, 1)
			a.Append(raw)
			checkKeyLength(t, tailrace.ArrayOf(tailrace.TypeOf(kind)), &a)
		}
	}
}

func checkKeyLength(t *testing.T, typ tailrace.Type, c *tailrace.Column) {
	t.Helper()
	key := tailrace.AppendKey(nil, typ, c, 0)
	if got := keyLength(typ, append(bytes.Clone(key), 1, 200, 0, 0)); got != len(key) {
		t.Fatalf("%v %x: got %d, want %d", typ, key, got, len(key))
	}
}
