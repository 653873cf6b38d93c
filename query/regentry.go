package query

import "strings"

// regEntries are PostgreSQL's functions of the system catalog, as psql and drivers call them.
var regEntries = append([]entry{
	{name: "pg_table_is_visible", args: "o", ret: "b", env: true, impl: visible(kRegclass)},
	{name: "pg_type_is_visible", args: "o", ret: "b", env: true, impl: visible(kRegtype)},
	{name: "pg_function_is_visible", args: "o", ret: "b", env: true, impl: visible(kRegproc)},
	{name: "format_type", args: "oi", ret: "t", env: true, nulls: true, impl: about(func(o Objects, a [][]byte) (string, bool) {
		if a[0] == nil {
			return "", false
		}
		mod := int32(-1)
		if a[1] != nil {
			mod = i32(a[1])
		}
		return o.FormatType(oidOf(a[0]), mod), true
	})},
	{name: "pg_get_userbyid", args: "o", ret: "N", env: true, impl: about(func(o Objects, a [][]byte) (string, bool) {
		name, ok := o.RoleName(oidOf(a[0]))
		if !ok {
			name = "unknown (OID=" + itoa(int(oidOf(a[0]))) + ")"
		}
		return name, true
	})},
	{name: "pg_get_expr", args: "to", ret: "t", sql: "{1}"},
	{name: "pg_get_expr", args: "tob", ret: "t", sql: "{1}"},
	{name: "pg_get_indexdef", args: "o", ret: "t", env: true, impl: definition("pg_index")},
	{name: "pg_get_indexdef", args: "oib", ret: "t", env: true, impl: definition("pg_index")},
	{name: "pg_get_constraintdef", args: "o", ret: "t", env: true, impl: definition("pg_constraint")},
	{name: "pg_get_constraintdef", args: "ob", ret: "t", env: true, impl: definition("pg_constraint")},
	{name: "pg_get_viewdef", args: "o", ret: "t", env: true, impl: definition("pg_rewrite")},
	{name: "pg_get_viewdef", args: "ob", ret: "t", env: true, impl: definition("pg_rewrite")},
	{name: "pg_get_viewdef", args: "oi", ret: "t", env: true, impl: definition("pg_rewrite")},
	{name: "pg_get_viewdef", args: "t", ret: "t", env: true, impl: viewNamed},
	{name: "pg_get_viewdef", args: "tb", ret: "t", env: true, impl: viewNamed},
	{name: "obj_description", args: "ot", ret: "t", env: true, impl: commented(func(o Objects, a [][]byte) string {
		return o.Comment(oidOf(a[0]), string(a[1]), 0)
	})},
	{name: "obj_description", args: "o", ret: "t", env: true, impl: commented(func(o Objects, a [][]byte) string {
		for _, of := range []string{"pg_class", "pg_type", "pg_namespace"} {
			if text := o.Comment(oidOf(a[0]), of, 0); text != "" {
				return text
			}
		}
		return ""
	})},
	{name: "col_description", args: "oi", ret: "t", env: true, impl: commented(func(o Objects, a [][]byte) string {
		return o.Comment(oidOf(a[0]), "pg_class", int(i32(a[1])))
	})},
	{name: "shobj_description", args: "ot", ret: "t", sql: "CAST(NULL AS VARCHAR)"},
	{name: "to_regclass", args: "t", ret: "C", env: true, impl: lookedUp(kRegclass)},
	{name: "to_regtype", args: "t", ret: "Y", env: true, impl: lookedUp(kRegtype)},
	{name: "to_regproc", args: "t", ret: "P", env: true, impl: lookedUp(kRegproc)},
	{name: "to_regnamespace", args: "t", ret: "A", env: true, impl: lookedUp(kRegspace)},
	{name: "to_regrole", args: "t", ret: "R", env: true, impl: lookedUp(kRegrole)},
	{name: "current_schemas", args: "b", ret: "[N", env: true, impl: schemas},
	{name: "current_schema", ret: "N", env: true, impl: schema},
	{name: "pg_relation_size", args: "C", ret: "l", env: true, impl: sized},
	{name: "pg_relation_size", args: "Ct", ret: "l", env: true, impl: sized},
	{name: "pg_table_size", args: "C", ret: "l", env: true, impl: sized},
	{name: "pg_total_relation_size", args: "C", ret: "l", env: true, impl: sized},
	{name: "pg_indexes_size", args: "C", ret: "l", sql: "CAST({1} * 0 AS BIGINT)"},
	{name: "pg_database_size", args: "t", ret: "l", env: true, impl: databaseSized},
	{name: "pg_database_size", args: "o", ret: "l", env: true, impl: databaseSized},
	{name: "pg_tablespace_size", args: "t", ret: "l", env: true, impl: databaseSized},
	{name: "pg_tablespace_size", args: "o", ret: "l", env: true, impl: databaseSized},
	{name: "pg_size_pretty", args: "l", ret: "t", impl: pretty},
	{name: "pg_cancel_backend", args: "i", ret: "b", env: true, volatile: true, impl: cancel(false)},
	{name: "pg_terminate_backend", args: "i", ret: "b", env: true, volatile: true, impl: cancel(true)},
	{name: "pg_terminate_backend", args: "il", ret: "b", env: true, volatile: true, impl: cancel(true)},
	{name: "pg_postmaster_start_time", ret: "Z", env: true, impl: func(f *frame, dst []byte, _ [][]byte) ([]byte, error) {
		return put64(dst, f.run.env.Started.UnixMicro()-epochUs), nil
	}},
	{name: "pg_encoding_to_char", args: "i", ret: "N", impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		if i32(a[0]) == utf8Encoding {
			dst = append(dst, "UTF8"...)
		}
		return dst, nil
	}},
	{name: "pg_char_to_encoding", args: "t", ret: "i", impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
		if name := strings.ToLower(string(a[0])); name == "utf8" || name == "utf-8" {
			return put32(dst, utf8Encoding), nil
		}
		return put32(dst, -1), nil
	}},
	{name: "getdatabaseencoding", ret: "N", sql: quote("UTF8")},
	{name: "pg_client_encoding", ret: "N", sql: quote("UTF8")},
	{name: "pg_tablespace_location", args: "o", ret: "t", sql: quote("")},
	{name: "inet_server_addr", ret: "t", sql: "CAST(NULL AS VARCHAR)"},
	{name: "inet_client_addr", ret: "t", sql: "CAST(NULL AS VARCHAR)"},
	{name: "inet_server_port", ret: "i", sql: "CAST(NULL AS INTEGER)"},
	{name: "inet_client_port", ret: "i", sql: "CAST(NULL AS INTEGER)"},
	{name: "pg_my_temp_schema", ret: "o", sql: "CAST(0 AS UINTEGER)"},
	{name: "pg_is_other_temp_schema", args: "o", ret: "b", sql: "CAST(FALSE AS BOOLEAN)"},
	{name: "pg_relation_is_publishable", args: "C", ret: "b", sql: "CAST(FALSE AS BOOLEAN)"},
	{name: "row_security_active", args: "o", ret: "b", sql: "CAST(FALSE AS BOOLEAN)"},
	{name: "row_security_active", args: "t", ret: "b", sql: "CAST(FALSE AS BOOLEAN)"},
	{name: "pg_get_serial_sequence", args: "tt", ret: "t", sql: "CAST(NULL AS VARCHAR)"},
	{name: "pg_jit_available", ret: "b", sql: "CAST(FALSE AS BOOLEAN)"},
}, append(noneOf(), granted()...)...)

// utf8Encoding is PostgreSQL's number of UTF8.
const utf8Encoding = 6

// noneOf are functions of objects that there are none of here, and of properties that all have.
func noneOf() []entry {
	var out []entry
	for _, name := range strings.Fields("pg_get_ruledef pg_get_triggerdef pg_get_functiondef pg_get_function_result pg_get_function_arguments " +
		"pg_get_function_identity_arguments pg_get_function_sqlbody pg_get_partkeydef pg_get_statisticsobjdef pg_get_statisticsobjdef_columns pg_get_partition_constraintdef") {
		out = append(
			out,
			entry{name: name, args: "o", ret: "t", sql: "CAST(NULL AS VARCHAR)"},
			entry{name: name, args: "ob", ret: "t", sql: "CAST(NULL AS VARCHAR)"},
		)
	}
	for _, of := range strings.Fields("operator opclass opfamily collation conversion ts_config ts_dict ts_parser ts_template statistics_obj") {
		out = append(out, entry{name: "pg_" + of + "_is_visible", args: "o", ret: "b", sql: "({1} >= 0)"})
	}
	return out
}

// granted are the questions for privileges: everybody may do everything. The user may be left out, and the object be an OID or a name.
func granted() []entry {
	var out []entry
	for _, of := range strings.Fields("table schema database function sequence tablespace type language server foreign_data_wrapper any_column") {
		out = append(
			out,
			entry{name: "has_" + of + "_privilege", args: "??", ret: "b", sql: "CAST(TRUE AS BOOLEAN)"},
			entry{name: "has_" + of + "_privilege", args: "???", ret: "b", sql: "CAST(TRUE AS BOOLEAN)"},
		)
	}
	return append(
		out,
		entry{name: "has_column_privilege", args: "???", ret: "b", sql: "CAST(TRUE AS BOOLEAN)"},
		entry{name: "has_column_privilege", args: "????", ret: "b", sql: "CAST(TRUE AS BOOLEAN)"},
		entry{name: "pg_has_role", args: "??", ret: "b", sql: "CAST(TRUE AS BOOLEAN)"},
		entry{name: "pg_has_role", args: "???", ret: "b", sql: "CAST(TRUE AS BOOLEAN)"},
	)
}
