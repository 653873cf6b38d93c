package tailrace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// anArray draws the dimensions and elements of an array of kind k; a nil element is NULL.
func anArray(t *rapid.T, k Kind) (dims []Dim, values [][]byte) {
	n := 1
	for range rapid.IntRange(0, MaxDims).Draw(t, "dimensions") {
		d := Dim{Length: rapid.IntRange(1, 3).Draw(t, "length"), Lower: rapid.Int32().Draw(t, "lower")}
		dims = append(dims, d)
		n *= d.Length
	}
	if len(dims) == 0 {
		n = 0
	}
	size := rapid.IntRange(0, 5)
	if w := k.Width(); w > 0 {
		size = rapid.Just(w)
	}
	for range n {
		if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
			values = append(values, nil)
			continue
		}
		l := size.Draw(t, "size")
		values = append(values, rapid.SliceOfN(rapid.Byte(), l, l).Draw(t, "value"))
	}
	return dims, values
}

func storeArray(dims []Dim, values [][]byte) []byte {
	raw := AppendArray(nil, dims)
	for _, v := range values {
		if v == nil {
			raw = AppendNullElement(raw)
		} else {
			raw = AppendElement(raw, v)
		}
	}
	return raw
}

func TestArrayRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom([]Kind{KindBool, KindInt4, KindInterval, KindText, KindNumeric, KindEnum}).Draw(t, "kind")
		dims, values := anArray(t, k)
		raw := storeArray(dims, values)
		got, elements, err := ReadArray(k, raw)
		if err != nil || len(got) != len(dims) || elements.Left != len(values) {
			t.Fatalf("%x: got %v, %d elements, %v; want %v, %d", raw, got, elements.Left, err, dims, len(values))
		}
		for i, d := range got {
			if d != dims[i] {
				t.Fatalf("dimension %d: got %v, want %v", i, d, dims[i])
			}
		}
		for i, want := range values {
			v, null := elements.Next()
			if null != (want == nil) || !bytes.Equal(v, want) {
				t.Fatalf("element %d: got %x, NULL %v; want %x", i, v, null, want)
			}
		}
		for cut := range raw {
			if _, _, err := ReadArray(k, raw[:cut]); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%x cut at %d: got %v, want ErrCorrupt", raw, cut, err)
			}
		}
	})
}

func TestDamagedArraysAreRefused(t *testing.T) {
	for name, raw := range map[string][]byte{
		"seven dimensions":            {7, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 0},
		"a dimension of no length":    {1, 0, 2},
		"more elements than bytes":    {2, 8, 2, 8, 2, 0, 0, 0, 0, 0, 0, 0, 0},
		"a lower bound of 33 bits":    append(binary.AppendVarint([]byte{1, 1}, math.MaxInt32+1), 0),
		"an element of three bytes":   {1, 1, 2, 4, 0, 0, 0},
		"bytes after the last":        {1, 1, 2, 0, 0},
		"an element beyond its end":   {1, 1, 2, 200, 1, 0},
		"elements of no dimension":    {0, 5, 0, 0, 0, 0},
		"a length that never ends":    {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"an element count of 2 ** 63": {1, 1, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
	} {
		if dims, _, err := ReadArray(KindInt4, raw); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: got %v, %v, want ErrCorrupt", name, dims, err)
		}
	}
}

func FuzzReadArray(f *testing.F) {
	f.Add(uint8(KindInt4), []byte{1, 2, 2, 0, 5, 1, 2, 3, 4})
	f.Add(uint8(KindText), []byte{2, 1, 2, 2, 4, 0, 2, 'x'})
	f.Fuzz(func(t *testing.T, kind uint8, raw []byte) {
		k := Kind(kind)
		if !k.Valid() || k == KindArray {
			return
		}
		c := MakeColumn(KindArray, 1)
		c.Append(raw)
		AppendKey(nil, ArrayOf(TypeOf(KindText)), &c, 0)
		dims, elements, err := ReadArray(k, raw)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("got %v, want ErrCorrupt", err)
			}
			return
		}
		again := AppendArray(nil, dims)
		for elements.Left > 0 {
			if v, null := elements.Next(); null {
				again = AppendNullElement(again)
			} else if w := k.Width(); w > 0 && len(v) != w {
				t.Fatalf("element of %d bytes in an array of %v", len(v), TypeOf(k))
			} else {
				again = AppendElement(again, v)
			}
		}
		if _, _, err := ReadArray(k, again); err != nil || len(again) > len(raw) {
			t.Fatalf("%x written again as %x: %v", raw, again, err)
		}
		if w := k.Width(); w > 0 || k == KindText {
			AppendKey(nil, ArrayOf(TypeOf(k)), &c, 0)
		}
	})
}
