package server

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"tailrace/catalog"
)

// CatalogSummary names what exists. Secrets' values are not in it.
type CatalogSummary struct {
	Tables      []TableSummary  `json:"tables"`
	Views       []string        `json:"views"`
	Types       []string        `json:"types"`
	Schemas     []string        `json:"schemas"` // besides public
	Sources     []SourceSummary `json:"sources"`
	Connections []string        `json:"connections"`
	Secrets     []string        `json:"secrets"`
	Users       []string        `json:"users"`
}

// TableSummary is a table.
type TableSummary struct {
	ID      catalog.ID `json:"id"`
	Name    string     `json:"name"`
	Columns int        `json:"columns"`
	Source  string     `json:"source,omitempty"`
	State   string     `json:"state,omitempty"` // of a source's table
}

// SourceSummary is a source and the place in its database's log up to which its changes are here.
type SourceSummary struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Paused   bool   `json:"paused"`
	Position string `json:"position"` // hex of the adapter's encoding
	Error    string `json:"error,omitempty"`
}

// summarize names what is in a catalog, in order.
func summarize(c *catalog.Catalog) CatalogSummary {
	var s CatalogSummary
	for _, t := range c.Tables {
		row := TableSummary{ID: t.ID, Name: t.Schema + "." + t.Name, Columns: len(t.Columns.Fields)}
		if t.Upstream != nil {
			row.State = string(t.Upstream.State)
			if src := c.Sources[t.Upstream.Source]; src != nil {
				row.Source = src.Name
			}
		}
		s.Tables = append(s.Tables, row)
	}
	slices.SortFunc(s.Tables, func(a, b TableSummary) int { return strings.Compare(a.Name, b.Name) })
	for id, src := range c.Sources {
		s.Sources = append(s.Sources, SourceSummary{src.Name, src.Kind, src.Paused, hex.EncodeToString(c.Positions[id]), src.Error})
	}
	slices.SortFunc(s.Sources, func(a, b SourceSummary) int { return strings.Compare(a.Name, b.Name) })
	s.Views = names(c.Views, func(v *catalog.View) string { return v.Schema + "." + v.Name })
	s.Types = names(c.Types, func(t *catalog.UserType) string { return t.Schema + "." + t.Name })
	s.Schemas = names(c.Namespaces, func(n *catalog.Namespace) string { return n.Name })
	s.Connections = names(c.Connections, func(x *catalog.Connection) string { return x.Name })
	s.Secrets = names(c.Secrets, func(x *catalog.Secret) string { return x.Name })
	s.Users = names(c.Users, func(x *catalog.User) string { return x.Name })
	return s
}

// names lists what objects are called, in order.
func names[T any](objects map[catalog.ID]*T, name func(*T) string) []string {
	out := make([]string, 0, len(objects))
	for _, o := range objects {
		out = append(out, name(o))
	}
	slices.Sort(out)
	return out
}

// inUse says whether a process has the data folder locked. It looks only: to try the lock could keep a server from starting.
func inUse(dir string) bool {
	var st unix.Stat_t
	if unix.Stat(filepath.Join(dir, "LOCK"), &st) != nil {
		return false
	}
	locks, err := os.ReadFile("/proc/locks") // "1: FLOCK  ADVISORY  WRITE 4711 fd:01:1835014 0 EOF"
	return err == nil && strings.Contains(string(locks), fmt.Sprintf(":%d 0 EOF", st.Ino))
}
