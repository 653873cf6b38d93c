package feedsim

import (
	"slices"
	"time"
)

// Run is the figures of one run. Times are seconds of virtual time.
type Run struct {
	Scheduler  string `json:"scheduler"`
	Scenario   string `json:"scenario"`
	PoolMiB    int    `json:"pool_mib"`
	BatchBytes bool   `json:"batch_bytes"`

	SinkRowsPerS   float64 `json:"sink_rows_per_s"` // in the first phase, from second 60 on
	ScansPerS      float64 `json:"scans_per_s"`
	RowsPerScan    float64 `json:"rows_per_scan"`
	Refusals       int64   `json:"refusals"`
	FlushCalls     int     `json:"flush_calls"`
	FlushMS        float64 `json:"flush_ms"`
	RowsPerBatch   float64 `json:"rows_per_batch"`
	GapS           float64 `json:"gap_s"`      // received minus sent, median over hot tables, in the same time
	GapP99S        float64 `json:"gap_p99_s"`  // of hot tables
	GapRedoS       float64 `json:"gap_redo_s"` // received minus given to the redo log, median
	LagP50S        float64 `json:"lag_p50_s"`  // of the slowest table
	LagP95S        float64 `json:"lag_p95_s"`
	LagPeakS       float64 `json:"lag_peak_s"` // after the backlog of the start is gone
	CatchUpS       float64 `json:"catch_up_s"` // until the lag stays below 20 s for a minute; the whole run if it never does
	RedoLagP95S    float64 `json:"redo_lag_p95_s"`
	RedoLagS       float64 `json:"redo_lag_s"` // the largest, once the backlog is gone
	ColdLagP99S    float64 `json:"cold_lag_p99_s"`
	OthersLagS     float64 `json:"others_lag_s"`      // 99th percentile of hot tables without a connection of their own
	EmptyWindows   int     `json:"empty_windows"`     // of 30 s without a row, while there was input
	PeakResident   float64 `json:"peak_resident_mib"` // resident and granted
	DecodedPerSent float64 `json:"decoded_per_sent"`  // bytes read for each that was sent to the target
	Isolation      float64 `json:"isolation"`         // least of the tables that are not blocked, against the run without a block; 0: not measured
	Lost           int     `json:"lost"`
	Doubled        int     `json:"doubled"`
	Disordered     int     `json:"disordered"`
	Resets         int     `json:"resets"`
	Drops          int     `json:"drops"`

	peak    int64 // bytes
	blocked []int // rows of each table while the target hung
}

// figures are collected on the way.
type figures struct {
	gaps, redoGaps, lags, redoLags, coldLags, otherLags []float32
	lagAt                                               []float32 // of all samples
	peakResident                                        int64
	from, until                                         []int // rows of each table at the ends of the interval in which targets hang
}

// sample looks at all tables.
func (g *figures) sample(f *feed, d driver) {
	now := f.now.Microseconds()
	behind := func(r *rows, n int) float32 {
		if n >= len(r.at) || r.at[n] > now {
			return 0
		}
		return float32(now-r.at[n]) / 1e6
	}
	worst, redo := float32(0), float32(0)
	settled := f.now >= time.Minute/time.Duration(f.Quick)
	for n, s := range f.states {
		r := f.w.tables[n]
		lag, behindRedo := behind(r, s.applied), float32(0)
		if s.redone < s.received {
			behindRedo = behind(r, s.redone)
		}
		worst, redo = max(worst, lag), max(redo, behindRedo)
		switch {
		case r.hot:
			gap, gapRedo := float32(0), float32(0)
			if s.sent < s.received {
				gap = float32(s.resolved-r.at[s.sent]) / 1e6
			}
			if s.redoSent < s.received {
				gapRedo = float32(s.resolved-r.at[s.redoSent]) / 1e6
			}
			if settled && f.now < plan(f.Quick)[0].until {
				g.gaps, g.redoGaps = append(g.gaps, gap), append(g.redoGaps, gapRedo)
			}
			if _, own := f.target.own(n); !own && settled {
				g.otherLags = append(g.otherLags, lag)
			}
		case len(r.at) > 0 && settled:
			g.coldLags = append(g.coldLags, lag)
		}
	}
	g.lagAt = append(g.lagAt, worst)
	if settled {
		g.lags, g.redoLags = append(g.lags, worst), append(g.redoLags, redo)
	}
	g.peakResident = max(g.peakResident, d.resident())
	quick := time.Duration(f.Quick)
	for at, into := range map[time.Duration]*[]int{hungFrom / quick: &g.from, hungUntil / quick: &g.until} {
		if f.now >= at && *into == nil {
			for _, s := range f.states {
				*into = append(*into, s.rowsSince)
			}
		}
	}
}

func quantile(v []float32, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Clone(v)
	slices.Sort(s)
	return float64(s[min(len(s)-1, int(q*float64(len(s))))])
}

// report is what the run comes to.
func (g *figures) report(f *feed, d driver) *Run {
	quick := float64(f.Quick)
	scans, refused, decoded := d.counts()
	seconds := f.w.length.Seconds()
	out := &Run{
		Scheduler: f.Scheduler, Scenario: f.Scenario, PoolMiB: f.PoolMiB, BatchBytes: f.BatchBytes, ScansPerS: float64(scans) / seconds, Refusals: refused,
		FlushCalls: f.redo.flushes, FlushMS: float64(f.redo.busy.Milliseconds()) / max(1, float64(f.redo.flushes)), RowsPerBatch: float64(f.target.rows) / max(1, float64(f.target.calls)),
		GapS: quantile(g.gaps, .5), GapP99S: quantile(g.gaps, .99), GapRedoS: quantile(g.redoGaps, .5), LagP50S: quantile(g.lags, .5), LagP95S: quantile(g.lags, .95),
		LagPeakS: quantile(g.lags, 1), RedoLagP95S: quantile(g.redoLags, .95), RedoLagS: quantile(g.redoLags, 1), ColdLagP99S: quantile(g.coldLags, .99),
		OthersLagS: quantile(g.otherLags, .99), PeakResident: float64(g.peakResident) / (1 << 20), Disordered: f.target.disorder, peak: g.peakResident,
	}
	from, until := int(60/quick), int(300/quick)
	for s := from; s < until; s++ {
		out.SinkRowsPerS += float64(f.target.seconds[s])
	}
	out.SinkRowsPerS /= float64(until - from)
	out.CatchUpS = seconds
	minute := int(600 / quick)
	for n, below := 0, 0; n < len(g.lagAt); n++ {
		if below++; float64(g.lagAt[n]) >= 20/quick {
			below = 0
		}
		if below == minute {
			out.CatchUpS = float64(n+1-minute) / 10
			break
		}
	}
	window := max(1, int(30/quick))
	for s := 0; s+window <= until; s += window {
		if !slices.ContainsFunc(f.target.seconds[s:s+window], func(n int64) bool { return n > 0 }) {
			out.EmptyWindows++
		}
	}
	sentBytes, rows := int64(0), int64(0)
	for n, s := range f.states {
		want := len(f.w.tables[n].at)
		out.Lost += max(0, want-f.target.sent[n])
		out.Doubled += max(0, f.target.sent[n]-want)
		sentBytes += int64(f.target.sent[n]) * f.w.tables[n].size
		rows += int64(s.rowsSince)
	}
	out.RowsPerScan = float64(rows) / max(1, float64(scans))
	out.DecodedPerSent = float64(decoded) / max(1, float64(sentBytes))
	for n := range g.until {
		out.blocked = append(out.blocked, g.until[n]-g.from[n])
	}
	return out
}
