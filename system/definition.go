package system

import (
	"regexp"
	"strings"

	"tailrace/catalog"
)

// Definition answers pg_get_indexdef, pg_get_constraintdef and pg_get_viewdef, by the catalog relation that the OID is in: pg_index, pg_constraint or
// pg_rewrite (of the view itself). column asks for one column of an index, 0 for all of it; pretty leaves out parentheses that need not be. ok is false when there is no such object.
func (w *World) Definition(of string, oid uint32, column int, pretty bool) (text string, ok bool) {
	switch of {
	case "pg_index":
		t := w.keyed(oid)
		switch {
		case t == nil:
			return "", false
		case column == 0:
			return w.indexText(t), true
		case column > len(t.Columns.Key):
			return "", true
		}
		return Quote(t.Columns.Fields[t.Columns.Key[column-1]].Name), true
	case "pg_constraint":
		return w.constraintText(oid, pretty)
	case "pg_rewrite":
		if v := w.Catalog.Views[userObjectID(oid)]; v != nil {
			return viewText(v), true
		}
		return "", w.class(oid) != nil
	}
	return "", false
}

// keyColumns are the columns of a primary key, quoted, with commas between.
func keyColumns(t *catalog.Table) string {
	var names []string
	for _, k := range t.Columns.Key {
		names = append(names, Quote(t.Columns.Fields[k].Name))
	}
	return strings.Join(names, ", ")
}

func (w *World) indexText(t *catalog.Table) string {
	return "CREATE UNIQUE INDEX " + Quote(keyName(t)) + " ON " + w.qualified(t.Schema, t.Name) + " USING btree (" + keyColumns(t) + ")"
}

func (w *World) constraintText(oid uint32, pretty bool) (string, bool) {
	if t := w.Catalog.Tables[objectID(firstKeyOID, oid)]; t != nil {
		return "PRIMARY KEY (" + keyColumns(t) + ")", true
	}
	for _, t := range w.Catalog.Types {
		for i, c := range t.Checks {
			if checkOID(t, i) == oid {
				return checkText(c, pretty), true
			}
		}
	}
	return "", false
}

// checkText is a check as PostgreSQL prints it: with the parentheses of CHECK and, unless it is pretty, those of the expression.
func checkText(c catalog.Check, pretty bool) string {
	if pretty {
		return "CHECK (" + checkExpr(c) + ")"
	}
	return "CHECK ((" + checkExpr(c) + "))"
}

// words finds names, and texts in quotes so that they are passed over.
var words = regexp.MustCompile(`"[^"]*"|'[^']*'|\w+`)

// checkExpr is a domain's condition with VALUE as PostgreSQL writes it.
func checkExpr(c catalog.Check) string {
	return words.ReplaceAllStringFunc(c.Expr, func(word string) string {
		if word == "value" {
			return "VALUE"
		}
		return word
	})
}

// viewText is a view's query as pg_get_viewdef gives it: indented by a blank, with a semicolon.
func viewText(v *catalog.View) string { return " " + strings.TrimRight(v.Query, "; \n") + ";" }

// RelationBytes is what a table takes in the store: pg_table_size. ok is false when there is no such relation. Views, indexes and the
// system's relations take nothing.
func (w *World) RelationBytes(oid uint32) (bytes int64, ok bool) {
	if t := w.Catalog.Tables[userObjectID(oid)]; t != nil {
		return max(0, w.byteCount(t.ID)), true
	}
	_, _, ok = w.named(oid)
	return 0, ok
}

// DatabaseBytes is what all tables take in the store.
func (w *World) DatabaseBytes() int64 {
	sum := int64(0)
	for _, t := range w.tables() {
		sum += max(0, w.byteCount(t.ID))
	}
	return sum
}

// RoleName is pg_get_userbyid: the user with an OID.
func (w *World) RoleName(oid uint32) (name string, ok bool) {
	name = w.roleName(oid)
	return name, name != ""
}

// Schemas are those of the search path that exist: current_schemas. implicit adds pg_catalog where it is searched without being named.
func (w *World) Schemas(implicit bool) []string {
	path := w.SearchPath
	if implicit {
		path = w.path()
	}
	out := []string{}
	for _, s := range path {
		if w.hasNamespace(s) {
			out = append(out, s)
		}
	}
	return out
}
