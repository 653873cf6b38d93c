package bench

import "fmt"

// The goals of a storm, on the storage path. No client may fail on any path.
const (
	goalStormCPU       = 2.0
	goalStormP95       = 1.5
	goalStormMemory    = 256 << 20 // bytes, and
	goalStormPerClient = 32 << 10
)

// file files what clients measured.
func (s *storming) file(prefix, target string, o *outcome, cpu float64) {
	s.fileErrors(prefix, target, o)
	if len(o.done.Millis) == 0 {
		return // they all failed
	}
	s.r.add(prefix+"p50_ms", target, percentile(o.done.Millis, 50), false)
	s.r.add(prefix+"p95_ms", target, percentile(o.done.Millis, 95), false)
	s.r.add(prefix+"whole_s", target, o.whole.Seconds(), false)
	s.r.add(prefix+"cpu_s", target, cpu, false)
}

// fileErrors counts the clients that failed, and tells of the first.
func (s *storming) fileErrors(prefix, target string, o *outcome) {
	s.r.add(prefix+"errors", target, float64(len(o.done.Errors)), false)
	if len(o.done.Errors) > 0 {
		fmt.Fprintf(s.log, "%s%s: %d clients failed, the first with: %s\n", prefix, target, len(o.done.Errors), o.done.Errors[0])
	}
}

// noErrors sets the goal that no client of any round has failed.
func (s *storming) noErrors(prefix string) {
	s.r.set(prefix+"client_errors", s.r.sum(prefix+"errors", ours))
	s.r.atMost(prefix+"client_errors", 0)
}

// conclude sets what the medians of a scenario come to.
func (s *storming) conclude(name string, clients int) {
	prefix := fmt.Sprintf("%s_%d_", name, clients)
	if name == "dataflow" && clients > dataflowClients {
		s.r.set(prefix+"not_run", fmt.Sprintf("each client has the whole table on the dataflow path: it is measured with up to %d clients", dataflowClients))
		return
	}
	s.noErrors(prefix)
	s.r.set(prefix+"cpu", s.r.vs(prefix+"cpu_s", ours, bareName))
	s.r.set(prefix+"p95", s.r.vs(prefix+"p95_ms", ours, bareName))
	s.r.set(prefix+"memory", s.r.median(prefix+"memory_mib", ours)*(1<<20)/float64(goalStormMemory+clients*goalStormPerClient))
	if name == "dataflow" {
		return // it is for comparison
	}
	s.r.atMost(prefix+"cpu", goalStormCPU)
	s.r.atMost(prefix+"p95", goalStormP95)
	s.r.atMost(prefix+"memory", 1)
}
