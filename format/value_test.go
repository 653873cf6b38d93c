package format

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"tailrace"
)

func typ(k tailrace.Kind) tailrace.Type { return tailrace.TypeOf(k) }

func mod(k tailrace.Kind, m int32) tailrace.Type { return tailrace.Type{Kind: k, Mod: m} }

func numericMod(precision, scale int) tailrace.Type {
	return mod(tailrace.KindNumeric, int32(precision<<16|scale&0x7ff)+4)
}

// mutate changes a few characters of one of the inputs, so that most results are near to something valid.
func mutate(rng *rand.Rand, inputs []string, alphabet string) string {
	b := []byte(inputs[rng.IntN(len(inputs))])
	for range rng.IntN(3) + 1 {
		c := alphabet[rng.IntN(len(alphabet))]
		switch at := rng.IntN(len(b) + 1); {
		case at < len(b) && rng.IntN(3) == 0:
			b = append(b[:at], b[at+1:]...)
		case at < len(b) && rng.IntN(2) == 0:
			b[at] = c
		default:
			b = append(b[:at], append([]byte{c}, b[at:]...)...)
		}
	}
	return string(b)
}

// withMutants is inputs and n mutants of them.
func withMutants(inputs []string, n int, alphabet string, seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 0))
	out := append([]string(nil), inputs...)
	for range n {
		out = append(out, mutate(rng, inputs, alphabet))
	}
	return out
}

func TestNumbersReadAndPrintAsInPostgreSQL(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	p := sessions(t)[0]
	ints := []string{
		"0", "1", "-1", "+5", " 12 ", "\t7\n", "", " ", "-", "+", "1 2", "32767", "32768", "-32768", "-32769", "2147483647", "2147483648", "-2147483648",
		"-2147483649", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "0x1f", "1_000", "1.5", "1e3", "abc", "99999999999999999999x",
		"007", "--1", "0b1",
	}
	bools := []string{"t", "true", "TRUE", " yes ", "y", "on", "o", "of", "off", "offf", "1", "0", "no", "n", "f", "fal", "", "2", "tru e", "10"}
	uuids := []string{
		"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}", "a0eebc999c0b4ef8bb6d6bb9bd380a11",
		"a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11", "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}", "", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}", " a0eebc999c0b4ef8bb6d6bb9bd380a11",
	}
	note := fmt.Sprintf("seed %d", seed)
	for range 300 {
		ints = append(ints, strconv.FormatInt(int64(rng.Uint64())>>rng.IntN(64), 10))
	}
	for _, k := range []tailrace.Kind{tailrace.KindInt2, tailrace.KindInt4, tailrace.KindInt8} {
		p.compare(t, typ(k), withMutants(ints, 500, "0123456789-+ x._", seed), note)
	}
	p.compare(t, typ(tailrace.KindBool), withMutants(bools, 300, "truefalsyno 01", seed), note)
	p.compare(t, typ(tailrace.KindUUID), withMutants(uuids, 300, "0123456789abcdefg-{}", seed), note)
}

func TestFloatsReadAndPrintAsInPostgreSQL(t *testing.T) {
	const seed = 2
	rng := rand.New(rand.NewPCG(seed, 0))
	inputs := []string{
		"0", "-0", "1", "1.5", ".5", "5.", ".", "1e5", "1e15", "1e16", "999999999999999", "1e-4", "1e-5", "123456789012345678", "NaN", "nan", "Infinity", "-Infinity", "+inf", "inf",
		"infinit", "1e400", "-1e400", "1e-400", "1e39", "1e-46", "4.9e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "3.4028235e38", "1e23", "9007199254740993", "0x1p3", "0x1F", "0x", "1e", "1e+", "1 x", " 1 ", "", " ", "1_0",
		"5.684341886080802e-14", "1e22", "100000", "1000000", "9999999", "0.0001", "0.00001", "1e-7", "nan(1)", "-nan", "8388608", "16777216", "1e7", "1e6", "1.17549435e-38", "1e-45", "33554430", "67108863",
	}
	for range 100 {
		f := math.Float64frombits(rng.Uint64())
		g := math.Float32frombits(rng.Uint32())
		inputs = append(inputs, strconv.FormatFloat(f, 'g', -1, 64), strconv.FormatFloat(float64(g), 'g', -1, 32), strconv.FormatFloat(rng.NormFloat64()*1000, 'f', rng.IntN(20), 64),
			strconv.FormatFloat(math.Ldexp(1, rng.IntN(2000)-1000), 'g', 20, 64), strconv.FormatFloat(math.Trunc(math.Ldexp(rng.Float64(), rng.IntN(120))), 'f', 0, 64),
			strconv.Itoa(rng.IntN(1000))+"e"+strconv.Itoa(rng.IntN(60)-20))
	}
	for _, p := range sessions(t) {
		for _, k := range []tailrace.Kind{tailrace.KindFloat4, tailrace.KindFloat8} {
			p.compare(t, typ(k), withMutants(inputs, 300, "0123456789-+ xe.inf", seed), fmt.Sprintf("seed %d, extra_float_digits %d", seed, p.settings.ExtraFloatDigits))
		}
	}
}

func TestNumericsReadAndPrintAsInPostgreSQL(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 0))
	p := sessions(t)[0]
	inputs := []string{
		"0", "-0", "0.000", "-0.00", "1", "1.5", ".5", "5.", ".", "1e5", "1e-5", "1.23e3", "12.30", "0.1000", "1e-30", "115792089237316195423570985008687907853269984665640564039457584007913129639935", "NaN", "nan",
		"Infinity", "-Infinity", "+Infinity", "inf", "-inf", "infinite", "1_000", "1e", "1e+", "1 e5", "1e 5", " 1 ", "", " ", "0x1f", "--1", "1..2", "1e131071", "1e131072", "1e-16383", "1e-16384", "1e1000000", "1e1073741822", "1e1073741823", "1e-1073741823", "1e99999999999999999999", "0e99999", "0e-20000", "0e20000",
		"99999.995", "99999.994", "-99999.995", "0.005", "0.0049", "0.0050000000000000000000001", "-0.004", "123456789.987654321", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "9999999999999999999999.5", "1234567890123456789012345678901234567890.12345", "149999", "150000", "-150000",
		"999999999999999999", "9999999999999999999", "0.00009999", "0.0001", "10000", "100000000", "0.00000001", "12345678", "99995", "0.00095", "0.000949",
	}
	for range 400 {
		digits := make([]byte, rng.IntN(40)+1)
		for i := range digits {
			digits[i] = '0' + byte(rng.IntN(10))
		}
		text := string(digits)
		if at := rng.IntN(len(digits) + 1); rng.IntN(3) > 0 {
			text = text[:at] + "." + text[at:]
		}
		if rng.IntN(4) == 0 {
			text += "e" + strconv.Itoa(rng.IntN(60)-30)
		}
		if rng.IntN(2) == 0 {
			text = "-" + text
		}
		inputs = append(inputs, text)
	}
	inputs = withMutants(inputs, 600, "0123456789-+ e.", seed)
	for _, ty := range []tailrace.Type{typ(tailrace.KindNumeric), numericMod(12, 2), numericMod(5, 0), numericMod(78, 0), numericMod(3, -3), numericMod(2, 4), numericMod(1000, 1000), numericMod(38, 10)} {
		p.compare(t, ty, inputs, fmt.Sprintf("seed %d", seed))
	}
}

func TestTextsReadAndPrintAsInPostgreSQL(t *testing.T) {
	const seed = 4
	inputs := []string{"", " ", "a", "abc", "abcd", "abc ", "abc  ", "abc d", "äöü", "äöüß", "日本語", "日本語 ", "日本語x", "a\tb\nc", `\`, `\\`, `\x`, `\x00ff`, `\xDEADbeef`, `\xDE AD`, `\x0`, `\x0g`, `\xg0`, `\000`, `\377`, `\400`, `a\\b`, `a\b`, `\12`, `\xé0`, "é", "'quoted'", `"`, "\x7f\x01"}
	for _, p := range sessions(t)[:2] {
		in := withMutants(inputs, 300, `abc \x01234567`, seed)
		ascii := in[:0:0]
		for _, s := range in {
			if checkText(s) == nil {
				ascii = append(ascii, s)
			}
		}
		for _, ty := range []tailrace.Type{typ(tailrace.KindText), typ(tailrace.KindVarchar), mod(tailrace.KindVarchar, 7), typ(tailrace.KindChar), mod(tailrace.KindChar, 7), mod(tailrace.KindChar, 5), typ(tailrace.KindBytea)} {
			p.compare(t, ty, ascii, fmt.Sprintf("seed %d", seed))
		}
	}
}

func TestJSONReadsAndPrintsAsInPostgreSQL(t *testing.T) {
	const seed = 5
	p := sessions(t)[0]
	inputs := []string{
		`{}`, `[]`, `""`, `1`, `-0`, `-0.0`, `1.0`, `1e5`, `1E-5`, `1.50e2`, `true`, `false`, `null`, `nul`, `True`, `{"a":1}`, `{"b":1,"a":2}`, `{"aa":1,"b":2,"a":3}`, `{"a":1,"a":2}`, `{"a":{"z":1,"y":[1,2,{"q":null}]},"b":[]}`,
		`[1, 2,3 ]`, ` [ ] `, `{ "a" : { } }`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1,}`, `{,}`, `[1 2]`, `{"a" 1}`, `"abc`, `"a\nb"`, `"\u0041"`, `"\u00e9\u20ac"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\u0041"`, `"\u0000"`, `"\u00"`, `"\u00zz"`, `"\q"`, `"\/\b\f\n\r\t\\\""`,
		"\"a\tb\"", "\"\x01\"", `"` + "\x7f" + `é日"`, `01`, `-`, `+1`, `.5`, `1.`, `1.e5`, `1e`, `1e+`, `--1`, `1 2`, `[1] x`, `{"a":1} ]`, ``, ` `, `]`, `}`, `:`, `,`, `'a'`, `NaN`, `Infinity`, `1e400`, `12345678901234567890123456789.123456789`, `1e-20000`, `1e200000`, `{"é":1,"z":2,"日本":3,"zz":4}`, `[[[[[[]]]]]]`, `{"":1}`, `{"a\u0062":1,"ab":2}`,
		`[1e10, 1E+2, 0.10, 100, -5.00]`, `{"k":"v\\u0000"}`, `"\\u0000"`, `tru`, `truex`, `1x`, `1.5.5`, `"x" "y"`, `[}`, `{]`, `{"a":[}`, `[{"a":1]`, `nullé`, `é`, `#`, `a#b`, `/* x */`, `{"a":1 "b":2}`, `{1:2}`, `{"a":1,2}`, `["a", "b"`, `{"a"`, `{"a":`, `{"a":1`, `{`, `[`, `"\`, `"\u`,
	}
	in := inputs
	for i, s := range withMutants(inputs, 1500, `{}[],:"\u0123 atrue.e-`, seed) {
		if i >= len(inputs) && checkText(s) == nil {
			in = append(in, s)
		}
	}
	for _, k := range []tailrace.Kind{tailrace.KindJSON, tailrace.KindJSONB} {
		p.compare(t, typ(k), in, fmt.Sprintf("seed %d", seed))
	}
}

func TestDeepJSONIsRefused(t *testing.T) {
	c := tailrace.MakeColumn(tailrace.KindJSONB, 1)
	err := ParseText(&c, typ(tailrace.KindJSONB), strings.Repeat("[", 1_000_000), Default())
	if got := tailrace.Code(err); got != codeTooDeep {
		t.Errorf("a million nested arrays: got %v, want %s", err, codeTooDeep)
	}
}

func TestBytesThatAreNoUTF8AreRefused(t *testing.T) {
	for _, x := range [][2]string{
		{"a\xff", "0xff"},
		{"\xc3(", "0xc3 0x28"},
		{"\xe2\x28\xa1", "0xe2 0x28 0xa1"},
		{"\xf0\x28", "0xf0 0x28"},
		{"\xed\xa0\x80", "0xed 0xa0 0x80"},
		{"ab\x00c", "0x00"},
		{"\xc0\x80", "0xc0 0x80"},
		{"\xe2\x82", "0xe2 0x82"},
		{"\ufffd\xff", "0xff"},
	} {
		for _, k := range []tailrace.Kind{tailrace.KindText, tailrace.KindVarchar, tailrace.KindJSONB, tailrace.KindInt4, tailrace.KindDate, tailrace.KindBytea} {
			c := tailrace.MakeColumn(k, 1)
			err := ParseText(&c, typ(k), x[0], Default())
			if want := `invalid byte sequence for encoding "UTF8": ` + x[1]; err == nil || err.Error() != want || tailrace.Code(err) != codeBadEncoding {
				t.Errorf("%v %q: got %v, want %s", typ(k), x[0], err, want)
			}
		}
	}
}
