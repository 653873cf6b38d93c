package server

import (
	"testing"

	"tailrace"
	"tailrace/format"
)

// TestKeysTellTheirValues prints values from their keys.
func TestKeysTellTheirValues(t *testing.T) {
	of := tailrace.TypeOf
	for _, c := range []struct {
		t      tailrace.Type
		values []string // each is its own answer
	}{
		{of(tailrace.KindBool), []string{"t", "f"}},
		{of(tailrace.KindInt2), []string{"0", "-32768", "32767"}},
		{of(tailrace.KindInt4), []string{"0", "-2147483648", "2147483647"}},
		{of(tailrace.KindInt8), []string{"0", "-9223372036854775808", "9223372036854775807"}},
		{of(tailrace.KindFloat4), []string{"0", "1.5", "-3.4028235e+38", "NaN", "Infinity", "-Infinity"}},
		{of(tailrace.KindFloat8), []string{"0", "0.1", "-5e-324", "NaN", "Infinity", "-Infinity"}},
		{of(tailrace.KindNumeric), []string{"0", "1", "-1", "0.001", "-12.34", "120000", "123456789012345678901234567890.5", "NaN", "Infinity", "-Infinity"}},
		{of(tailrace.KindText), []string{"", "abc", "é"}},
		{of(tailrace.KindBytea), []string{`\x`, `\x00ff00`}},
		{of(tailrace.KindDate), []string{"2000-01-01", "infinity", "4713-01-01 BC"}},
		{of(tailrace.KindTime), []string{"24:00:00", "00:00:00.000001"}},
		{of(tailrace.KindTimestamptz), []string{"2024-02-29 12:00:00+00", "-infinity"}},
		{of(tailrace.KindUUID), []string{"00000000-0000-0000-0000-0000000000ff"}},
		{of(tailrace.KindOID), []string{"4294967295"}},
	} {
		for _, v := range c.values {
			col := tailrace.MakeColumn(c.t.Kind, 1)
			if err := format.ParseText(&col, c.t, v, format.Default()); err != nil {
				t.Fatal(err)
			}
			key := tailrace.AppendKey(nil, c.t, &col, 0)
			if got := keyText(c.t, key); got != v {
				t.Errorf("%s: got %q, want %q", c.t, got, v)
			}
			for cut := range key { // a cut key is no reason to fail
				keyText(c.t, key[:cut])
			}
		}
	}
	if got := keyText(of(tailrace.KindText), []byte{1, 'a', 'b'}); got != "ab..." {
		t.Errorf("a cut text: got %q, want \"ab...\"", got)
	}
	if got := keyText(of(tailrace.KindText), []byte{2}); got != "" {
		t.Errorf("NULL: got %q", got)
	}
}

// FuzzKeyText: bytes that are no key have some text or none.
func FuzzKeyText(f *testing.F) {
	f.Add(uint8(tailrace.KindNumeric), []byte{1, 3, 0x80, 0, 0, 1, 11, 0})
	f.Add(uint8(tailrace.KindNumeric), []byte{1, 1, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Add(uint8(tailrace.KindText), []byte{1, 'a', 0})
	f.Add(uint8(tailrace.KindTimestamptz), []byte{1, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(_ *testing.T, kind uint8, key []byte) {
		k := tailrace.Kind(kind)
		if k.Valid() {
			keyText(tailrace.TypeOf(k), key)
		}
	})
}
