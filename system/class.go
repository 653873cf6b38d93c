package system

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"

	"tailrace"
	"tailrace/catalog"
)

// class is a relation of any kind: what pg_class has rows for, but indexes.
type class struct {
	oid          uint32
	schema, name string
	kind         string // relkind: "r" table, "v" view
	table        *catalog.Table
	view         *catalog.View
	system       *Relation
}

// column is one column of a class.
type column struct {
	num          int
	name         string
	typ          tailrace.Type
	domain       catalog.ID
	notNull      bool
	def, comment string
}

func (w *World) classOfTable(t *catalog.Table) *class {
	return &class{oid: objectOID(t.ID), schema: t.Schema, name: t.Name, kind: "r", table: t}
}

func (w *World) classOfView(v *catalog.View) *class {
	return &class{oid: objectOID(v.ID), schema: v.Schema, name: v.Name, kind: "v", view: v}
}

func classOfSystem(r *Relation) *class {
	kind := "r"
	if r.View {
		kind = "v"
	}
	return &class{oid: r.OID, schema: r.Schema, name: r.Name, kind: kind, system: r}
}

// userClasses are the tables and views of the catalog, by OID.
func (w *World) userClasses() []*class {
	var out []*class
	for _, t := range w.Catalog.Tables {
		out = append(out, w.classOfTable(t))
	}
	for _, v := range w.Catalog.Views {
		out = append(out, w.classOfView(v))
	}
	slices.SortFunc(out, func(a, b *class) int { return cmp.Compare(a.oid, b.oid) })
	return out
}

// classes are all relations but indexes, the system's first.
func (w *World) classes() []*class {
	var out []*class
	for _, r := range relationList {
		out = append(out, classOfSystem(r))
	}
	return append(out, w.userClasses()...)
}

// class is the relation with an OID, nil when there is none.
func (w *World) class(oid uint32) *class {
	if id := userObjectID(oid); id != 0 {
		if t := w.Catalog.Tables[id]; t != nil {
			return w.classOfTable(t)
		}
		if v := w.Catalog.Views[id]; v != nil {
			return w.classOfView(v)
		}
		return nil
	}
	for _, r := range relationList {
		if r.OID == oid {
			return classOfSystem(r)
		}
	}
	return nil
}

// keyed is the table whose primary key has the index with an OID, nil when there is none.
func (w *World) keyed(index uint32) *catalog.Table {
	t := w.Catalog.Tables[objectID(firstIndexOID, index)]
	if t == nil || len(t.Columns.Key) == 0 {
		return nil
	}
	return t
}

// keyedTables are the tables that have a primary key, by ID.
func (w *World) keyedTables() []*catalog.Table {
	var out []*catalog.Table
	for _, t := range w.tables() {
		if len(t.Columns.Key) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// tables are those of the catalog, by ID.
func (w *World) tables() []*catalog.Table { return sorted(w.Catalog.Tables) }

// sorted lists objects by ID.
func sorted[T any](objects map[catalog.ID]*T) []*T {
	var out []*T
	for _, id := range slices.Sorted(maps.Keys(objects)) {
		out = append(out, objects[id])
	}
	return out
}

// maxName is how many bytes a name has at most, NAMEDATALEN - 1.
const maxName = 63

// keyName is the name of a table's primary key, cut as PostgreSQL's makeObjectName cuts it.
func keyName(t *catalog.Table) string {
	const suffix = "_pkey"
	name := t.Name
	for len(name) > maxName-len(suffix) {
		name = name[:len(name)-1]
	}
	return name + suffix
}

// keyNumbers are the column numbers of a primary key, in key order.
func keyNumbers(t *catalog.Table) []int {
	var out []int
	for _, k := range t.Columns.Key {
		out = append(out, int(t.Columns.Fields[k].ID))
	}
	return out
}

// columns lists a class's columns.
func (c *class) columns() []column {
	var out []column
	switch {
	case c.view != nil:
		for i, v := range c.view.Columns {
			out = append(out, column{num: i + 1, name: v.Name, typ: v.Type, comment: v.Comment})
		}
	case c.table != nil:
		for i, f := range c.table.Columns.Fields {
			out = append(out, column{
				num: int(f.ID), name: f.Name, typ: f.Type, domain: f.Domain, notNull: f.NotNull || c.table.Columns.InKey(i), def: f.Default,
				comment: c.table.Comments[f.ID],
			})
		}
	default:
		for _, f := range c.system.Fields.Fields {
			out = append(out, column{num: int(f.ID), name: f.Name, typ: f.Type, notNull: f.NotNull})
		}
	}
	return out
}

// typeOID is the type that clients see a column to have.
func (c *column) typeOID() uint32 {
	if c.domain != 0 {
		return objectOID(c.domain)
	}
	return c.typ.OID()
}

// namespace is a schema.
type namespace struct {
	oid           uint32
	name, comment string
}

// namespaces are all schemas: the system's, public, those of CREATE SCHEMA, and those that only a source's tables are in.
func (w *World) namespaces() []namespace {
	out := []namespace{
		{pgCatalogOID, pgCatalog, "system catalog schema"},
		{pgToastOID, "pg_toast", "reserved schema for TOAST tables"},
		{publicOID, public, "standard public schema"},
		{informationOID, informationSchema, ""},
		{mzInternalOID, mzInternal, "how Tailrace is doing"},
	}
	seen := map[string]bool{public: true}
	for _, n := range sorted(w.Catalog.Namespaces) {
		if n.Name == public {
			out[2].comment = n.Comment
			continue
		}
		seen[n.Name] = true
		out = append(out, namespace{objectOID(n.ID), n.Name, n.Comment})
	}
	for _, t := range w.tables() {
		if !seen[t.Schema] {
			seen[t.Schema] = true
			out = append(out, namespace{w.namespaceOID(t.Schema), t.Schema, ""})
		}
	}
	return out
}

// namespaceOID is the OID of a schema that exists.
func (w *World) namespaceOID(name string) uint32 {
	switch name {
	case pgCatalog:
		return pgCatalogOID
	case public:
		return publicOID
	case informationSchema:
		return informationOID
	case mzInternal:
		return mzInternalOID
	}
	if n := w.Catalog.Namespace(name); n != nil {
		return objectOID(n.ID)
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // a hash takes all
	return firstNamespaceOID + h.Sum32()%(1<<27)
}
