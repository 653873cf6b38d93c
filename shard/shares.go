package shard

import (
	"tailrace/budget"
	"tailrace/index"
)

// shares are the parts of a node's memory that a Set takes from; a Set without a budget has nil ones, which have no limit.
type shares struct {
	snapshots, merges, transactions *budget.Share
}

func sharesOf(n *budget.Node) shares {
	return shares{snapshots: n.Share(budget.Snapshots), merges: n.Share(budget.Merges), transactions: n.Share(budget.Transactions)}
}

// within are l as a budget allows them: what is sorted, cut or encoded at once fits in its share several times.
func (l limits) within(n *budget.Node) limits {
	part := func(v int, name string, parts int64) int {
		return int(min(int64(v), n.Share(name).Limit(int64(v)*parts)/parts))
	}
	l.run = part(l.run, budget.Memtables, 8*memWeight)
	l.part = part(l.part, budget.Merges, 8)
	l.reuse = min(l.reuse, l.part/2)
	l.slice = part(l.slice, budget.Merges, 8)
	l.cut = part(l.cut, budget.Transactions, 16)
	l.mergeStripe = part(l.mergeStripe, budget.Merges, 16)
	return l
}

// groupCost is about what a decoded page group of a run takes, in bytes: its encoded size four times, since values are stored small.
func groupCost(r *run) int64 {
	const expands, least = 4, 64 << 10
	rows := max(r.rows(), 1)
	return max(least, expands*r.size()*min(PieceRows, rows)/rows)
}

// flushCost is what a flush of a memtable takes: a run's updates joined, sorted, added up, and encoded.
func (s *Set) flushCost() int64 {
	return min(4*int64(s.limits.run), s.shares.merges.Limit(1<<62)/2)
}

// mergeCost is what a merge takes: a page group of every run, a piece, three stripes on their way, encoded too, a part that is built and one that is put.
func (s *Set) mergeCost(j *mergeJob) int64 {
	cost := 2*int64(s.limits.part) + 4*int64(s.limits.mergeStripe) + PieceBytes
	for _, runs := range [][]*run{j.state, j.history} {
		for _, r := range runs {
			cost += groupCost(r)
		}
	}
	return min(cost, s.shares.merges.Limit(1<<62)/2)
}

// indexOptions keep the local index within its share.
func (s *Set) indexOptions() index.Options {
	share := s.opts.Budget.Share(budget.Index)
	share.Measure(func() int64 {
		if store := s.index.Load(); store != nil {
			return store.MemoryBytes()
		}
		return 0
	})
	o := index.Within(share.Limit(index.MemoryBytes))
	o.Logger = s.logger
	if n := int64(s.limits.indexMem); n > 0 {
		o.MemtableBytes, o.TableBytes = n, 4*n
	}
	return o
}
