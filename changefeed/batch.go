package changefeed

import (
	"tailrace"
	"tailrace/steps"
)

const (
	// batchRows is how many items a transaction has, about. More are hardly faster each, and hold locks of the target longer.
	batchRows = 2048
	// batchBytes ends a transaction too, in bytes of values.
	batchBytes = 4 << 20
)

// batch is what one connection does at once: items of lanes of a span, in one transaction.
type batch struct {
	span   *span
	lanes  []*lane
	counts []int // items of each lane
	items  []*item
}

// pull takes what is there for a connection: a job, or items of the span whose turn it is. Both are nil when there is nothing.
func (f *feed) pull() (*batch, *job) {
	if j := f.syncJob; j != nil && !j.span.jobRuns {
		j.span.jobRuns = true
		j.span.calls++
		return nil, j
	}
	for n := range f.spans {
		s := f.spans[(f.turn+n)%len(f.spans)]
		if s.failed != nil || s.jobRuns {
			continue
		}
		if s.job != nil && s.calls == 0 && len(s.queue) == 0 && f.redone(s) >= s.job.at {
			if s.job.loads && f.loads >= max(1, f.sink.Connections/2) {
				continue
			}
			f.turn = (f.turn + n + 1) % len(f.spans)
			s.jobRuns = true
			s.calls++
			if s.job.loads {
				f.loads++
			}
			return nil, s.job
		}
		if s.calls >= f.callsOf(s) {
			continue
		}
		if b := f.batchOf(s); b != nil {
			f.turn = (f.turn + n + 1) % len(f.spans)
			s.calls++
			return b, nil
		}
	}
	return nil, nil
}

// callsOf is how many transactions of a span may be under way: not all connections, where others need some, and no more while one does not come back.
func (f *feed) callsOf(s *span) int {
	if len(f.spans) == 1 {
		return f.sink.Connections
	}
	if s.stuck > 0 {
		return s.stuck
	}
	return max(1, f.sink.Connections/2)
}

// batchOf takes items that wait in free lanes of a span; nil when there are none. What belongs to one time and lane stays together.
func (f *feed) batchOf(s *span) *batch {
	limit := batchRows
	if s.limit > 0 {
		limit = s.limit
	}
	var b *batch
	size := 0
	for i := range s.lanes {
		l := s.lanes[(i+s.calls)%len(s.lanes)]
		if l.busy > 0 || len(l.items) == 0 {
			continue
		}
		n := 0
		for n < len(l.items) {
			it := l.items[n]
			if (b != nil && len(b.items) >= limit || size >= batchBytes) && (n == 0 || !s.tied() || l.items[n-1].time != it.time) {
				break
			}
			if b == nil {
				b = &batch{span: s}
			}
			b.items = append(b.items, it)
			size += it.size()
			n++
		}
		if n == 0 {
			break
		}
		l.busy = n
		b.lanes, b.counts = append(b.lanes, l), append(b.counts, n)
	}
	return b
}

// txn is what the target does for the batch.
func (b *batch) txn() (*tailrace.SinkTxn, error) {
	txn := &tailrace.SinkTxn{Progress: b.progress()}
	parts := make([][]tailrace.SinkStep, len(b.span.tables))
	for n, tb := range b.span.tables {
		updates := b.updates(tb)
		if len(updates) == 0 {
			continue
		}
		var err error
		if parts[n], err = steps.Of(tb.target, updates...); err != nil {
			return nil, err
		}
	}
	txn.Steps = steps.Order(parts)
	return txn, nil
}

// updates are those of one table. Neighbours go together.
func (b *batch) updates(tb *table) (out []steps.Updates) {
	for i := range b.items {
		it := b.items[i]
		if it.table() != tb {
			continue
		}
		rows := it.slice.parts[it.part].batch
		if n := len(out) - 1; n >= 0 && out[n].Batch == rows && out[n].To == it.from {
			out[n].To = it.to
			continue
		}
		out = append(out, steps.Updates{Batch: rows, From: it.from, To: it.to})
	}
	return out
}

// progress is where the lanes are when the batch is in the target.
func (b *batch) progress() []tailrace.SinkProgress {
	var out []tailrace.SinkProgress
	end := 0
	for i, l := range b.lanes {
		end += b.counts[i]
		last := b.items[end-1]
		out = append(out, tailrace.SinkProgress{Span: b.span.id, Lane: l.n, Time: last.time, Ordinal: last.ordinal})
	}
	return out
}

// done takes in that the batch is in the target.
func (f *feed) done(b *batch, progress []tailrace.SinkProgress) {
	for i, l := range b.lanes {
		l.progress = progress[i]
		l.items = l.items[b.counts[i]:]
		l.busy = 0
		if len(l.items) == 0 {
			l.items = nil
		}
	}
	for i := range b.items {
		it := b.items[i]
		it.slice.pending--
		b.span.locks.give(it)
	}
	f.moved = true
	b.span.pause = 0
	if b.span.limit > 0 {
		if b.span.limit *= 2; b.span.limit >= batchRows {
			b.span.limit = 0
		}
	}
	f.route(b.span)
}

// undone takes in that nothing of the batch is in the target.
func (f *feed) undone(b *batch) {
	for _, l := range b.lanes {
		l.busy = 0
	}
}
