package world

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// model is what the tables should hold: plain maps that the transactions of the log are folded into, in its order.
type model map[string]*table

// table is a bag of rows, each as text with tabs between its columns, the first of which is the key in a table that has one.
type table struct {
	keyed bool
	rows  map[string]int
	byKey map[string]string
	sum   uint64 // of the rows' hashes
}

// The tables of a world: ours, and the two of the source. Of altered only the columns that stay are looked at.
const (
	keyed   = "k"   // id int PRIMARY KEY, n bigint, w text
	bag     = "m"   // w text, v int
	bulk    = "big" // w text, v int, pad text: COPY fills it with what goes to parts
	altered = "a"   // id int PRIMARY KEY, w text, sometimes x
	dropped = "d"   // id int PRIMARY KEY, w text; another one takes its place now and then
	renamed = "r"   // id int PRIMARY KEY, w text; sometimes its name is renamedTo
	brief   = "h"   // id int PRIMARY KEY, w text, pad text; its history is kept for briefly
	upKeyed = "up1" // id int PRIMARY KEY, v int, w text, big text
	upBag   = "up2" // id int, w text

	renamedTo = "q"
	briefly   = 2 * time.Second
	padding   = 400 // bytes of pad, so that few rows are flushed: only what was flushed is let go
)

// ours are the tables that writers write to.
var ours = []string{keyed, bag, bulk, altered, dropped, renamed, brief}

func newModel() model {
	m := model{}
	for _, name := range append(slices.Clone(ours), upKeyed, upBag) {
		m[name] = &table{keyed: name != bag && name != bulk && name != upBag, rows: map[string]int{}, byKey: map[string]string{}}
	}
	return m
}

// founding are the statements that make the tables and the source.
func founding() []string {
	out := []string{
		"CREATE TABLE IF NOT EXISTS k (id int PRIMARY KEY, n bigint, w text)", "CREATE TABLE IF NOT EXISTS m (w text, v int)",
		"CREATE TABLE IF NOT EXISTS big (w text, v int, pad text)", fmt.Sprintf("CREATE TABLE IF NOT EXISTS h (id int PRIMARY KEY, w text, pad text) WITH (RETAIN HISTORY FOR '%ds')", briefly/time.Second),
		"CREATE CONNECTION shop TO POSTGRES (HOST 'h')", "CREATE SOURCE shop FROM POSTGRES CONNECTION shop FOR ALL TABLES",
	}
	for _, name := range []string{altered, dropped, renamed} {
		out = append(out, "CREATE TABLE IF NOT EXISTS "+name+" "+twoColumns)
	}
	return out
}

const twoColumns = "(id int PRIMARY KEY, w text)"

// row is a row as text.
func row(columns ...any) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = fmt.Sprint(c)
	}
	return strings.Join(out, "\t")
}

func keyOf(row string) string {
	key, _, _ := strings.Cut(row, "\t")
	return key
}

// hashOf is a row's part of a table's sum.
func hashOf(row string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(row)) // never fails
	return h.Sum64()
}

// add puts diff copies of row in. It fails where a key would be there twice, or a row less than no time.
func (t *table) add(row string, diff int) error {
	if t.keyed && diff > 0 {
		if was, there := t.byKey[keyOf(row)]; there {
			return fmt.Errorf("row %q comes where %q is", row, was)
		}
		t.byKey[keyOf(row)] = row
	} else if t.keyed {
		delete(t.byKey, keyOf(row))
	}
	n := t.rows[row] + diff
	if n < 0 {
		return fmt.Errorf("row %q goes that is not there", row)
	}
	if t.rows[row] = n; n == 0 {
		delete(t.rows, row)
	}
	t.sum += uint64(diff) * hashOf(row)
	return nil
}

// clear takes all rows out.
func (t *table) clear() {
	clear(t.rows)
	clear(t.byKey)
	t.sum = 0
}

// text is what differs between want, these rows, and got, in a few lines.
func (t *table) text(got map[string]int) string {
	var out []string
	all := maps.Clone(got)
	maps.Copy(all, t.rows)
	for _, r := range slices.Sorted(maps.Keys(all)) {
		if got[r] != t.rows[r] {
			out = append(out, "  "+strconv.Quote(r)+": got "+strconv.Itoa(got[r])+", want "+strconv.Itoa(t.rows[r]))
		}
	}
	if len(out) > 12 {
		out = append(out[:12], fmt.Sprintf("  and %d more", len(out)-12))
	}
	return strings.Join(out, "\n")
}

// sorted is the rows, each as often as it is there.
func (t *table) sorted() []string {
	var out []string
	for _, r := range slices.Sorted(maps.Keys(t.rows)) {
		for range t.rows[r] {
			out = append(out, r)
		}
	}
	return out
}

// columns is a row's columns as text.
func columns(row string) []string { return strings.Split(row, "\t") }
