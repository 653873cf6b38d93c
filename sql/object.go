package sql

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
)

// object is something of the catalog that is in a schema: one of the fields is set. The zero object is nothing.
type object struct {
	table *catalog.Table
	view  *catalog.View
	typ   *catalog.UserType
}

func (o object) none() bool { return o == object{} }

func (o object) id() catalog.ID {
	switch {
	case o.table != nil:
		return o.table.ID
	case o.view != nil:
		return o.view.ID
	}
	return o.typ.ID
}

func (o object) schema() string {
	switch {
	case o.table != nil:
		return o.table.Schema
	case o.view != nil:
		return o.view.Schema
	}
	return o.typ.Schema
}

func (o object) name() string {
	switch {
	case o.table != nil:
		return o.table.Name
	case o.view != nil:
		return o.view.Name
	}
	return o.typ.Name
}

// kind is what messages call the object: a domain is a type to them.
func (o object) kind() string {
	switch {
	case o.table != nil:
		return "table"
	case o.view != nil:
		return "view"
	}
	return "type"
}

func sortedIDs[T any](objects map[catalog.ID]T) []catalog.ID {
	return slices.Sorted(maps.Keys(objects))
}

// relationIn is the relation schema.name of c.
func relationIn(c *catalog.Catalog, schema, name string) object {
	if t := c.Table(schema, name); t != nil {
		return object{table: t}
	}
	if len(c.Views) > 0 {
		return object{view: c.View(schema, name)}
	}
	return object{}
}

// named is the table or view that a name stands for. schema is "" when the statement gives none: then it is the first along the search path.
func (s *Session) named(schema, name string) object {
	if schema != "" {
		return relationIn(s.txn.catalog, schema, name)
	}
	for _, p := range s.path {
		if o := relationIn(s.txn.catalog, p, name); !o.none() {
			return o
		}
	}
	return object{}
}

// objectOf is the object that an ALTER names, and the word for it in the command tag; 42P01, 42704 or 42809 when there is none of that kind.
func (s *Session) objectOf(kind pg_query.ObjectType, rel *pg_query.RangeVar, name *pg_query.Node) (tag string, o object, err error) {
	switch kind {
	case pg_query.ObjectType_OBJECT_TABLE, pg_query.ObjectType_OBJECT_VIEW:
		o = s.named(rel.Schemaname, rel.Relname)
		switch {
		case o.none():
			return "", o, s.noObject(rel)
		case kind == pg_query.ObjectType_OBJECT_VIEW && o.view == nil:
			return "", o, failure("42809", "\"%s\" is not a view", rel.Relname)
		case o.table != nil:
			err = writable(o.table, "alter")
		}
		return strings.ToUpper(map[bool]string{true: "view", false: "table"}[kind == pg_query.ObjectType_OBJECT_VIEW]), o, err
	case pg_query.ObjectType_OBJECT_TYPE, pg_query.ObjectType_OBJECT_DOMAIN:
		t, err := s.typeNamed(nameParts(name))
		tag = "TYPE"
		if kind == pg_query.ObjectType_OBJECT_DOMAIN {
			tag = "DOMAIN"
			if err == nil && t.Base == nil {
				err = failure("42809", "\"%s\" is not a domain", t.Name)
			}
		}
		return tag, object{typ: t}, err
	}
	return "", o, s.unsupported("ALTER "+objectWord(kind), "")
}

// objectWord is an object type as SQL writes it.
func objectWord(t pg_query.ObjectType) string {
	return strings.ReplaceAll(strings.TrimPrefix(t.String(), "OBJECT_"), "_", " ")
}

// nameParts is the schema, "" for none, and the name that a list of names, a type's name or a single string says.
func nameParts(n *pg_query.Node) (schema, name string) {
	items := n.GetList().GetItems()
	switch {
	case n.GetTypeName() != nil:
		items = n.GetTypeName().Names
	case n.GetString_() != nil:
		return "", n.GetString_().Sval
	}
	return lastTwo(items)
}

func lastTwo(items []*pg_query.Node) (schema, name string) {
	for _, part := range items {
		schema, name = name, part.GetString_().GetSval()
	}
	return schema, name
}

// typeNamed is the enum or domain of a name; 42704 when there is none.
func (s *Session) typeNamed(schema, name string) (*catalog.UserType, error) {
	if t := s.userType(schema, name); t != nil {
		return t, nil
	}
	full := name
	if schema != "" {
		full = schema + "." + name
	}
	return nil, failure("42704", "type \"%s\" does not exist", full)
}

// described is an object as PostgreSQL's messages name it: view s.v, with the schema when the name alone finds another one.
func (s *Session) described(o object) string {
	found := catalog.ID(0)
	if o.typ != nil {
		if t := s.userType("", o.name()); t != nil {
			found = t.ID
		}
	} else if f := s.named("", o.name()); !f.none() {
		found = f.id()
	}
	name := quoteName(o.name())
	if found != o.id() {
		name = quoteName(o.schema()) + "." + name
	}
	return o.kind() + " " + name
}

// nameFree is 42P07, or 42710 for a type, when schema has something of that name. Relations and types share their names: a table is a type too.
func (s *Session) nameFree(schema, name, kind string) error {
	c := s.txn.catalog
	switch {
	case kind == "type" && (c.Type(schema, name) != nil || !relationIn(c, schema, name).none()):
		return failure("42710", "type \"%s\" already exists", name)
	case kind != "type" && !relationIn(c, schema, name).none():
		return failure("42P07", "relation \"%s\" already exists", name)
	case c.Type(schema, name) != nil:
		return &tailrace.Error{
			Code: "42710", Message: fmt.Sprintf("type \"%s\" already exists", name),
			Hint: "A relation has an associated type of the same name, so you must use a name that doesn't conflict with any existing type.",
		}
	}
	return nil
}

// viewsOf lists the views whose queries use an object, by ID.
func viewsOf(c *catalog.Catalog, id catalog.ID) []*catalog.View {
	var out []*catalog.View
	for _, v := range c.Views {
		if slices.Contains(v.Uses, id) {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b *catalog.View) int { return cmp.Compare(a.ID, b.ID) })
	return out
}
