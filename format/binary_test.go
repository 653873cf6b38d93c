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

// binaryInputs are the binary forms of values of every kind, and damaged ones.
func binaryInputs(t *testing.T, k tailrace.Kind, rng *rand.Rand) [][]byte {
	texts := map[tailrace.Kind][]string{
		tailrace.KindBool: {"t", "f"}, tailrace.KindInt2: {"1", "-32768"}, tailrace.KindInt4: {"7", "-1"}, tailrace.KindInt8: {"9223372036854775807"},
		tailrace.KindFloat4: {"1.5", "NaN", "-0"}, tailrace.KindFloat8: {"1e300", "Infinity"},
		tailrace.KindNumeric: {"0", "0.00", "1", "-12.30", "10000", "0.0001", "123456789012345678901234567890.12345", "NaN", "Infinity", "-Infinity", "1e-100", "1e100"},
		tailrace.KindText:    {"", "abc", "äö"}, tailrace.KindVarchar: {"abc"}, tailrace.KindChar: {"abc  "}, tailrace.KindBytea: {`\x00ff`},
		tailrace.KindDate: {"2000-01-01", "infinity", "4714-11-24 BC", "5874897-12-31"}, tailrace.KindTime: {"24:00:00", "00:00:00"},
		tailrace.KindTimestamp: {"294276-12-31 23:59:59.999999", "-infinity"}, tailrace.KindTimestamptz: {"2004-10-19 10:23:54+02", "4714-11-24 00:00+00 BC"},
		tailrace.KindInterval: {"1 year 2 days 3 us", "-1 mon"}, tailrace.KindUUID: {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		tailrace.KindJSON: {`{"a": [1]}`, `1`}, tailrace.KindJSONB: {`{"b":1,"a":[1,"x"]}`, `1.50`},
	}[k]
	var out [][]byte
	for _, text := range texts {
		c := tailrace.MakeColumn(k, 1)
		if err := ParseText(&c, typ(k), text, Default()); err != nil {
			t.Fatal(err)
		}
		out = append(out, AppendBinary(nil, typ(k), &c, 0))
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
	for k := tailrace.KindBool; k <= tailrace.KindJSONB; k++ {
		inputs := binaryInputs(t, k, rng)
		for n, raw := range inputs {
			sql := fmt.Sprintf("SELECT format('%%s', $1), encode(%s($1), 'hex')", calls[k][1])
			r := p.conn.ExecParams(context.Background(), sql, [][]byte{raw}, []uint32{tailrace.TypeOf(k).OID()}, []int16{1}, nil).Read()
			want := ""
			var pgErr *pgconn.PgError
			switch {
			case errors.As(r.Err, &pgErr):
				want = pgErr.Code
			case r.Err != nil:
				t.Fatal(r.Err)
			default:
				want = string(r.Rows[0][0]) + " | " + string(r.Rows[0][1])
				if k == tailrace.KindFloat4 || k == tailrace.KindFloat8 {
					want, _, _ = strings.Cut(want, " | ") // the bits of a NaN pass through
				}
			}
			c := tailrace.MakeColumn(k, 1)
			got := ""
			if err := ParseBinary(&c, typ(k), raw); err != nil {
				got = tailrace.Code(err)
			} else {
				got = string(AppendText(nil, typ(k), &c, 0, p.settings))
				if k != tailrace.KindFloat4 && k != tailrace.KindFloat8 {
					got += " | " + hex.EncodeToString(AppendBinary(nil, typ(k), &c, 0))
				}
			}
			if got != want {
				t.Errorf("%v %x (seed %d, input %d)\n got %s\nwant %s", typ(k), raw, seed, n, got, want)
			}
		}
	}
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

func FuzzParseBinary(f *testing.F) {
	f.Add(uint8(tailrace.KindNumeric), []byte{0, 1, 0, 0, 0, 0, 0, 2, 0, 1})
	f.Add(uint8(tailrace.KindJSONB), []byte("\x01{\"a\":1}"))
	f.Fuzz(func(t *testing.T, kind uint8, raw []byte) {
		k := tailrace.Kind(kind)
		if !k.Valid() {
			return
		}
		c := tailrace.MakeColumn(k, 1)
		if err := ParseBinary(&c, typ(k), raw); err != nil {
			return
		}
		again := tailrace.MakeColumn(k, 1)
		if err := ParseBinary(&again, typ(k), AppendBinary(nil, typ(k), &c, 0)); err != nil || string(again.Bytes(0)) != string(c.Bytes(0)) {
			t.Errorf("%v %x: stored %x, sent and received again %x, %v", typ(k), raw, c.Bytes(0), again.Data, err)
		}
	})
}

func FuzzParseText(f *testing.F) {
	for k := tailrace.KindBool; k <= tailrace.KindForeign; k++ {
		for _, s := range []string{"1", "1999-01-08 04:05:06+02", "1 day", `{"a": 1}`, `\x00`, "P1Y2M", "EST5EDT,M3.2.0,M11.1.0"} {
			f.Add(uint8(k), s)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		k := tailrace.Kind(kind)
		if !k.Valid() {
			return
		}
		c := tailrace.MakeColumn(k, 1)
		if err := ParseText(&c, typ(k), text, Default()); err != nil {
			if _, ok := err.(*tailrace.Error); !ok || c.N != 0 {
				t.Errorf("%v %q: got %#v and %d values, want a *tailrace.Error and none", typ(k), text, err, c.N)
			}
			return
		}
		printed := string(AppendText(nil, typ(k), &c, 0, Default()))
		again := tailrace.MakeColumn(k, 1)
		if err := ParseText(&again, typ(k), printed, Default()); err != nil || string(again.Bytes(0)) != string(c.Bytes(0)) {
			t.Errorf("%v %q: printed %q, read again as %x, %v; want %x", typ(k), text, printed, again.Data, err, c.Data)
		}
	})
}
