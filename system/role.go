package system

import "tailrace/catalog"

// role is a user: one of the catalog's, or the session's when the catalog has none of that name (anybody may log in while there are none).
type role struct {
	oid  uint32
	name string
}

func (w *World) roles() []role {
	var out []role
	found := false
	for _, u := range sorted(w.Catalog.Users) {
		out = append(out, role{objectOID(u.ID), u.Name})
		found = found || u.Name == w.User
	}
	if !found {
		out = append(out, role{ownerOID, w.User})
	}
	return out
}

// owner is whom everything belongs to as this session sees it: its own user. All users may do everything, and no object keeps who made it.
func (w *World) owner() uint32 {
	if u := w.Catalog.UserNamed(w.User); u != nil {
		return objectOID(u.ID)
	}
	return ownerOID
}

// roleName is the user with an OID, "" when there is none.
func (w *World) roleName(oid uint32) string {
	if u := w.Catalog.Users[userObjectID(oid)]; u != nil {
		return u.Name
	}
	if oid == ownerOID {
		return w.User
	}
	return ""
}

func roleRows(w *World, yield func(row)) {
	for _, r := range w.roles() {
		yield(row{
			"oid": r.oid, "rolname": r.name, "rolsuper": true, "rolinherit": true, "rolcreaterole": true, "rolcreatedb": false, "rolcanlogin": true,
			"rolreplication": false, "rolconnlimit": -1, "rolpassword": "********", "rolbypassrls": true,
		})
	}
}

func userRows(w *World, yield func(row)) {
	for _, r := range w.roles() {
		yield(row{"usename": r.name, "usesysid": r.oid, "usecreatedb": false, "usesuper": true, "userepl": false, "usebypassrls": true, "passwd": "********"})
	}
}

func databaseRows(w *World, yield func(row)) {
	yield(row{
		"oid": databaseOID, "datname": w.Database, "datdba": w.owner(), "encoding": utf8Encoding, "datlocprovider": "c", "datallowconn": true, "datconnlimit": -1,
		"dattablespace": defaultSpaceOID, "datcollate": "C", "datctype": "C",
	})
}

// utf8Encoding is PostgreSQL's number of UTF8.
const utf8Encoding = 6

func spaceRows(w *World, yield func(row)) {
	yield(row{"oid": defaultSpaceOID, "spcname": "pg_default", "spcowner": w.owner()})
}

func namespaceRows(w *World, yield func(row)) {
	for _, n := range w.namespaces() {
		yield(row{"oid": n.oid, "nspname": n.name, "nspowner": w.owner()})
	}
}

func descriptionRows(w *World, yield func(row)) {
	describe := func(class string, oid uint32, column int, text string) {
		if text != "" {
			yield(row{"objoid": oid, "classoid": catalogOIDs[class], "objsubid": column, "description": text})
		}
	}
	for _, n := range w.namespaces() {
		describe("pg_namespace", n.oid, 0, n.comment)
	}
	for _, c := range w.userClasses() {
		describe("pg_class", c.oid, 0, w.classComment(c))
		for _, col := range c.columns() {
			describe("pg_class", c.oid, col.num, col.comment)
		}
	}
	for _, t := range sorted(w.Catalog.Types) {
		describe("pg_type", objectOID(t.ID), 0, t.Comment)
	}
}

func (w *World) classComment(c *class) string {
	switch {
	case c.table != nil:
		return c.table.Comment
	case c.view != nil:
		return c.view.Comment
	}
	return ""
}

// Comment is what COMMENT ON says of an object of a catalog relation such as pg_class, or of its column when column is not 0; "" when it says
// nothing.
func (w *World) Comment(oid uint32, of string, column int) string {
	switch of {
	case "pg_class":
		c := w.class(oid)
		if c == nil {
			return ""
		}
		if column == 0 {
			return w.classComment(c)
		}
		for _, col := range c.columns() {
			if col.num == column {
				return col.comment
			}
		}
	case "pg_namespace":
		for _, n := range w.namespaces() {
			if n.oid == oid {
				return n.comment
			}
		}
	case "pg_type":
		if t := w.userTypeOf(oid); t != nil {
			return t.Comment
		}
	}
	return ""
}

// userTypeOf is the enum or domain with an OID, nil when there is none.
func (w *World) userTypeOf(oid uint32) *catalog.UserType { return w.Catalog.Types[userObjectID(oid)] }
