package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"tailrace"
	"tailrace/format"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// numeric is numeric(p,s).
func numeric(p, s int32) tailrace.Type {
	return tailrace.Type{Kind: tailrace.KindNumeric, Mod: (p<<16 | s) + 4}
}

// sample is a type with values in PostgreSQL's text, and what the file's schema says of it: physical type and the rest.
type sample struct {
	t      tailrace.Type
	file   string
	values []string
}

var samples = func() []sample {
	of, many := tailrace.TypeOf, func(k tailrace.Kind) tailrace.Type { return tailrace.ArrayOf(tailrace.TypeOf(k)) }
	return []sample{
		{of(tailrace.KindBool), "BOOLEAN", []string{"t", "f"}},
		{of(tailrace.KindInt2), "INT32 INT_16", []string{"0", "-32768", "32767"}},
		{of(tailrace.KindInt4), "INT32 INT_32", []string{"0", "-2147483648", "2147483647"}},
		{of(tailrace.KindInt8), "INT64 INT_64", []string{"0", "-9223372036854775808", "9223372036854775807"}},
		{of(tailrace.KindFloat4), "FLOAT", []string{"0", "-0", "1.5", "NaN", "Infinity", "-Infinity", "1e-45", "3.4028235e+38"}},
		{of(tailrace.KindFloat8), "DOUBLE", []string{"0", "-0", "0.1", "NaN", "Infinity", "-Infinity", "5e-324", "1.7976931348623157e+308"}},
		{numeric(4, 2), "INT32 DECIMAL 4 2", []string{"0", "-99.99", "99.99", "1.5"}},
		{numeric(9, 0), "INT32 DECIMAL 9 0", []string{"999999999", "-999999999"}},
		{numeric(18, 18), "INT64 DECIMAL 18 18", []string{"0.999999999999999999", "-0.000000000000000001"}},
		{numeric(20, 3), "FIXED_LEN_BYTE_ARRAY DECIMAL 20 3", []string{"1", "99999999999999999.999", "-99999999999999999.999"}},
		{numeric(38, 10), "FIXED_LEN_BYTE_ARRAY DECIMAL 38 10", []string{"9999999999999999999999999999.9999999999", "-9999999999999999999999999999.9999999999", "-1"}},
		{numeric(39, 0), "BYTE_ARRAY UTF8", []string{strings.Repeat("9", 39), "NaN"}},
		{of(tailrace.KindNumeric), "BYTE_ARRAY UTF8", []string{"1.50", "1.5", "NaN", "Infinity", "-Infinity", "1e100"}},
		{of(tailrace.KindText), "BYTE_ARRAY UTF8", []string{"", "é\n", strings.Repeat("long ", 1000), "twelve bytes", "thirteen byte"}},
		{tailrace.Type{Kind: tailrace.KindVarchar, Mod: 9}, "BYTE_ARRAY UTF8", []string{"", "abc"}},
		{tailrace.Type{Kind: tailrace.KindChar, Mod: 9}, "BYTE_ARRAY UTF8", []string{"", "ab"}},
		{of(tailrace.KindName), "BYTE_ARRAY UTF8", []string{"tbl"}},
		{of(tailrace.KindLetter), "BYTE_ARRAY UTF8", []string{"x", ""}},
		{of(tailrace.KindBytea), "BYTE_ARRAY", []string{`\x`, `\x00ff`, `\x` + strings.Repeat("00", 100)}},
		{of(tailrace.KindDate), "INT32 DATE", []string{"2000-01-01", "4713-01-01 BC", "5874897-12-31", "infinity", "-infinity", "1969-12-31"}},
		{of(tailrace.KindTime), "INT64 TIME_MICROS", []string{"00:00", "24:00", "12:34:56.789012"}},
		{of(tailrace.KindTimestamp), "INT64 TIMESTAMP_MICROS", []string{"2000-01-01", "4713-01-01 BC", "294246-12-31 23:59:59.999999", "infinity", "-infinity"}},
		{of(tailrace.KindTimestamptz), "INT64 TIMESTAMP_MICROS", []string{"2000-01-01 00:00+01", "4713-01-01 BC", "infinity", "-infinity", "1969-12-31 23:59:59.999999+00"}},
		{of(tailrace.KindInterval), "BYTE_ARRAY UTF8", []string{"1 year -2 days 00:00:00.000001", "0"}},
		{of(tailrace.KindUUID), "FIXED_LEN_BYTE_ARRAY UUID", []string{"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "80000000-0000-0001-0000-000000000001"}},
		{of(tailrace.KindJSON), "BYTE_ARRAY JSON", []string{`{"a" : 1,  "a": 2}`, `"\ud83d\ude00 \\ud800"`, "1e1000"}},
		{of(tailrace.KindJSONB), "BYTE_ARRAY JSON", []string{`{"a": [1, null]}`}},
		{of(tailrace.KindOID), "INT32 UINT_32", []string{"0", "4294967295"}},
		{many(tailrace.KindInt4), "LIST", []string{"{}", "{1,NULL,3}"}},
		{many(tailrace.KindText), "LIST", []string{"{}", `{"",NULL,a,"b,c"}`}},
		{many(tailrace.KindTimestamptz), "LIST", []string{"{infinity,2000-01-01}"}},
		{many(tailrace.KindUUID), "LIST", []string{"{00000000-0000-0000-0000-000000000001}"}},
		{tailrace.ArrayOf(numeric(10, 2)), "LIST", []string{"{1.50,-2.00,NULL}"}},
		{many(tailrace.KindInterval), "LIST", []string{"{1 day,NULL}"}},
		{many(tailrace.KindJSONB), "LIST", []string{`{"{\"a\": 1}"}`}},
	}
}()

// batches are rows of all samples: every value, NULL, then random ones of them.
type batches struct {
	list []*tailrace.Batch
	at   int
}

func (b *batches) Next(context.Context) (*tailrace.Batch, error) {
	if b.at == len(b.list) {
		return nil, io.EOF
	}
	b.at++
	return b.list[b.at-1], nil
}

func (b *batches) Close() error { return nil }

func (b *batches) open(context.Context) (tailrace.Rows, error) {
	b.at = 0
	return b, nil
}

// generate makes n rows in batches of random sizes, and each row as text.
func generate(t testing.TB, rng *rand.Rand, n int) (columns []Column, rows *batches, texts []string) {
	for i, s := range samples {
		columns = append(columns, Column{Name: fmt.Sprintf("c%d \"%s", i, s.t), Type: s.t})
	}
	values := make([]tailrace.Column, len(samples)) // the samples, and a NULL
	for i, s := range samples {
		values[i] = tailrace.MakeColumn(s.t.Kind, 10)
		for _, v := range s.values {
			if err := format.ParseText(&values[i], s.t, v, format.Default()); err != nil {
				t.Fatalf("%s %q: %v", s.t, v, err)
			}
		}
		values[i].AppendNull()
	}
	rows = &batches{}
	for done := 0; done < n; {
		b := &tailrace.Batch{N: min(n-done, 1+rng.IntN(5000)), Cols: make([]tailrace.Column, len(samples))}
		for i, s := range samples {
			b.Cols[i] = tailrace.MakeColumn(s.t.Kind, b.N)
			for k := range b.N {
				pick := done + k
				if pick >= values[i].N {
					pick = rng.IntN(values[i].N)
				}
				b.Cols[i].AppendFrom(&values[i], pick)
			}
		}
		done += b.N
		rows.list = append(rows.list, b)
		texts = append(texts, printed(columns, b)...)
	}
	return columns, rows, texts
}

// printed is each row as text.
func printed(columns []Column, b *tailrace.Batch) []string {
	out := make([]string, b.N)
	for i := range b.N {
		var line []byte
		for c := range columns {
			if c > 0 {
				line = append(line, '|')
			}
			if b.Cols[c].IsNull(i) {
				line = append(line, "NULL"...)
			} else {
				line = format.AppendText(line, columns[c].Type, &b.Cols[c], i, format.Default())
			}
		}
		out[i] = string(line)
	}
	return out
}

func open(t testing.TB) *Engine {
	e, err := Open(Options{Threads: 2, MemoryBytes: 512 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func create(t testing.TB, name string) *os.File {
	f, err := os.Create(filepath.Join(t.TempDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// readAll reads a file's rows as text.
func readAll(t testing.TB, e *Engine, f *os.File) (r *Reader, texts []string) {
	t.Helper()
	ctx := context.Background()
	r, err := e.Read(ctx, f)
	if err != nil {
		t.Fatalf("%v: %v", err, errors.Unwrap(err))
	}
	defer r.Close()
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v: %v", err, errors.Unwrap(err))
		}
		texts = append(texts, printed(r.Columns, b)...)
	}
	if int64(len(texts)) != r.Rows {
		t.Errorf("got %d rows, the file says %d", len(texts), r.Rows)
	}
	return r, texts
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	const seed = 7
	e := open(t)
	columns, rows, want := generate(t, rand.New(rand.NewPCG(seed, 0)), 20_000)
	f := create(t, "all.parquet")
	written, err := e.Write(context.Background(), columns, rows.open, []*os.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if written.Rows[0] != int64(len(want)) {
		t.Errorf("got %d rows written, want %d", written.Rows[0], len(want))
	}
	r, got := readAll(t, e, f)
	for i, c := range r.Columns {
		if c.Name != columns[i].Name {
			t.Errorf("column %d: got name %q, want %q", i, c.Name, columns[i].Name)
		}
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("seed %d, row %d:\ngot  %s\nwant %s", seed, i, got[min(i, len(got)-1)], want[i])
		}
	}
}

func TestManyFilesHoldEachRowOnce(t *testing.T) {
	const seed = 8
	e := open(t)
	columns, rows, want := generate(t, rand.New(rand.NewPCG(seed, 0)), 50_000)
	var files []*os.File
	for i := range 3 {
		files = append(files, create(t, fmt.Sprint(i)))
	}
	written, err := e.Write(context.Background(), columns, rows.open, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, f := range files {
		_, texts := readAll(t, e, f)
		if int64(len(texts)) != written.Rows[i] {
			t.Errorf("file %d: got %d rows, want %d", i, len(texts), written.Rows[i])
		}
		got = append(got, texts...)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("seed %d: got %d rows, want the %d that were written", seed, len(got), len(want))
	}
}

func TestFilesSayTheirTypes(t *testing.T) {
	e := open(t)
	columns, rows, _ := generate(t, rand.New(rand.NewPCG(1, 0)), 100)
	f := create(t, "types.parquet")
	if _, err := e.Write(context.Background(), columns, rows.open, []*os.File{f}, nil); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	ctx := context.Background()
	r, err := e.db.Query(ctx, "SELECT name, concat_ws(' ', type, nullif(converted_type, ''), CASE WHEN converted_type = 'DECIMAL' THEN precision END, CASE WHEN converted_type = 'DECIMAL' THEN scale END, CASE WHEN logical_type LIKE 'UUID%' THEN 'UUID' END) FROM parquet_schema("+pathOf(f)+")")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		v, n, err := r.Next(ctx)
		if err != nil {
			break
		}
		for i := range n {
			got[string(v[0].Bytes(i))] = string(v[1].Bytes(i))
		}
	}
	for i, s := range samples {
		if got := got[columns[i].Name]; got != s.file {
			t.Errorf("%s: got %q, want %q", s.t, got, s.file)
		}
	}
}

func TestMisfitsGoAsText(t *testing.T) {
	e := open(t)
	many := tailrace.ArrayOf(tailrace.TypeOf(tailrace.KindInt4))
	for _, c := range []struct {
		t           tailrace.Type
		value, says string
	}{
		{numeric(10, 2), "NaN", "NaN"},
		{tailrace.TypeOf(tailrace.KindTimestamptz), "294276-01-01", "294247"},
		{many, "{{1},{2}}", "several dimensions"},
		{many, "[0:1]={1,2}", "first subscript"},
		{tailrace.ArrayOf(numeric(5, 1)), "{1.0,NaN}", "NaN"},
		{tailrace.TypeOf(tailrace.KindJSON), `"\ud800"`, "surrogate"},
		{tailrace.TypeOf(tailrace.KindJSON), `"\ud800\u0020"`, "surrogate"},
		{tailrace.TypeOf(tailrace.KindJSON), `["\ud83d\ude00", "\udc00"]`, "surrogate"},
	} {
		col := tailrace.MakeColumn(c.t.Kind, 1)
		if err := format.ParseText(&col, c.t, c.value, format.Default()); err != nil {
			t.Fatal(err)
		}
		columns := []Column{{Name: "a", Type: tailrace.TypeOf(tailrace.KindInt4)}, {Name: "b", Type: c.t}}
		b := &tailrace.Batch{N: 1, Cols: []tailrace.Column{tailrace.ConstColumn(tailrace.KindInt4, []byte{1, 0, 0, 0}, 1), col}}
		files := []*os.File{create(t, "x"), create(t, "y")}
		said := ""
		w, err := e.Write(context.Background(), columns, (&batches{list: []*tailrace.Batch{b}}).open, files, func(why string) { said += why })
		if err != nil {
			t.Fatalf("%s %s: %v", c.t, c.value, err)
		}
		if !w.Columns[1].Text || w.Columns[0].Text || !strings.Contains(said, c.says) || !strings.Contains(said, `"b"`) {
			t.Errorf("%s %s: got columns %v and %q, want b as text and %q", c.t, c.value, w.Columns, said, c.says)
		}
		var got []string
		for _, f := range files {
			_, texts := readAll(t, e, f)
			got = append(got, texts...)
		}
		if len(got) != 1 || got[0] != "1|"+printed([]Column{{Type: c.t}}, &tailrace.Batch{N: 1, Cols: b.Cols[1:]})[0] {
			t.Errorf("%s %s as text: got %q", c.t, c.value, got)
		}
	}
}

// failing gives rows until it does not.
type failing struct {
	batches
	err error
}

func (f *failing) Next(ctx context.Context) (*tailrace.Batch, error) {
	b, err := f.batches.Next(ctx)
	if errors.Is(err, io.EOF) {
		return nil, f.err
	}
	return b, err
}

func (f *failing) open(context.Context) (tailrace.Rows, error) { return f, nil }

func TestErrorsOfRowsComeThrough(t *testing.T) {
	e := open(t)
	columns, rows, _ := generate(t, rand.New(rand.NewPCG(3, 0)), 10_000)
	want := errors.New("the rows ended badly")
	_, err := e.Write(context.Background(), columns, (&failing{*rows, want}).open, []*os.File{create(t, "a"), create(t, "b")}, nil)
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Write(ctx, columns, rows.open, []*os.File{create(t, "c")}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestWhatIsNoParquetIsRefused(t *testing.T) {
	e := open(t)
	columns, rows, _ := generate(t, rand.New(rand.NewPCG(4, 0)), 1000)
	good := create(t, "good")
	if _, err := e.Write(context.Background(), columns, rows.open, []*os.File{good}, nil); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(good.Name())
	if err != nil {
		t.Fatal(err)
	}
	for what, bytes := range map[string][]byte{"empty": {}, "text": []byte("a,b\n1,2\n"), "cut": raw[:len(raw)/2], "tail only": raw[len(raw)-20:]} {
		f := create(t, "bad")
		if _, err := f.Write(bytes); err != nil {
			t.Fatal(err)
		}
		r, err := e.Read(context.Background(), f)
		if tailrace.Code(err) != "22P04" || strings.Contains(fmt.Sprint(err, err.(*tailrace.Error).Detail), "/proc/self") {
			t.Errorf("%s: got %v (%s), want 22P04", what, err, tailrace.Code(err))
		}
		if err == nil {
			r.Close()
		}
	}
}

// TestTypesThatAreNotOurs reads what other programs write.
func TestTypesThatAreNotOurs(t *testing.T) {
	e := open(t)
	f := create(t, "theirs")
	ctx := context.Background()
	r, err := e.db.Query(ctx, `COPY (SELECT 1::UTINYINT a, 65535::USMALLINT b, 4294967295::UINTEGER c, 18446744073709551615::UBIGINT d, {'x': 1, 'y': [1]} e, MAP {'k': 'v'} f, [[1],[2]] g,
		[1::UBIGINT] h, INTERVAL '1 day' i, TIMESTAMP_NS '2020-01-01 00:00:00.123456789' j, -1::TINYINT k) TO `+pathOf(f)+` (FORMAT parquet, USE_TMP_FILE false)`)
	if err != nil {
		t.Fatal(err)
	}
	r.Next(ctx)
	r.Close()
	reader, got := readAll(t, e, f)
	want := `1|65535|4294967295|18446744073709551615|{"x":1,"y":[1]}|{"k":"v"}|[[1],[2]]|{1}|1 day|2020-01-01 00:00:00.123456|-1`
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	var types []string
	for _, c := range reader.Columns {
		types = append(types, c.Type.String())
	}
	if got, want := strings.Join(types, ", "), "smallint, integer, bigint, numeric(20,0), json, json, json, numeric(20,0)[], interval, timestamp without time zone, smallint"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
