package server

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"tailrace"
	"tailrace/catalog"
	"tailrace/stripe"
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

// PartExtent is what a part says about itself.
type PartExtent struct {
	Name     string              `json:"name"`
	Bytes    int64               `json:"bytes"`
	Rows     int64               `json:"rows"`
	SumDiff  int64               `json:"sum_diff"`
	MinTime  tailrace.Time       `json:"min_time"` // plus the base time of the reference
	MaxTime  tailrace.Time       `json:"max_time"`
	SortKey  []tailrace.ColumnID `json:"sort_key"`
	Hash     string              `json:"xxh3_128"`
	Columns  []PartColumn        `json:"columns"`
	Stripes  []StripeExtent      `json:"stripes"`
	Settings map[string]int      `json:"settings"`
}

// PartColumn is a column of a part.
type PartColumn struct {
	ID      tailrace.ColumnID `json:"id"`
	Name    string            `json:"name"`
	Type    string            `json:"type"`
	NotNull bool              `json:"not_null"`
	Key     bool              `json:"key"`
}

// StripeExtent is a stripe of a part.
type StripeExtent struct {
	Rows   int            `json:"rows"`
	Bytes  int64          `json:"bytes"`
	Chunks []stripe.Chunk `json:"chunks"`
}

// InspectPart reads the part in a file and checks every byte of it. What could be read is returned beside an error.
func InspectPart(ctx context.Context, path string) (*PartExtent, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return inspectPart(ctx, filepath.Base(path), raw)
}

func inspectPart(ctx context.Context, name string, raw []byte) (*PartExtent, error) {
	short := strings.TrimPrefix(name, partFolder)
	r, err := stripe.Open(ctx, func(_ context.Context, off, n int64) ([]byte, error) { return raw[off : off+n], nil }, int64(len(raw)))
	if err != nil {
		return nil, fmt.Errorf("part %s: %w", short, err)
	}
	r.Name = short
	f := r.Footer()
	out := &PartExtent{
		Name: name, Bytes: int64(len(raw)), Rows: f.Rows, SumDiff: f.SumDiff, MinTime: f.MinTime, MaxTime: f.MaxTime, SortKey: f.SortKey,
		Hash:     hex.EncodeToString(f.Hash[:]),
		Settings: map[string]int{"stripe_rows": f.Settings.StripeRows, "stripe_bytes": f.Settings.StripeBytes, "page_rows": f.Settings.PageRows},
	}
	for i := range f.Schema.Fields {
		x := &f.Schema.Fields[i]
		out.Columns = append(out.Columns, PartColumn{ID: x.ID, Name: x.Name, Type: x.Type.String(), NotNull: x.NotNull, Key: slices.Contains(f.Schema.Key, i)})
	}
	var errs []error
	for i := range f.Stripes {
		chunks, err := r.Describe(ctx, i)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out.Stripes = append(out.Stripes, StripeExtent{Rows: f.Stripes[i].Rows, Bytes: f.Stripes[i].Bytes, Chunks: chunks})
	}
	if len(errs) == 0 {
		if err := stripe.Verify(ctx, raw); err != nil {
			errs = append(errs, fmt.Errorf("part %s: %w", short, err))
		}
	}
	return out, errors.Join(errs...)
}

// IsPart says whether the file at path begins like a part.
func IsPart(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 8)
	n, _ := f.ReadAt(head, 0) // a shorter file is no part
	return stripe.IsPart(head[:n])
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
