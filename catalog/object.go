package catalog

import (
	"time"

	"tailrace"
)

// ID names an object for its whole life. A table's ID is its CollectionID.
type ID = tailrace.CollectionID

// DefaultRetain is how far back history is kept when RETAIN HISTORY says nothing.
const DefaultRetain = time.Hour

// Table is a collection with a name: one created with SQL, or one that a source fills.
type Table struct {
	ID      ID
	Schema  string // "public"
	Name    string
	Columns *tailrace.Schema
	Retain  time.Duration // RETAIN HISTORY
	// Upstream is set for a source's table.
	Upstream *Upstream `json:",omitempty"`
	Checks   []Check   `json:",omitempty"`
	// Comment is what COMMENT ON TABLE says, Comments what COMMENT ON COLUMN does.
	Comment  string                       `json:",omitempty"`
	Comments map[tailrace.ColumnID]string `json:",omitempty"`
}

// Namespace is a schema that CREATE SCHEMA made. The schema public is always there, and so is one that a source's table is in.
type Namespace struct {
	ID      ID
	Name    string
	Comment string `json:",omitempty"`
}

// View is a named query.
type View struct {
	ID      ID
	Schema  string
	Name    string
	Query   string // a SELECT with all names in full, as it was when the view was made
	Columns []ViewColumn
	Uses    []ID   // tables, views and types that Query reads; they cannot be dropped before the view
	Comment string `json:",omitempty"`
}

// ViewColumn is one output column of a view.
type ViewColumn struct {
	Name    string
	Type    tailrace.Type
	Comment string `json:",omitempty"`
}

// UserType is an enum or a domain. Exactly one of Labels and Base is set, but that an enum may have no labels.
type UserType struct {
	ID     ID
	Schema string
	Name   string
	// Labels are the values of an enum, in order.
	Labels []string `json:",omitempty"`
	// Base is the type under a domain. Columns of a domain have its Base as their type and the domain as their Field.Domain.
	Base    *tailrace.Type `json:",omitempty"`
	NotNull bool           `json:",omitempty"`
	Default string         `json:",omitempty"` // an SQL expression, "" for none
	Checks  []Check        `json:",omitempty"`
	Comment string         `json:",omitempty"`
}

// Named is the type as the rooms that read names know it.
func (t *UserType) Named() *tailrace.NamedType {
	if t.Base == nil {
		return &tailrace.NamedType{Type: tailrace.Type{Kind: tailrace.KindEnum, Mod: -1, Name: t.Name, ID: t.ID}, Labels: t.Labels, Name: t.Name}
	}
	n := &tailrace.NamedType{Type: *t.Base, Domain: t.ID, Name: t.Name, NotNull: t.NotNull, Default: t.Default}
	for _, c := range t.Checks {
		n.Checks = append(n.Checks, tailrace.NamedCheck(c))
	}
	return n
}

// Check is a condition that rows or values must not fail: over the columns of a table, or over VALUE in a domain.
type Check struct {
	Name string
	Expr string // SQL
}

// TableState is where a source's table stands.
type TableState string

// The states of a source's table.
const (
	StateSnapshot TableState = "snapshot" // rows are being read; not readable yet
	StateLive     TableState = "live"
	StatePaused   TableState = "paused"
	StateError    TableState = "error" // follows no more until mended; Reason says why and how
)

// Upstream ties a table to the one it is a copy of.
type Upstream struct {
	Source ID
	Schema string
	Name   string
	Rel    uint32 // the source's identity of the table (PostgreSQL: oid)
	State  TableState
	Reason string `json:",omitempty"`
	Hint   string `json:",omitempty"`
	// Columns maps the source's column to ours; Num is PostgreSQL's attnum.
	Columns []UpstreamColumn
}

// UpstreamColumn is a column of the source and the column here that holds it.
type UpstreamColumn struct {
	Num  int
	Name string
	Type uint32 // type OID at the source
	Mod  int32
	ID   tailrace.ColumnID
}

// Secret is a named value that connections refer to: 'env:NAME', 'file:/path', or the value itself.
type Secret struct {
	ID    ID
	Name  string
	Value string
}

// Connection says how to reach a source.
type Connection struct {
	ID      ID
	Name    string
	Kind    string            // "postgres"
	Options map[string]string // lower-case option to value: host, port, database, user, ssl mode, ...
	Secrets map[string]string // option to the name of the secret that holds its value
}

// Source is a running copy of tables.
type Source struct {
	ID         ID
	Name       string
	Kind       string // "postgres"
	Connection ID
	Options    map[string]string // publication, slot
	// Tables lists "schema.name" of the tables asked for; All and Schemas widen it.
	Tables  []string
	Schemas []string
	All     bool
	Retain  time.Duration
	Paused  bool
	// MadePublication says that the publication was created for this source, so that dropping the source drops it.
	MadePublication bool
	// Error is why the source as a whole does not run, "" when it does.
	Error string `json:",omitempty"`
	Hint  string `json:",omitempty"`
}

// User may log in. While there is none, anybody may.
type User struct {
	ID         ID
	Name       string
	Salt       []byte
	Iterations int
	StoredKey  []byte // SCRAM-SHA-256
	ServerKey  []byte
}
