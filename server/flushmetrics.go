package server

import "github.com/prometheus/client_golang/prometheus"

var (
	descTasks    = described("flush_tasks_total", "Tasks of loads, flushes and merges done since the start: by workers of the pool, or by the goroutine that owns the work and waits for it. Workers that do none are starved.", "by")
	descFailed   = described("flush_tasks_failed_total", "Tasks of loads, flushes and merges that returned an error, since the start. Each was done once more by its owner.")
	descPanicked = described("flush_tasks_panicked_total", "Tasks of loads, flushes and merges that panicked, since the start. Each was done once more by its owner. Please report any.")
	descEncoded  = described("stripes_encoded_total", "Stripes that were encoded from rows, since the start.")
	descCopied   = described("stripes_copied_total", "Stripes that merges copied as they were stored, since the start.")
)

// flushes are what the pool and the writers of stripes count.
func (c *collector) flushes(out chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, v int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	tasks, stripes := c.node.pool.Stats(), c.node.shards.WriteStats()
	counter(descTasks, tasks.Helped, "worker")
	counter(descTasks, tasks.Tasks-tasks.Helped, "owner")
	counter(descFailed, tasks.Failed)
	counter(descPanicked, tasks.Panicked)
	counter(descEncoded, stripes.StripesEncoded)
	counter(descCopied, stripes.StripesCopied)
}
