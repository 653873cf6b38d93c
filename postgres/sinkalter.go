package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
)

// sinkName is the table's place at the target.
func sinkName(t *tailrace.SinkTable) (schema, name string) {
	if schema = t.Schema; schema == "" {
		schema = "public"
	}
	return schema, quoteTable(schema, t.Name)
}

// Alter looks whether the target has the change already and makes it, in one transaction under the feed's epoch.
func (c *sinkConn) Alter(ctx context.Context, change *tailrace.SinkAlter) error {
	_, name := sinkName(change.Before)
	if err := c.run(ctx, c.opening(), nil); err != nil {
		c.abandon()
		return err
	}
	sql, err := c.alteration(ctx, change)
	if err == nil && sql != "" {
		err = exec(ctx, c.conn, sql)
	}
	if err != nil {
		c.abandon()
		return sinkFault(name, err)
	}
	return c.commit(ctx, nil)
}

// alteration is the change as SQL, "" when the target has it.
func (c *sinkConn) alteration(ctx context.Context, change *tailrace.SinkAlter) (string, error) {
	schema, name := sinkName(change.Before)
	old, now := fieldOf(change.Before, change.Column), fieldOf(change.After, change.Column)
	switch change.Kind {
	case tailrace.SinkAddColumn:
		if there, err := hasColumn(ctx, c.conn, name, now.Name); err != nil || there {
			return "", err
		}
		return c.addColumn(ctx, name, now)
	case tailrace.SinkDropColumn:
		return fmt.Sprintf("ALTER TABLE %s DROP COLUMN IF EXISTS %s", name, quoteIdent(old.Name)), nil
	case tailrace.SinkRenameColumn:
		if there, err := hasColumn(ctx, c.conn, name, now.Name); err != nil || there {
			return "", err
		}
		return fmt.Sprintf("ALTER TABLE %s RENAME COLUMN %s TO %s", name, quoteIdent(old.Name), quoteIdent(now.Name)), nil
	case tailrace.SinkRetypeColumn:
		typ, err := declareAt(ctx, c.conn, now.Type)
		return fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s USING %s::%s", name, quoteIdent(now.Name), typ, quoteIdent(now.Name), typ), err
	case tailrace.SinkTruncate:
		return "TRUNCATE " + name, nil
	case tailrace.SinkDropTable:
		return "DROP TABLE IF EXISTS " + name, nil
	case tailrace.SinkRenameTable:
		toSchema, to := sinkName(change.After)
		if there, err := hasTable(ctx, c.conn, to); err != nil || there {
			return "", err
		}
		sql := ""
		if toSchema != schema {
			sql = fmt.Sprintf("CREATE SCHEMA IF NOT EXISTS %[1]s; ALTER TABLE %[2]s SET SCHEMA %[1]s;", quoteIdent(toSchema), name)
		}
		if change.After.Name != change.Before.Name {
			sql += fmt.Sprintf("ALTER TABLE %s RENAME TO %s", quoteTable(toSchema, change.Before.Name), quoteIdent(change.After.Name))
		}
		return sql, nil
	}
	return "", &tailrace.Error{Code: "0A000", Message: fmt.Sprintf("change %d of a table is not known to this target", change.Kind)}
}

// addColumn adds a column whose rows so far have the value that they have here. The value is no default afterwards.
func (c *sinkConn) addColumn(ctx context.Context, name string, f *tailrace.Field) (string, error) {
	typ, err := declareAt(ctx, c.conn, f.Type)
	if err != nil {
		return "", err
	}
	column := quoteIdent(f.Name)
	sql := fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s", name, column, typ)
	if f.NotNull {
		sql += " NOT NULL"
	}
	if f.Missing == nil {
		return sql, nil
	}
	value := tailrace.ConstColumn(f.Type.Kind, f.Missing, 1)
	text := c.sink.options.Text(nil, f.Type, &value, 0)
	return fmt.Sprintf("%s DEFAULT %s::%s; ALTER TABLE %s ALTER COLUMN %s DROP DEFAULT", sql, quoteLiteral(string(text)), typ, name, column), nil
}

// fieldOf is column id of t, an empty one when there is none.
func fieldOf(t *tailrace.SinkTable, id tailrace.ColumnID) *tailrace.Field {
	if t != nil {
		if i := t.Columns.Index(id); i >= 0 {
			return &t.Columns.Fields[i]
		}
	}
	return &tailrace.Field{}
}

func hasTable(ctx context.Context, conn *pgconn.PgConn, name string) (bool, error) {
	rows, err := query(ctx, conn, `SELECT 1 WHERE to_regclass($1) IS NOT NULL`, name)
	return len(rows) > 0, err
}

func hasColumn(ctx context.Context, conn *pgconn.PgConn, name, column string) (bool, error) {
	rows, err := query(ctx, conn, `SELECT 1 FROM pg_attribute WHERE attrelid = $1::regclass AND attname = $2 AND NOT attisdropped`, name, column)
	return len(rows) > 0, err
}

// declareAt is sinkDeclare with the types that the target knows.
func declareAt(ctx context.Context, conn *pgconn.PgConn, t tailrace.Type) (string, error) {
	var failed error
	declared := sinkDeclare(t, func(name string) bool {
		rows, err := query(ctx, conn, `SELECT 1 WHERE to_regtype($1) IS NOT NULL`, name)
		failed = err
		return len(rows) > 0
	})
	return declared, failed
}
