package shape

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

func csv(t *testing.T, s Shape, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := s.WriteCSV(&out, n); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// kept are the first bytes of the SHA-256 of 2,000 rows. Kept results compare only while these do not change.
var kept = map[string]string{
	"wide":     "53157f58a9195946",
	"text":     "1471f462fd3bb9e4",
	"ints":     "d035d6dba3474cfc",
	"narrow":   "1de35fac022a149a",
	"shuffled": "52afc7200fe9b4db",
}

func TestRowsNeverChange(t *testing.T) {
	for _, s := range All() {
		sum := sha256.Sum256(csv(t, s, 2_000))
		if got := hex.EncodeToString(sum[:8]); got != kept[s.Name] {
			t.Errorf("%s: got %s, want %s", s.Name, got, kept[s.Name])
		}
	}
}

func TestLongTableBeginsWithTheShortOne(t *testing.T) {
	for _, s := range All() {
		if long, short := csv(t, s, 300), csv(t, s, 100); !s.shuffled && !bytes.HasPrefix(long, short) {
			t.Errorf("%s: 300 rows do not begin with the 100", s.Name)
		}
	}
}

func TestShuffledHasTheRowsOfWide(t *testing.T) {
	lines := func(name string) []string {
		s, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(csv(t, s, 500)), "\n")
	}
	wide, shuffled := lines("wide"), lines("shuffled")
	if slices.Equal(wide, shuffled) {
		t.Error("the order is the same")
	}
	slices.Sort(wide)
	slices.Sort(shuffled)
	if !slices.Equal(wide, shuffled) {
		t.Error("the rows differ")
	}
}

func TestLinesAreAsLongAsTheyShould(t *testing.T) {
	for name, want := range map[string]int{"wide": 350, "text": 420, "ints": 236, "narrow": narrowBytes} {
		s, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		const rows = 3_000
		if got := len(csv(t, s, rows)) / rows; got < want*9/10 || got > want*11/10 {
			t.Errorf("%s: got %d bytes a row, want about %d", name, got, want)
		}
	}
}
