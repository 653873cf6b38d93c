package postgres

import (
	"fmt"
	"strings"

	"tailrace"
)

// obstacle says why r cannot be followed, nil when it can.
func (c *Config) obstacle(r *relation) *tailrace.Error {
	name := plainTable(r.Schema, r.Name)
	refuse := func(message, hint string) *tailrace.Error {
		return &tailrace.Error{Code: "55000", Message: fmt.Sprintf("table %s "+message, name), Hint: hint, Table: r.Name}
	}
	switch {
	case r.persistence == "u":
		return refuse("is unlogged: its changes are not in PostgreSQL's log", fmt.Sprintf("At the source: ALTER TABLE %s SET LOGGED;", name))
	case r.persistence == "t":
		return refuse("is temporary", "Copy it into an ordinary table.")
	case r.leaf:
		return refuse("is a partition; its root is followed instead", "Name the partitioned root.")
	case !r.canSelect:
		return refuse("may not be read by "+c.User, fmt.Sprintf("At the source: GRANT USAGE ON SCHEMA %s TO %s; GRANT SELECT ON %s TO %s;",
			plainIdent(r.Schema), plainIdent(c.User), name, plainIdent(c.User)))
	case r.rowSecurity:
		return refuse("hides rows from "+c.User+" by row security", fmt.Sprintf("At the source: ALTER ROLE %s BYPASSRLS;", plainIdent(c.User)))
	case r.identity == "n" || r.identity == "d" && len(r.primary) == 0:
		return refuse("has no key that its changes could name rows by",
			fmt.Sprintf("At the source: ALTER TABLE %s REPLICA IDENTITY FULL; or better, ALTER TABLE %s ADD PRIMARY KEY (...);", name, name))
	case r.identity == "d" && r.deferrable:
		return refuse("has a deferrable primary key, which its changes cannot name rows by",
			fmt.Sprintf("At the source: ALTER TABLE %s REPLICA IDENTITY FULL;", name))
	case len(r.badLeaves) > 0:
		var fix []string
		for _, l := range r.badLeaves {
			fix = append(fix, fmt.Sprintf("ALTER TABLE %s REPLICA IDENTITY FULL;", l))
		}
		return refuse("has partitions without a replica identity: "+strings.Join(r.badLeaves, ", "), "At the source: "+strings.Join(fix, " "))
	case len(r.Key) < len(r.keyNums()):
		return refuse("has a generated column in its key, which PostgreSQL does not send",
			"Leave it out, or choose another key at the source: ALTER TABLE "+name+" REPLICA IDENTITY USING INDEX ...;")
	case len(r.Columns) == 0:
		return refuse("has no column that could be copied", "Leave it out.")
	}
	return nil
}

// missingTable says that a table asked for is not there.
func missingTable(name string) *tailrace.Error {
	return &tailrace.Error{
		Code: "42P01", Message: fmt.Sprintf("table %s does not exist at the source", qualified(name)), Table: name,
		Hint: `List the tables there with: psql -c '\dt *.*'`,
	}
}
