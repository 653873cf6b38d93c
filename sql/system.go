package sql

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
	"tailrace/format"
	"tailrace/query"
)

// systemRelation is a relation whose rows are made up when it is read.
type systemRelation struct {
	schema *tailrace.Schema
	read   func(s *Session) *tailrace.Batch
}

// systemSchemas are the schemas of system relations.
func isSystem(schema string) bool {
	return schema == "mz_internal" || schema == "information_schema" || schema == "pg_catalog"
}

// relationOf makes a relation of "name kind" columns and a function that yields its rows as Go values: string, int64, bool, time.Time, or nil.
func relationOf(columns string, each func(s *Session, yield func(...any))) *systemRelation {
	kinds := map[string]tailrace.Kind{
		"text": tailrace.KindText, "int8": tailrace.KindInt8, "bool": tailrace.KindBool, "timestamptz": tailrace.KindTimestamptz, "int4": tailrace.KindInt4,
		"numeric": tailrace.KindNumeric, "uuid": tailrace.KindUUID,
	}
	r := &systemRelation{schema: &tailrace.Schema{Version: 1}}
	for i, c := range strings.Split(columns, ", ") {
		name, kind, _ := strings.Cut(c, " ")
		r.schema.Fields = append(r.schema.Fields, tailrace.Field{ID: tailrace.ColumnID(i + 1), Name: name, Type: tailrace.TypeOf(kinds[kind])})
	}
	r.read = func(s *Session) *tailrace.Batch {
		b := tailrace.NewBatch(r.schema, 0)
		each(s, func(vals ...any) {
			for i, v := range vals {
				appendGo(&b.Cols[i], v)
			}
			b.N++
		})
		return b
	}
	return r
}

func appendGo(c *tailrace.Column, v any) {
	switch v := v.(type) {
	case string:
		if c.Width == 0 {
			c.AppendString(v)
		} else if err := format.ParseText(c, tailrace.TypeOf(tailrace.KindUUID), v, format.Default()); err != nil {
			c.AppendNull() // only a session's uuid is of a fixed width, and ours are well formed
		}
	case int64:
		c.AppendInt64(v)
	case int32:
		c.AppendInt32(v)
	case bool:
		c.AppendBool(v)
	case tailrace.Time:
		c.Append(expr.TimeNumeric(v))
	case time.Time:
		c.AppendInt64(expr.StoredNow(v))
	default:
		c.AppendNull()
	}
}

var systemRelations = map[string]*systemRelation{
	"mz_internal.mz_subscriptions": relationOf("id text, session_id uuid, cluster_id text, created_at timestamptz, referenced_object_ids text, path text, state text, "+
		"position numeric, lag_us int8, bytes_sent int8, bytes_buffered int8", subscriptionRows),
	"mz_internal.mz_sources": relationOf("id text, name text, type text, connection text, state text, reason text, hint text, lag_bytes int8, position text", sourceRows),
	"mz_internal.mz_source_tables": relationOf("source text, schema text, table_name text, state text, reason text, hint text, rows_done int8, rows_estimate int8",
		sourceTableRows),
	"mz_internal.mz_connections":        relationOf("id text, name text, type text", connectionRows),
	"mz_internal.mz_secrets":            relationOf("id text, name text", secretRows),
	"information_schema.tables":         relationOf("table_catalog text, table_schema text, table_name text, table_type text", tableRows),
	"information_schema.columns":        relationOf("table_catalog text, table_schema text, table_name text, column_name text, ordinal_position int4, column_default text, is_nullable text, data_type text", columnRows),
	"information_schema.schemata":       relationOf("catalog_name text, schema_name text, schema_owner text", schemaRows),
	"pg_catalog.pg_tables":              relationOf("schemaname text, tablename text, tableowner text", pgTableRows),
	"pg_catalog.pg_type":                relationOf("oid int8, typname text, typlen int4", typeRows),
	"pg_catalog.pg_settings":            relationOf("name text, setting text", settingRows),
	"pg_catalog.pg_prepared_statements": relationOf("name text", preparedRows),
}

// systemRelationOf finds a system relation. Those of pg_catalog and mz_internal are found without their schema too.
func systemRelationOf(schema, name string) *systemRelation {
	if schema != "" {
		return systemRelations[schema+"."+name]
	}
	if r := systemRelations["pg_catalog."+name]; r != nil {
		return r
	}
	return systemRelations["mz_internal."+name]
}

// systemTable is a system relation as a query reads it, nil when there is none of that name.
func (s *Session) systemTable(schema, name string) *query.Table {
	r := systemRelationOf(schema, name)
	if r == nil {
		return nil
	}
	return &query.Table{Columns: r.schema, Scan: func(_ context.Context, cols []int) (tailrace.Rows, error) {
		return &literal{pick(r.read(s), cols)}, nil
	}}
}

func idText(id catalog.ID) string { return fmt.Sprintf("u%d", id) }

func subscriptionRows(s *Session, yield func(...any)) {
	if s.engine.Tail != nil {
		for _, i := range s.engine.Tail.List() {
			yield(i.ID, i.Session, "default", i.Created, "{"+idText(i.Table)+"}", "storage", i.State, i.Position, i.Lag.Microseconds(), nil, nil)
		}
	}
}

// statusOf is what ingest says about a source (table 0) or a table of it.
func (s *Session) statusOf(source, table catalog.ID) (st SourceStatus) {
	if s.engine.Sources == nil {
		return st
	}
	for _, st := range s.engine.Sources.Status() {
		if st.Source == source && st.Table == table {
			return st
		}
	}
	return st
}

func sourceRows(s *Session, yield func(...any)) {
	c := s.txn.catalog
	for _, src := range c.Sources {
		st := s.statusOf(src.ID, 0)
		state, reason, hint := st.State, st.Reason, st.Hint
		switch {
		case src.Error != "": // its position is lost: it is not tried again
			state, reason, hint = "lost", src.Error, src.Hint
		case src.Paused:
			state = "paused"
		case state == "":
			state = "starting"
		}
		connection := ""
		if conn := c.Connections[src.Connection]; conn != nil {
			connection = conn.Name
		}
		yield(idText(src.ID), src.Name, src.Kind, connection, state, reason, hint, st.LagBytes, st.Position)
	}
}

func sourceTableRows(s *Session, yield func(...any)) {
	for _, t := range s.txn.allTables() {
		if t.Upstream == nil {
			continue
		}
		st := s.statusOf(t.Upstream.Source, t.ID)
		name := ""
		if src := s.txn.catalog.Sources[t.Upstream.Source]; src != nil {
			name = src.Name
		}
		yield(name, t.Schema, t.Name, string(t.Upstream.State), t.Upstream.Reason, t.Upstream.Hint, st.RowsDone, st.RowsEstimate)
	}
}

func connectionRows(s *Session, yield func(...any)) {
	for _, c := range s.txn.catalog.Connections {
		yield(idText(c.ID), c.Name, c.Kind)
	}
}

func secretRows(s *Session, yield func(...any)) {
	for _, c := range s.txn.catalog.Secrets {
		yield(idText(c.ID), c.Name)
	}
}

func tableRows(s *Session, yield func(...any)) {
	for _, t := range s.txn.allTables() {
		yield(database, t.Schema, t.Name, "BASE TABLE")
	}
}

func columnRows(s *Session, yield func(...any)) {
	for _, t := range s.txn.allTables() {
		for i, f := range t.Columns.Fields {
			def := any(nil)
			if f.Default != "" {
				def = f.Default
			}
			yield(database, t.Schema, t.Name, f.Name, int32(i+1), def, map[bool]string{true: "NO", false: "YES"}[f.NotNull], expr.Bare(f.Type))
		}
	}
}

func schemaRows(s *Session, yield func(...any)) {
	seen := map[string]bool{publicSchema: true}
	yield(database, publicSchema, s.options.User)
	for _, t := range s.txn.allTables() {
		if !seen[t.Schema] {
			seen[t.Schema] = true
			yield(database, t.Schema, s.options.User)
		}
	}
}

func pgTableRows(s *Session, yield func(...any)) {
	for _, t := range s.txn.allTables() {
		yield(t.Schema, t.Name, s.options.User)
	}
}

func typeRows(_ *Session, yield func(...any)) {
	for k := tailrace.KindBool; k.Valid() && k != tailrace.KindForeign; k++ {
		yield(int64(tailrace.TypeOf(k).OID()), typeWord(k), int32(tailrace.TypeOf(k).Size()))
	}
}

func settingRows(s *Session, yield func(...any)) {
	for i := range settingList {
		yield(settingList[i].name, s.get(strings.ToLower(settingList[i].name)))
	}
}

func preparedRows(s *Session, yield func(...any)) {
	for name := range s.statements {
		yield(name)
	}
}
