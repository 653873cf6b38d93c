package changefeed

import (
	"context"
	"fmt"
	"slices"

	"tailrace"
	"tailrace/catalog"
	"tailrace/schedule"
)

// nextChange is the change of a table's columns or name that comes first, nil when there is none.
func (s *span) nextChange() *job {
	var first *table
	for _, tb := range s.tables {
		if tb.until != tailrace.MaxTime && (first == nil || tb.until < first.until) {
			first = tb
		}
	}
	if first == nil {
		return nil
	}
	return alterJob(s, first, first.until)
}

// alterJob carries the change of a table at a time over to the target.
func alterJob(s *span, tb *table, at tailrace.Time) *job {
	var target *tailrace.SinkTarget
	var version *catalog.Table
	var reload bool
	return &job{
		span: s, at: at, loads: len(tb.version.Columns.Key) == 0,
		work: func(ctx context.Context, f *feed, conn tailrace.SinkConn) (err error) {
			if version, err = f.alter(ctx, conn, tb.id, at, false); err != nil {
				return err
			}
			if target, err = f.target.Table(ctx, f.sinkTable(version), false); err != nil {
				return err
			}
			if reload = isReload(tb.version, version); !reload {
				return nil
			}
			l := &loader{f: f, conn: conn, table: &table{id: tb.id, version: version, target: target, reader: reader{schema: version.Columns}}, at: at}
			return l.replace(ctx, false)
		},
		then: func(*feed) schedule.Position {
			tb.reader.close()
			tb.version, tb.target, tb.altered, tb.reader.schema = version, target, at, version.Columns
			s.link()
			if reload {
				return schedule.Position{Time: at}
			}
			return schedule.Position{}
		},
	}
}

// isReload tells that the rows of a table without a key are written anew by a change: their old versions, which are to go, are not at the target in the old type.
func isReload(before, after *catalog.Table) bool {
	if len(after.Columns.Key) > 0 {
		return false
	}
	for i := range after.Columns.Fields {
		f := &after.Columns.Fields[i]
		if n := before.Columns.ByName(f.Name); before.Columns.Index(f.ID) < 0 && n >= 0 && after.Columns.Index(before.Columns.Fields[n].ID) < 0 {
			return true
		}
	}
	return false
}

// finishAlter makes the change that the target's note p is about, if that was cut off. All rows before it are in the target.
func (f *feed) finishAlter(ctx context.Context, id tailrace.CollectionID, p *tailrace.SinkProgress) error {
	if p.Note == "altered" {
		return nil
	}
	conn, err := f.target.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = f.alter(ctx, conn, id, p.Time, true)
	return err
}

// alter makes the change of a table at a time, between two notes of it, and returns the table after it. again: the first note is there.
func (f *feed) alter(ctx context.Context, conn tailrace.SinkConn, id tailrace.CollectionID, at tailrace.Time, again bool) (after *catalog.Table, err error) {
	cat := f.f.o.Catalog.Current()
	before, _ := cat.TableAt(id, at-1)
	after, _ = cat.TableAt(id, at)
	changes, err := changesBetween(f.sinkTable(before), f.sinkTable(after))
	if err != nil {
		return nil, err
	}
	note := func(text string) error {
		return conn.Apply(ctx, &tailrace.SinkTxn{Progress: []tailrace.SinkProgress{{Span: id, Lane: noteAlter, Time: at, Note: text}}})
	}
	if !again {
		if err := note("altering"); err != nil {
			return nil, err
		}
	}
	for i := range changes {
		if err := conn.Alter(ctx, &changes[i]); err != nil {
			return nil, err
		}
	}
	return after, note("altered")
}

// changesBetween lists what turns a table into another version of it.
func changesBetween(before, after *tailrace.SinkTable) ([]tailrace.SinkAlter, error) {
	keyOf := func(t *tailrace.SinkTable) (names []string) {
		for _, k := range t.Columns.Key {
			names = append(names, t.Columns.Fields[k].Name)
		}
		return names
	}
	if len(before.Columns.Key) != len(after.Columns.Key) {
		return nil, &tailrace.SinkError{Fault: tailrace.SinkTableFault, Table: after.Name, Step: -1, Row: -1, Err: &tailrace.Error{
			Code: "0A000", Message: fmt.Sprintf("the primary key changed from %q to %q, which a sink does not carry over", keyOf(before), keyOf(after)),
			Hint: "DROP SINK, change the key of the target's table, and CREATE SINK with ON CONFLICT = 'overwrite'.",
		}}
	}
	var out []tailrace.SinkAlter
	add := func(kind tailrace.SinkAlterKind, column tailrace.ColumnID) {
		out = append(out, tailrace.SinkAlter{Kind: kind, Before: before, After: after, Column: column})
	}
	if before.Schema != after.Schema || before.Name != after.Name {
		add(tailrace.SinkRenameTable, 0)
		moved := *before
		moved.Schema, moved.Name = after.Schema, after.Name
		before = &moved
	}
	retyped := func(f *tailrace.Field) bool { // a retyped column is another one of the same name
		return before.Columns.Index(f.ID) < 0 && slices.ContainsFunc(before.Columns.Fields, func(o tailrace.Field) bool { return o.Name == f.Name && after.Columns.Index(o.ID) < 0 })
	}
	for i := range before.Columns.Fields {
		f := &before.Columns.Fields[i]
		if after.Columns.Index(f.ID) < 0 && !slices.ContainsFunc(after.Columns.Fields, func(o tailrace.Field) bool { return o.Name == f.Name && retyped(&o) }) {
			add(tailrace.SinkDropColumn, f.ID)
		}
	}
	for i := range after.Columns.Fields {
		f := &after.Columns.Fields[i]
		n := before.Columns.Index(f.ID)
		switch {
		case n >= 0 && before.Columns.Fields[n].Name != f.Name:
			add(tailrace.SinkRenameColumn, f.ID)
		case n >= 0 && before.Columns.Fields[n].Type != f.Type, retyped(f):
			add(tailrace.SinkRetypeColumn, f.ID)
		case n < 0:
			add(tailrace.SinkAddColumn, f.ID)
		}
	}
	return out, nil
}
