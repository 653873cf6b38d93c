package fsst

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
)

// plainEncoder is the definition of AppendEncoded for one lane, twin of all that is faster.
type plainEncoder struct {
	symbols, words map[string]int
	first          int
}

func newPlainEncoder(t *Table) *plainEncoder {
	e := &plainEncoder{symbols: map[string]int{}, words: map[string]int{}, first: t.first()}
	for code := range t.n {
		e.symbols[plainText(t.texts[code], 0, int(t.sizes[code]))] = code
	}
	for n, w := range t.words {
		e.words[plainText(w.lo, w.hi, int(w.size))] = n
	}
	return e
}

// encode codes pieces between separators that are words as such, and what lies between them by symbols.
func (e *plainEncoder) encode(src []byte) (out []byte) {
	for {
		block, pieces := plainBlock(src)
		if block == 0 || len(e.words) == 0 {
			return append(out, e.plain(src)...)
		}
		from := 0
		for i := 1; i < len(pieces); i++ {
			piece := src[pieces[i-1]:pieces[i]]
			piece = piece[:min(len(piece), MaxWordBytes)]
			if n, ok := e.words[string(piece)]; ok {
				out = append(out, e.plain(src[from:pieces[i-1]])...)
				out = append(out, byte(e.first+n/256), byte(n))
				from = pieces[i-1] + len(piece)
			}
		}
		out = append(out, e.plain(src[from:block])...)
		src = src[block:]
	}
}

// plain codes src by symbols: the longest that fits, else the byte behind an escape.
func (e *plainEncoder) plain(src []byte) (out []byte) {
next:
	for len(src) > 0 {
		for n := min(len(src), MaxSymbolBytes); n > 0; n-- {
			if code, ok := e.symbols[string(src[:n])]; ok {
				out, src = append(out, byte(code)), src[n:]
				continue next
			}
		}
		out, src = append(out, escape, src[0]), src[1:]
	}
	return out
}

// plainBlock is the length of the block that src begins with, and where the pieces of it begin and the last one ends.
func plainBlock(src []byte) (n int, pieces []int) {
	n = min(blockBytes, (len(src)-MaxWordBytes)/unitBytes*unitBytes)
	if n <= 0 {
		return 0, nil
	}
	pieces = []int{0}
	for i := 1; i < n; i++ {
		if b := src[i]; b < 0x80 && (b|0x20 < 'a' || b|0x20 > 'z') {
			pieces = append(pieces, i)
		}
	}
	if len(pieces) > 1 {
		n = pieces[len(pieces)-1]
	}
	return n, pieces
}

func plainText(lo, hi uint64, size int) string {
	raw := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, lo), hi)
	return string(raw[:size])
}

// plainDecode is the twin of AppendDecoded.
func plainDecode(t *Table, src []byte) (out []byte, ok bool) {
	for i := 0; i < len(src); i++ {
		c := int(src[i])
		if c < t.first() {
			out = append(out, plainText(t.texts[c], 0, int(t.sizes[c]))...)
			continue
		}
		if i++; i == len(src) {
			return nil, false
		}
		if c == escape {
			out = append(out, src[i])
		} else if n := (c-t.first())*256 + int(src[i]); n < len(t.words) {
			out = append(out, plainText(t.words[n].lo, t.words[n].hi, int(t.words[n].size))...)
		}
	}
	return out, true
}

func TestTextsComeBackAndAreShorter(t *testing.T) {
	for i, spec := range texts {
		all, each := column(i, 4000)
		e := Train(each[:1000], nil, 0)
		coded := e.AppendEncoded(nil, all)
		table, err := ParseTable(e.Table().AppendTable(nil))
		if err != nil {
			t.Fatalf("%s: parse table: %v", spec.name, err)
		}
		if !reflect.DeepEqual(*table, e.table) {
			t.Errorf("%s: the table that was read back is not the one written", spec.name)
		}
		got, err := table.AppendDecoded([]byte("before"), coded, len(all))
		if err != nil || !bytes.Equal(got, append([]byte("before"), all...)) {
			t.Errorf("%s: %d bytes do not come back (%v)", spec.name, len(all), err)
		}
		ratio := float64(len(coded)) / float64(len(all))
		t.Logf("%s: %d bytes to %.3f, %d symbols", spec.name, len(all), ratio, table.Symbols())
		if most := map[string]float64{"hex": 0.8, "bytes": 1.5}[spec.name]; ratio > max(most, 0.5) {
			t.Errorf("%s: coded to %.3f of the size", spec.name, ratio)
		}
	}
}

func TestEncoderEqualsThePlainLoops(t *testing.T) {
	for i, spec := range texts {
		all, each := column(i, 300)
		for name, e := range map[string]*Encoder{"symbols": Train(each, nil, 0), "words": Train(each, [][]byte{all, all}, 100)} {
			for _, n := range []int{0, 1, 2, 7, 8, 9, 79, 80, 81, 255, 256, 257, 1000, blockBytes + 100, len(all)} {
				src := all[:min(n, len(all))]
				var want []byte
				plain := newPlainEncoder(e.Table())
				if len(src) < laneBytes || e.Table().Words() > 0 {
					want = plain.encode(src)
				} else {
					quarter := len(src) / lanes
					for lane := range lanes - 1 {
						want = append(want, plain.encode(src[lane*quarter:(lane+1)*quarter])...)
					}
					want = append(want, plain.encode(src[(lanes-1)*quarter:])...)
				}
				got := e.AppendEncoded([]byte{1, 2}, src)[2:]
				if !bytes.Equal(got, want) {
					t.Errorf("%s by %s, %d bytes: the code is not that of the plain loop", spec.name, name, len(src))
				}
				text, ok := plainDecode(e.Table(), got)
				if !ok || !bytes.Equal(text, src) {
					t.Errorf("%s by %s, %d bytes: the plain decoder gives another text", spec.name, name, len(src))
				}
			}
		}
	}
}

// TestWordsAmongAnything has a vocabulary that fills the slots, and between its words digits and zeros, which symbols end in that must not reach into
// a word, and words that are too long.
func TestWordsAmongAnything(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	words, each := manyWords(60_000)
	var all []byte
	for len(words) > 40 {
		n := 1 + rng.IntN(40)
		all, words = append(all, words[:n]...), words[n:]
		switch rng.IntN(4) {
		case 0:
			all = append(all, make([]byte, rng.IntN(12))...)
		case 1:
			all = append(all, "0123456789"[rng.IntN(10):]...)
		case 2:
			all = append(all, bytes.Repeat([]byte("x"), rng.IntN(30))...)
		}
	}
	e := Train(append(each[:300], all[:20_000]), [][]byte{all}, 64)
	if e.Table().Words() < 2000 {
		t.Fatalf("got %d words of a vocabulary of 3,000", e.Table().Words())
	}
	got, want := e.AppendEncoded(nil, all), newPlainEncoder(e.Table()).encode(all)
	if !bytes.Equal(got, want) {
		t.Errorf("the code of %d bytes is not that of the plain loop", len(all))
	}
	if text, ok := plainDecode(e.Table(), got); !ok || !bytes.Equal(text, all) {
		t.Errorf("the plain decoder gives another text")
	}
}

func TestWordsAreFoundWhereTheyPay(t *testing.T) {
	all, each := manyWords(30_000)
	symbols := Train(each[:200], nil, 0)
	words := Train(each[:200], [][]byte{all[:len(all)/4]}, 256)
	if words.Table().Words() < 1000 {
		t.Fatalf("got %d words of a vocabulary of 3,000", words.Table().Words())
	}
	without, with := len(symbols.AppendEncoded(nil, all)), len(words.AppendEncoded(nil, all))
	if 100*with > 85*without {
		t.Errorf("got %d bytes with words, %d without, of %d", with, without, len(all))
	}
	table, err := ParseTable(words.Table().AppendTable(nil))
	if err != nil || !reflect.DeepEqual(*table, words.table) {
		t.Fatalf("a table with words does not come back: %v", err)
	}
	for _, n := range []int{0, 1, 16, 17, 33, 34, 35, 100, 1000, len(all)} {
		got, err := table.AppendDecoded(nil, words.AppendEncoded(nil, all[:n]), n)
		if err != nil || !bytes.Equal(got, all[:n]) {
			t.Errorf("%d bytes do not come back: %v", n, err)
		}
	}
	none, noise := column(5, 2000)
	if e := Train(noise, [][]byte{none}, 1024); e.Table().Words() != 0 {
		t.Errorf("%d words in random bytes", e.Table().Words())
	}
}

func TestWordAtIsAByteAndLetters(t *testing.T) {
	for text, want := range map[string]int{
		" river runs below......": 6, "River,.................": 5, "..river................": 1, " abcdefghijklmnopqrstuvw": 16, "7abcdefgh--------------": 9,
		"-abcdefg---------------": 8, " \xc3\xa9t\xc3\xa9 ................": 6, "\x00@[`{\x7f.............": 1, " AZaz{.................": 5,
	} {
		w := wordAt([]byte(text))
		if int(w.size) != want || plainText(w.lo, w.hi, want) != text[:want] || w.size < 9 && w.hi != 0 {
			t.Errorf("%q: got %d bytes %q, want %q", text, w.size, plainText(w.lo, w.hi, int(w.size)), text[:want])
		}
	}
}

func TestTrainingIsAFunctionOfTheSample(t *testing.T) {
	for i, spec := range texts {
		_, each := column(i, 1000)
		more := [][]byte{bytes.Join(each, nil)}
		first := Train(each, more, 100).Table().AppendTable(nil)
		Train([][]byte{[]byte("something else in between")}, nil, 0)
		if again := Train(each, more, 100).Table().AppendTable(nil); !bytes.Equal(first, again) {
			t.Errorf("%s: two trainings on one sample give two tables", spec.name)
		}
	}
}

func TestSamplesOfAnyShapeTrain(t *testing.T) {
	big := bytes.Repeat([]byte("abcdefghij"), 200_000)
	for name, samples := range map[string][][]byte{
		"none": nil, "empty": {{}, {}}, "one byte": {{0}}, "zeros": {make([]byte, 5000)}, "large": {big, {}, big}, "all ones": {bytes.Repeat([]byte{255}, 999)},
	} {
		e := Train(samples, nil, 0)
		for _, s := range append(samples, big[:777], []byte{0, 0, 0}) {
			got, err := e.Table().AppendDecoded(nil, e.AppendEncoded(nil, s), len(s))
			if err != nil || !bytes.Equal(got, s) {
				t.Errorf("%s: %d bytes do not come back: %v", name, len(s), err)
			}
		}
	}
}

func TestWrongLengthIsRefused(t *testing.T) {
	all, each := column(0, 200)
	e := Train(each, nil, 0)
	coded := e.AppendEncoded(nil, all)
	for _, n := range []int{-1, 0, len(all) - 1, len(all) + 1, 8*len(coded) + 1, 1 << 50} {
		if _, err := e.Table().AppendDecoded(nil, coded, n); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d codes of %d bytes decoded as %d: got %v, want ErrCorrupt", len(coded), len(all), n, err)
		}
	}
	if _, err := e.Table().AppendDecoded(nil, []byte{escape}, 1); !errors.Is(err, ErrCorrupt) {
		t.Errorf("escape at the end: got %v, want ErrCorrupt", err)
	}
}

func TestDecodeAllocs(t *testing.T) {
	all, each := column(0, 1000)
	e := Train(each, nil, 0)
	coded := e.AppendEncoded(nil, all)
	room, out := make([]byte, 0, len(all)+slack), make([]byte, 0, MaxEncoded(len(all))+64)
	if n := testing.AllocsPerRun(10, func() {
		if _, err := e.Table().AppendDecoded(room, coded, len(all)); err != nil {
			t.Fatal(err)
		}
		e.AppendEncoded(out, all)
	}); n != 0 {
		t.Errorf("coding and decoding into room there is: got %v allocations, want 0", n)
	}
}

// FuzzRoundTrip trains on, codes and decodes any bytes.
func FuzzRoundTrip(f *testing.F) {
	for i := range texts {
		all, _ := column(i, 30)
		f.Add(all, all[:len(all)/2])
	}
	f.Fuzz(func(t *testing.T, sample, text []byte) {
		e := Train([][]byte{sample}, [][]byte{sample, sample, sample, sample}, 1)
		coded := e.AppendEncoded(nil, text)
		if len(coded) > MaxEncoded(len(text)) {
			t.Fatalf("%d bytes coded to %d", len(text), len(coded))
		}
		got, err := e.Table().AppendDecoded(nil, coded, len(text))
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("got %x, %v, want %x", got, err, text)
		}
	})
}

// FuzzDecode decodes any bytes with any table: as the plain decoder does, or not at all.
func FuzzDecode(f *testing.F) {
	all, each := column(1, 50)
	e := Train(each, nil, 0)
	f.Add(e.Table().AppendTable(nil), e.AppendEncoded(nil, all), len(all))
	f.Add([]byte{1, 1, 0, 0, 0, 0, 0, 1, 'a', 'b', 'c', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}, []byte{0, 1, 2, 255, 'x', 2, 2, 3}, 30)
	words, many := manyWords(2000)
	e = Train(many, [][]byte{words}, 10)
	f.Add(e.Table().AppendTable(nil), e.AppendEncoded(nil, words[:500]), 500)
	f.Fuzz(func(t *testing.T, stored, coded []byte, n int) {
		table, err := ParseTable(stored)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("got %v, want ErrCorrupt", err)
			}
			return
		}
		if !bytes.Equal(table.AppendTable(nil), stored) {
			t.Fatal("a table has two stored forms")
		}
		want, ok := plainDecode(table, coded)
		for _, n := range []int{n, len(want)} {
			got, err := table.AppendDecoded(nil, coded, n)
			switch {
			case ok && n == len(want):
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("got %x, %v, want %x", got, err, want)
				}
			case !errors.Is(err, ErrCorrupt):
				t.Fatalf("%d codes as %d bytes: got %v, want ErrCorrupt", len(coded), n, err)
			}
		}
	})
}

func TestTablesOfStrangersAreRefused(t *testing.T) {
	for name, stored := range map[string][]byte{
		"short": {1, 0}, "symbols missing": {1, 0, 0, 0, 0, 0, 0, 0}, "bytes left": {1, 0, 0, 0, 0, 0, 0, 0, 'a', 'b'},
		"out of order": {2, 0, 0, 0, 0, 0, 0, 0, 'b', 'a'}, "twice": {2, 0, 0, 0, 0, 0, 0, 0, 'b', 'b'},
		"255 symbols and words": append(append([]byte{255, 0, 0, 0, 0, 0, 0, 0}, ascending(255)...), append(append([]byte{1}, make([]byte, 27)...), "abc"...)...),
		"no words":              append([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0x61}, make([]byte, 28)...),
		"words out of order":    append(append([]byte{0, 0, 0, 0, 0, 0, 0, 0, 2}, make([]byte, 27)...), "bbbaaa"...),
		"words cut":             append(append([]byte{0, 0, 0, 0, 0, 0, 0, 0, 2}, make([]byte, 27)...), "aaabb"...),
		"256 symbols":           append([]byte{255, 1, 0, 0, 0, 0, 0, 0}, make([]byte, 257)...),
	} {
		if _, err := ParseTable(stored); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: got %v, want ErrCorrupt", name, err)
		}
	}
}

func ascending(n int) (out []byte) {
	for i := range n {
		out = append(out, byte(i+1))
	}
	return out
}
