package shard

import (
	"context"
	"fmt"
	"slices"

	"tailrace"
	"tailrace/log"
)

// History that is folded stays for Listen and for old times. A table that is flushed often leaves many small runs there, and a snapshot as of long
// ago reads them side by side. So neighbours are merged with each other, every update with its time, up to a size at which Listen can still hold
// one in memory to bring it into time order:
//
//	folded = 60   history  10..19  20..29  30..39  40..49  50..59 | 60..69
//	                       └──────────── 10..59 ────────────────┘   60..69

const (
	// HistoryRuns adjacent runs of folded history, at least, are merged with each other.
	HistoryRuns = 8
	// HistoryBytes is how large such a run grows, in bytes of parts.
	HistoryBytes = 8 << 20
	// HistoryRows is how many updates it has at most.
	HistoryRows = 1 << 19
)

// compactPlan says which runs of folded history to merge with each other, nil for none: the first stretch of at least lim.historyRuns neighbours that
// make one run within its limits. A run that fills more than half of one is left alone, so that an update is written anew a few times at most.
//
// Runs of several times must not overlap each other (Listen reads them one after another; runs of one time may lie anywhere). So a run that
// begins before the end of one that is not of the stretch cannot begin it, and apart looks to its end.
func compactPlan(m *manifest, lim limits) []*run {
	var group []*run
	var size, rows int64
	var end, edge tailrace.Time // of the group; of the others before it
	for _, r := range m.history {
		one := r.upper == r.lower+1
		full := r.upper > m.folded+1 || r.size() > int64(lim.historyBytes)/2 || r.rows() > int64(lim.historyRows)/2
		if full && one {
			continue
		}
		if full || size+r.size() > int64(lim.historyBytes) || rows+r.rows() > int64(lim.historyRows) {
			if group = apart(group, m.history); len(group) >= lim.historyRuns {
				return group
			}
			group, size, rows, edge = nil, 0, 0, max(edge, end)
		}
		switch {
		case full:
			edge = max(edge, r.upper)
		case r.lower >= edge:
			group, size, rows, end = append(group, r), size+r.size(), rows+r.rows(), max(end, r.upper)
		case !one:
			edge = max(edge, r.upper)
		}
	}
	if group = apart(group, m.history); len(group) >= lim.historyRuns && !m.dropped {
		return group
	}
	return nil
}

// apart leaves out of a stretch the runs that another of several times meets: a transaction's parts and its inline rows are at one time, in a run of that
// time and within one of several.
func apart(group, history []*run) []*run {
	for _, x := range history {
		if len(group) == 0 {
			break
		}
		if x.upper > x.lower+1 && x.lower >= group[0].lower && !slices.Contains(group, x) {
			group = slices.DeleteFunc(slices.Clone(group), func(r *run) bool { return r.upper > x.lower })
		}
	}
	return group
}

// withCompact puts runs in the place of others of history; false when one of those is not there (any more).
func (m *manifest) withCompact(r *compactRecord) (*manifest, bool) {
	gone := func(x *run) bool { return len(x.parts) > 0 && slices.Contains(r.instead, x.parts[0].key) }
	n := m.next()
	n.history = slices.DeleteFunc(slices.Clone(m.history), gone)
	if len(m.history)-len(n.history) != len(r.instead) {
		return nil, false
	}
	n.history = append(n.history, r.runs...)
	n.sortHistory()
	n.trim()
	return n, true
}

// compact carries out the collection's compactPlan, if any.
func (sh *Shard) compact(ctx context.Context, commit Commit) error {
	upper := sh.set.Upper() // before the manifest is pinned; see flush
	m, release := sh.pin()
	defer release()
	group := compactPlan(m, sh.set.limits)
	if group == nil {
		return nil
	}
	l := newLayout(m.schema)
	w := sh.set.newRunWriter(ctx, l, group[0].lower, endOf(group), false)
	r, err := sh.joinHistory(ctx, group, w)
	if err != nil {
		w.abort(ctx, nil)
		return fmt.Errorf("compact history of collection %d: %w", sh.id, err)
	}
	record := compactRecord{}
	for _, x := range group {
		record.instead = append(record.instead, x.parts[0].key)
	}
	if r != nil {
		record.runs = append(record.runs, r)
	}
	txn := log.Txn{ReadTime: upper - 1, Records: []log.Record{{Kind: log.KindMerge, Collection: sh.id, Payload: record.encode()}}}
	if _, err := commit(ctx, txn); err != nil {
		if notCommitted(err) {
			w.abort(ctx, nil)
		}
		return fmt.Errorf("commit compacted history of collection %d: %w", sh.id, err)
	}
	return nil
}

func endOf(runs []*run) tailrace.Time {
	end := tailrace.Time(0)
	for _, r := range runs {
		end = max(end, r.upper)
	}
	return end
}

// joinHistory writes the updates of all runs as one, each with its time.
func (sh *Shard) joinHistory(ctx context.Context, group []*run, w *runWriter) (*run, error) {
	g := sh.set.newGroups(w.l)
	for _, r := range group {
		if err := sh.eachTimed(ctx, r, w.l, 0, tailrace.MaxTime, g.append); err != nil {
			return nil, err
		}
	}
	return w.sorted(ctx, &g, true)
}

// eachTimed calls fn with the page groups of a run that have updates with lo < time <= hi, all updates of each with their times, in the run's order.
func (sh *Shard) eachTimed(ctx context.Context, r *run, l *layout, lo, hi tailrace.Time, fn func(*tailrace.Batch)) error {
	rr := sh.set.readRun(r, l)
	rr.timed, rr.lo, rr.hi, rr.times, rr.whole = true, lo, hi, true, true
	for {
		c, err := rr.next(ctx)
		if c == nil || err != nil {
			return err
		}
		fn(c.b)
	}
}
