package shard

import (
	"tailrace"
	"tailrace/stripe"
)

const (
	// FlushBytes is how large a memtable grows, in bytes of encoded updates, before it is flushed, and how much of it goes into one run.
	FlushBytes = 8 << 20
	// NodeBytes is how large the memtables of a node grow together; beyond it they are flushed whatever their size.
	NodeBytes = 256 << 20
	// RemainderBytes is the largest memtable that a checkpoint carries inline; Flush leaves those.
	RemainderBytes = 64 << 10
	// MergeBytes of history that is not folded yet, in bytes of parts, are merged into the state.
	MergeBytes = 1 << 20
	// MergeRows updates of such history are merged whatever their size: a table whose few rows change often compresses well.
	MergeRows = 1 << 16
	// MergeRuns history runs that are not folded yet are merged into the state whatever their size.
	MergeRuns = 4
	// StateRuns is how many runs a state has at most; a snapshot reads them side by side.
	StateRuns = 8
)

// limits are the sizes above as a Set uses them; tests take smaller ones, so that few rows make many runs and parts.
type limits struct {
	run, merge, mergeRows, mergeRuns, stateRuns, reuse, part, piece, slice, inline, listen        int
	group, stripe                                                                                 int // rows
	cut, mergeStripe                                                                              int // bytes of values of a stripe, in a transaction and in a merge
	index, indexMisses, indexBehind, indexBatch, indexMem, historyRuns, historyBytes, historyRows int
}

func standardLimits() limits {
	return limits{
		run: FlushBytes, merge: MergeBytes, mergeRows: MergeRows, mergeRuns: MergeRuns, stateRuns: StateRuns, reuse: ReuseBytes,
		part: PartBytes, piece: PieceRows, slice: SliceBytes, inline: InlineBytes, listen: ListenBytes,
		group: stripe.PageRows, stripe: stripe.StripeRows, cut: stripe.StripeBytes, mergeStripe: stripe.StripeBytes,
		index: IndexBytes, indexMisses: IndexMisses, indexBehind: IndexBehind, indexBatch: IndexBatch,
		historyRuns: HistoryRuns, historyBytes: HistoryBytes, historyRows: HistoryRows,
	}
}

// flushPlan says which memtable batches to flush: those below upper, cut into runs of about lim.run bytes at changes of time. nil when the
// memtable is smaller than threshold, unless it keeps history from being merged.
func flushPlan(m *manifest, upper tailrace.Time, threshold int, lim limits) [][]*memBatch {
	if len(m.mem) == 0 || (m.memSize < threshold && !blocksMerge(m, lim)) {
		return nil
	}
	var plan [][]*memBatch
	from, size := 0, 0
	for i, b := range m.mem {
		if b.time >= upper {
			break
		}
		if size >= lim.run && b.time != m.mem[i-1].time {
			plan, from, size = append(plan, m.mem[from:i]), i, 0
		}
		size += len(b.raw)
		if i+1 == len(m.mem) || m.mem[i+1].time >= upper {
			plan = append(plan, m.mem[from:i+1])
		}
	}
	return plan
}

// blocksMerge reports whether referenced history that is worth a merge lies behind a memtable: a merge folds times in order.
func blocksMerge(m *manifest, lim limits) bool {
	return worthMerging(m.historyIn(m.mem[0].time-1, tailrace.MaxTime-1), lim)
}

// worthMerging reports whether snapshots gain enough when the runs are folded into the state.
func worthMerging(history []*run, lim limits) bool {
	size, rows := int64(0), int64(0)
	for _, r := range history {
		size += r.size()
		rows += r.rows()
	}
	return size >= int64(lim.merge) || rows >= int64(lim.mergeRows) || len(history) >= lim.mergeRuns
}

// mergeJob is a decided merge: the state's oldest keep runs stay, the others and the history in (from, to] become one run.
type mergeJob struct {
	merges   uint64
	from, to tailrace.Time
	keep     int
	state    []*run // those that are merged
	history  []*run
}

// whole tells that the result is the whole state, in which no row has a multiplicity below 1.
func (j *mergeJob) whole() bool { return j.keep == 0 }

// mergePlan says what to fold into the state, nil when there is too little. It takes in each newer state run that is not more than twice
// what is merged anyway, so that a row is rewritten O(log n) times and the state has O(log n) runs; and each that is no longer sorted as
// the schema asks.
func mergePlan(m *manifest, upper tailrace.Time, lim limits) *mergeJob {
	to := m.foldable(upper)
	if to < m.folded || m.dropped {
		return nil
	}
	j := &mergeJob{merges: m.merges, from: m.folded, to: to, keep: len(m.state)}
	j.history = m.historyIn(m.folded, to)
	stale := staleFrom(m)
	if !worthMerging(j.history, lim) && stale == len(m.state) {
		return nil
	}
	size := int64(0)
	for _, r := range j.history {
		size += r.size()
	}
	for j.keep > 0 && (m.state[j.keep-1].size() <= 2*size || j.keep > stale || j.keep >= lim.stateRuns) {
		j.keep--
		size += m.state[j.keep].size()
	}
	j.state = m.state[j.keep:]
	return j
}

// staleFrom is the oldest state run that is not sorted as the schema asks, the number of runs when all are.
func staleFrom(m *manifest) int {
	l := newLayout(m.schema)
	for i, r := range m.state {
		if _, exact := l.shared(r); !exact {
			return i
		}
	}
	return len(m.state)
}

// sincePlan is where since may go: retain behind upper, never past a hold. The current since when it may not move.
func sincePlan(m *manifest, upper tailrace.Time, leases []tailrace.Time) tailrace.Time {
	back := tailrace.Time(max(m.retain, 0).Microseconds())
	if upper <= back+1 {
		return m.since
	}
	t := upper - 1 - back
	for _, h := range m.holds {
		t = min(t, h)
	}
	for _, h := range leases {
		t = min(t, h)
	}
	return max(t, m.since)
}
