package index

// MemoryBytes is what the store has in memory now: cached blocks and memtables.
func (s *Store) MemoryBytes() int64 {
	o, done, err := s.use()
	if err != nil {
		return 0
	}
	defer done()
	m := o.db.Metrics()
	return m.BlockCache.Size + int64(m.MemTable.Size)
}

// Within are Options for a store that takes at most limit bytes of memory: half for the cache, half for its memtables, neither more than the defaults.
func Within(limit int64) Options {
	return Options{CacheBytes: min(CacheBytes, limit/2), MemtableBytes: min(memtableBytes, limit/(2*memtableStop))}
}
