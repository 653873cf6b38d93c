package stripe

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tailrace"
	"tailrace/pool"
)

// allKinds are the kinds a column can have.
var allKinds = func() (out []tailrace.Kind) {
	for k := tailrace.KindBool; k.Valid(); k++ {
		out = append(out, k)
	}
	return out
}()

// typeOf is a type of kind k: arrays are of the kind element, which is not their own.
func typeOf(k, element tailrace.Kind) tailrace.Type {
	switch k {
	case tailrace.KindArray:
		return tailrace.ArrayOf(typeOf(element, 0))
	case tailrace.KindForeign:
		return tailrace.Type{Kind: k, Mod: -1, Name: "tsvector"}
	case tailrace.KindEnum:
		return tailrace.Type{Kind: k, Mod: -1, Name: "mood", ID: 300}
	}
	return tailrace.TypeOf(k)
}

// genSchema makes a schema of n columns of random kinds, the first keys of them the key.
func genSchema(rng *rand.Rand, n, keys int) *tailrace.Schema {
	s := &tailrace.Schema{Version: rng.Uint32(), NextColumn: tailrace.ColumnID(n + 7)}
	for i := range n {
		f := tailrace.Field{ID: tailrace.ColumnID(i + 3), Name: fmt.Sprintf("c%d", i)}
		element := allKinds[rng.IntN(len(allKinds))]
		if element == tailrace.KindArray {
			element = tailrace.KindInt2
		}
		f.Type = typeOf(allKinds[rng.IntN(len(allKinds))], element)
		if rng.IntN(4) == 0 {
			f.Default, f.Missing = "now()", bytes.Repeat([]byte{1}, max(3*boolInt(f.Type.Kind.Width() == 0), f.Type.Kind.Width()))
		}
		s.Fields = append(s.Fields, f)
	}
	for i := range min(keys, n) {
		s.Key = append(s.Key, i)
	}
	return s
}

// shape is how the values of a generated column are spread.
type shape int

const (
	shapeRandom shape = iota
	shapeFew          // one of four values
	shapeSteps        // a sequence with a fixed step
	shapeSmall        // near one another
	shapeConst
	shapeExtreme
	shapes
)

// genColumn makes n values of type t.
func genColumn(rng *rand.Rand, t tailrace.Type, n int) tailrace.Column {
	c := tailrace.MakeColumn(t.Kind, n)
	sh, nulls := shape(rng.IntN(int(shapes))), rng.IntN(4)
	few := [4]int64{rng.Int64(), -rng.Int64(), int64(rng.IntN(100)), rng.Int64()}
	base := rng.Int64() >> rng.IntN(60)
	for i := range n {
		if nulls == 3 && rng.IntN(3) == 0 || nulls == 2 && rng.IntN(40) > 0 {
			c.AppendNull()
			continue
		}
		v := few[0]
		switch sh {
		case shapeRandom:
			v = int64(rng.Uint64()) >> rng.IntN(64)
		case shapeFew:
			v = few[rng.IntN(4)]
		case shapeSteps:
			v = base + int64(i)*few[2]
		case shapeSmall:
			v = base + int64(rng.IntN(1000))
		case shapeExtreme:
			v = []int64{math.MinInt64, math.MaxInt64, 0, -1, 1, math.MinInt32, math.MaxInt32}[rng.IntN(7)]
		}
		if t.Kind == tailrace.KindArray {
			c.Append(genArray(rng, t.Elem, sh, v))
			continue
		}
		c.Append(genValue(rng, t.Kind, sh, v))
	}
	return c
}

// genArray is a stored array of up to four elements of kind k made from v.
func genArray(rng *rand.Rand, k tailrace.Kind, sh shape, v int64) []byte {
	n := int(uint64(v) % 5)
	if n == 0 {
		return tailrace.AppendArray(nil, nil)
	}
	out := tailrace.AppendArray(nil, []tailrace.Dim{{Length: n, Lower: int32(1 + v>>40)}})
	for i := range n {
		if sh == shapeExtreme && rng.IntN(3) == 0 {
			out = tailrace.AppendNullElement(out)
			continue
		}
		out = tailrace.AppendElement(out, genValue(rng, k, sh, v+int64(i)))
	}
	return out
}

// genValue is a stored value of kind k made from v.
func genValue(rng *rand.Rand, k tailrace.Kind, sh shape, v int64) []byte {
	switch k {
	case tailrace.KindBool:
		return []byte{byte(v & 1)}
	case tailrace.KindFloat4:
		if sh == shapeExtreme {
			f := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), float32(math.Copysign(0, -1)), 0, math.MaxFloat32}[uint64(v)%6]
			return binary.LittleEndian.AppendUint32(nil, math.Float32bits(f))
		}
	case tailrace.KindFloat8:
		if sh == shapeExtreme {
			f := []float64{math.Inf(1), math.Inf(-1), math.Float64frombits(0x7ff8000000000000 | uint64(v)&0xff), math.Copysign(0, -1), 0, math.SmallestNonzeroFloat64}[uint64(v)%6]
			return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))
		}
	case tailrace.KindNumeric:
		if sh == shapeExtreme {
			switch rng.IntN(5) {
			case 2:
				return []byte{2, 0, 0, byte(v)} // not the shortest, as only a foreign writer stores it
			case 0:
				return tailrace.AppendDecimalForm(nil, tailrace.DecimalForm(rng.IntN(3)+1))
			case 1:
				return append([]byte{3, 0, 1}, make([]byte, rng.IntN(40)+1)...) // large
			}
			return tailrace.AppendDecimal64(nil, v, rng.IntN(200))
		}
		return tailrace.AppendDecimal64(nil, v, 2+boolInt(sh == shapeSmall)*rng.IntN(3))
	case tailrace.KindInterval, tailrace.KindUUID:
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(v)%5), uint64(v))
	}
	if w := k.Width(); w > 0 {
		return binary.LittleEndian.AppendUint64(nil, uint64(v))[:w]
	}
	return genText(rng, k, sh, v)
}

func genText(rng *rand.Rand, k tailrace.Kind, sh shape, v int64) []byte {
	text := fmt.Sprint(v)
	switch {
	case sh == shapeExtreme:
		text = []string{"", "\x00", "\xff\xff", "a long text that all begin with, longer than what bounds keep " + text, "ä", "  "}[rng.IntN(6)]
	case k == tailrace.KindJSON || k == tailrace.KindJSONB:
		text = fmt.Sprintf(`{"id": %d, "tags": ["x", "y"]}`, v)
	case k == tailrace.KindChar:
		text = fmt.Sprintf("%-12s", text)
	}
	return []byte(text)
}

// genBatch makes n updates of s in sort order, with times and diffs, or without.
func genBatch(rng *rand.Rand, s *tailrace.Schema, n int) *tailrace.Batch {
	b := &tailrace.Batch{N: n}
	for _, f := range s.Fields {
		b.IDs, b.Cols = append(b.IDs, f.ID), append(b.Cols, genColumn(rng, f.Type, n))
	}
	if rng.IntN(2) == 0 {
		for range n {
			b.Times = append(b.Times, tailrace.Time(1_700_000_000_000_000+rng.IntN(1000)*boolInt(rng.IntN(2) == 0)))
		}
	}
	if rng.IntN(2) == 0 {
		for range n {
			b.Diffs = append(b.Diffs, tailrace.Diff(1-2*rng.IntN(2)))
		}
	}
	return sortBatch(s, b)
}

func sortBatch(s *tailrace.Schema, b *tailrace.Batch) *tailrace.Batch {
	order := s.SortOrder()
	rows, keys := make([]int32, b.N), rowKeys(s, b)
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortStableFunc(rows, func(x, y int32) int {
		if c := bytes.Compare(keys[x], keys[y]); c != 0 {
			return c
		}
		if c := tailrace.CompareStored(order, b, int(x), b, int(y)); c != 0 {
			return c
		}
		return int(b.Time(int(x), 0)) - int(b.Time(int(y), 0))
	})
	return b.Gather(rows)
}

func rowKeys(s *tailrace.Schema, b *tailrace.Batch) [][]byte {
	keys := make([][]byte, b.N)
	for i := range keys {
		keys[i] = tailrace.AppendRowKey(nil, s, s.SortOrder(), b, i)
	}
	return keys
}

// write makes a part of b, given to the Writer in pieces of at most step updates, by the plain loop.
func write(t testing.TB, s *tailrace.Schema, b *tailrace.Batch, opts Options, step func() int) []byte {
	t.Helper()
	part, err := encodeBatch(s, b, opts, nil, step)
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// encodeBatch makes a part of b, given to the Writer in pieces of at most step updates, half of them for the Writer to keep; without step as it is.
func encodeBatch(s *tailrace.Schema, b *tailrace.Batch, opts Options, f *pool.Flight, step func() int) ([]byte, error) {
	p := NewPart(s, opts, nil)
	w := NewWriter(s, opts, f, p.Add)
	w.Logger = slog.New(slog.DiscardHandler)
	defer w.Close()
	for from, i := 0, 0; from < b.N; i++ {
		give, n, piece := w.Append, b.N, b
		if step != nil {
			n = min(b.N-from, step())
			piece = slice(b, from, from+n)
		}
		if i%2 == 1 {
			give = w.Take
		}
		if err := give(piece); err != nil {
			return nil, fmt.Errorf("append: %w", err)
		}
		from += n
	}
	if err := w.Finish(); err != nil {
		return nil, fmt.Errorf("finish: %w", err)
	}
	most := p.Size()
	part, footer, err := p.Finish()
	switch {
	case err != nil:
		return nil, err
	case footer.Rows != int64(b.N):
		return nil, fmt.Errorf("footer: got %d rows, want %d", footer.Rows, b.N)
	case len(part) > most:
		return nil, fmt.Errorf("part of %d bytes, more than the %d that Size says", len(part), most)
	}
	return part, nil
}

// slice copies updates [from, to) of b.
func slice(b *tailrace.Batch, from, to int) *tailrace.Batch {
	rows := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, int32(i))
	}
	return b.Gather(rows)
}

func whole() int { return math.MaxInt }

// fetchOf reads part as a Blob does.
func fetchOf(part []byte) Fetch {
	return func(_ context.Context, off, n int64) ([]byte, error) {
		if off < 0 || n < 0 || off > int64(len(part)) {
			return nil, fmt.Errorf("read %d bytes at %d of %d", n, off, len(part))
		}
		return slices.Clone(part[off:min(int64(len(part)), off+n)]), nil
	}
}

func ids(s *tailrace.Schema) (out []tailrace.ColumnID) {
	for _, f := range s.Fields {
		out = append(out, f.ID)
	}
	return out
}

// compare says how got differs from updates [at, at+got.N) of want, "" when it does not.
func compare(got, want *tailrace.Batch, at int) string {
	if len(got.Cols) != len(want.Cols) {
		return fmt.Sprintf("%d columns, want %d", len(got.Cols), len(want.Cols))
	}
	for i := range got.N {
		if got.Time(i, 0) != want.Time(at+i, 0) || got.Diff(i) != want.Diff(at+i) {
			return fmt.Sprintf("update %d: got time %d diff %d, want %d %d", at+i, got.Time(i, 0), got.Diff(i), want.Time(at+i, 0), want.Diff(at+i))
		}
	}
	for c := range got.Cols {
		x, y := &got.Cols[c], &want.Cols[c]
		if x.N != got.N {
			return fmt.Sprintf("column %d: %d values, want %d", c, x.N, got.N)
		}
		for i := range got.N {
			if x.IsNull(i) != y.IsNull(at+i) || !bytes.Equal(x.Bytes(i), y.Bytes(at+i)) {
				return fmt.Sprintf("column %d, row %d: got %x null %v, want %x null %v", c, at+i, x.Bytes(i), x.IsNull(i), y.Bytes(at+i), y.IsNull(at+i))
			}
		}
	}
	return ""
}

// readAll compares every group of part with want; an error that is not tailrace.ErrCorrupt, or a difference, ends the test.
func readAll(t testing.TB, part []byte, s *tailrace.Schema, want *tailrace.Batch) error {
	t.Helper()
	ctx := context.Background()
	r, err := Open(ctx, fetchOf(part), int64(len(part)))
	if err != nil {
		return mustBeCorrupt(t, err)
	}
	if r.footer.Rows != int64(want.N) {
		t.Fatalf("part of %d rows, want %d", r.footer.Rows, want.N)
	}
	for g := range r.Groups() {
		first, n := r.GroupRows(g)
		b, err := r.Read(ctx, g, ids(s))
		if err != nil {
			return mustBeCorrupt(t, err)
		}
		if b.N != n {
			t.Fatalf("group %d: got %d rows, want %d", g, b.N, n)
		}
		if diff := compare(b, want, int(first)); diff != "" {
			t.Fatalf("group %d: %s", g, diff)
		}
	}
	return nil
}

func mustBeCorrupt(t testing.TB, err error) error {
	t.Helper()
	if !errors.Is(err, tailrace.ErrCorrupt) {
		t.Fatalf("got error %v, want one that wraps ErrCorrupt", err)
	}
	return err
}

// chunkOf is the chunk of all of col, in page groups of pageRows.
func chunkOf(typ tailrace.Type, col *tailrace.Column, pageRows int) *chunk {
	c := &chunk{typ: typ, rows: col.N}
	for at := 0; at < col.N; at += pageRows {
		c.groups = append(c.groups, columnRows{col, at, min(pageRows, col.N-at)})
	}
	return c
}

// encodeColumn encodes a chunk by the plain loop and returns its bytes, those of the front page first.
func encodeColumn(e *encoder, dst []byte, c *chunk) (data []byte, front int, pages []encodedPage) {
	spans := c.appendPages(nil)
	v := e.decide(c, spans)
	data, pages = append(dst, v.front...), make([]encodedPage, len(spans))
	for i, p := range spans {
		data, pages[i] = e.encodePage(data, &v, c, p)
	}
	return data, len(v.front), pages
}
