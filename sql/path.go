package sql

import (
	"fmt"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
)

// A name without a schema is looked for along search_path, in the first schema that has one. pg_catalog comes before the others unless the path
// names it. What is created goes into the first schema of the path that exists.

// publicSchema is the schema that is always there.
const publicSchema = "public"

// systemSchema is where PostgreSQL's own relations and types are.
const systemSchema = "pg_catalog"

// splitPath reads the value of search_path: names joined by commas, those in double quotes as they are, the others in lower case. ok is false when it
// is no list.
func splitPath(text string) (names []string, ok bool) {
	rest := strings.TrimSpace(text)
	if rest == "" {
		return nil, true
	}
	for {
		name := ""
		quoted := strings.HasPrefix(rest, `"`)
		if quoted {
			i := 1
			for {
				end := strings.IndexByte(rest[i:], '"')
				if end < 0 {
					return nil, false
				}
				name += rest[i : i+end]
				if i += end + 1; !strings.HasPrefix(rest[i:], `"`) {
					break
				}
				name, i = name+`"`, i+1
			}
			rest = rest[i:]
		} else {
			end := strings.IndexAny(rest, ", \t\r\n")
			if end < 0 {
				end = len(rest)
			}
			name, rest = strings.ToLower(rest[:end]), rest[end:]
		}
		if name == "" && !quoted {
			return nil, false
		}
		names = append(names, name)
		rest = strings.TrimLeft(rest, " \t\r\n")
		if rest == "" {
			return names, true
		}
		if rest[0] != ',' {
			return nil, false
		}
		rest = strings.TrimLeft(rest[1:], " \t\r\n")
	}
}

// pathSetting is the check of search_path.
func pathSetting(v string) (string, error) {
	if _, ok := splitPath(v); !ok {
		return "", &tailrace.Error{Code: "22023", Message: fmt.Sprintf("invalid value for parameter \"search_path\": \"%s\"", v), Detail: "List syntax is invalid."}
	}
	return v, nil
}

// quoteName is name as SQL writes it: in double quotes unless it is plain and no keyword.
func quoteName(name string) string {
	plain := name != ""
	for i, c := range []byte(name) {
		plain = plain && (c >= 'a' && c <= 'z' || c == '_' || i > 0 && (c >= '0' && c <= '9'))
	}
	if plain && isKeyword(name) {
		plain = false
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// isKeyword tells a word that is no plain name everywhere.
func isKeyword(word string) bool {
	r, err := pg_query.Scan(word)
	if err != nil || len(r.Tokens) != 1 {
		return true
	}
	k := r.Tokens[0].KeywordKind
	return k != pg_query.KeywordKind_NO_KEYWORD && k != pg_query.KeywordKind_UNRESERVED_KEYWORD
}

// searchPath is the schemas that a name without one is looked for in, pg_catalog apart when it comes first by itself. It is made when settings
// change, and not to be written to.
func (s *Session) searchPath() []string { return s.path }

// pathChanged makes the search path from its setting.
func (s *Session) pathChanged() {
	names, _ := splitPath(s.get("search_path")) // it was checked when it was set
	s.path = nil
	for _, n := range names {
		if n == "$user" {
			n = s.options.User
		}
		if !slices.Contains(s.path, n) {
			s.path = append(s.path, n)
		}
	}
}

// hasSchema tells whether a schema exists: public, one of the system, one that CREATE SCHEMA made, or one that a source's tables are in.
func hasSchema(c *catalog.Catalog, name string) bool {
	if name == publicSchema || isSystem(name) || c.Namespace(name) != nil {
		return true
	}
	for _, t := range c.Tables {
		if t.Schema == name {
			return true
		}
	}
	return false
}

// schemaFor is the schema that an object is created in whose statement names schema, "" for none. The transaction is open.
func (s *Session) schemaFor(schema, name string) (string, error) {
	if schema == "" {
		for _, n := range s.path {
			if hasSchema(s.txn.catalog, n) {
				schema = n
				break
			}
		}
	}
	switch {
	case schema == "":
		return "", &tailrace.Error{
			Code: "3F000", Message: "no schema has been selected to create in",
			Hint: "Name a schema: public." + quoteName(name) + ", or SET search_path = public.",
		}
	case isSystem(schema):
		return "", failure("42501", "permission denied to create \"%s.%s\"", schema, name)
	case !hasSchema(s.txn.catalog, schema):
		return "", noSchema(schema)
	}
	return schema, nil
}

func noSchema(name string) *tailrace.Error {
	return &tailrace.Error{Code: "3F000", Message: fmt.Sprintf("schema \"%s\" does not exist", name), Hint: "CREATE SCHEMA " + quoteName(name) + "."}
}

// systemOf is the schema of the system's relation that a name stands for, "" when it stands for none.
func (s *Session) systemOf(schema, name string) string {
	if schema != "" {
		if s.systemTable(schema, name) != nil {
			return schema
		}
		return ""
	}
	for _, p := range []string{systemSchema, "mz_internal"} {
		if s.systemTable(p, name) != nil {
			return p
		}
	}
	return ""
}
