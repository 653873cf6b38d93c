package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"tailrace"
)

// twinTypes have every loop, and some types that have none.
var twinTypes = []tailrace.Type{
	typ(tailrace.KindInt4), typ(tailrace.KindText), numericMod(12, 2), typ(tailrace.KindInt8), typ(tailrace.KindNumeric), typ(tailrace.KindDate), typ(tailrace.KindTimestamp),
	typ(tailrace.KindFloat8), typ(tailrace.KindBool),
	{Kind: tailrace.KindVarchar, Mod: 4 + 12},
	typ(tailrace.KindTimestamptz),
	{Kind: tailrace.KindChar, Mod: 4 + 3},
	typ(tailrace.KindInt2),
	typ(tailrace.KindUUID), typ(tailrace.KindFloat4),
	{Kind: tailrace.KindTimestamp, Mod: 2},
	typ(tailrace.KindJSONB), typ(tailrace.KindText),
}

// readAll is what r reads of the data, cut at random: the rows as COPY text, and the error.
func readAll(rng *rand.Rand, data []byte, types []tailrace.Type, feed func([]byte), finish func(), next func() (*tailrace.Batch, error), rest func() *tailrace.Batch) (string, error) {
	e := Encoder{Layout: CopyText, Settings: Default()}
	for _, t := range types {
		e.Columns = append(e.Columns, Col{Type: t})
	}
	var out []byte
	for done := false; ; {
		b, err := next()
		switch {
		case b != nil:
			for i := range b.Cols {
				if b.Cols[i].N < b.N {
					return "", fmt.Errorf("column %d has %d rows of %d", i, b.Cols[i].N, b.N)
				}
			}
			out = e.AppendBatch(out, b, 0, b.N)
		case errors.Is(err, io.EOF):
			return string(out), nil
		case err != nil:
			if b := rest(); b != nil {
				out = e.AppendBatch(out, b, 0, b.N)
			}
			return string(out), err
		case done:
			return string(out), errors.New("neither rows nor the end")
		case len(data) == 0:
			finish()
			done = true
		default:
			n := min(1+rng.IntN(1+rng.IntN(len(data)+1)), len(data))
			feed(data[:n])
			data = data[n:]
		}
	}
}

func readFast(rng *rand.Rand, opts CopyOptions, types []tailrace.Type, data []byte) (string, error) {
	r := newCopyReader(opts, types, nil)
	return readAll(rng, data, types, r.Feed, r.Finish, r.Next, func() *tailrace.Batch { return nil })
}

func readPlain(rng *rand.Rand, opts CopyOptions, types []tailrace.Type, data []byte) (string, error) {
	r := newPlainReader(opts, types, nil)
	return readAll(rng, data, types, r.Feed, r.Finish, r.Next, func() *tailrace.Batch { return r.batch })
}

// same compares what the loops read with what the plain reader does, rows before an error included.
func sameAsPlain(t *testing.T, rng *rand.Rand, opts CopyOptions, types []tailrace.Type, data []byte, what string) {
	t.Helper()
	got, gotErr := readFast(rng, opts, types, data)
	want, wantErr := readPlain(rng, opts, types, data)
	text := func(err error) string {
		if e := (*tailrace.Error)(nil); errors.As(err, &e) {
			return strings.Join([]string{e.Code, e.Message, e.Detail, e.Hint, e.Where}, " | ")
		}
		return fmt.Sprint(err)
	}
	if text(gotErr) != text(wantErr) {
		t.Errorf("%s of %q\n got error %s\nwant error %s", what, cutText(data), text(gotErr), text(wantErr))
	}
	if got != want {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		from := max(0, i-60)
		t.Errorf("%s of %q: differs at byte %d\n got %q\nwant %q", what, cutText(data), i, got[from:min(len(got), i+60)], want[from:min(len(want), i+60)])
	}
}

func cutText(b []byte) string { return string(b[:min(len(b), 2000)]) }

// twinValue is a text for a value of type t: mostly one that is read, in the common form or a rare one.
func twinValue(rng *rand.Rand, t tailrace.Type) string {
	digits := func(most int) string {
		var b strings.Builder
		for range 1 + rng.IntN(most) {
			b.WriteByte(byte('0' + rng.IntN(10)))
		}
		return b.String()
	}
	sign := []string{"", "", "", "-", "+"}[rng.IntN(5)]
	switch t.Kind {
	case tailrace.KindInt2, tailrace.KindInt4, tailrace.KindInt8:
		switch rng.IntN(12) {
		case 0:
			return []string{"32767", "-32768", "32768", "2147483647", "-2147483648", "2147483648", "9223372036854775807", "-9223372036854775808", " 1", "1 ", "000000000000000000000001", "-0"}[rng.IntN(12)]
		case 1:
			return sign + digits(20)
		}
		return sign + digits(4)
	case tailrace.KindNumeric, tailrace.KindFloat8, tailrace.KindFloat4:
		switch rng.IntN(10) {
		case 0:
			return []string{"NaN", "Infinity", "-inf", "1e5", "1.5e-3", ".", ".5", "5.", "-.5", "-", "0", "-0.00", "9999999999.99", "9999999999.995", "0000000000001.00", "1.005", "12345678901234567.8", "9007199254740993", "0.1e", "1_0"}[rng.IntN(20)]
		case 1:
			return sign + digits(20) + "." + digits(20)
		case 2:
			return sign + digits(9)
		}
		return sign + digits(9) + "." + digits(2)
	case tailrace.KindBool:
		return []string{"t", "f", "t", "f", "true", "off", "1", " t", "y"}[rng.IntN(9)]
	case tailrace.KindDate, tailrace.KindTimestamp, tailrace.KindTimestamptz:
		if rng.IntN(8) == 0 {
			return []string{"epoch", "infinity", "-infinity", "2001-2-3", "2001-02-29", "2000-02-29", "1900-02-29", "0001-01-01", "0000-01-01", "9999-12-31", "1999-13-01", "1999-00-01", "1999-01-32", "01/02/2003", "12345-01-01", "2001-01-01 BC", "J2451187"}[rng.IntN(17)]
		}
		d := fmt.Sprintf("%04d-%02d-%02d", 1+rng.IntN(9999), 1+rng.IntN(12), 1+rng.IntN(31))
		if t.Kind == tailrace.KindDate && rng.IntN(9) > 0 {
			return d
		}
		d += []string{" ", " ", " ", "T"}[rng.IntN(4)] + fmt.Sprintf("%02d:%02d:%02d", rng.IntN(25), rng.IntN(61), rng.IntN(61))
		if rng.IntN(2) == 0 {
			d += "." + digits(7)
		}
		return d + []string{"", "", "", "+00", "-05", "+05:30", "Z", "+16", "-15:59", "+05:"}[rng.IntN(10)]
	case tailrace.KindUUID:
		return fmt.Sprintf("%08x-0000-4000-8000-%012x", rng.Uint32(), rng.Uint32())
	case tailrace.KindJSONB:
		return []string{"{}", "[1, 2]", `"x"`, "nul"}[rng.IntN(4)]
	}
	var b strings.Builder
	letters := []string{"a", "b", "c", "d", "e", " ", "0", "é", "\"", "'", "\\", ",", ".", "-", "\t", "|", "日", "x", "\n", "\r\n"}
	for range rng.IntN(14) {
		n := len(letters)
		if rng.IntN(4) > 0 {
			n = 8
		}
		b.WriteString(letters[rng.IntN(n)])
	}
	return b.String()
}

// twinRow adds a line of values, spelled as o asks for.
func twinRow(rng *rand.Rand, dst []byte, o *CopyOptions, types []tailrace.Type, end string) []byte {
	f := o.filled().Copy
	for i, t := range types {
		if i > 0 {
			dst = append(dst, f.Delimiter)
		}
		v := twinValue(rng, t)
		switch {
		case rng.IntN(12) == 0:
			dst = append(dst, f.Null...)
		case o.Layout == CopyCSV && (rng.IntN(6) == 0 || strings.ContainsAny(v, "\r\n"+string(f.Delimiter)+string(f.Quote)) && rng.IntN(50) > 0):
			dst = append(dst, f.Quote)
			for _, c := range []byte(v) {
				if c == f.Quote || c == f.Escape {
					dst = append(dst, f.Escape)
				}
				dst = append(dst, c)
			}
			dst = append(dst, f.Quote)
		case o.Layout == CopyText && strings.ContainsAny(v, "\\\r\n"+string(f.Delimiter)) && rng.IntN(50) > 0:
			v = strings.NewReplacer("\\", "\\\\", "\n", "\\n", "\r", "\\r", string(f.Delimiter), "\\"+string(f.Delimiter)).Replace(v)
			dst = append(dst, v...)
		default:
			dst = append(dst, v...)
		}
	}
	return append(dst, end...)
}

var twinOptions = []CopyOptions{
	{Layout: CopyText},
	{Layout: CopyCSV},
	{Layout: CopyText, Copy: CopyFormat{Delimiter: '|', Null: "", Header: true}},
	{Layout: CopyCSV, Copy: CopyFormat{Delimiter: ';', Null: "NULL", Quote: '\'', Escape: '\\'}, ForceNull: []bool{false, true}, ForceNotNull: []bool{true, false, true}},
	{Layout: CopyCSV, Copy: CopyFormat{Delimiter: '\t', Null: "\\N", Quote: '"', Escape: '"', Header: true}},
	{Layout: CopyCSV, Copy: CopyFormat{Delimiter: '5', Quote: '"', Escape: '"'}},
	{Layout: CopyText, Copy: CopyFormat{Delimiter: ' ', Null: "-"}},
}

// TestLoopsReadWhatThePlainWayReads holds the splitter and the loops over columns against the plain reader, which takes a byte and a value at a time: the same rows, and
// the same error behind the same rows.
func TestLoopsReadWhatThePlainWayReads(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for n := range 3000 {
		o := twinOptions[rng.IntN(len(twinOptions))]
		o.Table = "t"
		var types []tailrace.Type
		for range 1 + rng.IntN(7) {
			types = append(types, twinTypes[rng.IntN(len(twinTypes))])
		}
		end := []string{"\n", "\n", "\n", "\r\n", "\r"}[rng.IntN(5)]
		var data []byte
		for range rng.IntN(1 + rng.IntN(40)) {
			before := len(data)
			data = twinRow(rng, data, &o, types, end)
			if !good(o, types, data[before:]) && rng.IntN(8) > 0 { // mostly rows that are read
				data = data[:before]
			}
		}
		if rng.IntN(3) == 0 && len(data) > 0 {
			for range 1 + rng.IntN(2) {
				data[rng.IntN(len(data))] = "\t,\n\r\\\"'.0\x00\xff5;| N"[rng.IntN(16)]
			}
		}
		if rng.IntN(4) == 0 {
			data = bytes.TrimSuffix(data, []byte(end))
		}
		sameAsPlain(t, rng, o, types, data, fmt.Sprintf("seed %d, round %d, %+v, %v", seed, n, o, types))
		if t.Failed() {
			return
		}
	}
}

// good tells that the plain reader takes a row.
func good(o CopyOptions, types []tailrace.Type, row []byte) bool {
	o.Copy = o.filled().Copy
	o.Copy.Header = false
	_, err := readPlain(rand.New(rand.NewPCG(1, 1)), o, types, row)
	return err == nil
}

// TestLoopsReadManyRows has morsels of several pieces and blocks, with an error anywhere.
func TestLoopsReadManyRows(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, o := range twinOptions[:3] {
		o.Table = "t"
		var data []byte
		for i := range 30_000 {
			f := o.filled().Copy
			data = append(strconv.AppendInt(data, int64(i), 10), f.Delimiter)
			if rng.IntN(10) > 0 {
				data = fmt.Appendf(data, "text of row %d", i)
			} else {
				data = append(data, f.Null...)
			}
			data = append(data, f.Delimiter)
			data = strconv.AppendFloat(data, math.Round(rng.Float64()*1e6)/100, 'f', 2, 64)
			data = append(data, '\n')
		}
		types := []tailrace.Type{typ(tailrace.KindInt4), typ(tailrace.KindText), numericMod(12, 2)}
		sameAsPlain(t, rng, o, types, data, fmt.Sprintf("seed %d, all", seed))
		for range 5 {
			bad := bytes.Clone(data)
			at := rng.IntN(len(bad))
			bad[at] = "x\n\t"[rng.IntN(3)]
			sameAsPlain(t, rng, o, types, bad, fmt.Sprintf("seed %d, damaged at %d", seed, at))
		}
	}
}

// TestLoopsReadBinaryRows holds the binary loops against the plain reader, with whole data, cut data and damaged data.
func TestLoopsReadBinaryRows(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for n := range 600 {
		var types []tailrace.Type
		for range 1 + rng.IntN(7) {
			types = append(types, append(twinTypes, typ(tailrace.KindBytea), typ(tailrace.KindOID))[rng.IntN(len(twinTypes)+2)])
		}
		e := Encoder{Layout: CopyBinary, Settings: Default()}
		b := &tailrace.Batch{}
		for _, ty := range types {
			e.Columns = append(e.Columns, Col{Type: ty, Binary: true})
			b.Cols = append(b.Cols, tailrace.MakeColumn(ty.Kind, 0))
		}
		for b.N = range rng.IntN(600) {
			for i, ty := range types {
				for rng.IntN(9) == 0 || ParseText(&b.Cols[i], ty, twinValue(rng, ty), Default()) != nil {
					if rng.IntN(3) == 0 {
						b.Cols[i].AppendNull()
						break
					}
				}
				if b.Cols[i].N == b.N {
					b.Cols[i].AppendNull()
				}
			}
		}
		data := []byte(payload(t, e.AppendEnd(e.AppendBatch(e.AppendStart(nil), b, 0, b.N))))
		switch rng.IntN(4) {
		case 0:
			data = data[:rng.IntN(len(data))]
		case 1:
			data[rng.IntN(len(data))] ^= byte(1 << rng.IntN(8))
		}
		sameAsPlain(t, rng, CopyOptions{Layout: CopyBinary, Table: "t"}, types, data, fmt.Sprintf("seed %d, round %d, binary %v", seed, n, types))
		if t.Failed() {
			return
		}
	}
}

// TestQuotientIsTheNearestFloat holds it against strconv.
func TestQuotientIsTheNearestFloat(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 300_000 {
		v, n := max(1, rng.Uint64()>>rng.IntN(63)%1_000_000_000_000_000_000), rng.IntN(19)
		if rng.IntN(4) == 0 { // near the middle between two floats
			v = 1<<53 + 1 + 2*rng.Uint64N(1<<50)
			n = 0
		}
		want, err := strconv.ParseFloat(fmt.Sprintf("%de-%d", v, n), 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := quotient(v, n); got != want {
			t.Fatalf("seed %d: %d / 10^%d: got %v, want %v", seed, v, n, got, want)
		}
	}
}

// TestParseUsesItsMemoryAgain parses into the batch before, which is all that it needs.
func TestParseUsesItsMemoryAgain(t *testing.T) {
	types := []tailrace.Type{typ(tailrace.KindInt4), typ(tailrace.KindText), numericMod(12, 2)}
	var data []byte
	for i := range MorselRows {
		data = fmt.Appendf(data, "%d,text of row %d,%d.25\n", i, i, i)
	}
	o := CopyOptions{Layout: CopyCSV}
	s := NewCopySplitter(o, types)
	var m *Morsel
	for m == nil {
		n := copy(s.Room(), data)
		s.Fill(n)
		data = data[n:]
		var err error
		if m, err = s.Next(); err != nil {
			t.Fatal(err)
		}
	}
	p := NewCopyParser(o, types, nil)
	b, err := p.Parse(m, nil)
	if err != nil || b.N != MorselRows {
		t.Fatalf("got %d rows, %v", b.N, err)
	}
	if n := testing.AllocsPerRun(10, func() { b, err = p.Parse(m, b) }); n > 3 || err != nil {
		t.Errorf("got %v allocations for a morsel, %v, want at most 3", n, err)
	}
}

func FuzzLoops(f *testing.F) {
	f.Add(uint8(0), []byte("1\ta\\tb\t1.50\t7\n"))
	f.Add(uint8(1), []byte("1,\"a\nb\",1,\r\n"))
	f.Add(uint8(3), []byte("1;'a\\'b';2;'NULL'\n"))
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		o := twinOptions[int(which)%len(twinOptions)]
		types := twinTypes[int(which)%14:][:4]
		sameAsPlain(t, rand.New(rand.NewPCG(uint64(len(data)), uint64(which))), o, types, data, fmt.Sprintf("%+v %v", o, types))
	})
}
