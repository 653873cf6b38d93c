package index

// MemoryBytes is what the store has in memory now: directories of tables, and memtables.
func (s *Store) MemoryBytes() int64 { return s.directories.bytes() + s.memtableBytes() }

// memtableBytes is what the rows in memtables take.
func (s *Store) memtableBytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := int64(0)
	if s.now != nil {
		for _, c := range s.now.collections {
			n += c.mem.bytes.Load()
		}
	}
	return n
}

// Within are Options for a store that takes at most limit bytes of memory: half for directories, half for memtables, neither more than the defaults.
func Within(limit int64) Options {
	return Options{CacheBytes: min(CacheBytes, limit/2), MemtableBytes: min(memtableBytes, limit/(2*memtables))}
}
