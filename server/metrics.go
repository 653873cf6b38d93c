package server

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"tailrace/catalog"
)

// counts are those that no room keeps itself.
type counts struct {
	checkpoints, checkpointErrors atomic.Int64
}

// collector reads the rooms' own counts when it is scraped; nothing is kept twice. Only sources have a label: there are few of them.
type collector struct {
	node  *node
	edges *edges
}

func described(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("tailrace_"+name, help, labels, nil)
}

var (
	descBuild = described("build_info", "Always 1; the label says which version runs.", "version")

	descLogEntries  = described("log_entries_applied_total", "Log entries applied since the start, ticks included.")
	descLogTxns     = described("log_transactions_applied_total", "Transactions applied since the start: SQL, sources and upkeep.")
	descLogBytes    = described("log_bytes_applied_total", "Bytes of records applied since the start.")
	descLogSeq      = described("log_seq", "Number of the newest log entry applied.")
	descLogTime     = described("log_newest_time_seconds", "Newest committed time applied, as seconds since the Unix epoch.")
	descClockJump   = described("clock_jump_seconds", "How far the wall clock is from the log's time after it jumped; 0 while they agree.")
	descCheckpoints = described("checkpoints_total", "Checkpoints written since the start.")
	descCheckErrors = described("checkpoint_errors_total", "Checkpoints that could not be written since the start.")

	descMemory      = described("memory_bytes", "Bytes that a share of the node's memory has given out; spill is bytes on disk.", "share")
	descMemoryLimit = described("memory_limit_bytes", "Bytes that a share of the node's memory has at most.", "share")
	descMemoryWaits = described("memory_waits_total", "How often work waited for its share of the node's memory, since the start.")
	descMemoryFull  = described("memory_refusals_total", "How often a share of the node's memory was used up, so that something was spilled, evicted or refused, since the start.")

	descTables    = described("tables", "Tables in the catalog.")
	descUnflushed = described("shard_memtable_bytes", "Bytes of updates that are in memory and the log only.")
	descIndexed   = described("index_collections", "Collections whose keys are looked up in the local index.")
	descIndex     = described("index_bytes", "Bytes on disk of the local index.")
	descUpper     = described("shard_upper_seconds", "Everything below this time is known to the shards, as seconds since the Unix epoch.")

	descSubs   = described("subscriptions", "Subscriptions that run, by what they read: the snapshot, the tail's window (live), or history (behind).", "state")
	descSubLag = described("subscription_lag_max_seconds", "How far the subscription that is furthest behind is behind the newest committed time.")
	descWindow = described("tail_window_bytes", "Bytes of recent batches that the tail keeps.")
	descFrames = described("frames_made_total", "Rows of a time, or pieces of a snapshot, that were encoded for all subscribers of one shape, since the start.")
	descShared = described("frames_shared_total", "How often a subscriber sent a frame that was made for another, since the start.")
	descFrameB = described("frame_bytes_total", "Bytes of the frames made, since the start.")
	descKept   = described("frames_kept_bytes", "Bytes of the frames that are kept for subscribers who still come.")
	descBuses  = described("snapshot_buses_total", "Snapshots read for all who subscribe in one shape at one time, since the start.")
	descBehind = described("history_readings_total", "Readings of history opened for subscribers who are behind, since the start. Those near each other share one.")
	descRiders = described("snapshot_riders_total", "Subscribers who took the time of another's snapshot, since the start.")

	descSessions   = described("sessions", "PostgreSQL sessions that are open.")
	descAccepted   = described("connections_accepted_total", "Connections accepted on the PostgreSQL port.")
	descRefused    = described("connections_refused_total", "Connections refused because there were too many.")
	descGarbage    = described("connections_garbage_total", "Connections closed because what they sent is no protocol.")
	descAuth       = described("authentication_failures_total", "Logins with a wrong password or an unknown user.")
	descCancels    = described("cancel_requests_total", "Cancel requests with the right secret.")
	descStatements = described("statements_total", "Simple queries and executions of portals.")
	descErrors     = described("statement_errors_total", "Errors sent to clients.")
	descPanics     = described("session_panics_total", "Sessions closed by a bug of ours. Please report any.")
	descSent       = described("client_sent_bytes_total", "Bytes sent to PostgreSQL clients.")
	descWrites     = described("client_writes_total", "Writes that sent them: each is one system call, or one TLS record and more.")
	descReceived   = described("client_received_bytes_total", "Bytes received from PostgreSQL clients.")
	descRows       = described("client_sent_rows_total", "Rows sent to PostgreSQL clients.")

	descSourceUp   = described("source_running", "1 while the source follows its database, else 0.", "source")
	descSourceLag  = described("source_lag_bytes", "Bytes of the source's log that are not applied here yet.", "source")
	descSourceBad  = described("source_tables_in_error", "Tables of the source that follow no more until mended.", "source")
	descSourceSnap = described("source_tables_in_snapshot", "Tables of the source whose first copy is being read.", "source")
)

// Describe implements prometheus.Collector: nothing is promised ahead, since sources come and go.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v int64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
	}
	n := c.node
	gauge(descBuild, 1, n.options.Version)
	counter(descLogEntries, n.loop.entries.Load())
	counter(descLogTxns, n.loop.changes.Load())
	counter(descLogBytes, n.loop.bytes.Load())
	gauge(descLogSeq, float64(n.loop.applied.Load()))
	gauge(descLogTime, float64(n.log.Newest())/1e6)
	gauge(descClockJump, n.log.ClockJump().Seconds())
	counter(descCheckpoints, n.counts.checkpoints.Load())
	counter(descCheckErrors, n.counts.checkpointErrors.Load())
	gauge(descTables, float64(len(n.catalog.Current().Tables)))
	nearby := n.shards.IndexStats()
	gauge(descIndexed, float64(nearby.Collections))
	gauge(descIndex, float64(nearby.Bytes))
	gauge(descUnflushed, float64(n.shards.Unflushed()))
	gauge(descUpper, float64(n.shards.Upper())/1e6)
	c.flushes(out)
	c.memory(gauge, counter)
	c.subscriptions(gauge, counter)
	c.sessions(gauge, counter)
	c.sources(gauge)
	c.sinks(out, gauge)
}

type gaugeFunc = func(d *prometheus.Desc, v float64, labels ...string)

func (c *collector) memory(gauge gaugeFunc, counter func(*prometheus.Desc, int64)) {
	waits, refusals := int64(0), int64(0)
	for _, u := range c.node.budget.Usage() {
		gauge(descMemory, float64(u.Used), u.Name)
		gauge(descMemoryLimit, float64(u.Limit), u.Name)
		waits, refusals = waits+u.Waits, refusals+u.Refusals
	}
	counter(descMemoryWaits, waits)
	counter(descMemoryFull, refusals)
}

func (c *collector) subscriptions(gauge gaugeFunc, counter func(*prometheus.Desc, int64)) {
	byState := map[string]int{"snapshot": 0, "live": 0, "behind": 0}
	lag := 0.0
	for _, s := range c.node.tail.List() {
		byState[s.State]++
		lag = max(lag, s.Lag.Seconds())
	}
	for state, count := range byState {
		gauge(descSubs, float64(count), state)
	}
	gauge(descSubLag, lag)
	gauge(descWindow, float64(c.node.tail.WindowSize()))
	f := c.node.tail.Frames()
	gauge(descKept, float64(f.Kept))
	counter(descFrames, f.Made)
	counter(descShared, f.Shared)
	counter(descFrameB, f.Bytes)
	counter(descBuses, f.Buses)
	counter(descRiders, f.Riders)
	counter(descBehind, f.Catchups)
}

func (c *collector) sessions(gauge gaugeFunc, counter func(*prometheus.Desc, int64)) {
	s := c.edges.pg.Stats()
	gauge(descSessions, float64(s.Sessions))
	counter(descAccepted, s.Accepted)
	counter(descRefused, s.Refused)
	counter(descGarbage, s.Garbage)
	counter(descAuth, s.AuthFailures)
	counter(descCancels, s.Cancels)
	counter(descStatements, s.Statements)
	counter(descErrors, s.Errors)
	counter(descPanics, s.Panics)
	counter(descSent, s.BytesSent)
	counter(descWrites, s.Writes)
	counter(descReceived, s.BytesReceived)
	counter(descRows, s.RowsSent)
}

func (c *collector) sources(gauge gaugeFunc) {
	for _, s := range c.edges.ingest.Status() {
		up := 0.0
		if s.State == "snapshot" || s.State == "live" {
			up = 1
		}
		bad, snapshots := 0, 0
		for _, t := range s.Tables {
			switch t.State {
			case catalog.StateError:
				bad++
			case catalog.StateSnapshot:
				snapshots++
			}
		}
		gauge(descSourceUp, up, s.Name)
		gauge(descSourceLag, float64(s.LagBytes), s.Name)
		gauge(descSourceBad, float64(bad), s.Name)
		gauge(descSourceSnap, float64(snapshots), s.Name)
	}
}
