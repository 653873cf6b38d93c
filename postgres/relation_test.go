package postgres

import (
	"slices"
	"strings"
	"testing"

	"tailrace"
)

// columnsOf reads "2 a" or "2 a@90" (added by transaction 90); a name ending in # is an integer, else text.
func columnsOf(list string) []attribute {
	var out []attribute
	for _, item := range strings.Split(list, ",") {
		num, name, _ := strings.Cut(strings.TrimSpace(item), " ")
		name, xmin, _ := strings.Cut(name, "@")
		a := attribute{xmin: parseUint32(xmin)}
		a.Num, a.Name, a.TypeID = int(parseInt64(num, 0)), name, 25
		if strings.HasSuffix(name, "#") {
			a.TypeID = 23
		}
		out = append(out, a)
	}
	return out
}

func TestColumnsAreRecognized(t *testing.T) {
	for _, test := range []struct {
		name, known, message, now, dropped string
		xid                                uint32
		want                               string
	}{
		{"same", "1 id,2 a", "id,a", "1 id,2 a", "", 100, "1 2"},
		{"renamed", "1 id,2 a", "id,b", "1 id,2 b", "", 100, "1 2"},
		{"added", "1 id", "id,b", "1 id,2 b@99", "", 100, "1 2"},
		{"added later", "1 id", "id", "1 id,2 b@101", "", 100, "1"},
		{"dropped", "1 id,2 a,3 b", "id,b", "1 id,3 b", "2", 100, "1 3"},
		{"dropped later", "1 id,2 a,3 b", "id,a,b", "1 id,3 b", "2", 100, "1 2 3"},
		{"dropped and added again", "1 id,2 a", "id,a", "1 id,3 a@100", "2", 100, "1 3"},
		{"to be dropped and added again", "1 id,2 a", "id,a", "1 id,3 a@101", "2", 100, "1 2"},
		{
			"dropped and added again in the middle", "1 id,3 b,4 h#,6 z,7 n,8 d,9 i#", "id,b,h#,z,d,i#,n", "1 id,3 b,4 h#,6 z,8 d,9 i#,10 n@100", "2,7", 100,
			"1 3 4 6 8 9 10",
		},
		{"renamed twice", "1 id,2 a", "id,b", "1 id,2 c", "", 100, "1 2"},
		{"came and went", "1 id,2 a", "id,a,x", "1 id,2 a", "3", 100, "1 2 3"},
		{"names exchanged", "1 id,2 a,3 b#", "id,b,a#", "1 id,2 b,3 a#", "", 100, "1 2 3"},
	} {
		known := &tailrace.SourceTable{}
		for _, a := range columnsOf(test.known) {
			known.Columns = append(known.Columns, a.SourceColumn)
		}
		var message []wireColumn
		for _, name := range strings.Split(test.message, ",") {
			c := wireColumn{name: name, typeID: 25}
			if strings.HasSuffix(name, "#") {
				c.typeID = 23
			}
			message = append(message, c)
		}
		var dropped [][]string
		for _, num := range strings.Fields(strings.ReplaceAll(test.dropped, ",", " ")) {
			dropped = append(dropped, []string{num})
		}
		candidates := candidatesFor(known, columnsOf(test.now), dropped)
		var got []string
		for _, j := range assign(message, candidates, test.xid) {
			got = append(got, string(rune('0'+candidates[j].num)))
		}
		want := strings.Fields(strings.ReplaceAll(test.want, "10", ":"))
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", test.name, got, want)
		}
	}
}

// TestKnownColumnKeepsItsType follows a table that was copied when arrays were carried as their text.
func TestKnownColumnKeepsItsType(t *testing.T) {
	text := tailrace.Type{Kind: tailrace.KindForeign, Mod: -1, Name: "integer[]"}
	known := &tailrace.SourceTable{Columns: []tailrace.SourceColumn{{Num: 1, Name: "a", TypeID: 1007, Mod: -1, Type: text}}}
	now := attribute{SourceColumn: tailrace.SourceColumn{Num: 1, Name: "a", TypeID: 1007, Mod: -1, Type: typeFor(1007, -1, "integer[]")}}
	if now.Type.Kind != tailrace.KindArray {
		t.Fatalf("a new column of type int[] is %v (kind %d), want an array", now.Type, now.Type.Kind)
	}
	wire := &wireColumn{name: "a", typeID: 1007, mod: -1}
	if got := columnOf(wire, &candidate{num: 1, known: &known.Columns[0], now: &now}, known); got.Type != text {
		t.Errorf("the column became %v (kind %d), want its text as before", got.Type, got.Type.Kind)
	}
}
