package system

import (
	"strconv"

	"tailrace"
)

// information_schema: what it says of types.

// maxTextBytes is character_octet_length of text without a limit.
const maxTextBytes = 1 << 30

// typeColumns are the columns that information_schema has for a type, of columns, domains and elements alike.
func (w *World) typeColumns(c *column) row {
	t := c.typ
	r := row{"dtd_identifier": strconv.Itoa(c.num), "udt_catalog": w.Database}
	schema, name, _ := w.typeNamed(t.OID())
	r["udt_schema"], r["udt_name"] = schema, name
	switch {
	case t.Kind == tailrace.KindArray:
		r["data_type"] = "ARRAY"
		return r
	case t.Kind == tailrace.KindEnum:
		r["data_type"] = "USER-DEFINED"
		return r
	}
	r["data_type"] = w.FormatType(t.OID(), -1)
	switch t.Kind {
	case tailrace.KindVarchar, tailrace.KindChar:
		if n := t.Length(); n >= 0 {
			r["character_maximum_length"], r["character_octet_length"] = n, 4*n
		} else {
			r["character_octet_length"] = maxTextBytes
		}
	case tailrace.KindText, tailrace.KindForeign:
		r["character_octet_length"] = maxTextBytes
	case tailrace.KindName:
		r["collation_catalog"], r["collation_schema"], r["collation_name"] = w.Database, pgCatalog, "C"
	case tailrace.KindInt2, tailrace.KindInt4, tailrace.KindInt8:
		r["numeric_precision"], r["numeric_precision_radix"], r["numeric_scale"] = 8*t.Kind.Width(), 2, 0
	case tailrace.KindFloat4:
		r["numeric_precision"], r["numeric_precision_radix"] = 24, 2
	case tailrace.KindFloat8:
		r["numeric_precision"], r["numeric_precision_radix"] = 53, 2
	case tailrace.KindNumeric:
		r["numeric_precision_radix"] = 10
		if t.Mod >= 0 {
			r["numeric_precision"], r["numeric_scale"] = t.Precision(), t.Scale()
		}
	case tailrace.KindDate:
		r["datetime_precision"] = 0
	case tailrace.KindTime, tailrace.KindTimestamp, tailrace.KindTimestamptz:
		r["datetime_precision"] = 6
		if t.Mod >= 0 {
			r["datetime_precision"] = t.Mod
		}
	case tailrace.KindInterval:
		r["datetime_precision"] = 6
		if p := t.Mod & 0xffff; t.Mod >= 0 && p != 0xffff {
			r["datetime_precision"] = p
		}
	}
	return r
}

func domainRows(w *World, yield func(row)) {
	for _, t := range sorted(w.Catalog.Types) {
		if t.Base == nil {
			continue
		}
		r := w.typeColumns(&column{num: 1, typ: *t.Base})
		r["domain_catalog"], r["domain_schema"], r["domain_name"] = w.Database, t.Schema, t.Name
		if t.Default != "" {
			r["domain_default"] = t.Default
		}
		yield(r)
	}
}

func domainConstraintRows(w *World, yield func(row)) {
	for _, t := range sorted(w.Catalog.Types) {
		for _, c := range t.Checks {
			yield(row{
				"constraint_catalog": w.Database, "constraint_schema": t.Schema, "constraint_name": c.Name, "domain_catalog": w.Database, "domain_schema": t.Schema,
				"domain_name": t.Name, "is_deferrable": "NO", "initially_deferred": "NO",
			})
		}
	}
}

func columnDomainRows(w *World, yield func(row)) {
	for _, c := range w.userClasses() {
		for _, col := range c.columns() {
			if d := w.Catalog.Types[col.domain]; d != nil {
				yield(row{
					"domain_catalog": w.Database, "domain_schema": d.Schema, "domain_name": d.Name, "table_catalog": w.Database, "table_schema": c.schema,
					"table_name": c.name, "column_name": col.name,
				})
			}
		}
	}
}

// elementRows are the elements of columns that are arrays.
func elementRows(w *World, yield func(row)) {
	for _, c := range w.userClasses() {
		for _, col := range c.columns() {
			if col.typ.Kind != tailrace.KindArray {
				continue
			}
			element := col.typ.Element()
			element.Mod = -1
			r := w.typeColumns(&column{num: col.num, typ: element})
			// PostgreSQL has no precision and length of elements.
			of := row{
				"object_catalog": w.Database, "object_schema": c.schema, "object_name": c.name, "object_type": "TABLE",
				"collection_type_identifier": strconv.Itoa(col.num), "dtd_identifier": "a" + strconv.Itoa(col.num), "data_type": r["data_type"],
				"udt_catalog": w.Database, "udt_schema": r["udt_schema"], "udt_name": r["udt_name"],
			}
			yield(of)
		}
	}
}
