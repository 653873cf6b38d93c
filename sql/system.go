package sql

import (
	"context"
	"strings"

	"tailrace"
	"tailrace/catalog"
	"tailrace/query"
	"tailrace/system"
)

// isSystem tells the schemas of the system's relations from others.
func isSystem(schema string) bool { return system.IsSystem(schema) }

// systemTable is a system relation as a query reads it, nil when there is none of that name.
func (s *Session) systemTable(schema, name string) *query.Table {
	r := system.Find(schema, name, s.searchPath())
	if r == nil {
		return nil
	}
	return &query.Table{Columns: r.Fields, OID: r.OID, Scan: func(_ context.Context, cols []int) (tailrace.Rows, error) {
		return &literal{pick(r.Read(s.world()), cols)}, nil
	}}
}

// seen is the catalog that the session sees: its transaction's, or the newest between transactions.
func (s *Session) seen() *catalog.Catalog {
	if s.txn != nil && s.txn.catalog != nil {
		return s.txn.catalog
	}
	return s.engine.Catalog.Current()
}

// world is what the relations of the system show the session.
func (s *Session) world() *system.World {
	return &system.World{
		Memory: s.engine.memory, Catalog: s.seen(), User: s.options.User, Database: database, SearchPath: s.searchPath(), Now: s.start,
		Settings: s.systemSettings, Subscriptions: s.systemSubscriptions, Status: s.systemStatus, Activity: s.engine.Activity, History: s.engine.History, Prepared: s.systemPrepared, Cursors: s.systemCursors,
		Sinks: s.systemSinks,
		Bytes: func(id catalog.ID) int64 { bytes, _ := s.stored(id); return bytes },
		Rows:  func(id catalog.ID) int64 { _, rows := s.stored(id); return rows },
	}
}

// names reads and prints the names of objects as the session sees them. It is a format.Names.
type names struct{ s *Session }

// OID is format.Names.
func (n names) OID(kind tailrace.Kind, text string) (uint32, error) {
	return n.s.world().OID(kind, text)
}

// Name is format.Names.
func (n names) Name(kind tailrace.Kind, oid uint32) string { return n.s.world().Name(kind, oid) }

// stored is what a table takes in the store: bytes, and about how many rows.
func (s *Session) stored(id catalog.ID) (bytes, rows int64) {
	if sh := s.engine.Shards.Shard(id); sh != nil {
		return sh.Size()
	}
	return 0, 0
}

func (s *Session) systemSubscriptions() []system.Subscription {
	if s.engine.Tail == nil {
		return nil
	}
	var out []system.Subscription
	for _, i := range s.engine.Tail.List() {
		out = append(out, system.Subscription{
			ID: i.ID, Session: i.Session, Created: i.Created, Tables: i.Tables, Path: i.Path, State: i.State, Position: i.Position, Lag: i.Lag,
		})
	}
	return out
}

func (s *Session) systemStatus(source, table catalog.ID) system.Status {
	if s.engine.Sources == nil {
		return system.Status{}
	}
	for _, st := range s.engine.Sources.Status() {
		if st.Source == source && st.Table == table {
			return system.Status{
				State: st.State, Reason: st.Reason, Hint: st.Hint, RowsDone: st.RowsDone, RowsEstimate: st.RowsEstimate, LagBytes: st.LagBytes, Position: st.Position,
			}
		}
	}
	return system.Status{}
}

func (s *Session) systemSinks() []system.Sink {
	if s.engine.Sinks == nil {
		return nil
	}
	return s.engine.Sinks.Status()
}

func (s *Session) systemSettings() []system.Setting {
	var out []system.Setting
	for i := range settingList {
		st := &settingList[i]
		key := strings.ToLower(st.name)
		reset, ok := s.values.initial[key]
		if !ok {
			reset = st.value
		}
		out = append(out, system.Setting{Name: st.name, Value: s.get(key), Reset: reset, Fixed: st.fixed})
	}
	return out
}

func (s *Session) systemPrepared() []system.Prepared {
	var out []system.Prepared
	for name, p := range s.statements {
		out = append(out, system.Prepared{Name: name, SQL: p.st.Text, Types: p.Params, FromSQL: true})
	}
	return out
}

func (s *Session) systemCursors() []system.Cursor {
	var out []system.Cursor
	for name := range s.cursors {
		out = append(out, system.Cursor{Name: name})
	}
	return out
}
