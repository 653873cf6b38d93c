package format

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tailrace"
)

// arrayTexts are arrays whose form is at issue, not their elements.
var arrayTexts = []string{
	"{}", " { } ", "{1}", "{1,2,3}", " { 1 , 2 } ", "\t{\n1\v,\f2\r}", "{NULL}", "{null,NuLL}", `{"NULL"}`, `{"1","2"}`, `{\1}`, `{1\2}`, `{"1\2"}`, `{N\ULL}`, "{{1,2},{3,4}}", "{{1},{2},{3}}", "{{{{{{1}}}}}}", "{{{{{{{1}}}}}}}",
	"{{1,2},{3}}", "{{1},2}", "{1,{2}}", "{{}}", "{{},{}}", "{{{}}}", "{{1},{}}", "{,}", "{1,}", "{,1}", "{1,,2}", "{", "}", "", " ", "1", "{1", "{1}}", "{1}x", "{1} ", "{1} {2}", "{1}{2}", "x{1}", `{"1}`, `{"1"2}`, `{1"2"}`, `{"1""2"}`, `{1 2}`, `{ "1" , "2" }`,
	`{\`, `{"\`, `{1,\`, `\{1}`, `{1}\`, `{"a"\}`, "{1,2", "{{1}", "[1]={1}", "[2]={1,2}", "[0:1]={1,2}", "[-5:-4]={1,2}", "[2:3]={1}", "[2:3]={1,2,3}", "[1:2][0:1]={{1,2},{3,4}}", "[1:2] [0:1] = {{1,2},{3,4}}", "[1:2]={{1,2},{3,4}}", "[1][1][1][1][1][1]={{{{{{1}}}}}}",
	"[1][1][1][1][1][1][1]={{{{{{{1}}}}}}}", "[]={1}", "[1:]={1}", "[:1]={1}", "[1={1}", "[1:1={1}", "[1]{1}", "[1]=1", "[1]=", "[1]", "[ 1]={1}", "[1 ]={1}", "[1:0]={}", "[0:-1]={}", "[2:1]={1}", "[1]={}", "[0]={}", "[+1:+2]={1,2}", "[--1]={1}", "[1-2:3]={1,2,3}", "[a]={1}",
	"[2147483647:2147483647]={1}", "[2147483646:2147483646]={1}", "[-2147483648:-2147483648]={1}", "[-2147483648:2147483647]={1}", "[-2147483648]={1}", "[99999999999]={1}", "[4294967297]={1}", "[99999999999999999999]={1}", "[-99999999999999999999:1]={1}", "[1:1]={NULL}",
	`{"a\"b","c\\d","e,f","{g}"," h ","",i j}`, `{a\,b}`, `{ a\ , b }`, `{\ a }`, `{"a" }`, `{a" }`, "{é,日本}", `{"null ", null x, nullx}`, "{{1,NULL},{NULL,2}}", "{{NULL},{NULL}}", "[0:0][5:6]={{1,2}}", "{1,2}]", "={1}", "{1}={1}", "[1]=={1}", "[1]= {1}", "[1] ={1}", "{\"\"}", "{''}",
}

func TestArraysReadAndPrintAsInPostgreSQL(t *testing.T) {
	const seed = 31
	p := sessions(t)[0]
	inputs := withMutants(arrayTexts, 1500, `{}{}[]:=,,"" \\12NULnul-+ab`, seed)
	valid := slices.DeleteFunc(utf8Only(inputs), uneven)
	for _, k := range []tailrace.Kind{tailrace.KindText, tailrace.KindInt4, tailrace.KindChar, tailrace.KindBytea} {
		p.compare(t, tailrace.ArrayOf(typ(k)), valid, fmt.Sprintf("seed %d", seed))
	}
}

// utf8Only drops what a client cannot send.
func utf8Only(inputs []string) []string {
	return slices.DeleteFunc(inputs, func(in string) bool { return checkText(in) != nil })
}

// uneven reports whether text is one of the arrays with braces of several depths side by side that PostgreSQL 15 accepts, losing or moving elements,
// and later ones refuse, as we do.
func uneven(text string) bool {
	c := tailrace.MakeColumn(tailrace.KindArray, 1)
	err, _ := ParseText(&c, tailrace.ArrayOf(typ(tailrace.KindText)), text, Default()).(*tailrace.Error)
	return err != nil && err.Detail == unevenArray && strings.Contains(text, "{{") && !strings.Contains(text, "]")
}

// elementTexts are values of each kind, with those that need quotes in an array.
func elementTexts(p *peer, k tailrace.Kind) []string {
	switch k {
	case tailrace.KindText, tailrace.KindVarchar, tailrace.KindChar, tailrace.KindName:
		return []string{"", " ", "NULL", "null", "a", "a b", `a"b`, `a\b`, "a,b", "{", "}", "é日", "\t", "x\ny", strings.Repeat("long é ", 20)}
	case tailrace.KindBytea:
		return []string{`\x`, `\x00ff22`, "abc", `\\`}
	case tailrace.KindEnum:
		return moodLabels
	case tailrace.KindOID:
		return []string{"0", "1", "4294967295", "-1"}
	case tailrace.KindLetter:
		return []string{"", "a", ",", `"`, " ", `\`}
	case tailrace.KindRegclass, tailrace.KindRegproc, tailrace.KindRegnspace, tailrace.KindRegrole:
		return []string{"-", "0", "4000000000"}
	case tailrace.KindRegtype:
		return []string{"-", "23", "1007", "4000000000", "integer", "timestamp with time zone", "character", "character[]"}
	case tailrace.KindJSON, tailrace.KindJSONB:
		return []string{`{"a": [1, "x,y"]}`, `"q"`, "null", "1.50", ` [ ] `}
	case tailrace.KindTimestamp, tailrace.KindTimestamptz, tailrace.KindDate:
		return []string{"2000-01-02 03:04:05.678", "infinity", "0044-03-15 BC", "epoch"}
	case tailrace.KindInterval:
		return []string{"1 year 2 mons -3 days 04:05:06.789", "0", "-1 mon"}
	case tailrace.KindNumeric:
		return []string{"0.00", "-12.30", "NaN", "Infinity", "1e-100", strings.Repeat("9", 60) + ".5"}
	case tailrace.KindFloat4, tailrace.KindFloat8:
		return []string{"1.5", "-0", "Infinity", "1e30", "0.1"}
	case tailrace.KindBool:
		return []string{"t", "false"}
	case tailrace.KindTime:
		return []string{"24:00:00", "01:02:03.4"}
	case tailrace.KindUUID:
		return []string{"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}
	}
	return []string{"1", "-7", "32767"}
}

// arrayText writes an array of random shape with elements from texts, NULL among them.
func arrayText(rng *rand.Rand, texts []string) string {
	var dims []tailrace.Dim
	n := 1
	for range rng.IntN(4) {
		d := tailrace.Dim{Length: 1 + rng.IntN(3), Lower: 1}
		if rng.IntN(4) == 0 {
			d.Lower = int32(rng.IntN(9) - 4)
		}
		dims = append(dims, d)
		n *= d.Length
	}
	if len(dims) == 0 {
		return "{}"
	}
	out := appendBounds(nil, dims)
	for at := range n {
		out = openBraces(out, dims, at)
		if rng.IntN(4) == 0 {
			out = append(out, "NULL"...)
		} else {
			from := len(out)
			out = quoteElement(append(out, texts[rng.IntN(len(texts))]...), from)
		}
		out = closeBraces(out, dims, at)
	}
	return string(out)
}

func TestArraysOfEveryKindReadAndPrintAsInPostgreSQL(t *testing.T) {
	const seed = 32
	for n, p := range sessions(t) {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		for _, ty := range p.types() {
			k := ty.Kind
			if ty.Kind == tailrace.KindArray {
				k = ty.Elem
			}
			inputs := elementTexts(p, k)
			if ty.Kind == tailrace.KindArray {
				for range 60 {
					inputs = append(inputs, arrayText(rng, elementTexts(p, k)))
				}
			}
			if k < tailrace.KindRegclass { // the names of objects are the catalog's
				inputs = utf8Only(withMutants(inputs, 40, `{}",\ NUL1ax`, seed))
			}
			p.compare(t, ty, inputs, fmt.Sprintf("seed %d, session %d", seed, n))
		}
	}
}

func TestWordsReadAndPrintAsInPostgreSQL(t *testing.T) {
	const seed = 33
	p := sessions(t)[0]
	oids := []string{"0", "1", " 26 ", "4294967295", "4294967296", "-1", "-2147483648", "-2147483649", "+7", "--1", "", " ", "1x", "x", "18446744073709551615", "18446744073709551616", "18446744071562067968", "18446744071562067967", "0x10", "1 2", "-18446744073709551615", "007", "99999999999999999999x", "- 1", "+"}
	p.compare(t, typ(tailrace.KindOID), withMutants(oids, 600, "0123456789-+ x", seed), fmt.Sprintf("seed %d", seed))
	names := []string{"", "a", strings.Repeat("n", 62), strings.Repeat("n", 63), strings.Repeat("n", 64), strings.Repeat("é", 40), strings.Repeat("x", 62) + "é", strings.Repeat("日", 30), strings.Repeat("n", 200), "a\tb"}
	p.compare(t, typ(tailrace.KindName), names, "")
	p.compare(t, typ(tailrace.KindLetter), []string{"", "a", "ab", " a", "1", `\`, `\101`, "-"}, "")
	p.compare(t, p.mood, append([]string{"Sad", "sad ", "happy", strings.Repeat("n", 70), "it's"}, moodLabels...), "")
	for _, k := range []tailrace.Kind{tailrace.KindRegclass, tailrace.KindRegproc, tailrace.KindRegtype, tailrace.KindRegnspace, tailrace.KindRegrole} {
		p.compare(t, typ(k), []string{"-", "0", "3999999999", "4294967296", "99999999999999999999"}, "")
	}
}

// TestCopyOfEveryTypeAgreesWithPostgreSQL sends rows of all types both ways, in every layout: PostgreSQL reads what we write and we read what it writes.
func TestCopyOfEveryTypeAgreesWithPostgreSQL(t *testing.T) {
	const seed = 34
	p := sessions(t)[0]
	rng := rand.New(rand.NewPCG(seed, 0))
	types := append([]tailrace.Type{typ(tailrace.KindInt4)}, p.types()...)
	types = append(types, mod(tailrace.KindVarchar, 7), tailrace.ArrayOf(mod(tailrace.KindVarchar, 7)), tailrace.ArrayOf(mod(tailrace.KindChar, 7)), tailrace.ArrayOf(numericMod(70, 2)))
	var columns []string
	var cols []Col
	for i, ty := range types {
		columns = append(columns, fmt.Sprintf("c%d %s", i, ty))
		cols = append(cols, Col{Name: fmt.Sprintf("c%d", i), Type: ty})
	}
	run(t, p.conn, "CREATE TEMP TABLE every ("+strings.Join(columns, ", ")+")")
	b := &tailrace.Batch{N: 200, Cols: make([]tailrace.Column, len(types))}
	for i, ty := range types {
		b.Cols[i] = tailrace.MakeColumn(ty.Kind, b.N)
		for row := range b.N {
			if i == 0 {
				b.Cols[0].AppendInt32(int32(row))
				continue
			}
			text, k := "", ty.Kind
			if ty.Kind == tailrace.KindArray {
				k = ty.Elem
			}
			texts := elementTexts(p, k)
			if ty.Mod > 0 && k != tailrace.KindNumeric {
				texts = texts[:4]
			} else if ty.Mod > 0 {
				texts = []string{"1.005", "-0.0049", "NaN"}
			}
			if text = texts[rng.IntN(len(texts))]; ty.Kind == tailrace.KindArray {
				text = arrayText(rng, texts)
			}
			if rng.IntN(10) == 0 {
				b.Cols[i].AppendNull()
			} else if err := ParseText(&b.Cols[i], ty, text, p.settings); err != nil {
				b.Cols[i].AppendNull() // too long for a varchar(3)
			}
		}
	}
	for layout, options := range map[Layout]string{CopyText: "FORMAT text", CopyCSV: "FORMAT csv", CopyBinary: "FORMAT binary"} {
		e := Encoder{Layout: layout, Columns: cols, Settings: p.settings}
		sent := payload(t, e.AppendEnd(e.AppendBatch(e.AppendStart(nil), b, 0, b.N)))
		run(t, p.conn, "TRUNCATE every")
		if _, err := p.conn.CopyFrom(context.Background(), strings.NewReader(sent), "COPY every FROM STDIN ("+options+")"); err != nil {
			t.Fatalf("%s (seed %d): %v", options, seed, err)
		}
		var back bytes.Buffer
		if _, err := p.conn.CopyTo(context.Background(), &back, "COPY (SELECT * FROM every ORDER BY c0) TO STDOUT ("+options+")"); err != nil {
			t.Fatal(err)
		}
		if back.String() != sent {
			t.Errorf("%s (seed %d): PostgreSQL writes\n%q\nwhere we write\n%q", options, seed, firstDifference(back.String(), sent), firstDifference(sent, back.String()))
		}
		r := newCopyReader(CopyOptions{Layout: layout}, types, p.settings)
		r.Feed(back.Bytes())
		r.Finish()
		got, err := r.Next()
		if err != nil || got.N != b.N {
			t.Fatalf("%s (seed %d): %v rows, %v", options, seed, got, err)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatalf("%s: %v after the last row", options, err)
		}
		for i, ty := range types {
			for row := range b.N {
				x, y := &got.Cols[i], &b.Cols[i]
				if x.IsNull(row) != y.IsNull(row) || !bytes.Equal(x.Bytes(row), y.Bytes(row)) {
					t.Fatalf("%s (seed %d): %v row %d came back as %x (NULL %v), was %x (NULL %v)", options, seed, ty, row, x.Bytes(row), x.IsNull(row), y.Bytes(row), y.IsNull(row))
				}
			}
		}
	}
}

// firstDifference is a piece of a from shortly before where it begins to differ from b.
func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return a[max(0, i-40):min(len(a), i+40)]
}

func TestDamagedArraysPrintAsNoArray(t *testing.T) {
	ty := tailrace.ArrayOf(typ(tailrace.KindInt4))
	c := tailrace.MakeColumn(tailrace.KindArray, 1)
	c.Append([]byte{1, 2, 2, 9})
	text := string(AppendText(nil, ty, &c, 0, Default()))
	if got := tailrace.MakeColumn(tailrace.KindArray, 1); ParseText(&got, ty, text, Default()) == nil {
		t.Errorf("damaged bytes print as %q, which reads as an array", text)
	}
	if got := tailrace.MakeColumn(tailrace.KindArray, 1); ParseBinary(&got, ty, AppendBinary(nil, ty, &c, 0), Default()) == nil {
		t.Error("damaged bytes are sent as an array")
	}
}
