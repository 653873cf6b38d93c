package sql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
)

// dropWords are the kinds of objects that DROP takes, as tags and messages call them.
var dropWords = map[pg_query.ObjectType]string{
	pg_query.ObjectType_OBJECT_TABLE: "table", pg_query.ObjectType_OBJECT_VIEW: "view", pg_query.ObjectType_OBJECT_TYPE: "type",
	pg_query.ObjectType_OBJECT_DOMAIN: "domain", pg_query.ObjectType_OBJECT_SCHEMA: "schema",
}

// drop runs DROP TABLE | VIEW | TYPE | DOMAIN | SCHEMA.
func (s *Session) drop(ctx context.Context, n *pg_query.DropStmt) (*Result, error) {
	word := dropWords[n.RemoveType]
	if word == "" {
		return nil, s.unsupported("DROP "+objectWord(n.RemoveType), "")
	}
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	cascade := n.Behavior == pg_query.DropBehavior_DROP_CASCADE
	var roots []object
	var schemas []string
	for _, o := range n.Objects {
		schema, name := nameParts(o)
		found, skip, err := s.toDrop(word, schema, name, n.MissingOk)
		switch {
		case err != nil:
			return nil, err
		case skip:
		case word == "schema":
			schemas = append(schemas, name)
		case !slices.Contains(roots, found):
			roots = append(roots, found)
		}
	}
	var err error
	if word == "schema" {
		err = s.dropSchemas(schemas, cascade)
	} else if len(roots) > 0 {
		err = s.dropAll(roots, cascade, "")
	}
	if err != nil {
		return nil, err
	}
	return done("DROP " + strings.ToUpper(word)), nil
}

// toDrop finds what a DROP names; skip tells that it is not there and need not be.
func (s *Session) toDrop(word, schema, name string, missingOK bool) (o object, skip bool, err error) {
	var there bool
	switch word {
	case "schema":
		there = hasSchema(s.txn.catalog, name)
		err = failure("3F000", "schema \"%s\" does not exist", name)
	case "table", "view":
		o = s.named(schema, name)
		there = !o.none()
		err = failure("42P01", "%s \"%s\" does not exist", word, name)
		if there && o.kind() != word {
			return o, false, &tailrace.Error{
				Code: "42809", Message: fmt.Sprintf("\"%s\" is not a %s", name, word), Hint: fmt.Sprintf("Use DROP %s to remove a %s.", strings.ToUpper(o.kind()), o.kind()),
			}
		}
	default:
		t := s.userType(schema, name)
		o, there = object{typ: t}, t != nil
		err = failure("42704", "type \"%s\" does not exist", name)
		if there && word == "domain" && t.Base == nil {
			return o, false, failure("42809", "\"%s\" is not a domain", name)
		}
	}
	if there {
		return o, false, nil
	}
	what := fmt.Sprintf("%s \"%s\"", strings.Replace(word, "domain", "type", 1), name)
	if schema != "" && !hasSchema(s.txn.catalog, schema) {
		what, err = fmt.Sprintf("schema \"%s\"", schema), failure("3F000", "schema \"%s\" does not exist", schema)
	}
	if !missingOK {
		return o, false, err
	}
	s.notice("NOTICE", "00000", what+" does not exist, skipping")
	return o, true, nil
}

// dropping is what a DROP takes: what it names, and what depends on that.
type dropping struct {
	s       *Session
	objects []object
	columns []droppedColumn
	notes   []string // "view v depends on table t"
	more    []string // "view v"
}

type droppedColumn struct {
	table catalog.ID
	name  string
}

func (d *dropping) has(o object) bool { return slices.Contains(d.objects, o) }

// add takes o, which depends on on.
func (d *dropping) add(o object, on string) {
	if d.has(o) {
		return
	}
	d.objects = append(d.objects, o)
	d.note(d.s.described(o), on)
}

func (d *dropping) note(what, on string) {
	d.notes = append(d.notes, what+" depends on "+on)
	d.more = append(d.more, what)
}

// follow adds what depends on the objects, nearest first.
func (d *dropping) follow() {
	c := d.s.txn.catalog
	for i := 0; i < len(d.objects); i++ { // it grows
		o := d.objects[i]
		on := d.s.described(o)
		if o.typ != nil {
			d.followType(o.typ, on)
		}
		for _, v := range viewsOf(c, o.id()) {
			d.add(object{view: v}, on)
		}
	}
}

// followType adds the columns of a type, and the domains over it.
func (d *dropping) followType(t *catalog.UserType, on string) {
	c := d.s.txn.catalog
	for _, id := range sortedIDs(c.Tables) {
		table := c.Tables[id]
		if d.has(object{table: table}) {
			continue
		}
		for _, f := range table.Columns.Fields {
			if f.Type.ID == t.ID || f.Domain == t.ID {
				d.columns = append(d.columns, droppedColumn{id, f.Name})
				d.note(fmt.Sprintf("column %s of %s", quoteName(f.Name), d.s.described(object{table: table})), on)
			}
		}
	}
	for _, id := range sortedIDs(c.Types) {
		if u := c.Types[id]; u.Base != nil && u.Base.ID == t.ID {
			d.add(object{typ: u}, on)
		}
	}
}

// dropAll drops objects and, with cascade, what depends on them; without, that is 2BP01. inSchema is the schema being dropped of which the objects are all
// there is, "" when it is about the objects themselves.
func (s *Session) dropAll(roots []object, cascade bool, inSchema string) error {
	d := &dropping{s: s}
	what := "desired object(s)"
	if inSchema != "" {
		what = "schema " + quoteName(inSchema)
		for _, o := range roots {
			d.add(o, what)
		}
	} else {
		d.objects = slices.Clone(roots)
		if len(roots) == 1 {
			what = s.described(roots[0])
		}
	}
	d.follow()
	for _, o := range d.objects {
		if o.table != nil {
			if err := s.unsunkTable(o.table); err != nil {
				return err
			}
		}
		if o.table != nil && o.table.Upstream != nil {
			return &tailrace.Error{
				Code: "42809", Message: fmt.Sprintf("cannot drop \"%s\": it is a copy of a source's table", o.name()), Hint: "Use DROP SOURCE to drop all tables of the source.",
			}
		}
	}
	switch {
	case len(d.notes) > 0 && !cascade:
		return stillUsed(what, d.notes)
	case len(d.more) == 1:
		s.notice("NOTICE", "00000", "drop cascades to "+d.more[0])
	case len(d.more) > 1:
		s.options.Notice(&tailrace.Error{
			Severity: "NOTICE", Code: "00000", Message: fmt.Sprintf("drop cascades to %d other objects", len(d.more)), Detail: "drop cascades to " + strings.Join(d.more, "\ndrop cascades to "),
		})
	}
	return d.run()
}

// stillUsed is the error for a DROP of what others depend on.
func stillUsed(what string, notes []string) *tailrace.Error {
	it := "it"
	if what == "desired object(s)" {
		it = "them"
	}
	return &tailrace.Error{
		Code: "2BP01", Message: fmt.Sprintf("cannot drop %s because other objects depend on %s", what, it), Detail: strings.Join(notes, "\n"),
		Hint: "Use DROP ... CASCADE to drop the dependent objects too.",
	}
}

// run drops all of it: what depends first.
func (d *dropping) run() error {
	s := d.s
	for _, o := range slices.Backward(d.objects) {
		s.txn.change(catalog.Change{Drop: o.id()})
	}
	for _, c := range d.columns {
		t := s.txn.catalog.Tables[c.table]
		out := altered(t)
		if err := s.dropColumn(out, &pg_query.AlterTableCmd{Name: c.name}); err != nil {
			return err
		}
		if err := s.keepViews(tableOutline(t), tableOutline(out), true); err != nil {
			return err
		}
		if err := s.keepChecks(t, out); err != nil {
			return err
		}
		s.txn.change(catalog.Change{Table: out})
	}
	return nil
}
