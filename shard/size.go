package shard

// Size is what a collection takes: the bytes of its parts and of its memtable's encoded updates, and how many updates those of its state are, which is
// about the number of its rows.
func (sh *Shard) Size() (bytes, rows int64) {
	m := sh.current()
	for _, r := range m.state {
		bytes += r.size()
		rows += r.rows()
	}
	for _, r := range m.history {
		bytes += r.size()
	}
	return bytes + int64(m.memSize), rows
}
