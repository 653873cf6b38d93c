package system

// information_schema: relations and their columns. Of a list of columns that PostgreSQL always leaves NULL, rows say nothing.

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

func catalogNameRows(w *World, yield func(row)) { yield(row{"catalog_name": w.Database}) }

func schemaTableRows(w *World, yield func(row)) {
	for _, c := range w.classes() {
		kind, insertable := "VIEW", false
		if c.kind == "r" {
			kind, insertable = "BASE TABLE", c.table != nil && c.table.Upstream == nil
		}
		yield(row{
			"table_catalog": w.Database, "table_schema": c.schema, "table_name": c.name, "table_type": kind, "is_insertable_into": yesNo(insertable), "is_typed": "NO",
		})
	}
}

func schemaColumnRows(w *World, yield func(row)) {
	for _, c := range w.classes() {
		for _, col := range c.columns() {
			r := w.typeColumns(&col)
			r["table_catalog"], r["table_schema"], r["table_name"] = w.Database, c.schema, c.name
			r["column_name"], r["ordinal_position"] = col.name, col.num
			r["is_nullable"] = yesNo(!col.notNull)
			if col.def != "" {
				r["column_default"] = col.def
			}
			r["is_self_referencing"], r["is_identity"], r["identity_cycle"], r["is_generated"] = "NO", "NO", "NO", "NEVER"
			r["is_updatable"] = yesNo(c.table != nil && c.table.Upstream == nil)
			if d := w.Catalog.Types[col.domain]; d != nil {
				r["domain_catalog"], r["domain_schema"], r["domain_name"] = w.Database, d.Schema, d.Name
			}
			yield(r)
		}
	}
}

func schemataRows(w *World, yield func(row)) {
	for _, n := range w.namespaces() {
		yield(row{"catalog_name": w.Database, "schema_name": n.name, "schema_owner": w.User})
	}
}

func schemaViewRows(w *World, yield func(row)) {
	for _, c := range w.classes() {
		if c.kind != "v" {
			continue
		}
		r := row{
			"table_catalog": w.Database, "table_schema": c.schema, "table_name": c.name, "check_option": "NONE", "is_updatable": "NO", "is_insertable_into": "NO",
			"is_trigger_updatable": "NO", "is_trigger_deletable": "NO", "is_trigger_insertable_into": "NO",
		}
		if c.view != nil {
			r["view_definition"] = viewText(c.view)
		}
		yield(r)
	}
}

func viewTableRows(w *World, yield func(row)) {
	for _, v := range sorted(w.Catalog.Views) {
		for _, id := range v.Uses {
			if c := w.class(objectOID(id)); c != nil {
				yield(row{
					"view_catalog": w.Database, "view_schema": v.Schema, "view_name": v.Name, "table_catalog": w.Database, "table_schema": c.schema, "table_name": c.name,
				})
			}
		}
	}
}

func keyColumnRows(w *World, yield func(row)) {
	for _, t := range w.keyedTables() {
		for i, k := range t.Columns.Key {
			yield(row{
				"constraint_catalog": w.Database, "constraint_schema": t.Schema, "constraint_name": keyName(t), "table_catalog": w.Database, "table_schema": t.Schema,
				"table_name": t.Name, "column_name": t.Columns.Fields[k].Name, "ordinal_position": i + 1,
			})
		}
	}
}

func tableConstraintRows(w *World, yield func(row)) {
	for _, t := range w.keyedTables() {
		yield(row{
			"constraint_catalog": w.Database, "constraint_schema": t.Schema, "constraint_name": keyName(t), "table_catalog": w.Database, "table_schema": t.Schema,
			"table_name": t.Name, "constraint_type": "PRIMARY KEY", "is_deferrable": "NO", "initially_deferred": "NO", "enforced": "YES",
		})
	}
}

func constraintColumnRows(w *World, yield func(row)) {
	for _, t := range w.keyedTables() {
		for _, k := range t.Columns.Key {
			yield(row{
				"table_catalog": w.Database, "table_schema": t.Schema, "table_name": t.Name, "column_name": t.Columns.Fields[k].Name,
				"constraint_catalog": w.Database, "constraint_schema": t.Schema, "constraint_name": keyName(t),
			})
		}
	}
}

func constraintTableRows(w *World, yield func(row)) {
	for _, t := range w.keyedTables() {
		yield(row{
			"table_catalog": w.Database, "table_schema": t.Schema, "table_name": t.Name, "constraint_catalog": w.Database, "constraint_schema": t.Schema,
			"constraint_name": keyName(t),
		})
	}
}

func checkRows(w *World, yield func(row)) {
	for _, t := range sorted(w.Catalog.Types) {
		for _, c := range t.Checks {
			yield(row{"constraint_catalog": w.Database, "constraint_schema": t.Schema, "constraint_name": c.Name, "check_clause": "((" + checkExpr(c) + "))"})
		}
	}
}

func tableGrantRows(w *World, yield func(row)) {
	for _, c := range w.userClasses() {
		for _, p := range []string{"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"} {
			yield(row{
				"grantor": w.User, "grantee": w.User, "table_catalog": w.Database, "table_schema": c.schema, "table_name": c.name, "privilege_type": p,
				"is_grantable": "YES", "with_hierarchy": yesNo(p == "SELECT"),
			})
		}
	}
}

func enabledRoleRows(w *World, yield func(row)) {
	for _, r := range w.roles() {
		yield(row{"role_name": r.name})
	}
}

func characterSetRows(w *World, yield func(row)) {
	yield(row{
		"character_set_name": "UTF8", "character_repertoire": "UCS", "form_of_use": "UTF8", "default_collate_catalog": w.Database,
		"default_collate_schema": pgCatalog, "default_collate_name": "C",
	})
}

func schemaCollationRows(w *World, yield func(row)) {
	for _, name := range []string{"default", "C", "POSIX"} {
		yield(row{"collation_catalog": w.Database, "collation_schema": pgCatalog, "collation_name": name, "pad_attribute": "NO PAD"})
	}
}
