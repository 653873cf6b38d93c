package format

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
)

// binaryInputs are the binary forms of values of type ty, and damaged ones.
func binaryInputs(t *testing.T, p *peer, ty tailrace.Type, rng *rand.Rand) [][]byte {
	texts := map[tailrace.Kind][]string{
		tailrace.KindBool: {"t", "f"}, tailrace.KindInt2: {"1", "-32768"}, tailrace.KindInt4: {"7", "-1"}, tailrace.KindInt8: {"9223372036854775807"},
		tailrace.KindFloat4: {"1.5", "NaN", "-0"}, tailrace.KindFloat8: {"1e300", "Infinity"},
		tailrace.KindNumeric: {"0", "0.00", "1", "-12.30", "10000", "0.0001", "123456789012345678901234567890.12345", "NaN", "Infinity", "-Infinity", "1e-100", "1e100"},
		tailrace.KindText:    {"", "abc", "äö"}, tailrace.KindVarchar: {"abc"}, tailrace.KindChar: {"abc  "}, tailrace.KindBytea: {`\x00ff`},
		tailrace.KindDate: {"2000-01-01", "infinity", "4714-11-24 BC", "5874897-12-31"}, tailrace.KindTime: {"24:00:00", "00:00:00"},
		tailrace.KindTimestamp: {"294276-12-31 23:59:59.999999", "-infinity"}, tailrace.KindTimestamptz: {"2004-10-19 10:23:54+02", "4714-11-24 00:00+00 BC"},
		tailrace.KindInterval: {"1 year 2 days 3 us", "-1 mon"}, tailrace.KindUUID: {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		tailrace.KindJSON: {`{"a": [1]}`, `1`}, tailrace.KindJSONB: {`{"b":1,"a":[1,"x"]}`, `1.50`},
	}[ty.Kind]
	if ty.Kind > tailrace.KindForeign && ty.Kind != tailrace.KindArray {
		texts = elementTexts(p, ty.Kind)
	}
	if ty.Kind == tailrace.KindArray {
		for range 20 {
			texts = append(texts, arrayText(rng, elementTexts(p, ty.Elem)))
		}
	}
	var out [][]byte
	for _, text := range texts {
		c := tailrace.MakeColumn(ty.Kind, 1)
		if err := ParseText(&c, ty, text, p.settings); err != nil {
			if ty.Kind == tailrace.KindName {
				continue // too long
			}
			t.Fatal(err)
		}
		out = append(out, AppendBinary(nil, ty, &c, 0))
	}
	valid := len(out)
	for range 250 {
		b := append([]byte(nil), out[rng.IntN(valid)]...)
		for range 1 + rng.IntN(2) {
			switch at := rng.IntN(len(b) + 1); {
			case at < len(b) && rng.IntN(4) == 0:
				b = append(b[:at], b[at+1:]...)
			case at < len(b) && rng.IntN(3) > 0:
				b[at] = byte(rng.Uint32())
			default:
				b = append(b[:at], append([]byte{byte(rng.Uint32())}, b[at:]...)...)
			}
		}
		out = append(out, b)
	}
	return out
}

func TestBinaryIsReadAsInPostgreSQL(t *testing.T) {
	const seed = 9
	rng := rand.New(rand.NewPCG(seed, 0))
	p := sessions(t)[0]
	for _, ty := range p.types() {
		element := ty
		if ty.Kind == tailrace.KindArray {
			element = ty.Element()
		}
		for n, raw := range binaryInputs(t, p, ty, rng) {
			want, got := p.receive(t, ty, raw), receiveHere(ty, raw, p.settings)
			switch element.Kind {
			case tailrace.KindLetter:
				if got == "0A000" && strings.Contains(want, `\`) {
					continue // a byte above 127, which we refuse
				}
			case tailrace.KindRegclass, tailrace.KindRegtype, tailrace.KindRegproc, tailrace.KindRegnspace, tailrace.KindRegrole: // their names are the catalog's
				got, want = got[strings.LastIndex(got, "|")+1:], want[strings.LastIndex(want, "|")+1:]
			case tailrace.KindFloat4, tailrace.KindFloat8:
				if ty.Kind == element.Kind { // the bits of a NaN pass through
					got, _, _ = strings.Cut(got, "|")
					want, _, _ = strings.Cut(want, "|")
				}
			}
			if got != want {
				t.Errorf("%v %x (seed %d, input %d)\n got %s\nwant %s", ty, raw, seed, n, got, want)
			}
		}
	}
}

// receive is what PostgreSQL makes of a binary value: its text and binary forms, or SQLSTATE.
func (p *peer) receive(t *testing.T, ty tailrace.Type, raw []byte) string {
	t.Helper()
	sql := fmt.Sprintf("SELECT format('%%s', $1::%[1]s), encode(%[2]s($1::%[1]s), 'hex')", ty, calls[ty.Kind][1])
	r := p.conn.ExecParams(context.Background(), sql, [][]byte{raw}, nil, []int16{1}, nil).Read()
	var pgErr *pgconn.PgError
	switch {
	case errors.As(r.Err, &pgErr):
		return pgErr.Code
	case r.Err != nil:
		t.Fatal(r.Err)
	}
	return string(r.Rows[0][0]) + "|" + string(r.Rows[0][1])
}

func receiveHere(ty tailrace.Type, raw []byte, s *Settings) string {
	c := tailrace.MakeColumn(ty.Kind, 1)
	if err := ParseBinary(&c, ty, raw, s); err != nil {
		return tailrace.Code(err)
	}
	return string(AppendText(nil, ty, &c, 0, s)) + "|" + hex.EncodeToString(AppendBinary(nil, ty, &c, 0))
}

func TestModifiersApplyAsCastsAndAssignments(t *testing.T) {
	for _, x := range []struct {
		t        tailrace.Type
		text     string
		explicit bool
		want     string
	}{
		{mod(tailrace.KindVarchar, 6), "abc", true, "ab"},
		{mod(tailrace.KindVarchar, 6), "abc", false, "22001"},
		{mod(tailrace.KindVarchar, 6), "ab  ", false, "ab"},
		{mod(tailrace.KindChar, 7), "a", false, "a  "},
		{mod(tailrace.KindChar, 5), "äb", true, "ä"},
		{numericMod(4, 1), "12.25", false, "12.3"},
		{numericMod(4, 1), "-12.25", false, "-12.3"},
		{numericMod(4, 3), "12.25", false, "22003"},
		{numericMod(40, 3), "123456789012345678901234567890.9996", false, "123456789012345678901234567891.000"},
		{numericMod(4, 1), "NaN", false, "NaN"},
		{numericMod(4, 1), "Infinity", false, "22003"},
		{mod(tailrace.KindTime, 1), "01:02:03.45", false, "01:02:03.5"},
		{mod(tailrace.KindTimestamp, 0), "2001-12-31 23:59:59.5", false, "2002-01-01 00:00:00"},
		{mod(tailrace.KindTimestamp, 0), "infinity", false, "infinity"},
		{intervalMod(keepDay, fullPrecision), "1 mon 2 days 03:04:05", false, "1 mon 2 days"},
		{typ(tailrace.KindInt4), "5", false, "5"},
	} {
		c, out := tailrace.MakeColumn(x.t.Kind, 1), tailrace.MakeColumn(x.t.Kind, 1)
		if err := ParseText(&c, typ(x.t.Kind), x.text, Default()); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := ApplyMod(&out, x.t, c.Bytes(0), x.explicit); err != nil {
			got = tailrace.Code(err)
		} else {
			got = string(AppendText(nil, x.t, &out, 0, Default()))
		}
		if got != x.want {
			t.Errorf("%q to %v, explicit %v: got %q, want %q", x.text, x.t, x.explicit, got, x.want)
		}
	}
}

// fuzzArray is set in the number of a fuzz test's kind to make it an array's.
const fuzzArray = 0x80

func fuzzType(kind uint8) (t tailrace.Type, ok bool) {
	t = typ(tailrace.Kind(kind &^ fuzzArray))
	if kind&fuzzArray != 0 {
		t = tailrace.ArrayOf(t)
	}
	return t, t.Valid()
}

func FuzzParseBinary(f *testing.F) {
	f.Add(uint8(tailrace.KindNumeric), []byte{0, 1, 0, 0, 0, 0, 0, 2, 0, 1})
	f.Add(uint8(tailrace.KindInt2)|fuzzArray, []byte("\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x15\x00\x00\x00\x02\x00\x00\x00\x01\xff\xff\xff\xff\x00\x00\x00\x02\x01\x00"))
	f.Add(uint8(tailrace.KindJSONB), []byte("\x01{\"a\":1}"))
	f.Fuzz(func(t *testing.T, kind uint8, raw []byte) {
		ty, ok := fuzzType(kind)
		if !ok {
			return
		}
		c := tailrace.MakeColumn(ty.Kind, 1)
		if err := ParseBinary(&c, ty, raw, Default()); err != nil {
			return
		}
		again := tailrace.MakeColumn(ty.Kind, 1)
		if err := ParseBinary(&again, ty, AppendBinary(nil, ty, &c, 0), Default()); err != nil || string(again.Bytes(0)) != string(c.Bytes(0)) {
			t.Errorf("%v %x: stored %x, sent and received again %x, %v", ty, raw, c.Bytes(0), again.Data, err)
		}
	})
}

func FuzzParseText(f *testing.F) {
	for k := tailrace.KindBool; k.Valid(); k++ {
		for _, s := range []string{"1", "1999-01-08 04:05:06+02", "1 day", `{"a": 1}`, `\x00`, "P1Y2M", "EST5EDT,M3.2.0,M11.1.0"} {
			f.Add(uint8(k), s)
			f.Add(uint8(k)|fuzzArray, "{"+s+",NULL}")
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		ty, ok := fuzzType(kind)
		if !ok {
			return
		}
		c := tailrace.MakeColumn(ty.Kind, 1)
		if err := ParseText(&c, ty, text, Default()); err != nil {
			if _, ok := err.(*tailrace.Error); !ok || c.N != 0 {
				t.Errorf("%v %q: got %#v and %d values, want a *tailrace.Error and none", ty, text, err, c.N)
			}
			return
		}
		printed := string(AppendText(nil, ty, &c, 0, Default()))
		again := tailrace.MakeColumn(ty.Kind, 1)
		if err := ParseText(&again, ty, printed, Default()); err != nil || string(again.Bytes(0)) != string(c.Bytes(0)) {
			t.Errorf("%v %q: printed %q, read again as %x, %v; want %x", ty, text, printed, again.Data, err, c.Data)
		}
	})
}
