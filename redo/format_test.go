package redo

import (
	"encoding/hex"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"tailrace"
)

// exampleManifests are those of docs/format/redo.md: a writer's opening, and the manifest of its first segment.
func exampleManifests() []*manifest {
	s := segment{name: objectName(4, 9, 1), size: 111, crc: 0x11223344, regions: []region{{span: 7, length: 105, rows: 2, first: 1_000_000, last: 1_000_005}}}
	return []*manifest{
		{number: 1, epoch: 4, nonce: 9, base: 1, opening: true, spans: map[tailrace.CollectionID]Position{}},
		{number: 2, epoch: 4, nonce: 9, base: 1, spans: map[tailrace.CollectionID]Position{7: {1_000_005, 1}, 8: {Time: 1_000_000}, 300: {Time: 1_000_000}}, segments: segments{loose: []segment{s}}},
		{
			number: 65, epoch: 4, nonce: 9, base: 65, spans: map[tailrace.CollectionID]Position{7: {Time: 1_000_010}},
			segments: segments{pages: []page{{objectName(4, 9, 3), 1024}}}, openings: []uint64{1},
		},
	}
}

func exampleRecord() []byte {
	rows := batchOf(tableOf(7, "t", 1, "id:int name:text"), []update{{1_000_000, 1, "1|hi"}, {1_000_005, -1, "2|NULL"}})
	d := &draft{region: region{span: 7}}
	d.add(Changes, rows, 0)
	return d.bytes
}

// documented are the examples of docs/format/redo.md: the bytes that begin the lines of each block, with one or two blanks between.
func documented(t *testing.T) (examples [][]byte) {
	t.Helper()
	page, err := os.ReadFile("../docs/format/redo.md")
	if err != nil {
		t.Fatal(err)
	}
	digits := regexp.MustCompile(`^ *[0-9a-f]{2}(?: {1,2}[0-9a-f]{2}\b)*`)
	for i, block := range strings.Split(string(page), "```") {
		if i%2 == 0 {
			continue
		}
		var text string
		for line := range strings.Lines(block) {
			text += strings.ReplaceAll(digits.FindString(line), " ", "")
		}
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		examples = append(examples, raw)
	}
	return examples
}

func TestManifestComesBack(t *testing.T) {
	for _, m := range exampleManifests() {
		got, err := decodeManifest(m.encode())
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("got %+v (%v), want %+v", got, err, m)
		}
	}
}

func TestBytesAreAsDocumented(t *testing.T) {
	want := documented(t)
	got := [][]byte{exampleRecord()}
	for _, m := range exampleManifests() {
		got = append(got, m.encode())
	}
	if len(want) != len(got) {
		t.Fatalf("the page has %d examples, want %d", len(want), len(got))
	}
	for i := range got {
		if string(got[i]) != string(want[i]) {
			t.Errorf("example %d:\n got %x\nwant %x", i, got[i], want[i])
		}
	}
}
