package catalog

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"tailrace"
	"tailrace/log"
)

// Catalog is what exists at one time. It is immutable.
type Catalog struct {
	Time        tailrace.Time // of the newest change in it
	NextID      ID            // the ID that the next created object gets
	Tables      map[ID]*Table
	Secrets     map[ID]*Secret
	Connections map[ID]*Connection
	Sources     map[ID]*Source
	Users       map[ID]*User
	Namespaces  map[ID]*Namespace
	Views       map[ID]*View
	Types       map[ID]*UserType
	Positions   map[ID][]byte // a source's position, in its adapter's encoding
	Sinks       map[ID]*Sink
	// SinkProgress is how far each sink is; Versions what the tables of sinks were at times that a sink has not passed, oldest first.
	SinkProgress map[ID]SinkProgress
	Versions     map[ID][]TableVersion

	byName map[string]*Table
}

// View returns the view schema.name, nil when there is none.
func (c *Catalog) View(schema, name string) *View {
	for _, v := range c.Views {
		if v.Schema == schema && v.Name == name {
			return v
		}
	}
	return nil
}

// Type returns the enum or domain schema.name, nil when there is none.
func (c *Catalog) Type(schema, name string) *UserType {
	for _, t := range c.Types {
		if t.Schema == schema && t.Name == name {
			return t
		}
	}
	return nil
}

// Namespace returns the schema called name that CREATE SCHEMA made, nil when there is none.
func (c *Catalog) Namespace(name string) *Namespace {
	return named(c.Namespaces, name, func(n *Namespace) string { return n.Name })
}

// Table returns the table schema.name, nil when there is none.
func (c *Catalog) Table(schema, name string) *Table { return c.byName[schema+"\x00"+name] }

// SecretNamed returns the secret called name, nil when there is none.
func (c *Catalog) SecretNamed(name string) *Secret {
	return named(c.Secrets, name, func(s *Secret) string { return s.Name })
}

// ConnectionNamed returns the connection called name, nil when there is none.
func (c *Catalog) ConnectionNamed(name string) *Connection {
	return named(c.Connections, name, func(s *Connection) string { return s.Name })
}

// SourceNamed returns the source called name, nil when there is none.
func (c *Catalog) SourceNamed(name string) *Source {
	return named(c.Sources, name, func(s *Source) string { return s.Name })
}

// UserNamed returns the user called name, nil when there is none.
func (c *Catalog) UserNamed(name string) *User {
	return named(c.Users, name, func(s *User) string { return s.Name })
}

func named[T any](objects map[ID]*T, name string, nameOf func(*T) string) *T {
	for _, o := range objects {
		if nameOf(o) == name {
			return o
		}
	}
	return nil
}

// TablesOf lists the tables that source fills, by ID.
func (c *Catalog) TablesOf(source ID) []*Table {
	var out []*Table
	for _, id := range slices.Sorted(maps.Keys(c.Tables)) {
		if t := c.Tables[id]; t.Upstream != nil && t.Upstream.Source == source {
			out = append(out, t)
		}
	}
	return out
}

// Change puts one object, whole, or drops one. Exactly one field is set.
type Change struct {
	Table      *Table      `json:",omitempty"`
	Secret     *Secret     `json:",omitempty"`
	Connection *Connection `json:",omitempty"`
	Source     *Source     `json:",omitempty"`
	User       *User       `json:",omitempty"`
	Namespace  *Namespace  `json:",omitempty"`
	View       *View       `json:",omitempty"`
	Type       *UserType   `json:",omitempty"`
	Sink       *Sink       `json:",omitempty"`
	Drop       ID          `json:",omitempty"`
}

// Record is the log record of a change.
func (ch *Change) Record() log.Record {
	payload, err := json.Marshal(ch)
	if err != nil {
		panic("a catalog change that JSON cannot hold: " + err.Error()) // no field has such a type
	}
	r := log.Record{Kind: log.KindCatalog, Whole: true, Payload: payload}
	switch {
	case ch.Table != nil:
		r.Collection = ch.Table.ID
	case ch.Drop != 0:
		r.Collection = ch.Drop
	}
	return r
}

// PositionRecord is the log record that moves a source to position.
func PositionRecord(source ID, position []byte) log.Record {
	return log.Record{Kind: log.KindPosition, Collection: source, Payload: position}
}

// TableChange tells what an applied entry did to a table: Before nil is a new table, After nil a dropped one.
type TableChange struct {
	Time          tailrace.Time
	Before, After *Table
}

// Fold is the catalog of a node, kept up to date by Apply. Current may be called by anyone.
type Fold struct {
	current atomic.Pointer[Catalog]
}

// NewFold returns the fold of an empty log.
func NewFold() *Fold {
	f := &Fold{}
	f.current.Store(&Catalog{
		NextID: 1, Tables: map[ID]*Table{}, Secrets: map[ID]*Secret{}, Connections: map[ID]*Connection{},
		Sources: map[ID]*Source{}, Users: map[ID]*User{}, Namespaces: map[ID]*Namespace{}, Views: map[ID]*View{}, Types: map[ID]*UserType{},
		Positions: map[ID][]byte{}, Sinks: map[ID]*Sink{}, SinkProgress: map[ID]SinkProgress{}, Versions: map[ID][]TableVersion{}, byName: map[string]*Table{},
	})
	return f
}

// Current is the newest catalog.
func (f *Fold) Current() *Catalog { return f.current.Load() }

// Apply folds one entry in and returns what happened to tables, in order. One goroutine applies. A record that is no change is ErrCorrupt, and the entry
// changes nothing.
func (f *Fold) Apply(e *log.Entry) ([]TableChange, error) {
	var changes []TableChange
	c := f.Current()
	copied := false
	for _, txn := range e.Txns {
		for _, r := range txn.Records {
			if r.Kind != log.KindCatalog && r.Kind != log.KindPosition && r.Kind != log.KindSinkProgress {
				continue
			}
			if !copied {
				c, copied = c.clone(), true
			}
			c.Time = txn.Time
			if r.Kind == log.KindPosition {
				c.Positions[r.Collection] = r.Payload
				continue
			}
			if r.Kind == log.KindSinkProgress {
				if err := c.move(&r); err != nil {
					return nil, fmt.Errorf("apply a sink's progress at %d: %w", txn.Time, err)
				}
				continue
			}
			var ch Change
			err := json.Unmarshal(r.Payload, &ch)
			if err != nil {
				err = corrupt("%s", err)
			} else {
				err = ch.valid()
			}
			if err != nil {
				return nil, fmt.Errorf("apply catalog change at %d: %w", txn.Time, err)
			}
			if tc, ok := c.apply(&ch); ok {
				tc.Time = txn.Time
				c.keepVersion(tc, txn.Time)
				changes = append(changes, tc)
			}
		}
	}
	if copied {
		f.current.Store(c)
	}
	return changes, nil
}

func (c *Catalog) clone() *Catalog {
	n := *c
	n.Tables, n.Secrets, n.Connections = maps.Clone(c.Tables), maps.Clone(c.Secrets), maps.Clone(c.Connections)
	n.Sources, n.Users, n.Positions = maps.Clone(c.Sources), maps.Clone(c.Users), maps.Clone(c.Positions)
	n.Namespaces, n.Views, n.Types = maps.Clone(c.Namespaces), maps.Clone(c.Views), maps.Clone(c.Types)
	n.Sinks, n.SinkProgress, n.Versions = maps.Clone(c.Sinks), maps.Clone(c.SinkProgress), maps.Clone(c.Versions)
	n.byName = maps.Clone(c.byName)
	return &n
}

// With is c after ch, as a transaction that makes the change sees it; c stays as it is.
func (c *Catalog) With(ch Change) *Catalog {
	n := c.clone()
	n.apply(&ch)
	return n
}

// apply makes the change to c, which nobody else sees yet.
func (c *Catalog) apply(ch *Change) (tc TableChange, isTable bool) {
	id := ch.Drop
	switch {
	case ch.Table != nil:
		id, isTable = ch.Table.ID, true
		tc = TableChange{Before: c.Tables[id], After: ch.Table}
		c.Tables[id] = ch.Table
	case ch.Secret != nil:
		id = ch.Secret.ID
		c.Secrets[id] = ch.Secret
	case ch.Connection != nil:
		id = ch.Connection.ID
		c.Connections[id] = ch.Connection
	case ch.Source != nil:
		id = ch.Source.ID
		c.Sources[id] = ch.Source
	case ch.User != nil:
		id = ch.User.ID
		c.Users[id] = ch.User
	case ch.Namespace != nil:
		id = ch.Namespace.ID
		c.Namespaces[id] = ch.Namespace
	case ch.View != nil:
		id = ch.View.ID
		c.Views[id] = ch.View
	case ch.Type != nil:
		id = ch.Type.ID
		c.Types[id] = ch.Type
	case ch.Sink != nil:
		id = ch.Sink.ID
		c.Sinks[id] = ch.Sink
	default:
		if t := c.Tables[id]; t != nil {
			tc, isTable = TableChange{Before: t}, true
		}
		delete(c.Tables, id)
		delete(c.Secrets, id)
		delete(c.Connections, id)
		delete(c.Sources, id)
		delete(c.Users, id)
		delete(c.Namespaces, id)
		delete(c.Views, id)
		delete(c.Types, id)
		delete(c.Positions, id)
		delete(c.Versions, id)
		delete(c.SinkProgress, id)
		if s := c.Sinks[id]; s != nil {
			delete(c.Sinks, id)
			for _, table := range s.Tables {
				c.forgetVersions(table)
			}
		}
	}
	c.NextID = max(c.NextID, id+1)
	if isTable {
		c.index()
	}
	return tc, isTable
}

// index rebuilds byName.
func (c *Catalog) index() {
	c.byName = make(map[string]*Table, len(c.Tables))
	for _, t := range c.Tables {
		c.byName[t.Schema+"\x00"+t.Name] = t
	}
}

// Encode is the catalog as a checkpoint keeps it: a length and the JSON of a Catalog.
func (f *Fold) Encode() []byte {
	c := f.Current()
	body, err := json.Marshal(c)
	if err != nil {
		panic("a catalog that JSON cannot hold: " + err.Error()) // no field has such a type
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// Restore replaces the fold by what Encode returned. Other bytes are ErrCorrupt, and change nothing.
func (f *Fold) Restore(raw []byte) error {
	if len(raw) < 4 || len(raw)-4 != int(binary.LittleEndian.Uint32(raw)) {
		return fmt.Errorf("restore catalog: %w", tailrace.ErrCorrupt)
	}
	c := NewFold().Current()
	if err := json.Unmarshal(raw[4:], c); err != nil {
		return fmt.Errorf("restore catalog: %w", corrupt("%s", err))
	}
	if err := c.valid(); err != nil {
		return fmt.Errorf("restore catalog: %w", err)
	}
	c.index()
	f.current.Store(c)
	return nil
}
