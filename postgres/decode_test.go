package postgres

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tailrace"
)

// asText keeps every value as its text.
func asText(c *tailrace.Column, _ tailrace.Type, text string) error {
	c.AppendString(text)
	return nil
}

func textTable(columns ...string) *tailrace.SourceTable {
	t := &tailrace.SourceTable{Rel: 7, Schema: "public", Name: "t", Key: []int{0}}
	for i, name := range columns {
		t.Columns = append(t.Columns, tailrace.SourceColumn{Num: i + 1, Name: name, TypeID: 25, Mod: -1, Type: tailrace.TypeOf(tailrace.KindText)})
	}
	return t
}

func TestCopyLinesAreUnescaped(t *testing.T) {
	c := newCopyText(textTable("a", "b"), asText)
	for _, test := range []struct{ line, a, b string }{
		{"x\ty\n", "x", "y"},
		{"\\N\t\n", "NULL", ""},
		{"\\\\N\t\\t\\n\\r\\b\\f\\v\\\\\n", `\N`, "\t\n\r\b\f\v\\"},
	} {
		if err := c.line([]byte(test.line)); err != nil {
			t.Fatal(err)
		}
		b := c.take()
		got := [2]string{string(b.Cols[0].Bytes(0)), string(b.Cols[1].Bytes(0))}
		if b.Cols[0].IsNull(0) {
			got[0] = "NULL"
		}
		if got != [2]string{test.a, test.b} {
			t.Errorf("line %q: got %q, want %q", test.line, got, [2]string{test.a, test.b})
		}
	}
	if err := c.line([]byte("only one")); !errors.Is(err, tailrace.ErrCorrupt) {
		t.Errorf("a short line: got %v, want ErrCorrupt", err)
	}
}

// plainLine is copyText.line without its haste: every value is looked at for NULL and escapes.
func plainLine(c *copyText, line []byte) error {
	values := bytes.SplitN(bytes.TrimSuffix(line, []byte("\n")), []byte("\t"), len(c.table.Columns))
	if len(values) < len(c.table.Columns) {
		return tailrace.ErrCorrupt
	}
	for i, v := range values {
		if err := c.value(i, v); err != nil {
			return err
		}
	}
	c.batch.N++
	return nil
}

func FuzzCopyLine(f *testing.F) {
	f.Add([]byte("a\tb\n"))
	f.Add([]byte("\\N\t\\\\\\"))
	f.Add([]byte("-12\t1234567890"))
	f.Fuzz(func(t *testing.T, line []byte) {
		fast, plain := newCopyText(textTable("a", "b"), asText), newCopyText(textTable("a", "b"), asText)
		err := fast.line(line)
		if err != nil && !errors.Is(err, tailrace.ErrCorrupt) {
			t.Errorf("got %v, want ErrCorrupt or none", err)
		}
		want := plainLine(plain, line)
		if (err == nil) != (want == nil) {
			t.Fatalf("line %q: got error %v, want %v", line, err, want)
		}
		if err == nil && !cmp.Equal(fast.batch, plain.batch) {
			t.Errorf("line %q: got %+v, want %+v", line, fast.batch, plain.batch)
		}
	})
}

// FuzzStream feeds a stream's messages, each preceded by its length, to a reader that knows one table.
func FuzzStream(f *testing.F) {
	message := func(parts ...string) string {
		s := strings.Join(parts, "")
		return string([]byte{byte(len(s))}) + s
	}
	x := "w" + strings.Repeat("\x00", 24)
	begin := message(x, "B", strings.Repeat("\x00", 16), "\x00\x00\x00\x09")
	insert := message(x, "I\x00\x00\x00\x07N\x00\x02t\x00\x00\x00\x01kt\x00\x00\x00\x01v")
	update := message(x, "U\x00\x00\x00\x07K\x00\x02t\x00\x00\x00\x01knN\x00\x02t\x00\x00\x00\x01ku")
	remove := message(x, "D\x00\x00\x00\x07O\x00\x02t\x00\x00\x00\x01kn")
	truncate := message(x, "T\x00\x00\x00\x01\x00\x00\x00\x00\x07")
	commit := message(x, "C\x00", strings.Repeat("\x00", 15), "\x05", strings.Repeat("\x00", 8))
	f.Add([]byte(begin + insert + update + remove + truncate + commit + message("k", strings.Repeat("\x00", 16), "\x01")))
	f.Fuzz(func(t *testing.T, stream []byte) {
		s := New(Config{Parse: asText})
		table := textTable("k", "v")
		var rows, changes int
		r := &reader{
			s: s, link: &link{asked: make(chan struct{}, 1)}, piece: &tailrace.SourcePiece{},
			tables: map[uint32]*followed{7: {table: table, ready: true}},
			deliver: func(p *tailrace.SourcePiece) error {
				for _, c := range p.Changes {
					for _, ch := range c.List {
						changes++
						if ch.New >= int32(c.New.N) || ch.Old >= int32(c.Old.N) {
							t.Errorf("change %+v of %d new and %d old rows", ch, c.New.N, c.Old.N)
						}
					}
					rows += c.New.N
				}
				return nil
			},
		}
		for len(stream) > 0 {
			n := min(int(stream[0]), len(stream)-1)
			m := stream[1 : 1+n]
			stream = stream[1+n:]
			if bytes.HasPrefix(m, []byte("w")) && len(m) > 25 && m[25] == 'R' {
				if _, err := readRelation(m[26:]); err != nil && !errors.Is(err, tailrace.ErrCorrupt) {
					t.Errorf("relation: got %v, want ErrCorrupt or none", err)
				}
				continue // what it means is asked of the database
			}
			if err := r.message(context.Background(), m); err != nil {
				if !errors.Is(err, tailrace.ErrCorrupt) {
					t.Errorf("got %v, want ErrCorrupt or none", err)
				}
				return
			}
		}
	})
}

func FuzzRelation(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x07public\x00t\x00d\x00\x01\x01k\x00\x00\x00\x00\x19\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := readRelation(b)
		if err == nil && len(r.columns) > len(b) {
			t.Errorf("got %d columns out of %d bytes", len(r.columns), len(b))
		}
		if err != nil && !errors.Is(err, tailrace.ErrCorrupt) {
			t.Errorf("got %v, want ErrCorrupt or none", err)
		}
	})
}
