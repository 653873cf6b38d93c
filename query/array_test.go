package query

import (
	"bytes"
	"fmt"
	"testing"

	"tailrace"
	"tailrace/format"
)

// TestArrayParametersTakeTheirTypeFromTheLeftSide: x = ANY($1) is what drivers send for a list of keys.
func TestArrayParametersTakeTheirTypeFromTheLeftSide(t *testing.T) {
	e := engine(t)
	s := &tailrace.Schema{Fields: []tailrace.Field{
		{ID: 1, Name: "id", Type: tailrace.TypeOf(kInt8)},
		{ID: 2, Name: "name", Type: tailrace.TypeOf(kVarchar)},
		{ID: 3, Name: "at", Type: tailrace.TypeOf(kDate)},
		{ID: 4, Name: "tags", Type: tailrace.ArrayOf(textType)},
	}}
	b := tailrace.NewBatch(s, 3)
	for i, row := range [][]string{{"1", "ann", "2020-01-01", "{a,b}"}, {"2", "bob", "2021-01-01", "{}"}, {"3", "cid", "2022-01-01", "{b,NULL}"}} {
		for k, text := range row {
			if err := format.ParseText(&b.Cols[k], s.Fields[k].Type, text, format.Default()); err != nil {
				t.Fatal(i, err)
			}
		}
		b.AppendDiff(1)
	}
	ts := tables{}
	ts.add("p", 1, s, b)
	for _, c := range []struct {
		sql, param, typ, want string
	}{
		{"SELECT id FROM p WHERE id = ANY($1) ORDER BY id", "{1,3,9,NULL}", "bigint[]", "[1 3]"},
		{"SELECT id FROM p WHERE id <> ALL($1) ORDER BY id", "{1,3}", "bigint[]", "[2]"},
		{"SELECT id FROM p WHERE id <> ALL($1) ORDER BY id", "{1,NULL}", "bigint[]", "[]"},
		{"SELECT id FROM p WHERE id > ANY($1) ORDER BY id", "{2,7}", "bigint[]", "[3]"},
		{"SELECT id FROM p WHERE name = ANY($1) ORDER BY id", "{ann,cid}", "text[]", "[1 3]"},
		{"SELECT id FROM p WHERE name LIKE ANY($1) ORDER BY id", "{a%,%b}", "text[]", "[1 2]"},
		{"SELECT id FROM p WHERE at = ANY($1) ORDER BY id", "{2021-01-01}", "date[]", "[2]"},
		{"SELECT id FROM p WHERE $1 = ANY(tags) ORDER BY id", "b", "text", "[1 3]"},
		{"SELECT id FROM p WHERE tags @> $1 ORDER BY id", "{b}", "text[]", "[1 3]"},
		{"SELECT id FROM p WHERE tags && $1 ORDER BY id", "{a,z}", "text[]", "[1]"},
		{"SELECT id FROM p WHERE tags = $1 ORDER BY id", "{}", "text[]", "[2]"},
		{"SELECT tags[$1] FROM p ORDER BY id", "1", "integer", "[a NULL b]"},
		{"SELECT unnest($1::int[])", "{3,1}", "integer[]", "[3 1]"},
		{"SELECT id FROM p WHERE id = ANY($1::int[]) ORDER BY id", "{2}", "integer[]", "[2]"},
		{"SELECT ARRAY[$1, 2]", "7", "integer", "[{7,2}]"},
	} {
		if got := plan(t, e, ts, c.sql, nil).Params()[0].String(); got != c.typ {
			t.Errorf("%s: $1 is of type %s, want %s", c.sql, got, c.typ)
		}
		if got := fmt.Sprint(ask(e, ts, c.sql, []string{c.param}, nil).rows); got != c.want {
			t.Errorf("%s with %s: got %s, want %s", c.sql, c.param, got, c.want)
		}
	}
}

// FuzzNodeReadsWhatItWrites: any bytes read as JSON or not at all; what is read and written again reads the same.
func FuzzNodeReadsWhatItWrites(f *testing.F) {
	for _, s := range []string{`{"a": [1, "x\"y\u00e9", null, {"b": -1.5e3}], "": true}`, `[]`, `"\u0001"`, `{"a"`, `[1,`, `"\`, `{`, `tru`, ` 1 `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := parseNode(text)
		if err != nil {
			return
		}
		written := n.write(nil)
		again, err := parseNode(written)
		if err != nil {
			t.Fatalf("%q was written as %q, which cannot be read: %v", text, written, err)
		}
		if !bytes.Equal(again.write(nil), written) {
			t.Fatalf("%q: written %q, then %q", text, written, again.write(nil))
		}
		appendJSONKey(nil, text)
	})
}

// FuzzArrayFunctionsTakeAnyBytes: a stored array may be damaged; the functions answer with an error, or an array that can be read.
func FuzzArrayFunctionsTakeAnyBytes(f *testing.F) {
	f.Add(flat([][]byte{{1, 0, 0, 0}, nil}).put(nil), []byte{1, 0, 0, 0})
	f.Add([]byte{2, 2, 2, 2, 2, 0, 0, 0, 0}, []byte{})
	f.Fuzz(func(t *testing.T, raw, element []byte) {
		one := flat([][]byte{{1, 0, 0, 0}}).put(nil)
		for name, call := range map[string]func() ([]byte, error){
			"append": func() ([]byte, error) { return pushed(nil, raw, element, false) },
			"cat":    func() ([]byte, error) { return concatenated(nil, nil, [][]byte{raw, raw}) },
			"replace": func() ([]byte, error) {
				return replaced(&frame{}, nil, [][]byte{put32(nil, int32(kBytea)), raw, element, nil})
			},
			"slice": func() ([]byte, error) { return sliced(nil, nil, [][]byte{raw, one, one}) },
			"stack": func() ([]byte, error) { return stack(nil, nil, [][]byte{flat([][]byte{raw, raw}).put(nil)}) },
		} {
			out, err := call()
			if err != nil {
				continue
			}
			if _, err := readArray(out); err != nil {
				t.Errorf("%s of %x: %v", name, raw, err)
			}
		}
	})
}
