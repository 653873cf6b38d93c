package shard

// smallLimits are those of Options.Small: a few hundred rows fill memtables, parts, runs and merges, as days do with the real ones.
func smallLimits() limits {
	return limits{
		run: 4000, merge: 8000, mergeRows: 300, mergeRuns: 3, stateRuns: 4, reuse: 1200, part: 6000, piece: 40, slice: 6000, inline: 1500, listen: 1500, group: 16, stripe: 64, cut: 2000, mergeStripe: 2000,
		index: IndexBytes, indexMisses: IndexMisses, indexBehind: 60, indexBatch: 100, historyRuns: 3, historyBytes: 8000, historyRows: 300,
	}
}
