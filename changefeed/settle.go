package changefeed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tailrace"
	"tailrace/catalog"
	"tailrace/log"
	"tailrace/schedule"
	"tailrace/shard"
	"tailrace/steps"
)

// The lanes below 0 in a target's progress are notes.
const (
	noteAlter = -1 // of a table: "altering" or "altered" at a time
	noteLoad  = -2 // of a table: how far its snapshot is
	noteHuge  = -3 // of a span: everything at or before the time is there
	noteSync  = -4 // of span 0: a sync point
)

// settle finds out where each table is, and gives those that begin a time to begin at, with holds, for good. anew: the target has forgotten how far it came.
func (f *feed) settle(ctx context.Context) (anew bool, err error) {
	begin, anew := f.places()
	if anew {
		if err := f.forgetProgress(ctx); err != nil {
			return anew, err
		}
	}
	if err := f.begin(ctx, begin); err != nil {
		return anew, err
	}
	return anew, f.readable(ctx)
}

// places resolves the tables whose place is known and returns those that begin. anew: some were there before, and begin once more.
func (f *feed) places() (begin catalog.SinkProgress, anew bool) {
	begin = catalog.SinkProgress{}
	known := f.f.o.Catalog.Current().SinkProgress[f.sink.ID]
	f.resolved = map[tailrace.CollectionID]catalog.SinkSpan{}
	for _, id := range f.sink.Tables {
		span, there := known[id]
		switch {
		case !there || span.Generation != f.sink.Generation:
			anew = anew || there
			begin[id] = catalog.SinkSpan{Time: f.sink.Start, Loading: f.sink.Start == 0, Resyncs: f.sink.Resyncs[id], Generation: f.sink.Generation}
		case span.Resyncs != f.sink.Resyncs[id] && !span.Loading:
			begin[id] = catalog.SinkSpan{Loading: true, Resyncs: span.Resyncs, Generation: span.Generation}
		default:
			f.resolved[id] = span
		}
	}
	return begin, anew
}

// forgetProgress makes the target forget how far it came: RESUME FROM begins anew.
func (f *feed) forgetProgress(ctx context.Context) error {
	if err := f.target.Forget(ctx, f.name); err != nil {
		return err
	}
	_, err := f.target.Prepare(ctx, f.name, uint64(f.claim.Epoch))
	return err
}

// begin gives tables a time to begin at: the newest one, where they have none.
func (f *feed) begin(ctx context.Context, begin catalog.SinkProgress) error {
	if len(begin) == 0 {
		return nil
	}
	for {
		newest := f.f.o.Log.Newest()
		at := catalog.SinkProgress{}
		var records []log.Record
		for id, span := range begin {
			if span.Time == 0 {
				span.Time = newest
			}
			at[id] = span
			records = append(records, shard.HoldRecord(id, f.sink.HoldName(), span.Time))
		}
		records = append(records, catalog.SinkProgressRecord(f.sink.ID, at))
		if _, err := f.f.o.Log.Commit(ctx, log.Txn{ReadTime: newest, Records: records, Claim: f.claim}); err != nil {
			return fmt.Errorf("note where sink %s begins: %w", f.sink.Name, err)
		}
		late := false
		for id, span := range at {
			sh := f.f.o.Shards.Shard(id)
			late = late || begin[id].Time == 0 && sh != nil && sh.Since() > span.Time // since moved before the hold was there
			f.resolved[id] = span
		}
		if !late {
			return nil
		}
	}
}

// readable fails the sink for good when history that it needs is gone.
func (f *feed) readable(ctx context.Context) error {
	for _, id := range f.sink.Tables {
		sh, span := f.f.o.Shards.Shard(id), f.resolved[id]
		if sh == nil {
			return f.failForGood(ctx, fmt.Sprintf("a table that sink \"%s\" follows is gone", f.sink.Name), "DROP SINK and create it again.")
		}
		if sh.Since() > span.Time {
			name := f.cat.Tables[id].Name
			return f.failForGood(ctx, fmt.Sprintf("the changes of table \"%s\" after %d are gone", name, span.Time),
				fmt.Sprintf("ALTER SINK %s RESYNC TABLE %s; then ALTER SINK %s RESUME.", f.sink.Name, name, f.sink.Name))
		}
	}
	return nil
}

// failForGood writes into the catalog that the sink has failed, and lets history go.
func (f *feed) failForGood(ctx context.Context, message, hint string) error {
	failed := *f.sink
	failed.Error, failed.Hint = message, hint
	change := catalog.Change{Sink: &failed}
	txn := log.Txn{ReadTime: f.f.o.Log.Newest(), Claim: f.claim, Reads: []log.Read{{Whole: true}}, Records: []log.Record{change.Record()}}
	for _, h := range f.f.o.Shards.Holds(f.sink.HoldName()) {
		if h.Name == f.sink.HoldName() {
			txn.Records = append(txn.Records, shard.FreeRecord(h.Collection, h.Name))
		}
	}
	if f.f.o.Catalog.Current().Sinks[f.sink.ID] != f.sink {
		return errFailed // it was altered: who runs it then will see
	}
	if _, err := f.f.o.Log.Commit(ctx, txn); err != nil {
		return fmt.Errorf("note that sink %s has failed: %w", f.sink.Name, err)
	}
	f.f.o.Logger.Error("sink failed", "sink", f.sink.Name, "error", message, "hint", hint)
	f.f.Wake()
	return errFailed
}

// makeSpans looks at the target's tables and makes spans of them that go on where the target is.
func (f *feed) makeSpans(ctx context.Context, progress []tailrace.SinkProgress) error {
	tables := make([]*table, len(f.sink.Tables))
	for i, id := range f.sink.Tables {
		tables[i] = &table{id: id}
		f.believe(id, progress)
		at := f.resolved[id].Time
		if n := slices.IndexFunc(progress, func(p tailrace.SinkProgress) bool { return p.Span == id && p.Lane == noteAlter && p.Time > at }); n >= 0 {
			if err := f.finishAlter(ctx, id, &progress[n]); err != nil {
				return err
			}
			tables[i].altered, at = progress[n].Time, progress[n].Time
		}
		tables[i].version, tables[i].until = f.cat.TableAt(id, at)
	}
	problems := map[*table]error{}
	for _, tb := range tables {
		if err := f.findTarget(ctx, tb, f.resolved[tb.id].Loading); err != nil {
			var se *tailrace.SinkError
			if !errors.As(err, &se) || se.Fault == tailrace.SinkDown {
				return err
			}
			problems[tb] = err
		}
	}
	memory := f.sink.Memory
	if f.sink.Redo != "" {
		memory -= memory / redoMemory
	}
	f.sched = schedule.New(schedule.Config{Pool: memory, Batch: batchBytes})
	if f.sink.SyncEvery > 0 {
		f.scheduleSyncPoint()
	}
	for _, group := range f.groups(tables) {
		if err := f.sameTime(ctx, group); err != nil {
			return err
		}
		s := f.makeSpan(group, progress)
		for _, tb := range group {
			if err := problems[tb]; err != nil {
				s.failed = err
			}
		}
		if s.failed != nil {
			f.fail(s, s.failed)
		}
	}
	return nil
}

// believe takes in from the target that a table's snapshot is there, though the log had not heard of it.
func (f *feed) believe(id tailrace.CollectionID, progress []tailrace.SinkProgress) {
	span := f.resolved[id]
	if !span.Loading || !slices.ContainsFunc(progress, func(p tailrace.SinkProgress) bool {
		return p.Span == id && p.Lane == noteLoad && p.Time == span.Time && p.Note == loadedNote
	}) {
		return
	}
	span.Loading, span.Resyncs = false, f.sink.Resyncs[id]
	f.resolved[id] = span
}

// findTarget finds or makes the target's table.
func (f *feed) findTarget(ctx context.Context, tb *table, create bool) error {
	target, err := f.target.Table(ctx, f.sinkTable(tb.version), create)
	if err != nil {
		return err
	}
	tb.target = target
	tb.reader.schema = tb.version.Columns
	return nil
}

// sinkTable is a table as a feed sends it.
func (f *feed) sinkTable(t *catalog.Table) *tailrace.SinkTable {
	return sinkTableOf(f.f.o.Catalog.Current(), t)
}

func sinkTableOf(cat *catalog.Catalog, t *catalog.Table) *tailrace.SinkTable {
	out := &tailrace.SinkTable{Collection: t.ID, Schema: t.Schema, Name: t.Name, Columns: t.Columns, Labels: map[tailrace.CollectionID][]string{}}
	for i := range t.Columns.Fields {
		if ty := &t.Columns.Fields[i].Type; ty.Kind == tailrace.KindEnum && cat.Types[ty.ID] != nil {
			out.Labels[ty.ID] = cat.Types[ty.ID].Labels
		}
	}
	return out
}

// groups are the tables of each span: those that foreign keys of the target tie together, or all.
func (f *feed) groups(tables []*table) [][]*table {
	targets := make([]*tailrace.SinkTarget, len(tables))
	byName := map[string]int{}
	for i, tb := range tables {
		targets[i] = tb.target
		if tb.target != nil {
			byName[tb.target.Name] = i
		}
	}
	group := make([]int, len(tables))
	for i := range group {
		group[i] = i
		if f.sink.Transaction {
			group[i] = 0
		}
	}
	for i, t := range targets {
		if t == nil {
			continue
		}
		for _, k := range t.Foreign {
			if p, there := byName[k.Parent]; there && group[p] != group[i] {
				old := group[i]
				for n := range group {
					if group[n] == old {
						group[n] = group[p]
					}
				}
			}
		}
	}
	order := steps.ParentsFirst(targets)
	for i := range targets {
		if targets[i] == nil {
			order = append(order, i)
		}
	}
	var out [][]*table
	place := map[int]int{}
	for _, i := range order {
		n, there := place[group[i]]
		if !there {
			n = len(out)
			place[group[i]], out = n, append(out, nil)
		}
		out[n] = append(out[n], tables[i])
	}
	return out
}

// sameTime brings the tables of a span to one time: those of a new span may be at different ones, and are compared with the target then.
func (f *feed) sameTime(ctx context.Context, group []*table) error {
	first := f.resolved[group[0].id]
	if !slices.ContainsFunc(group, func(tb *table) bool {
		span := f.resolved[tb.id]
		return span.Time != first.Time || span.Loading != first.Loading
	}) {
		return nil
	}
	begin := catalog.SinkProgress{}
	for _, tb := range group {
		span := f.resolved[tb.id]
		begin[tb.id] = catalog.SinkSpan{Loading: true, Resyncs: span.Resyncs - 1, Generation: span.Generation}
	}
	if err := f.begin(ctx, begin); err != nil {
		return err
	}
	for _, tb := range group {
		tb.version, tb.until = f.cat.TableAt(tb.id, f.resolved[tb.id].Time)
	}
	return nil
}

// makeSpan makes a span of tables, where the target's progress says that it is.
func (f *feed) makeSpan(tables []*table, progress []tailrace.SinkProgress) *span {
	s := &span{id: tables[0].id, tables: tables, atomic: f.sink.Transaction, locks: locks{}}
	for _, tb := range tables {
		s.id = min(s.id, tb.id)
	}
	lanes := Lanes
	if s.atomic {
		lanes = 1
	}
	for n := range lanes {
		s.lanes = append(s.lanes, &lane{n: n})
	}
	resolved := f.resolved[tables[0].id]
	start := resolved.Time
	for _, p := range progress {
		switch {
		case p.Span == s.id && p.Lane >= 0 && p.Lane < lanes:
			s.lanes[p.Lane].progress = p
		case resolved.Loading: // the notes are of before
		case p.Span == s.id && p.Lane == noteHuge:
			start = max(start, p.Time)
		}
	}
	for _, tb := range tables {
		if tb.altered > start {
			start = tb.altered - 1 // everything before it was there before the table was altered
		}
	}
	for _, tb := range tables {
		tb.reader = reader{tail: f.f.o.Tail, id: tb.id, schema: tb.version.Columns, at: schedule.Position{Time: start}}
		s.counts = append(s.counts, f.counts.of(tb.id))
		f.byTable[tb.id] = s
	}
	s.link()
	s.read = schedule.Position{Time: start}
	s.applied, s.end = s.read, start
	f.spans = append(f.spans, s)
	f.sched.Add(f.now(), s.id, [2]schedule.Position{s.read, s.read})
	switch {
	case resolved.Loading:
		s.job = loadJob(s, progress)
	case slices.ContainsFunc(tables, func(tb *table) bool { return tb.target == nil }):
		s.job = lookJob(s)
	}
	if s.job != nil || f.held(s) {
		f.sched.Pause(f.now(), s.id, true)
	}
	return s
}

// link finds the foreign keys within a span, of which nothing is on its way.
func (s *span) link() {
	s.serial = false
	for _, tb := range s.tables {
		tb.refers, tb.referee = nil, nil
		s.serial = s.serial || tb.target != nil && tb.target.RefersToItself()
	}
	for _, tb := range s.tables {
		if tb.target == nil {
			continue
		}
		for _, k := range tb.target.Foreign {
			for _, parent := range s.tables {
				if parent.target == nil || parent.target.Name != k.Parent || parent == tb {
					continue
				}
				columns := make([]int, len(k.To))
				for i, name := range k.To {
					columns[i] = slices.IndexFunc(parent.version.Columns.Fields, func(fd tailrace.Field) bool { return strings.EqualFold(fd.Name, name) })
				}
				if slices.Contains(columns, -1) {
					continue
				}
				n := slices.IndexFunc(parent.referee, func(have []int) bool { return slices.Equal(have, columns) })
				if n < 0 {
					n, parent.referee = len(parent.referee), append(parent.referee, columns)
				}
				tb.refers = append(tb.refers, foreign{columns: k.Columns, parent: parent, key: n})
			}
		}
	}
}
