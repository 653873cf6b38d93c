package sql

import (
	"context"
	"io"
	"time"

	"tailrace"
	"tailrace/expr"
	"tailrace/parse"
	"tailrace/tail"
)

// waitTime is how long a FETCH may wait; below 0 until there is a row.
type waitTime = time.Duration

// follower is a running subscription: the tail's, or one over a relation of the system.
type follower interface {
	tailrace.Rows
	Columns() []tailrace.ResultColumn
	Fetch(ctx context.Context, limit int, wait time.Duration) (rows *tailrace.Batch, ended bool, err error)
}

// systemFollower follows a relation of the system, which is in no shard: it looks at it again and again and tells what changed. It reads
// the newest state only, so it has no AS OF, and knows no envelopes.
type systemFollower struct {
	session  *Session
	relation *systemRelation
	columns  []tailrace.ResultColumn
	progress bool
	snapshot bool // the first look is the snapshot and gives rows
	started  bool
	last     *tailrace.Batch // the rows at the last look
	waiting  *tailrace.Batch // that a FETCH cut off
	release  func()
}

func (s *Session) followSystem(_ context.Context, p *parse.Subscribe, r *tail.Request) (follower, error) {
	name := p.Object
	if name == nil {
		name = wholeTable(p.Query)
	}
	if p.Envelope != parse.EnvelopeNone || len(p.OrderBy) > 0 || r.AsOf != nil || r.UpTo != nil {
		return nil, s.unsupported("SUBSCRIBE to a relation of the system with an envelope, an order or times", "Use SUBSCRIBE "+name.String()+" [WITH (SNAPSHOT, PROGRESS)].")
	}
	rel := systemRelationOf(name.Schema, name.Name)
	f := &systemFollower{session: s, relation: rel, progress: p.Progress, snapshot: p.Snapshot, last: tailrace.NewBatch(rel.schema, 0)}
	f.columns = []tailrace.ResultColumn{{Name: "mz_timestamp", Type: tailrace.TypeOf(tailrace.KindNumeric)}}
	if p.Progress {
		f.columns = append(f.columns, tailrace.ResultColumn{Name: "mz_progressed", Type: tailrace.TypeOf(tailrace.KindBool)})
	}
	f.columns = append(f.columns, tailrace.ResultColumn{Name: "mz_diff", Type: tailrace.TypeOf(tailrace.KindInt8)})
	for _, c := range rel.schema.Fields {
		f.columns = append(f.columns, tailrace.ResultColumn{Name: c.Name, Type: c.Type})
	}
	f.release = s.engine.following.add(s.uuid, name.String())
	return f, nil
}

func (f *systemFollower) Columns() []tailrace.ResultColumn { return f.columns }

func (f *systemFollower) Close() error {
	f.release()
	return nil
}

// Next waits for a change.
func (f *systemFollower) Next(ctx context.Context) (*tailrace.Batch, error) {
	b, ended, err := f.Fetch(ctx, -1, -1)
	if ended {
		return nil, io.EOF
	}
	return b, err
}

// Fetch is like tail.Subscription.Fetch.
func (f *systemFollower) Fetch(ctx context.Context, limit int, wait time.Duration) (*tailrace.Batch, bool, error) {
	var timeout <-chan time.Time
	if wait >= 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		timeout = timer.C
	}
	look := time.NewTicker(pause)
	defer look.Stop()
	for {
		f.look()
		n := f.waiting.N
		if n > 0 && wait < 0 || wait == 0 || limit >= 0 && n >= limit {
			return f.take(limit), false, nil
		}
		select {
		case <-look.C:
		case <-timeout:
			return f.take(limit), false, nil
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

func (f *systemFollower) take(limit int) *tailrace.Batch {
	n := f.waiting.N
	if limit >= 0 {
		n = min(n, limit)
	}
	out := between(f.waiting, 0, n)
	f.waiting = between(f.waiting, n, f.waiting.N)
	return out
}

// look compares the relation with the last look and adds what differs, at the newest time.
func (f *systemFollower) look() {
	if f.waiting == nil {
		f.waiting = &tailrace.Batch{}
		for _, c := range f.columns {
			f.waiting.Cols = append(f.waiting.Cols, tailrace.MakeColumn(c.Type.Kind, 0))
		}
	}
	t := f.session.engine.Log.Newest()
	rows := f.relation.read(f.session)
	both := tailrace.NewBatch(f.relation.schema, 0)
	for i := range f.last.N {
		both.AppendUpdate(f.last, i, -1)
	}
	appendBatch(both, rows)
	changes := consolidate(f.relation.schema, both)
	first := !f.started
	f.last, f.started = rows, true
	if first {
		f.mark(t)
		if !f.snapshot {
			return
		}
	}
	for i := range changes.N {
		f.add(t, changes, i)
	}
	if changes.N > 0 {
		f.mark(t + 1)
	}
}

// mark adds a progress row.
func (f *systemFollower) mark(t tailrace.Time) {
	if !f.progress {
		return
	}
	w := f.waiting
	w.Cols[0].Append(expr.TimeNumeric(t))
	w.Cols[1].AppendBool(true)
	for i := 2; i < len(w.Cols); i++ {
		w.Cols[i].AppendNull()
	}
	w.N++
}

func (f *systemFollower) add(t tailrace.Time, b *tailrace.Batch, i int) {
	w := f.waiting
	w.Cols[0].Append(expr.TimeNumeric(t))
	at := 1
	if f.progress {
		w.Cols[1].AppendBool(false)
		at++
	}
	w.Cols[at].AppendInt64(int64(b.Diff(i)))
	for c := range b.Cols {
		w.Cols[at+1+c].AppendFrom(&b.Cols[c], i)
	}
	w.N++
}
