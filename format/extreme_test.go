package format

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tailrace"
)

// extremeNumerics are the longest numerics there are, in order: 131,072 digits before the point, 16,383 after it.
func extremeNumerics() []string {
	rng := rand.New(rand.NewPCG(41, 0))
	digits := make([]byte, maxNumericDigits+tailrace.MaxDecimalScale)
	for i := range digits {
		digits[i] = '1' + byte(rng.IntN(9))
	}
	random := string(digits[:maxNumericDigits]) + "." + string(digits[maxNumericDigits:])
	nines := strings.Repeat("9", maxNumericDigits) + "." + strings.Repeat("9", tailrace.MaxDecimalScale)
	least := "0." + strings.Repeat("0", tailrace.MaxDecimalScale-1) + "1"
	one := "1." + strings.Repeat("0", tailrace.MaxDecimalScale-1) + "1"
	positive := []string{least, "1", one, "1" + strings.Repeat("0", maxNumericDigits-1), random, nines[:len(nines)-1] + "8", nines}
	var out []string
	for _, p := range slices.Backward(positive) {
		out = append(out, "-"+p)
	}
	out = append(append(out, "0"), positive...)
	slices.SortFunc(out[len(positive)+1:], func(a, b string) int { return strings.Compare(pad(a), pad(b)) })
	slices.SortFunc(out[:len(positive)], func(a, b string) int { return strings.Compare(pad(b[1:]), pad(a[1:])) })
	return out
}

// pad makes positive numbers order as texts.
func pad(number string) string {
	whole, _, _ := strings.Cut(number, ".")
	return strings.Repeat("0", maxNumericDigits-len(whole)) + number
}

func TestNumericsOfAnyPrecisionAreExact(t *testing.T) {
	p := sessions(t)[0]
	texts := extremeNumerics()
	p.compare(t, typ(tailrace.KindNumeric), append(slices.Clone(texts), "1"+strings.Repeat("0", maxNumericDigits), "0."+strings.Repeat("0", tailrace.MaxDecimalScale)+"1"), "seed 41")
	c := tailrace.MakeColumn(tailrace.KindNumeric, len(texts))
	for i, text := range texts {
		if err := ParseText(&c, typ(tailrace.KindNumeric), text, Default()); err != nil {
			t.Fatalf("number %d: %v", i, err)
		}
		if got := string(AppendText(nil, typ(tailrace.KindNumeric), &c, i, Default())); got != text {
			t.Fatalf("number %d of %d digits came back as other digits: %.40s..., want %.40s...", i, len(text), got, text)
		}
		back := tailrace.MakeColumn(tailrace.KindNumeric, 1)
		if err := ParseBinary(&back, typ(tailrace.KindNumeric), AppendBinary(nil, typ(tailrace.KindNumeric), &c, i), Default()); err != nil || !bytes.Equal(back.Bytes(0), c.Bytes(i)) {
			t.Fatalf("number %d through its binary form: got %d bytes, %v; want %d", i, len(back.Data), err, len(c.Bytes(i)))
		}
	}
	var before []byte
	for i := range texts {
		key := tailrace.AppendKey(nil, typ(tailrace.KindNumeric), &c, i)
		if bytes.Compare(before, key) >= 0 {
			t.Errorf("number %d (%.30s...) does not order after the one before it", i, texts[i])
		}
		before = key
	}
	batch := &tailrace.Batch{N: c.N, IDs: []tailrace.ColumnID{1}, Cols: []tailrace.Column{c}}
	if got, _, err := tailrace.DecodeBatch(tailrace.AppendBatch(nil, batch)); err != nil || !bytes.Equal(got.Cols[0].Data, c.Data) {
		t.Errorf("the column as bytes: %v", err)
	}
	array := tailrace.MakeColumn(tailrace.KindArray, 1)
	text := "{" + strings.Join(texts, ",") + "}"
	if err := ParseText(&array, tailrace.ArrayOf(typ(tailrace.KindNumeric)), text, Default()); err != nil {
		t.Fatal(err)
	}
	if got := string(AppendText(nil, tailrace.ArrayOf(typ(tailrace.KindNumeric)), &array, 0, Default())); got != text {
		t.Error("an array of them came back different")
	}
}
