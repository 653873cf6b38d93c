package server

import "github.com/prometheus/client_golang/prometheus"

var (
	descSinkUp       = described("sink_running", "1 while the sink is fed and none of its tables has stopped, else 0.", "sink")
	descSinkLag      = described("sink_lag_seconds", "How far the slowest table of the sink is behind what is committed here.", "sink")
	descSinkResident = described("sink_resident_bytes", "Updates on their way to the target.", "sink")
	descSinkMemory   = described("sink_memory_bytes", "What there may be of them: MEMORY of the sink.", "sink")
	descSinkBad      = described("sink_tables_in_error", "Tables of the sink that have stopped.", "sink")
	descSinkSnap     = described("sink_tables_in_snapshot", "Tables of the sink whose first copy is on its way.", "sink")
	descSinkRows     = described("sink_rows_total", "Changed rows sent to the target since this node started.", "sink")
	descSinkBytes    = described("sink_bytes_total", "Their bytes, as values.", "sink")
	descSinkLetters  = described("sink_dead_letters_total", "Rows that the target refused and that were put aside.", "sink")
)

// sinks tells of the sinks that this node feeds.
func (c *collector) sinks(out chan<- prometheus.Metric, gauge gaugeFunc) {
	for _, s := range c.edges.feeds.Status() {
		sink := c.node.catalog.Current().Sinks[s.ID]
		if sink == nil {
			continue
		}
		bad, snapshots := 0, 0
		var rows, bytes, letters int64
		for i := range s.Spans {
			sp := &s.Spans[i]
			switch sp.State {
			case "error":
				bad++
			case "snapshot":
				snapshots++
			}
			rows, bytes, letters = rows+sp.Rows, bytes+sp.Bytes, letters+sp.DeadLetters
		}
		up := 0.0
		if s.State == "running" || s.State == "snapshot" || s.State == "behind" {
			up = 1
		}
		gauge(descSinkUp, up, sink.Name)
		gauge(descSinkLag, s.Lag.Seconds(), sink.Name)
		gauge(descSinkResident, float64(s.Resident), sink.Name)
		gauge(descSinkMemory, float64(s.Memory), sink.Name)
		gauge(descSinkBad, float64(bad), sink.Name)
		gauge(descSinkSnap, float64(snapshots), sink.Name)
		for desc, n := range map[*prometheus.Desc]int64{descSinkRows: rows, descSinkBytes: bytes, descSinkLetters: letters} {
			out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), sink.Name)
		}
	}
}
