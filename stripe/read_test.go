package stripe

import (
	"context"
	"math/rand/v2"
	"testing"

	"tailrace"
)

// counted counts the fetches of part.
func counted(part []byte, n *int, bytes *int64) Fetch {
	return func(ctx context.Context, off, size int64) ([]byte, error) {
		*n++
		*bytes += size
		return fetchOf(part)(ctx, off, size)
	}
}

// TestReadsAreFewRanges: one for the end of the part, then one for each run of wanted pages whose gaps are not worth another.
func TestReadsAreFewRanges(t *testing.T) {
	s, b := wideBatch(40_000)
	b.Times = make([]tailrace.Time, b.N)
	for i := range b.Times {
		b.Times[i] = tailrace.Time(i % 3)
	}
	part := write(t, s, b, Options{}, whole)
	fetches, bytes := 0, int64(0)
	r, err := Open(t.Context(), counted(part, &fetches, &bytes), int64(len(part)))
	if err != nil {
		t.Fatal(err)
	}
	if fetches != 1 {
		t.Errorf("open: got %d reads, want 1", fetches)
	}
	for _, x := range []struct {
		name    string
		through int64
		cols    []tailrace.ColumnID
		want    int
	}{
		{"all columns of an object store", 1 << 20, ids(s), 1},
		{"times and a column far away", 0, []tailrace.ColumnID{41}, 2},
		{"times alone", 0, nil, 1},
		{"three columns apart", 0, []tailrace.ColumnID{30, 4, 11}, 4},
	} {
		fetches, bytes, r.ReadThrough = 0, 0, x.through
		if _, err := r.Read(t.Context(), 1, x.cols); err != nil {
			t.Fatal(err)
		}
		if fetches != x.want {
			t.Errorf("%s: got %d reads, want %d", x.name, fetches, x.want)
		}
		if need := r.GroupBytes(1, x.cols); x.through == 0 && bytes != need {
			t.Errorf("%s: got %d bytes read, want the %d of the pages", x.name, bytes, need)
		}
	}
	for i, st := range r.Footer().Stripes {
		for c, at := 0, int64(-1); c < len(st.Chunks); c, at = c+1, st.Chunks[c].Offset {
			if st.Chunks[c].Offset <= at {
				t.Errorf("stripe %d: chunk %d at %d, not after the one before it", i, c, st.Chunks[c].Offset)
			}
		}
	}
}

// TestFrontPageIsReadOnce: with the first page that needs it, then from memory.
func TestFrontPageIsReadOnce(t *testing.T) {
	s := &tailrace.Schema{Fields: []tailrace.Field{
		{ID: 1, Name: "id", Type: tailrace.TypeOf(tailrace.KindInt4)}, {ID: 2, Name: "state", Type: tailrace.TypeOf(tailrace.KindText)},
	}, Key: []int{0}}
	b := tailrace.NewBatch(s, 0)
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range 4 * PageRows {
		b.Cols[0].AppendInt32(int32(i))
		b.Cols[1].AppendString([]string{"delivered", "in transit", "returned", "lost and found"}[rng.IntN(4)])
		b.AppendDiff(1)
	}
	part := write(t, s, b, Options{}, whole)
	fetches, bytes := 0, int64(0)
	r, err := Open(t.Context(), counted(part, &fetches, &bytes), int64(len(part)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := r.index(3)
	if err != nil || x.front[0] == 0 {
		t.Fatalf("got front page of %v bytes, %v; want one", x, err)
	}
	r.ReadThrough = 0
	for _, x := range []struct{ group, reads int }{{2, 3}, {1, 2}, {0, 2}, {3, 2}} { // id, the page and, at first, the dictionary
		g, want := x.group, x.reads
		fetches = 0
		got, err := r.Read(t.Context(), g, ids(s))
		if err != nil {
			t.Fatal(err)
		}
		if diff := compare(got, b, g*PageRows); diff != "" {
			t.Fatal(diff)
		}
		if fetches != want {
			t.Errorf("group %d: got %d reads, want %d", g, fetches, want)
		}
	}
	part[r.footer.Stripes[0].Offset+r.footer.Stripes[0].Chunks[3].Offset+40] ^= 1
	if r, err = Open(t.Context(), fetchOf(part), int64(len(part))); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(t.Context(), 2, []tailrace.ColumnID{1}); err != nil {
		t.Errorf("a column that does not need the damaged page: %v", err)
	}
	if _, err := r.Read(t.Context(), 2, ids(s)); err == nil || !namesPlace.MatchString(err.Error()) {
		t.Errorf("a column that needs it: got error %v", err)
	}
}
