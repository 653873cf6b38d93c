package catalog

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tailrace"
	"tailrace/log"
)

// table is public.name with an integer key and a text.
func table(id ID, name string, version uint32) *Table {
	return &Table{ID: id, Schema: "public", Name: name, Retain: DefaultRetain, Columns: &tailrace.Schema{
		Version: version, Key: []int{0}, NextColumn: 3,
		Fields: []tailrace.Field{
			{ID: 1, Name: "a", Type: tailrace.TypeOf(tailrace.KindInt4), NotNull: true},
			{ID: 2, Name: "b", Type: tailrace.TypeOf(tailrace.KindText), Default: "'x'", Missing: []byte("x")},
		},
	}}
}

// commit applies changes as one transaction at time at.
func commit(t testing.TB, f *Fold, at tailrace.Time, changes ...Change) []TableChange {
	t.Helper()
	txn := log.Committed{Time: at}
	for i := range changes {
		txn.Records = append(txn.Records, changes[i].Record())
	}
	out, err := f.Apply(&log.Entry{Time: at, Txns: []log.Committed{txn}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// filled is a fold with an object of each kind.
func filled(t testing.TB) *Fold {
	f := NewFold()
	orders := table(1, "orders", 1)
	orders.Upstream = &Upstream{Source: 4, Schema: "public", Name: "orders", Rel: 16384, State: StateLive, Columns: []UpstreamColumn{{1, "a", 23, -1, 1}}}
	commit(
		t, f, 10, Change{Table: orders}, Change{Secret: &Secret{2, "pw", "env:PW"}},
		Change{Connection: &Connection{3, "shop", "postgres", map[string]string{"host": "h"}, map[string]string{"password": "pw"}}},
		Change{Source: &Source{ID: 4, Name: "shop", Kind: "postgres", Connection: 3, All: true, Retain: time.Hour}},
		Change{User: &User{ID: 5, Name: "ann", Salt: []byte{1}, Iterations: 4096, StoredKey: []byte{2}, ServerKey: []byte{3}}},
	)
	if _, err := f.Apply(&log.Entry{Txns: []log.Committed{{Time: 11, Records: []log.Record{PositionRecord(4, []byte("0/16B3748"))}}}}); err != nil {
		t.Fatal(err)
	}
	return f
}

// same compares catalogs with what is derived in them.
func same(t testing.TB, what string, got, want *Catalog) {
	t.Helper()
	if d := cmp.Diff(want, got, cmp.AllowUnexported(Catalog{}), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestChangesTellWhatHappenedToTables(t *testing.T) {
	f := NewFold()
	v1, v2 := table(7, "t", 1), table(7, "renamed", 2)
	for _, c := range []struct {
		at     tailrace.Time
		change Change
		want   []TableChange
		t, r   *Table // found as t, as renamed
	}{
		{10, Change{Table: v1}, []TableChange{{10, nil, v1}}, v1, nil},
		{11, Change{Table: v2}, []TableChange{{11, v1, v2}}, nil, v2},
		{12, Change{Secret: &Secret{ID: 9, Name: "t"}}, nil, nil, v2},
		{13, Change{Drop: 9}, nil, nil, v2},
		{14, Change{Drop: 7}, []TableChange{{14, v2, nil}}, nil, nil},
		{15, Change{Drop: 7}, nil, nil, nil},
	} {
		if d := cmp.Diff(c.want, commit(t, f, c.at, c.change)); d != "" {
			t.Errorf("at %d (-want +got):\n%s", c.at, d)
		}
		now := f.Current()
		if d := cmp.Diff([]*Table{c.t, c.r}, []*Table{now.Table("public", "t"), now.Table("public", "renamed")}); d != "" || now.Time != c.at {
			t.Errorf("catalog at %d, time %d (-want +got):\n%s", c.at, now.Time, d)
		}
	}
	if got := f.Current().NextID; got != 10 {
		t.Errorf("next ID: got %d, want 10: an ID is never given twice", got)
	}
}

func TestCatalogsHandedOutStayAsTheyAre(t *testing.T) {
	f := filled(t)
	before := f.Current()
	raw := f.Encode()
	commit(t, f, 20, Change{Drop: 1}, Change{Table: table(6, "other", 1)}, Change{User: &User{ID: 5, Name: "bob"}})
	again := NewFold()
	if err := again.Restore(raw); err != nil {
		t.Fatal(err)
	}
	same(t, "the catalog handed out before the change", before, again.Current())
}

func TestRestoreIsWhatEncodeKept(t *testing.T) {
	f := filled(t)
	got := NewFold()
	if err := got.Restore(f.Encode()); err != nil {
		t.Fatal(err)
	}
	same(t, "restored", got.Current(), f.Current())
	c := got.Current()
	if c.UserNamed("ann") == nil || c.SecretNamed("pw") == nil || c.ConnectionNamed("shop") == nil || c.SourceNamed("shop") == nil || c.UserNamed("bob") != nil {
		t.Errorf("by name: got %v", c)
	}
	if got := c.TablesOf(4); len(got) != 1 || got[0].Name != "orders" {
		t.Errorf("tables of source 4: got %v, want orders", got)
	}
	commit(t, got, 30, Change{Table: table(c.NextID, "later", 1)}) // every map is there to be written
	if p := got.Current().Positions[4]; string(p) != "0/16B3748" {
		t.Errorf("position: got %q", p)
	}
}

// framed is a checkpoint's bytes with the given JSON.
func framed(body string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func TestWrongBytesAreCorruptAndChangeNothing(t *testing.T) {
	f := filled(t)
	before, raw := f.Current(), f.Encode()
	for _, b := range [][]byte{
		nil,
		{1, 0, 0},
		raw[:len(raw)-1], append(raw[:len(raw):len(raw)], 0), framed("{"), framed("[]"), framed("null1"),
		framed(`{"Tables":null}`), framed(`{"Tables":{"1":null}}`), framed(`{"Tables":{"1":{"ID":1}}}`), framed(`{"Users":{"5":{"ID":6}}}`),
		framed(`{"Tables":{"1":{"ID":1,"Columns":{"Fields":[],"Key":[0]}}}}`), framed(`{"Positions":null}`),
		framed(`{"Tables":{"1":{"ID":1,"Columns":{"Fields":[{"ID":1,"Type":{"Kind":99}}]}}}}`),
		framed(`{"Tables":{"1":{"ID":1,"Columns":{"Fields":[{"ID":1,"Type":{"Kind":3},"Missing":"AQ=="}]}}}}`),
	} {
		if err := f.Restore(b); !errors.Is(err, tailrace.ErrCorrupt) {
			t.Errorf("restore %.80q: got %v, want corrupt", b, err)
		}
	}
	for _, payload := range []string{"", "{", "{}", `{"Drop":1,"User":{"ID":5}}`, `{"Table":{"ID":1}}`} {
		_, err := f.Apply(&log.Entry{Txns: []log.Committed{{Time: 99, Records: []log.Record{{Kind: log.KindCatalog, Payload: []byte(payload)}}}}})
		if !errors.Is(err, tailrace.ErrCorrupt) {
			t.Errorf("apply %q: got %v, want corrupt", payload, err)
		}
	}
	if f.Current() != before {
		t.Error("wrong bytes changed the catalog")
	}
}

// FuzzRestore: any bytes are refused, or give a catalog that can be used, kept and read again.
func FuzzRestore(fz *testing.F) {
	fz.Add(filled(fz).Encode()[4:])
	fz.Add([]byte(`{"Tables":{"1":null}}`))
	fz.Fuzz(func(t *testing.T, body []byte) {
		f := NewFold()
		if err := f.Restore(framed(string(body))); err != nil {
			if !errors.Is(err, tailrace.ErrCorrupt) {
				t.Fatalf("got %v, want corrupt", err)
			}
			return
		}
		for _, tb := range f.Current().Tables {
			tailrace.NewBatch(tb.Columns, 1).Project(tb.Columns)
			tb.Columns.SortOrder()
		}
		commit(t, f, f.Current().Time+1, Change{User: &User{ID: 1}}, Change{Drop: 1})
		again := NewFold()
		if err := again.Restore(f.Encode()); err != nil {
			t.Fatalf("read again: %v", err)
		}
		same(t, "read again", again.Current(), f.Current())
	})
}

// FuzzApply: a record's bytes are refused, or a change.
func FuzzApply(fz *testing.F) {
	seed := Change{Table: table(1, "t", 1)}
	fz.Add(seed.Record().Payload)
	fz.Add([]byte(`{"Drop":1}`))
	fz.Fuzz(func(t *testing.T, payload []byte) {
		f := filled(t)
		_, err := f.Apply(&log.Entry{Txns: []log.Committed{{Time: 20, Records: []log.Record{{Kind: log.KindCatalog, Payload: payload}}}}})
		if err != nil && !errors.Is(err, tailrace.ErrCorrupt) {
			t.Fatalf("got %v, want corrupt", err)
		}
		if err := NewFold().Restore(f.Encode()); err != nil {
			t.Fatalf("read again: %v", err)
		}
	})
}
