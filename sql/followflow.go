package sql

import (
	"tailrace"
	"tailrace/budget"
	"tailrace/dataflow"
	"tailrace/tail"
)

// followFlow begins a subscription of f on the dataflow path. r has everything but the table.
func (s *Session) followFlow(st *statement, f *flow, r *tail.Request) (subscription, error) {
	l, err := r.Layout(f.columns, "the query")
	if err != nil {
		return nil, err
	}
	o := dataflow.Options{
		Shards: s.engine.Shards, Memory: s.engine.Budget.Share(budget.Frames), Turns: s.engine.flowTurns(), Root: f.root, Row: s.flowRow(st), Columns: l.Columns, Key: l.Key,
		Envelope: dataflow.Envelope(r.Envelope), Snapshot: r.Snapshot, Progress: r.Progress, Bounded: r.UpTo != nil,
	}
	for _, t := range l.Terms {
		o.OrderBy = append(o.OrderBy, dataflow.Term(t))
	}
	since, of := tailrace.Time(0), "the query"
	for _, t := range f.tables {
		sh := s.engine.Shards.Shard(t.ID)
		if sh == nil {
			return nil, failure("42704", "relation '%s.%s.%s' was dropped", s.options.Database, t.Schema, t.Name)
		}
		if at := sh.Since(); at >= since {
			since, of = at, t.Name
		}
	}
	if o.AsOf, o.UpTo, err = r.Times(since, of); err != nil {
		return nil, err
	}
	holds := make([]func(), 0, len(f.tables))
	free := func() {
		for _, release := range holds {
			release()
		}
		holds = nil
	}
	if o.Snapshot {
		for _, t := range f.tables {
			release, err := s.engine.Shards.Hold(t.ID, o.AsOf)
			if err != nil {
				free()
				return nil, err
			}
			holds = append(holds, release)
		}
	}
	o.Free = free
	o.Watch = watcher{s.engine.Tail.Watch(s.uuid, f.tables)}
	return dataflow.Subscribe(o), nil
}

// watcher shows the tail's watching of a subscription's tables as dataflow wants it.
type watcher struct{ *tail.Watcher }

// Look implements dataflow.Watch.
func (w watcher) Look(after tailrace.Time, snapshot bool) dataflow.View {
	return dataflow.View(w.Watcher.Look(after, snapshot))
}

// flowTurns are those of the node's subscriptions on the dataflow path.
func (e *Engine) flowTurns() dataflow.Turns {
	e.flowsOnce.Do(func() { e.flows = dataflow.NewTurns() })
	return e.flows
}
