package system

import (
	"net/url"

	"tailrace"
	"tailrace/catalog"
)

// sinkStates is how each sink does, by ID.
func (w *World) sinkStates() map[catalog.ID]Sink {
	out := map[catalog.ID]Sink{}
	if w.Sinks != nil {
		for _, s := range w.Sinks() {
			out[s.ID] = s
		}
	}
	return out
}

// settled is the state of a sink as the catalog has it, where that says more than who runs it.
func settled(sink *catalog.Sink, st Sink) Sink {
	switch {
	case sink.Error != "":
		st.State, st.Reason, st.Hint = "failed", sink.Error, sink.Hint
	case sink.Paused:
		st.State = "paused"
	case st.State == "":
		st.State = "starting"
	}
	return st
}

func sinkRows(w *World, yield func(row)) {
	states := w.sinkStates()
	for _, sink := range sorted(w.Catalog.Sinks) {
		st := settled(sink, states[sink.ID])
		r := row{
			"id": idText(sink.ID), "name": sink.Name, "type": sink.Kind, "url": withoutPassword(sink.URL), "state": st.State, "reason": st.Reason, "hint": st.Hint,
			"resident_bytes": st.Resident, "memory_bytes": sink.Memory,
		}
		putTime(r, "redo_frontier", st.Redo)
		if st.Checkpoint == 0 {
			st.Checkpoint = checkpointOf(w.Catalog, sink)
		}
		putTime(r, "checkpoint", st.Checkpoint)
		if st.Checkpoint != 0 {
			r["lag_us"] = st.Lag.Microseconds()
		}
		yield(r)
	}
}

func sinkSpanRows(w *World, yield func(row)) {
	states := w.sinkStates()
	for _, sink := range sorted(w.Catalog.Sinks) {
		st := settled(sink, states[sink.ID])
		for _, id := range sink.Tables {
			t := w.Catalog.Tables[id]
			if t == nil {
				continue
			}
			span := SinkSpan{State: st.State, Checkpoint: w.Catalog.SinkCheckpoint(sink, id)}
			for _, s := range st.Spans {
				if s.Table == id {
					span = s
				}
			}
			if sink.Held[id] {
				span.State = "paused"
			}
			r := row{
				"sink": sink.Name, "schema": t.Schema, "table_name": t.Name, "state": span.State, "reason": span.Reason, "hint": span.Hint, "resident_bytes": span.Resident,
				"credit_bytes": span.Credit, "waiting": span.Waiting, "rows": span.Rows, "bytes": span.Bytes, "rows_per_second": span.RowsPerSecond,
				"bytes_per_second": span.BytesPerSecond, "dead_letters": span.DeadLetters,
			}
			putTime(r, "checkpoint", span.Checkpoint)
			putTime(r, "received", span.Received)
			putTime(r, "sent", span.Sent)
			if span.Checkpoint != 0 {
				r["lag_us"] = span.Lag.Microseconds()
			}
			if !span.WaitingSince.IsZero() {
				r["waiting_since"] = span.WaitingSince
			}
			yield(r)
		}
	}
}

// checkpointOf is how far the slowest table is, as the log has it; 0 when one has not begun.
func checkpointOf(c *catalog.Catalog, sink *catalog.Sink) tailrace.Time {
	var least tailrace.Time
	for i, id := range sink.Tables {
		at := c.SinkCheckpoint(sink, id)
		if i == 0 || at < least {
			least = at
		}
	}
	return least
}

// putTime sets a column to a time; 0 is NULL.
func putTime(r row, name string, t tailrace.Time) {
	if t != 0 {
		r[name] = t
	}
}

// withoutPassword is an address as anybody may see it.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Redacted()
}
