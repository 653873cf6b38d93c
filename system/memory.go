package system

// MemoryShare is a row of mz_internal.mz_memory: how one share of the node's memory stands, in bytes, and counts since the node started.
type MemoryShare struct {
	Name              string
	Used, Limit, Peak int64
	Waits, Refusals   int64
}

func memoryRows(w *World, yield func(row)) {
	if w.Memory == nil {
		return
	}
	for _, s := range w.Memory() {
		yield(row{
			"share": s.Name, "used_bytes": s.Used, "limit_bytes": s.Limit, "peak_bytes": s.Peak, "waits": s.Waits, "refusals": s.Refusals,
		})
	}
}
