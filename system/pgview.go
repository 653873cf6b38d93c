package system

import (
	"strings"
	"time"

	"tailrace"
)

// Relations of pg_catalog that are views over others in PostgreSQL.

func tablesRows(w *World, yield func(row)) {
	for _, c := range w.classes() {
		if c.kind == "r" {
			yield(row{
				"schemaname": c.schema, "tablename": c.name, "tableowner": w.User, "hasindexes": c.table != nil && len(c.table.Columns.Key) > 0, "hasrules": false,
				"hastriggers": false, "rowsecurity": false,
			})
		}
	}
}

func viewsRows(w *World, yield func(row)) {
	for _, c := range w.classes() {
		if c.kind == "v" {
			r := row{"schemaname": c.schema, "viewname": c.name, "viewowner": w.User}
			if c.view != nil {
				r["definition"] = viewText(c.view)
			}
			yield(r)
		}
	}
}

func rulesRows(w *World, yield func(row)) {
	for _, v := range sorted(w.Catalog.Views) {
		yield(row{"schemaname": v.Schema, "tablename": v.Name, "rulename": "_RETURN", "definition": "CREATE RULE \"_RETURN\" AS ON SELECT TO " + w.qualified(v.Schema, v.Name) + " DO INSTEAD " + viewText(v)})
	}
}

func indexesRows(w *World, yield func(row)) {
	for _, t := range w.keyedTables() {
		yield(row{"schemaname": t.Schema, "tablename": t.Name, "indexname": keyName(t), "indexdef": w.indexText(t)})
	}
}

func statTableRows(w *World, yield func(row)) {
	for _, t := range w.tables() {
		r := row{"relid": objectOID(t.ID), "schemaname": t.Schema, "relname": t.Name}
		for _, f := range relations["pg_catalog.pg_stat_user_tables"].Fields.Fields {
			if f.Type.Kind == tailrace.KindInt8 {
				r[f.Name] = int64(0)
			}
		}
		if w.Rows != nil {
			r["n_live_tup"] = max(0, w.Rows(t.ID))
		}
		yield(r)
	}
}

func statIndexRows(w *World, yield func(row)) {
	for _, t := range w.keyedTables() {
		yield(row{
			"relid": objectOID(t.ID), "indexrelid": uint32(firstIndexOID + t.ID), "schemaname": t.Schema, "relname": t.Name, "indexrelname": keyName(t),
			"idx_scan": 0, "idx_tup_read": 0, "idx_tup_fetch": 0,
		})
	}
}

func settingRows(w *World, yield func(row)) {
	if w.Settings == nil {
		return
	}
	for _, s := range w.Settings() {
		r := row{
			"name": s.Name, "setting": s.Value, "category": "Tailrace", "short_desc": "", "context": "user", "vartype": "string", "source": "default",
			"boot_val": s.Reset, "reset_val": s.Reset, "pending_restart": false,
		}
		if s.Fixed {
			r["context"] = "internal"
		}
		if s.Value != s.Reset {
			r["source"] = "session"
		}
		if s.Value == "on" || s.Value == "off" {
			r["vartype"] = "bool"
		}
		yield(r)
	}
}

// zoneNames are some of the time zones that SET TimeZone takes: one of each usual offset.
const zoneNames = "UTC Europe/London Europe/Berlin Europe/Paris Europe/Madrid Europe/Rome Europe/Vienna Europe/Zurich Europe/Athens Europe/Istanbul Europe/Moscow " +
	"Asia/Dubai Asia/Karachi Asia/Kolkata Asia/Dhaka Asia/Bangkok Asia/Singapore Asia/Shanghai Asia/Tokyo Asia/Seoul Australia/Sydney Pacific/Auckland " +
	"America/New_York America/Chicago America/Denver America/Los_Angeles America/Anchorage America/Sao_Paulo America/Argentina/Buenos_Aires Africa/Cairo " +
	"Africa/Johannesburg Africa/Lagos Pacific/Honolulu"

func zoneRows(w *World, yield func(row)) {
	for name := range strings.FieldsSeq(zoneNames) {
		loc, err := time.LoadLocation(name)
		if err != nil {
			continue // the machine has no time zones
		}
		at := w.Now.In(loc)
		abbrev, offset := at.Zone()
		yield(row{"name": name, "abbrev": abbrev, "utc_offset": time.Duration(offset) * time.Second, "is_dst": at.IsDST()})
	}
}

func activityRows(w *World, yield func(row)) {
	if w.Activity == nil {
		return
	}
	for _, a := range w.Activity() {
		r := row{
			"datid": databaseOID, "datname": w.Database, "pid": a.PID, "usename": a.User, "application_name": a.Application, "backend_start": a.Began,
			"xact_start": a.XactStart, "query_start": a.QueryStart, "state_change": a.StateChange, "state": a.State, "query": a.Query, "backend_type": "client backend",
		}
		if u := w.Catalog.UserNamed(a.User); u != nil {
			r["usesysid"] = objectOID(u.ID)
		} else {
			r["usesysid"] = ownerOID
		}
		if host, port, ok := splitAddress(a.Client); ok {
			r["client_addr"], r["client_port"] = host, port
		}
		if a.State != "active" {
			r["wait_event_type"], r["wait_event"] = "Client", "ClientRead"
		}
		yield(r)
	}
}

func preparedRows(w *World, yield func(row)) {
	if w.Prepared == nil {
		return
	}
	for _, p := range w.Prepared() {
		types := []uint32{}
		for _, t := range p.Types {
			types = append(types, t.OID())
		}
		yield(row{
			"name": p.Name, "statement": p.SQL, "prepare_time": p.At, "parameter_types": types, "from_sql": p.FromSQL, "generic_plans": 0, "custom_plans": 0,
		})
	}
}

func cursorRows(w *World, yield func(row)) {
	if w.Cursors == nil {
		return
	}
	for _, c := range w.Cursors() {
		yield(row{"name": c.Name, "statement": c.SQL, "is_holdable": false, "is_binary": false, "is_scrollable": false, "creation_time": c.At})
	}
}
