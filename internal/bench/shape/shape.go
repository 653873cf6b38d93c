package shape

import (
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"tailrace"
)

// Shape is one table.
type Shape struct {
	Name     string
	Rows     int // as measured
	Schema   *tailrace.Schema
	shuffled bool
	row      func(l *line, i int)
}

// All are the shapes, in the order of the package's comment.
func All() []Shape {
	words := newVocabulary()
	wide := Shape{Name: "wide", Rows: 500_000, Schema: schemaOf(wideColumns), row: words.wide}
	shuffled := wide
	shuffled.Name, shuffled.shuffled = "shuffled", true
	return []Shape{
		wide,
		{Name: "text", Rows: 300_000, Schema: schemaOf(textColumns), row: words.text},
		{Name: "ints", Rows: 500_000, Schema: schemaOf(intsColumns()), row: ints},
		{Name: "narrow", Rows: 1_000_000, Schema: schemaOf(narrowColumns), row: words.narrow},
		shuffled,
	}
}

// Named is the shape of that name.
func Named(name string) (Shape, error) {
	var names []string
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Shape{}, fmt.Errorf("there is no shape %q: it is one of %s", name, strings.Join(names, ", "))
}

// Names are the names of all shapes.
func Names() []string {
	var names []string
	for _, s := range All() {
		names = append(names, s.Name)
	}
	return names
}

// Shuffled tells that the rows do not come in the order of their first column.
func (s Shape) Shuffled() bool { return s.shuffled }

// Create is the statement that makes the table; PostgreSQL, DuckDB and Tailrace all take it.
func (s Shape) Create(table string) string {
	var columns []string
	for _, f := range s.Schema.Fields {
		columns = append(columns, f.Name+" "+f.Type.String())
	}
	return fmt.Sprintf("CREATE TABLE %s (%s)", table, strings.Join(columns, ", "))
}

// writeBytes is how much is written at once.
const writeBytes = 256 << 10

// WriteCSV writes n rows as CSV without a header; NULL is nothing between two commas.
func (s Shape) WriteCSV(w io.Writer, n int) error {
	order := func(i int) int { return i }
	if s.shuffled {
		at := rand.New(rand.NewPCG(2, 2)).Perm(n)
		order = func(i int) int { return at[i] }
	}
	l := newLine()
	for i := range n {
		l.begin(order(i))
		s.row(l, order(i))
		l.end()
		if len(l.dst) >= writeBytes || i == n-1 {
			if _, err := w.Write(l.dst); err != nil {
				return fmt.Errorf("write the rows of %s: %w", s.Name, err)
			}
			l.dst = l.dst[:0]
		}
	}
	return nil
}

// column is a name and a type of a table.
type column struct {
	name string
	kind tailrace.Kind
}

// schemaOf numbers columns from 1. Nothing is a key: peers would build an index.
func schemaOf(columns []column) *tailrace.Schema {
	s := &tailrace.Schema{Version: 1, NextColumn: tailrace.ColumnID(len(columns) + 1)}
	for i, c := range columns {
		t := tailrace.TypeOf(c.kind)
		if c.kind == tailrace.KindNumeric {
			t.Mod = (12<<16 | 2) + 4 // numeric(12,2)
		}
		s.Fields = append(s.Fields, tailrace.Field{ID: tailrace.ColumnID(i + 1), Name: c.name, Type: t})
	}
	return s
}

// dice are the random numbers of one row.
type dice struct{ pcg *rand.PCG }

// below is a number in [0, n), each as likely as the other.
func (d dice) below(n int) int {
	hi, _ := bits.Mul64(d.pcg.Uint64(), uint64(n))
	return int(hi)
}

// skewed is a number in [0, n), small ones much more often: the product of three even ones.
func (d dice) skewed(n int) int { return d.below(d.below(d.below(n)+1) + 1) }

// half is a number in [0, n), small ones somewhat more often: the product of two even ones.
func (d dice) half(n int) int { return d.below(d.below(n) + 1) }

// one in n times it is true.
func (d dice) one(n int) bool { return d.below(n) == 0 }

// pick is one of list.
func (d dice) pick(list []string) string { return list[d.below(len(list))] }

// often is one of list, the first ones more often.
func (d dice) often(list []string) string { return list[d.skewed(len(list))] }

// newDice are the dice of a fixed table of words.
func newDice(seed uint64) dice { return dice{rand.NewPCG(seed, 1)} }

// distinct are n different words that make gives.
func distinct(n int, make func() string) []string {
	seen := map[string]bool{}
	var out []string
	for len(out) < n {
		if w := make(); !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return slices.Clip(out)
}
