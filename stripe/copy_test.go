package stripe

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tailrace"
)

// copied is a part of the stripes of part, copied as they are stored.
func copied(ctx context.Context, part []byte, opts Options) ([]byte, error) {
	r, err := Open(ctx, fetchOf(part), int64(len(part)))
	if err != nil {
		return nil, err
	}
	r.Name = "x"
	p := NewPart(r.Footer().Schema, opts, nil)
	for i := range r.Footer().Stripes {
		s, err := r.Stripe(ctx, i)
		if err != nil {
			return nil, err
		}
		if err := p.Add(s); err != nil {
			return nil, err
		}
	}
	out, _, err := p.Finish()
	return out, err
}

// TestCopiedStripesAreTheSameBytes: a part of copies is the part that a Writer makes of the rows at base time.
func TestCopiedStripesAreTheSameBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, b, opts, _ := drawPart(rt)
		if rapid.Bool().Draw(rt, "filters") {
			opts.Filters = ids(s)
		}
		b.Times, b.Diffs = nil, nil
		want := write(t, s, b, opts, whole)
		if at := tailrace.Time(rapid.SampledFrom([]int64{0, 1, 1 << 50}).Draw(rt, "time")); at > 0 {
			b.Times = slices.Repeat([]tailrace.Time{at}, b.N)
		}
		got, err := copied(t.Context(), write(t, s, b, opts, whole), opts)
		if err != nil {
			rt.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			rt.Fatalf("copies give %d bytes that differ from the %d of a Writer", len(got), len(want))
		}
	})
}

func TestStripesOfSeveralTimesOrDiffsAreNotCopied(t *testing.T) {
	s, b := wideBatch(100)
	for name, change := range map[string]func(*tailrace.Batch){
		"times": func(b *tailrace.Batch) { b.Times = make([]tailrace.Time, b.N); b.Times[7] = 1 },
		"diffs": func(b *tailrace.Batch) { b.Diffs = slices.Repeat([]tailrace.Diff{-1}, b.N) },
	} {
		x := *b
		change(&x)
		if _, err := copied(t.Context(), write(t, s, &x, Options{}, whole), Options{}); err == nil || errors.Is(err, tailrace.ErrCorrupt) {
			t.Errorf("%s: got error %v, want a refusal", name, err)
		}
	}
}

func TestDamagedStripeIsNotCopied(t *testing.T) {
	s, b := wideBatch(300)
	part := write(t, s, b, Options{PageRows: 100}, whole)
	r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := r.index(4)
	if err != nil {
		t.Fatal(err)
	}
	part[x.off[1]+40] ^= 1
	_, err = copied(t.Context(), part, Options{PageRows: 100})
	if !errors.Is(err, tailrace.ErrCorrupt) || !strings.Contains(err.Error(), `part x: column "c2": page 1: `) {
		t.Errorf("got error %v, want that page 1 of column c2 is corrupt", err)
	}
}

func TestPartTakesOnlyStripesOfItsKind(t *testing.T) {
	s, b := wideBatch(300)
	part := write(t, s, b, Options{PageRows: 100}, whole)
	r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
	if err != nil {
		t.Fatal(err)
	}
	other := *s
	other.Fields = slices.Clone(s.Fields)
	other.Fields[3].ID = 99
	for name, p := range map[string]*Part{"columns": NewPart(&other, Options{PageRows: 100}, nil), "page rows": NewPart(s, Options{PageRows: 200}, nil)} {
		x, err := r.Stripe(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if p.Takes(r.Footer()) || p.Add(x) == nil {
			t.Errorf("other %s: the stripe was taken", name)
		}
	}
	p := NewPart(s, Options{PageRows: 100}, nil)
	for i, want := range []bool{true, false} { // the second begins below where the first ended
		x, err := r.Stripe(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Add(x); err == nil != want {
			t.Errorf("stripe %d: got error %v, want success %v", i, err, want)
		}
	}
}

// TestPartsAreCutByEncodedSize: a part with more than one stripe is no larger than PartBytes, and none could have taken one more.
func TestPartsAreCutByEncodedSize(t *testing.T) {
	s := &tailrace.Schema{Fields: []tailrace.Field{
		{ID: 1, Name: "id", Type: tailrace.TypeOf(tailrace.KindInt4)}, {ID: 2, Name: "v", Type: tailrace.TypeOf(tailrace.KindBytea)},
	}, Key: []int{0}}
	opts := Options{Codec: CodecNone, StripeBytes: 15 << 20}
	var sizes, stripes []int
	p := NewPart(s, opts, nil)
	finish := func() {
		stripes = append(stripes, p.Stripes())
		part, _, err := p.Finish()
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(part))
		p = NewPart(s, opts, nil)
	}
	w := NewWriter(s, opts, nil, func(x *Stripe) error {
		if !p.Fits(x) {
			finish()
		}
		return p.Add(x)
	})
	value := bytes.Repeat([]byte{1}, 8<<20)
	for i := range 20 {
		b := tailrace.NewBatch(s, 1)
		b.Cols[0].AppendInt32(int32(i))
		value[i]++
		b.Cols[1].Append(value)
		b.AppendDiff(1)
		if err := w.Take(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	finish()
	for i, n := range sizes {
		if n > PartBytes || i < len(sizes)-1 && n < PartBytes-17<<20 {
			t.Errorf("part %d of %v: %d bytes in %d stripes", i, sizes, n, stripes[i])
		}
	}
}
