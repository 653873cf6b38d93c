package format

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
)

var copyTypes = []tailrace.Type{typ(tailrace.KindInt4), typ(tailrace.KindText), numericMod(6, 2), typ(tailrace.KindTimestamp)}

var copyColumns = []string{"a", "b", "c", "d"}

// payload joins what CopyData messages carry.
func payload(t *testing.T, messages []byte) string {
	t.Helper()
	var out strings.Builder
	for len(messages) > 0 {
		n := int(binary.BigEndian.Uint32(messages[1:]))
		if messages[0] != msgCopyData || n+1 > len(messages) {
			t.Fatalf("not a CopyData message: %q", messages)
		}
		out.Write(messages[5 : n+1])
		messages = messages[n+1:]
	}
	return out.String()
}

// copyReader is what copies read with: a splitter and a parser, one after the other.
type copyReader struct {
	*CopySplitter
	*CopyParser
	failed error // what comes after the rows before it
}

func newCopyReader(opts CopyOptions, types []tailrace.Type, s *Settings) *copyReader {
	return &copyReader{CopySplitter: NewCopySplitter(opts, types), CopyParser: NewCopyParser(opts, types, s)}
}

// Feed gives it a copy of the next bytes.
func (r *copyReader) Feed(chunk []byte) {
	for len(chunk) > 0 {
		n := copy(r.Room(), chunk)
		r.Fill(n)
		chunk = chunk[n:]
	}
}

// Next returns the next batch, nil when it needs more input for one; the rows before a bad one, then the error; io.EOF at the end.
func (r *copyReader) Next() (*tailrace.Batch, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	m, err := r.CopySplitter.Next()
	if m == nil {
		return nil, err
	}
	defer m.Release()
	b, err := r.Parse(m, nil)
	if r.failed = err; b.N == 0 {
		return nil, err
	}
	return b, nil
}

// copyOurs reads data in the given pieces and prints all rows in COPY's text format, or the error.
func copyOurs(t *testing.T, opts CopyOptions, types []tailrace.Type, chunks ...string) string {
	t.Helper()
	r := newCopyReader(opts, types, Default())
	e := Encoder{Layout: CopyText, Settings: Default()}
	for _, ty := range types {
		e.Columns = append(e.Columns, Col{Type: ty})
	}
	var out []byte
	drain := func() error {
		for {
			b, err := r.Next()
			if err != nil || b == nil {
				return err
			}
			out = e.AppendBatch(out, b, 0, b.N)
		}
	}
	var err error
	for _, c := range chunks {
		r.Feed([]byte(c))
		if err = drain(); err != nil {
			break
		}
	}
	if err == nil {
		r.Finish()
		err = drain()
	}
	if err != io.EOF {
		e := err.(*tailrace.Error)
		return strings.Join([]string{e.Code, e.Message, e.Detail, e.Hint, e.Where}, " | ")
	}
	return payload(t, out)
}

// copyPeer is what PostgreSQL makes of the same data.
func copyPeer(t *testing.T, conn *pgconn.PgConn, options, data string) string {
	t.Helper()
	ctx := context.Background()
	run(t, conn, "TRUNCATE copied")
	_, err := conn.CopyFrom(ctx, strings.NewReader(data), "COPY copied FROM STDIN ("+options+")")
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return strings.Join([]string{pgErr.Code, pgErr.Message, pgErr.Detail, pgErr.Hint, pgErr.Where}, " | ")
	}
	var out bytes.Buffer
	if err == nil {
		_, err = conn.CopyTo(ctx, &out, "COPY copied TO STDOUT")
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// copyCases are options with lines of data for them.
var copyCases = []struct {
	sql   string
	opts  CopyOptions
	lines []string
}{
	{"FORMAT text", CopyOptions{Layout: CopyText}, []string{
		"1\tabc\t1.5\t2000-01-01", "2\t\\N\t\\N\t\\N", "\\N\tx\\ty\\n\\\\\t-1\t\\N", "3\t\t9999.995\t\\N", "4\ta\\101\\x41\\q\t1\t\\N", "5\tx\t1", "6\tx\t1\t\\N\t7", "", "x\ty\tz\tw", "7\ta\\\tb\t1\t\\N", "8\t\\.\t1\t\\N", "\\.", "9\ta\\\nb\t1\t\\N", "10\ta\rb\t1\t\\N", "11\t\\0\t1\t\\N", "12\t\\377\t1\t\\N",
	}},
	{"FORMAT text, DELIMITER '|', NULL '', HEADER", CopyOptions{Layout: CopyText, Copy: CopyFormat{Delimiter: '|', Header: true}}, []string{
		"a|b|c|d", "1|abc|1.5|2000-01-01", "2|||", "3|\\||\\N|", "4|x|", "|||", "5|a\tb|1|epoch",
	}},
	{"FORMAT text, HEADER MATCH", CopyOptions{Layout: CopyText, Copy: CopyFormat{Header: true}, HeaderMatch: true}, []string{
		"a\tb\tc\td", "a\tb\tc\td", "a\tb\tc\td", "1\tabc\t1.5\t2000-01-01", "a\tb\tc", "a\tB\tc\td", "a\t\\N\tc\td",
	}},
	{"FORMAT csv", CopyOptions{Layout: CopyCSV}, []string{
		"1,abc,1.5,2000-01-01", "2,,,", `3,"",,`, `4,"a,b""c",1,`, "5,\"a\nb\",1,", `6,x"y"z,1,`, `7,"abc`, `8,a,b,c,d`, `9,a`, `\.`, `10,\.,1,`, "", `"11","x","1","2000-01-01 01:02:03"`, `12,a\b,1,`, "13,a\rb,1,", ` 14 , x , 1 , `,
	}},
	{"FORMAT csv, DELIMITER ';', NULL 'NULL', QUOTE '''', ESCAPE '\\', HEADER, FORCE_NULL (b), FORCE_NOT_NULL (b)", CopyOptions{
		Layout: CopyCSV, Copy: CopyFormat{Delimiter: ';', Null: "NULL", Quote: '\'', Escape: '\\', Header: true}, ForceNull: []bool{false, true},
		ForceNotNull: []bool{false, true},
	}, []string{
		"a;b;c;d", "1;'abc';1.5;2000-01-01", "2;NULL;NULL;NULL", "3;'NULL';1;NULL", `4;'it\'s \\ \x';1;NULL`, `5;'a;b';1;'epoch'`, `6;'NULL`, `7;'a\`, `8;\';1;NULL`, "9;'x\ny';1;NULL",
	}},
}

func TestCopyReadsAsInPostgreSQL(t *testing.T) {
	const seed = 10
	rng := rand.New(rand.NewPCG(seed, 0))
	p := sessions(t)[0]
	run(t, p.conn, "CREATE TEMP TABLE copied (a int, b text, c numeric(6,2), d timestamp)")
	for _, c := range copyCases {
		opts := c.opts
		opts.Table, opts.Columns = "copied", copyColumns
		for n := range 250 {
			var data strings.Builder
			end := []string{"\n", "\n", "\n", "\r\n", "\r"}[rng.IntN(5)]
			count := rng.IntN(5) + 1
			for i := range count {
				line := c.lines[rng.IntN(len(c.lines))]
				if i == 0 && opts.Copy.Header {
					line = c.lines[0]
				}
				if rng.IntN(4) == 0 {
					line = mutate(rng, []string{line}, "1,;|\t\\\"'N.\n\r x")
				}
				data.WriteString(line)
				if rng.IntN(30) == 0 {
					data.WriteString("\n")
				} else if i < count-1 || rng.IntN(4) > 0 {
					data.WriteString(end)
				}
			}
			text := data.String()
			if opts.Layout == CopyText && opts.HeaderMatch {
				text = c.lines[rng.IntN(len(c.lines))] + end + text
			}
			want := copyPeer(t, p.conn, c.sql, text)
			if got := copyOurs(t, opts, copyTypes, text); got != want {
				t.Errorf("COPY (%s) of %q (seed %d, round %d)\n got %q\nwant %q", c.sql, text, seed, n, got, want)
			}
			if got, cut := copyOurs(t, opts, copyTypes, strings.Split(text, "")...), want; got != cut {
				t.Errorf("COPY (%s) of %q in single bytes (seed %d, round %d)\n got %q\nwant %q", c.sql, text, seed, n, got, cut)
			}
		}
	}
}

func TestCopyWritesAsPostgreSQL(t *testing.T) {
	p := sessions(t)[0]
	run(t, p.conn, `CREATE TEMP TABLE written (a int, b text, c bytea, d timestamptz);
		INSERT INTO written VALUES (1, 'plain', '\x00', '2000-01-01'), (NULL, NULL, NULL, NULL), (2, '', '\x', 'infinity'), (3, E'a\tb\nc\rd\\e\b\f\v', 'x\\y', 'epoch'),
			(4, 'a,b"c''d', '"', '2000-01-01'), (5, '\N', 'N', NULL), (6, 'NULL', 'NULL', NULL), (7, '\.', '\\.', NULL), (8, ' é|;', ' ', NULL)`)
	types := []tailrace.Type{typ(tailrace.KindInt4), typ(tailrace.KindText), typ(tailrace.KindBytea), typ(tailrace.KindTimestamptz)}
	var data bytes.Buffer
	if _, err := p.conn.CopyTo(context.Background(), &data, "COPY written TO STDOUT (FORMAT binary)"); err != nil {
		t.Fatal(err)
	}
	r := newCopyReader(CopyOptions{Layout: CopyBinary}, types, p.settings)
	r.Feed(data.Bytes())
	r.Finish()
	b, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	cols := func(quote bool) (out []Col) {
		for i, ty := range types {
			out = append(out, Col{Name: copyColumns[i], Type: ty, ForceQuote: quote && i < 2})
		}
		return out
	}
	for _, x := range []struct {
		sql string
		e   Encoder
	}{
		{"FORMAT text", Encoder{Layout: CopyText, Columns: cols(false)}},
		{"FORMAT text, DELIMITER '|', NULL 'NULL', HEADER", Encoder{Layout: CopyText, Columns: cols(false), Copy: CopyFormat{Delimiter: '|', Null: "NULL", Header: true}}},
		{"FORMAT text, DELIMITER ':'", Encoder{Layout: CopyText, Columns: cols(false), Copy: CopyFormat{Delimiter: ':', Null: `\N`}}},
		{"FORMAT csv", Encoder{Layout: CopyCSV, Columns: cols(false)}},
		{"FORMAT csv, HEADER, FORCE_QUOTE (a, b)", Encoder{Layout: CopyCSV, Columns: cols(true), Copy: CopyFormat{Header: true}}},
		{"FORMAT csv, DELIMITER '|', NULL 'NULL', QUOTE '''', ESCAPE '\\'", Encoder{Layout: CopyCSV, Columns: cols(false), Copy: CopyFormat{Delimiter: '|', Null: "NULL", Quote: '\'', Escape: '\\'}}},
		{"FORMAT csv, NULL '5'", Encoder{Layout: CopyCSV, Columns: cols(false), Copy: CopyFormat{Delimiter: ',', Null: "5", Quote: '"', Escape: '"'}}},
		{"FORMAT binary", Encoder{Layout: CopyBinary, Columns: cols(false)}},
	} {
		var want bytes.Buffer
		if _, err := p.conn.CopyTo(context.Background(), &want, "COPY written TO STDOUT ("+x.sql+")"); err != nil {
			t.Fatal(err)
		}
		x.e.Settings = p.settings
		got := payload(t, x.e.AppendEnd(x.e.AppendBatch(x.e.AppendStart(nil), b, 0, b.N)))
		if got != want.String() {
			t.Errorf("COPY TO (%s)\n got %q\nwant %q", x.sql, got, want.String())
		}
	}
	run(t, p.conn, `CREATE TEMP TABLE one (b text); INSERT INTO one VALUES ('\.'), ('x'), (''), (NULL)`)
	one := &tailrace.Batch{N: 4, Cols: []tailrace.Column{tailrace.MakeColumn(tailrace.KindText, 4)}}
	for _, s := range []string{`\.`, "x", ""} {
		one.Cols[0].AppendString(s)
	}
	one.Cols[0].AppendNull()
	e := Encoder{Layout: CopyCSV, Columns: []Col{{Type: typ(tailrace.KindText)}}}
	var want bytes.Buffer
	if _, err := p.conn.CopyTo(context.Background(), &want, "COPY one TO STDOUT (FORMAT csv)"); err != nil {
		t.Fatal(err)
	}
	if got := payload(t, e.AppendBatch(nil, one, 0, 4)); got != want.String() {
		t.Errorf("one column\n got %q\nwant %q", got, want.String())
	}
}

func TestCopyCutAnywhereGivesTheSameBatches(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	var data []byte
	for i := range 20_000 {
		data = fmt.Appendf(data, "%d\tline \\t %d\t%d.25\t2000-01-01 00:00:%02d\n", i, i, i%9000, i%60)
	}
	read := func(chunk func() int) (sizes []int) {
		r := newCopyReader(CopyOptions{Layout: CopyText, Columns: copyColumns}, copyTypes, Default())
		rest := data
		for {
			b, err := r.Next()
			switch {
			case err == io.EOF:
				return sizes
			case err != nil:
				t.Fatal(err)
			case b != nil:
				sizes = append(sizes, b.N)
			case len(rest) == 0:
				r.Finish()
			default:
				n := min(chunk(), len(rest))
				r.Feed(rest[:n])
				rest = rest[n:]
			}
		}
	}
	want := fmt.Sprint(read(func() int { return len(data) }))
	for range 5 {
		if got := fmt.Sprint(read(func() int { return 1 + rng.IntN(100_000) })); got != want {
			t.Errorf("rows of the batches (seed %d): got %s, want %s", seed, got, want)
		}
	}
	if want != "[8192 8192 3616]" {
		t.Errorf("rows of the batches: got %s, want [8192 8192 3616]", want)
	}
}

func TestBinaryCopyRefusesDamage(t *testing.T) {
	const seed = 12
	rng := rand.New(rand.NewPCG(seed, 0))
	b := hotBatch(3)
	e := Encoder{Layout: CopyBinary, Columns: hotColumns(false)}
	whole := payload(t, e.AppendEnd(e.AppendBatch(e.AppendStart(nil), b, 0, b.N)))
	var types []tailrace.Type
	for _, c := range e.Columns {
		types = append(types, c.Type)
	}
	if got := copyOurs(t, CopyOptions{Layout: CopyBinary}, types, strings.Split(whole, "")...); strings.Count(got, "\n") != 3 {
		t.Errorf("whole data in single bytes: got %q, want three rows", got)
	}
	for n := range len(whole) - 2 {
		got := copyOurs(t, CopyOptions{Layout: CopyBinary}, types, whole[:n])
		if boundary := strings.HasSuffix(got, "\n"); !boundary && n > 0 && !strings.HasPrefix(got, codeBadCopy) && got != "" {
			t.Errorf("cut at %d: got %q, want %s or whole rows", n, got, codeBadCopy)
		}
	}
	for range 2000 {
		damaged := []byte(whole)
		damaged[rng.IntN(len(damaged))] ^= byte(1 << rng.IntN(8))
		copyOurs(t, CopyOptions{Layout: CopyBinary}, types, string(damaged)) // must not panic
	}
}

func FuzzCopyReader(f *testing.F) {
	f.Add(uint8(CopyText), []byte("1\ta\\tb\t1\t\\N\n"), 3)
	f.Add(uint8(CopyCSV), []byte("1,\"a\nb\",1,\r\n"), 5)
	f.Add(uint8(CopyBinary), []byte(copySignature+"\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff"), 7)
	f.Fuzz(func(t *testing.T, layout uint8, data []byte, cut int) {
		opts := CopyOptions{Layout: Layout(layout%3 + 1), Columns: copyColumns}
		cut = max(0, min(cut, len(data)))
		want := copyOurs(t, opts, copyTypes, string(data))
		if got := copyOurs(t, opts, copyTypes, string(data[:cut]), string(data[cut:])); got != want {
			t.Errorf("%q cut at %d: got %q, want %q", data, cut, got, want)
		}
	})
}
