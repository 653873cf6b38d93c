package system

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"tailrace/catalog"
)

// Relations of mz_internal.

func idText(id catalog.ID) string { return fmt.Sprintf("u%d", id) }

func subscriptionRows(w *World, yield func(row)) {
	if w.Subscriptions == nil {
		return
	}
	for _, s := range w.Subscriptions() {
		ids := make([]string, len(s.Tables))
		for i, id := range s.Tables {
			ids[i] = idText(id)
		}
		yield(row{
			"id": s.ID, "session_id": s.Session, "cluster_id": "default", "created_at": s.Created, "referenced_object_ids": "{" + strings.Join(ids, ",") + "}",
			"path": s.Path, "state": s.State, "position": s.Position, "lag_us": s.Lag.Microseconds(),
		})
	}
}

// status is how a source (table 0) or a table of it does.
func (w *World) status(source, table catalog.ID) Status {
	if w.Status == nil {
		return Status{}
	}
	return w.Status(source, table)
}

func sourceRows(w *World, yield func(row)) {
	for _, src := range sorted(w.Catalog.Sources) {
		st := w.status(src.ID, 0)
		switch {
		case src.Error != "": // its position is lost: it is not tried again
			st.State, st.Reason, st.Hint = "lost", src.Error, src.Hint
		case src.Paused:
			st.State = "paused"
		case st.State == "":
			st.State = "starting"
		}
		connection := ""
		if conn := w.Catalog.Connections[src.Connection]; conn != nil {
			connection = conn.Name
		}
		yield(row{
			"id": idText(src.ID), "name": src.Name, "type": src.Kind, "connection": connection, "state": st.State, "reason": st.Reason, "hint": st.Hint,
			"lag_bytes": st.LagBytes, "position": st.Position,
		})
	}
}

func sourceTableRows(w *World, yield func(row)) {
	for _, t := range w.tables() {
		if t.Upstream == nil {
			continue
		}
		st := w.status(t.Upstream.Source, t.ID)
		name := ""
		if src := w.Catalog.Sources[t.Upstream.Source]; src != nil {
			name = src.Name
		}
		yield(row{
			"source": name, "schema": t.Schema, "table_name": t.Name, "state": string(t.Upstream.State), "reason": t.Upstream.Reason, "hint": t.Upstream.Hint,
			"rows_done": st.RowsDone, "rows_estimate": st.RowsEstimate,
		})
	}
}

func connectionRows(w *World, yield func(row)) {
	for _, c := range sorted(w.Catalog.Connections) {
		yield(row{"id": idText(c.ID), "name": c.Name, "type": c.Kind})
	}
}

func secretRows(w *World, yield func(row)) {
	for _, c := range sorted(w.Catalog.Secrets) {
		yield(row{"id": idText(c.ID), "name": c.Name})
	}
}

func historyRows(w *World, yield func(row)) {
	if w.History == nil {
		return
	}
	for _, s := range w.History() {
		r := row{
			"id": int64(s.ID), "session": s.Session, "sql": s.SQL, "began": s.Began, "rows": s.Rows, "status": s.Status, "path": s.Path,
		}
		if !s.Ended.IsZero() {
			r["ended"] = s.Ended
		}
		if s.Code != "" {
			r["error"], r["sqlstate"] = s.Error, s.Code
		}
		yield(r)
	}
}

// splitAddress takes host:port apart.
func splitAddress(address string) (host string, port int, ok bool) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, false
	}
	port, err = strconv.Atoi(text)
	return host, port, err == nil
}
