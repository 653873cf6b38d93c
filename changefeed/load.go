package changefeed

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"tailrace"
	"tailrace/schedule"
	"tailrace/shard"
	"tailrace/steps"
)

const (
	// loadRows and loadBytes are how much of a snapshot goes into one transaction of the target.
	loadRows  = 16384
	loadBytes = 8 << 20
	// compareRows is how many rows of the target are looked at at once: a target counts rows, whatever they take.
	compareRows = 1024
)

// loadJob copies the snapshot of a span's tables, from where the target's notes say that it was cut off.
func loadJob(s *span, progress []tailrace.SinkProgress) *job {
	notes := map[tailrace.CollectionID]tailrace.SinkProgress{}
	for _, p := range progress {
		if p.Lane == noteLoad {
			notes[p.Span] = p
		}
	}
	at := whole(s.read)
	return &job{
		span: s, at: at, loads: true,
		work: func(ctx context.Context, f *feed, conn tailrace.SinkConn) error {
			for _, tb := range s.tables {
				l := &loader{f: f, conn: conn, table: tb, at: at, note: notes[tb.id]}
				err := l.run(ctx)
				notes[tb.id] = l.note // where the next try goes on
				if err != nil {
					return err
				}
			}
			return nil
		},
		then: func(f *feed) schedule.Position {
			for _, tb := range s.tables {
				f.loaded(tb)
			}
			return schedule.Position{Time: at}
		},
	}
}

// lookJob looks again for tables of a target that were not there, or not as they must be.
func lookJob(s *span) *job {
	return &job{
		span: s, at: whole(s.read),
		work: func(ctx context.Context, f *feed, _ tailrace.SinkConn) error {
			for _, tb := range s.tables {
				if tb.target == nil {
					if err := f.findTarget(ctx, tb, false); err != nil {
						return err
					}
				}
			}
			return nil
		},
		then: func(*feed) schedule.Position {
			s.link()
			return schedule.Position{}
		},
	}
}

// loader copies the snapshot of one table as of a time.
type loader struct {
	f     *feed
	conn  tailrace.SinkConn
	table *table
	at    tailrace.Time
	note  tailrace.SinkProgress // of the target: how far it is
}

const loadedNote = "loaded"

// isResync tells that the table is to be compared with the target, which somebody asked for.
func (f *feed) isResync(tb *table) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.resolved[tb.id].Resyncs != f.sink.Resyncs[tb.id]
}

func (l *loader) run(ctx context.Context) error {
	f, tb := l.f, l.table
	if tb.target == nil || !tb.target.Loaded {
		if err := f.findTarget(ctx, tb, true); err != nil {
			return err
		}
		f.byTable[tb.id].link()
	}
	if l.note.Time == l.at && l.note.Note == loadedNote {
		return nil
	}
	after, begun := l.begun()
	resync := f.isResync(tb)
	if !begun && tb.target.Loaded && !resync {
		switch f.sink.OnConflict {
		case "overwrite":
			resync = true
		case "verify":
			return l.compare(ctx, true)
		default:
			return &tailrace.SinkError{Fault: tailrace.SinkTableFault, Table: tb.target.Name, Step: -1, Row: -1, Err: &tailrace.Error{
				Code: "55000", Message: "the target's table has rows already",
				Hint: fmt.Sprintf("Empty it, or ALTER SINK %s SET (ON CONFLICT = 'overwrite'), which makes it equal, or 'verify', which compares.", f.sink.Name),
			}}
		}
	}
	if resync {
		return l.compare(ctx, false)
	}
	return l.copy(ctx, after)
}

// begun is the key after which the snapshot at this time goes on.
func (l *loader) begun() (after []byte, begun bool) {
	text, ok := strings.CutPrefix(l.note.Note, "snapshot ")
	if !ok || l.note.Time != l.at {
		return nil, false
	}
	after, err := hex.DecodeString(text)
	return after, err == nil
}

// copy loads the rows after a key.
func (l *loader) copy(ctx context.Context, after []byte) error {
	cursor, err := l.snapshot(ctx, after)
	if err != nil {
		return err
	}
	defer cursor.Close()
	for {
		rows, err := cursor.Next(ctx)
		if errors.Is(err, io.EOF) {
			return l.mark(ctx, loadedNote)
		}
		if err != nil {
			return fmt.Errorf("read the snapshot of %s: %w", l.f.tableName(l.table.id), err)
		}
		p := l.next("snapshot " + hex.EncodeToString(cursor.Position()))
		if err := l.conn.Load(ctx, l.table.target, rows, []tailrace.SinkProgress{p}); err != nil {
			return err
		}
		l.note = p
		l.f.countLoaded(l.table, rows)
	}
}

func (l *loader) snapshot(ctx context.Context, after []byte) (*shard.Cursor, error) {
	sh := l.f.f.o.Shards.Shard(l.table.id)
	if sh == nil {
		return nil, fmt.Errorf("read the snapshot of %s: it was dropped", l.f.tableName(l.table.id))
	}
	return sh.Snapshot(ctx, shard.SnapshotOptions{AsOf: l.at, Schema: l.table.reader.schema, After: after, PieceRows: loadRows, PieceBytes: loadBytes})
}

// next is the note that follows.
func (l *loader) next(note string) tailrace.SinkProgress {
	p := tailrace.SinkProgress{Span: l.table.id, Lane: noteLoad, Time: l.at, Ordinal: l.note.Ordinal + 1, Note: note}
	if l.note.Time != l.at {
		p.Ordinal = 1
	}
	return p
}

func (l *loader) mark(ctx context.Context, note string, list ...tailrace.SinkStep) error {
	p := l.next(note)
	if err := l.conn.Apply(ctx, &tailrace.SinkTxn{Steps: list, Progress: []tailrace.SinkProgress{p}}); err != nil {
		return err
	}
	l.note = p
	return nil
}

// compare goes through the snapshot and the target's rows side by side, both in key order, and makes the target equal; verify: it only looks whether it is.
// A table without a key is emptied and loaded.
func (l *loader) compare(ctx context.Context, verify bool) error {
	if len(l.table.reader.schema.Key) == 0 {
		return l.replace(ctx, verify)
	}
	cursor, err := l.snapshot(ctx, nil)
	if err != nil {
		return err
	}
	defer cursor.Close()
	ours := &side{next: func(ctx context.Context) (*tailrace.Batch, error) { return cursor.Next(ctx) }}
	var last *tailrace.Batch
	theirs := &side{next: func(ctx context.Context) (*tailrace.Batch, error) {
		b, err := l.conn.Rows(ctx, l.table.target, last, compareRows)
		if err == nil && b.N == 0 {
			return nil, io.EOF
		}
		last = b
		return b, err
	}}
	d := &difference{loader: l, verify: verify}
	if err := d.run(ctx, ours, theirs); err != nil {
		return err
	}
	return l.mark(ctx, loadedNote)
}

// replace empties the target's table and loads it.
func (l *loader) replace(ctx context.Context, verify bool) error {
	if verify {
		return &tailrace.SinkError{Fault: tailrace.SinkTableFault, Table: l.table.target.Name, Step: -1, Row: -1, Err: &tailrace.Error{
			Code: "0A000", Message: "a table without a key cannot be verified", Hint: "Use ON CONFLICT = 'overwrite', which empties it and loads it.",
		}}
	}
	st := l.table.target.Table
	if err := l.conn.Alter(ctx, &tailrace.SinkAlter{Kind: tailrace.SinkTruncate, Before: st, After: st}); err != nil {
		return err
	}
	return l.copy(ctx, nil)
}

// side is rows in key order.
type side struct {
	next  func(ctx context.Context) (*tailrace.Batch, error)
	batch *tailrace.Batch
	row   int
	ended bool
}

// more makes a row be there, unless there is none left.
func (s *side) more(ctx context.Context) (bool, error) {
	for !s.ended && (s.batch == nil || s.row == s.batch.N) {
		b, err := s.next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			s.ended = true
		case err != nil:
			return false, err
		default:
			s.batch, s.row = b, 0
		}
	}
	return !s.ended, nil
}

// difference is what makes the target equal, sent as it is found.
type difference struct {
	*loader
	verify         bool
	upsert, remove *tailrace.Batch
}

func (d *difference) run(ctx context.Context, ours, theirs *side) error {
	schema := d.table.reader.schema
	all := make([]int, len(schema.Fields))
	for i := range all {
		all[i] = i
	}
	for {
		a, err := ours.more(ctx)
		if err != nil {
			return err
		}
		b, err := theirs.more(ctx)
		if err != nil {
			return err
		}
		if !a && !b {
			return d.send(ctx)
		}
		order := 1
		if !b {
			order = -1
		} else if a {
			order = compareKeys(schema, ours, theirs)
		}
		switch {
		case order < 0:
			err = d.add(ctx, &d.upsert, ours, "is missing")
			ours.row++
		case order > 0:
			err = d.add(ctx, &d.remove, theirs, "should not be there")
			theirs.row++
		default:
			if tailrace.CompareStored(all, ours.batch, ours.row, theirs.batch, theirs.row) != 0 {
				err = d.add(ctx, &d.upsert, ours, "is different")
			}
			ours.row++
			theirs.row++
		}
		if err != nil {
			return err
		}
	}
}

func compareKeys(s *tailrace.Schema, a, b *side) int {
	return strings.Compare(string(steps.AppendKey(nil, s, a.batch, a.row)), string(steps.AppendKey(nil, s, b.batch, b.row)))
}

// add takes in a row that is not as it should be.
func (d *difference) add(ctx context.Context, to **tailrace.Batch, from *side, what string) error {
	if d.verify {
		key := d.f.keyText(d.table, from.batch, from.row)
		return &tailrace.SinkError{Fault: tailrace.SinkTableFault, Table: d.table.target.Name, Step: -1, Row: -1, Key: key, Err: &tailrace.Error{
			Code: "55000", Message: fmt.Sprintf("the target's table is not equal: the row with %s %s", key, what),
			Hint: fmt.Sprintf("ALTER SINK %s SET (ON CONFLICT = 'overwrite') makes it equal.", d.f.sink.Name),
		}}
	}
	if *to == nil {
		*to = tailrace.NewBatch(d.table.reader.schema, 0)
	}
	(*to).AppendUpdate(from.batch, from.row, 1)
	if (*to).N < batchRows && (*to).Size() < batchBytes {
		return nil
	}
	return d.send(ctx)
}

// send sends what was found so far. A row that another one's unique value stands in the way of is first removed with it.
func (d *difference) send(ctx context.Context) error {
	var list []tailrace.SinkStep
	if d.remove != nil {
		list = append(list, tailrace.SinkStep{Kind: tailrace.SinkDelete, Target: d.table.target, Rows: d.remove})
	}
	if d.upsert != nil {
		if len(d.table.target.Unique) > 0 {
			list = append(list, tailrace.SinkStep{Kind: tailrace.SinkDelete, Target: d.table.target, Rows: d.upsert})
		}
		list = append(list, tailrace.SinkStep{Kind: tailrace.SinkUpsert, Target: d.table.target, Rows: d.upsert})
	}
	d.remove, d.upsert = nil, nil
	if len(list) == 0 {
		return nil
	}
	return d.mark(ctx, "comparing", list...)
}
