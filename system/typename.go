package system

import (
	"strconv"
	"strings"

	"tailrace"
)

// aliases are names of types that SQL knows besides those of pg_type and format_type.
var aliases = map[string]uint32{
	"int": 23, "decimal": 1700, "dec": 1700, "float": 701, "char": 1042, "nchar": 1042, "varchar": 1043, "timestamp": 1114, "time": 1083,
	"character": 1042, "bit": 1560, "timestamptz": 1184, "timetz": 1266, "char varying": 1043, "national character": 1042,
}

// typeOIDOf is the type that text names, with or without a modifier, [] behind it for an array.
func (w *World) typeOIDOf(text string) (uint32, error) {
	name := strings.TrimSpace(text)
	array := false
	for strings.HasSuffix(name, "]") {
		open := strings.LastIndexByte(name, '[')
		if open < 0 {
			break
		}
		name, array = strings.TrimSpace(name[:open]), true
	}
	// varchar(10), and timestamp(3) with time zone
	if open, end := strings.IndexByte(name, '('), strings.IndexByte(name, ')'); open > 0 && end > open && name[0] != '"' {
		name = strings.TrimSpace(name[:open]) + name[end+1:]
	}
	oid, err := w.elementOID(name)
	if err != nil || !array {
		return oid, err
	}
	if a := w.arrayOf(oid); a != 0 {
		return a, nil
	}
	return 0, failure("42704", "type \"%s[]\" does not exist", name)
}

func (w *World) elementOID(name string) (uint32, error) {
	words := strings.Join(strings.Fields(lower(name)), " ")
	if oid := aliases[words]; oid != 0 {
		return oid, nil
	}
	for _, b := range builtinList {
		if b.shown == words && b.kind != "p" {
			return b.oid, nil
		}
	}
	list, ok := parts(name)
	if !ok || len(list) > 2 {
		return 0, failure("42704", "type \"%s\" does not exist", name)
	}
	last := list[len(list)-1]
	if len(list) == 2 {
		if !w.hasNamespace(list[0]) {
			return 0, failure("3F000", "schema \"%s\" does not exist", list[0])
		}
		if oid := w.typeIn(list[0], last); oid != 0 {
			return oid, nil
		}
	} else {
		for _, s := range w.path() {
			if oid := w.typeIn(s, last); oid != 0 {
				return oid, nil
			}
		}
	}
	return 0, failure("42704", "type \"%s\" does not exist", strings.Join(list, "."))
}

// typeIn is the type called name in a schema, 0 when there is none.
func (w *World) typeIn(schema, name string) uint32 {
	if schema == pgCatalog {
		for _, b := range builtinList {
			if b.name == name {
				return b.oid
			}
		}
		return 0
	}
	element, isArray := strings.CutPrefix(name, "_")
	if t := w.Catalog.Type(schema, name); t != nil {
		return objectOID(t.ID)
	}
	if t := w.Catalog.Type(schema, element); t != nil && isArray {
		return arrayOID(t)
	}
	if t := w.Catalog.Table(schema, name); t != nil {
		return firstRowTypeOID + uint32(t.ID)
	}
	if v := w.Catalog.View(schema, name); v != nil {
		return firstRowTypeOID + uint32(v.ID)
	}
	return 0
}

// arrayOf is the type of arrays of a type, 0 when there is none.
func (w *World) arrayOf(oid uint32) uint32 {
	if b := builtins[oid]; b != nil {
		return b.array
	}
	if t := w.userTypeOf(oid); t != nil {
		return arrayOID(t)
	}
	if id := objectID(firstRowTypeOID, oid); id != 0 {
		return firstRowArrayOID + uint32(id)
	}
	return 0
}

// elementOf is the type of the elements of an array type made here, 0 when it is none.
func (w *World) elementOf(oid uint32) uint32 {
	for _, t := range w.Catalog.Types {
		if arrayOID(t) == oid {
			return objectOID(t.ID)
		}
	}
	if id := objectID(firstRowArrayOID, oid); id != 0 {
		return firstRowTypeOID + uint32(id)
	}
	return 0
}

// typeNamed is the schema and name of a type; ok is false when there is none with that OID.
func (w *World) typeNamed(oid uint32) (schema, name string, ok bool) {
	if b := builtins[oid]; b != nil {
		return pgCatalog, b.name, true
	}
	if t := w.userTypeOf(oid); t != nil {
		return t.Schema, t.Name, true
	}
	if id := objectID(firstRowTypeOID, oid); id != 0 {
		if c := w.class(objectOID(id)); c != nil {
			return c.schema, c.name, true
		}
		return "", "", false
	}
	if e := w.elementOf(oid); e != 0 {
		schema, name, ok = w.typeNamed(e)
		return schema, arrayName(name), ok
	}
	return "", "", false
}

// FormatType is PostgreSQL's format_type: the type with an OID and a modifier (-1 for none) as SQL writes it.
func (w *World) FormatType(oid uint32, mod int32) string {
	if shown, ok := w.shownType(oid, mod); ok {
		return shown
	}
	return "???"
}

func (w *World) shownType(oid uint32, mod int32) (string, bool) {
	if oid == 0 {
		return "-", true
	}
	if b := builtins[oid]; b != nil {
		return b.withModifier(mod), true
	}
	if e := w.elementOf(oid); e != 0 {
		shown, ok := w.shownType(e, mod)
		return shown + "[]", ok
	}
	schema, name, ok := w.typeNamed(oid)
	switch {
	case !ok:
		return "", false
	case w.visible(schema, func(s string) bool { return w.typeIn(s, name) != 0 }):
		return Quote(name), true
	}
	return w.qualified(schema, name), true
}

// withModifier is the built-in type as format_type prints it.
func (b *builtin) withModifier(mod int32) string {
	if mod < 0 {
		return b.shown
	}
	if t, ok := tailrace.BuiltinOf(b.oid); ok {
		t.Mod = mod
		return t.String()
	}
	switch b.name {
	case "bit", "varbit":
		return b.shown + "(" + strconv.Itoa(int(mod)) + ")"
	case "timetz":
		return "time(" + strconv.Itoa(int(mod)) + ") with time zone"
	}
	return b.shown
}
