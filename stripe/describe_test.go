package stripe

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"tailrace"
)

// TestDescriptionAddsUp: the chunks' pages fill the stripe, every encoding has a name, and a damaged page is not described.
func TestDescriptionAddsUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, b, opts, rng := drawPart(rt)
		part := write(t, s, b, opts, whole)
		r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
		if err != nil {
			rt.Fatal(err)
		}
		for i := range r.Footer().Stripes {
			chunks, err := r.Describe(t.Context(), i)
			if err != nil {
				rt.Fatal(err)
			}
			if len(chunks) != len(s.Fields)+2 || chunks[0].Column != "time" || chunks[1].Column != "diff" {
				rt.Fatalf("stripe %d: got %d chunks, first %+v; want time, diff and %d columns", i, len(chunks), chunks[0], len(s.Fields))
			}
			for c, k := range chunks {
				if k.Stored+int64(k.Pages*pageHeaderBytes+k.FrontBytes) != k.Bytes || len(k.SHA256) != 64 || sumOf(k.EncodingPages) != k.Pages || k.Pages == 0 || len(k.Encodings) == 0 || k.Raw < k.Stored {
					rt.Errorf("stripe %d, %s: got %+v: pages do not fill the chunk", i, k.Column, k)
				}
				if c > 1 && k.Column != s.Fields[c-2].Name {
					rt.Errorf("chunk %d: got %q, want %q", c, k.Column, s.Fields[c-2].Name)
				}
			}
			m := &r.Footer().Stripes[i]
			c := rng.IntN(len(m.Chunks))
			at := m.Offset + m.Chunks[c].Offset + rng.Int64N(m.Chunks[c].Bytes)
			part[at] ^= 1
			if _, err := r.Describe(t.Context(), i); !errors.Is(err, tailrace.ErrCorrupt) {
				rt.Errorf("stripe %d with a bit of chunk %d flipped: got %v, want corrupt", i, c, err)
			}
			part[at] ^= 1
		}
	})
}

func sumOf(v []int) (n int) {
	for _, x := range v {
		n += x
	}
	return n
}
