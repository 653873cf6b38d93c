package system

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tailrace"
	"tailrace/format"
)

var _ format.Names = (*World)(nil)

// failure is an error for users.
func failure(code, text string, args ...any) *tailrace.Error {
	return &tailrace.Error{Code: code, Message: fmt.Sprintf(text, args...)}
}

// OID is format.Names: the relation, type or function that text names.
func (w *World) OID(kind tailrace.Kind, text string) (uint32, error) {
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return uint32(n), nil
	}
	if text == "-" {
		return 0, nil
	}
	if kind == tailrace.KindRegtype {
		return w.typeOIDOf(text)
	}
	list, ok := parts(text)
	if kind == tailrace.KindRegnspace || kind == tailrace.KindRegrole {
		return w.simpleOID(kind, list, ok)
	}
	switch {
	case !ok && kind == tailrace.KindRegclass:
		return 0, failure("42602", "invalid name syntax")
	case !ok:
		return 0, failure("42883", "function \"%s\" does not exist", text)
	case len(list) > 3:
		return 0, failure("42601", "improper relation name (too many dotted names): %s", strings.Join(list, "."))
	case len(list) == 3 && list[0] != w.Database:
		return 0, failure("0A000", "cross-database references are not implemented: %s", strings.Join(list, "."))
	case len(list) == 3:
		list = list[1:]
	}
	schema, name := "", list[len(list)-1]
	if len(list) == 2 {
		if schema = list[0]; !w.hasNamespace(schema) {
			return 0, failure("3F000", "schema \"%s\" does not exist", schema)
		}
	}
	if kind == tailrace.KindRegproc {
		return w.procOIDOf(schema, name, text)
	}
	if oid := w.find(schema, name); oid != 0 {
		return oid, nil
	}
	return 0, failure("42P01", "relation \"%s\" does not exist", strings.Join(list, "."))
}

// simpleOID is the schema or user of a name, which has one part.
func (w *World) simpleOID(kind tailrace.Kind, list []string, ok bool) (uint32, error) {
	switch {
	case !ok || len(list) != 1:
		return 0, failure("42602", "invalid name syntax")
	case kind == tailrace.KindRegnspace:
		for _, n := range w.namespaces() {
			if n.name == list[0] {
				return n.oid, nil
			}
		}
		return 0, failure("3F000", "schema \"%s\" does not exist", list[0])
	}
	for _, r := range w.roles() {
		if r.name == list[0] {
			return r.oid, nil
		}
	}
	return 0, failure("42704", "role \"%s\" does not exist", list[0])
}

func (w *World) hasNamespace(name string) bool {
	return slices.ContainsFunc(w.namespaces(), func(n namespace) bool { return n.name == name })
}

// path is the schemas that names without one are looked for in.
func (w *World) path() []string {
	if slices.Contains(w.SearchPath, pgCatalog) {
		return w.SearchPath
	}
	return append([]string{pgCatalog}, w.SearchPath...)
}

// find is the relation or index of a name, 0 when there is none. Without a schema it is looked for in the search path, and in mz_internal at
// the end.
func (w *World) find(schema, name string) uint32 {
	if schema != "" {
		return w.in(schema, name)
	}
	for _, s := range append(slices.Clone(w.path()), mzInternal) {
		if oid := w.in(s, name); oid != 0 {
			return oid
		}
	}
	return 0
}

// in is the relation or index of a name in one schema, 0 when there is none.
func (w *World) in(schema, name string) uint32 {
	if r := relations[schema+"."+name]; r != nil {
		return r.OID
	}
	if t := w.Catalog.Table(schema, name); t != nil {
		return objectOID(t.ID)
	}
	if v := w.Catalog.View(schema, name); v != nil {
		return objectOID(v.ID)
	}
	if strings.HasSuffix(name, "_pkey") {
		for _, t := range w.keyedTables() {
			if t.Schema == schema && keyName(t) == name {
				return firstIndexOID + uint32(t.ID)
			}
		}
	}
	return 0
}

// named is the schema and name of a relation or index; ok is false when there is none with that OID.
func (w *World) named(oid uint32) (schema, name string, ok bool) {
	if c := w.class(oid); c != nil {
		return c.schema, c.name, true
	}
	if t := w.keyed(oid); t != nil {
		return t.Schema, keyName(t), true
	}
	return "", "", false
}

// Name is format.Names.
func (w *World) Name(kind tailrace.Kind, oid uint32) string {
	switch kind {
	case tailrace.KindRegtype:
		if shown, ok := w.shownType(oid, -1); ok {
			return shown
		}
	case tailrace.KindRegproc:
		if p := procByOID[oid]; p != nil {
			return p.name
		}
	case tailrace.KindRegrole:
		if name := w.roleName(oid); name != "" {
			return Quote(name)
		}
	case tailrace.KindRegnspace:
		for _, n := range w.namespaces() {
			if n.oid == oid {
				return Quote(n.name)
			}
		}
	default:
		schema, name, ok := w.named(oid)
		switch {
		case !ok:
		case w.visible(schema, func(s string) bool { return w.in(s, name) != 0 }):
			return Quote(name)
		default:
			return w.qualified(schema, name)
		}
	}
	return ""
}

// visible reports whether a name leads to the object in schema: no schema before it in the search path has that name.
func (w *World) visible(schema string, has func(schema string) bool) bool {
	for _, s := range w.path() {
		if s == schema {
			return true
		}
		if has(s) {
			return false
		}
	}
	return false
}

// Visible answers pg_table_is_visible and its like, by the kind of what the OID is of: KindRegclass, KindRegtype or KindRegproc. exists is false when
// there is no such object.
func (w *World) Visible(kind tailrace.Kind, oid uint32) (visible, exists bool) {
	switch kind {
	case tailrace.KindRegproc:
		return procByOID[oid] != nil, procByOID[oid] != nil
	case tailrace.KindRegtype:
		schema, name, ok := w.typeNamed(oid)
		return ok && w.visible(schema, func(s string) bool { return w.typeIn(s, name) != 0 }), ok
	}
	schema, name, ok := w.named(oid)
	return ok && w.visible(schema, func(s string) bool { return w.in(s, name) != 0 }), ok
}

func (w *World) qualified(schema, name string) string { return Quote(schema) + "." + Quote(name) }

func (w *World) procOIDOf(schema, name, text string) (uint32, error) {
	found := uint32(0)
	for _, p := range procList {
		if p.name != name || schema != "" && schema != pgCatalog {
			continue
		}
		if found != 0 {
			return 0, failure("42725", "more than one function named \"%s\"", text)
		}
		found = p.oid
	}
	if found == 0 {
		return 0, failure("42883", "function \"%s\" does not exist", text)
	}
	return found, nil
}
