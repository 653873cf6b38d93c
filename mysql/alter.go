package mysql

import (
	"context"
	"fmt"
	"strings"

	"tailrace"
)

// Alter looks whether the target has the change already and makes it. A DDL statement commits by itself there, so the epoch is checked before and cannot be held while
// it runs: who asks has recorded the intent, and asks again after a crash.
func (c *sinkConn) Alter(ctx context.Context, change *tailrace.SinkAlter) error {
	if err := c.Begin(ctx); err != nil {
		return err
	}
	t := c.sink.place(change.Before)
	list, err := c.alterations(ctx, t, change)
	for i := 0; err == nil && i < len(list); i++ {
		_, err = c.conn.ExecContext(ctx, list[i])
	}
	c.abandon()
	return fault(t.quoted(), err)
}

// place is where the target has the table: public is the database of the address.
func (s *sink) place(st *tailrace.SinkTable) *table {
	t := &table{database: st.Schema, name: st.Name, key: st.Columns.Key}
	if st.Schema == "" || st.Schema == "public" {
		t.database = s.database
	}
	return t
}

// alterations are the statements that make the change, none when the target has it.
func (c *sinkConn) alterations(ctx context.Context, t *table, change *tailrace.SinkAlter) ([]string, error) {
	old, now := fieldOf(change.Before, change.Column), fieldOf(change.After, change.Column)
	alter := "ALTER TABLE " + t.quoted()
	switch change.Kind {
	case tailrace.SinkAddColumn:
		if there, err := c.hasColumn(ctx, t, now.Name); err != nil || there {
			return nil, err
		}
		return c.addColumn(alter, now)
	case tailrace.SinkDropColumn:
		if there, err := c.hasColumn(ctx, t, old.Name); err != nil || !there {
			return nil, err
		}
		return []string{alter + " DROP COLUMN " + quote(old.Name)}, nil
	case tailrace.SinkRenameColumn:
		if there, err := c.hasColumn(ctx, t, now.Name); err != nil || there {
			return nil, err
		}
		return []string{fmt.Sprintf("%s RENAME COLUMN %s TO %s", alter, quote(old.Name), quote(now.Name))}, nil
	case tailrace.SinkRetypeColumn:
		declared, err := c.sink.declareColumn(t, change.After, change.After.Columns.Index(change.Column))
		return []string{alter + " MODIFY COLUMN " + declared}, err
	case tailrace.SinkTruncate:
		return []string{"TRUNCATE TABLE " + t.quoted()}, nil
	case tailrace.SinkDropTable:
		return []string{"DROP TABLE IF EXISTS " + t.quoted()}, nil
	case tailrace.SinkRenameTable:
		to := c.sink.place(change.After)
		if engine, err := to.engine(ctx, c.conn); err != nil || engine != "" {
			return nil, err
		}
		return []string{"CREATE DATABASE IF NOT EXISTS " + quote(to.database), "RENAME TABLE " + t.quoted() + " TO " + to.quoted()}, nil
	}
	return nil, &tailrace.SinkError{Fault: tailrace.SinkTableFault, Table: t.quoted(), Step: -1, Row: -1, Err: &tailrace.Error{
		Code: "0A000", Message: fmt.Sprintf("change %d of a table is not known to this target", change.Kind), Hint: "Make the change at the target, then resume the table.",
	}}
}

// addColumn adds a column whose rows so far have the value that they have here. The value is no default afterwards.
func (c *sinkConn) addColumn(alter string, f *tailrace.Field) ([]string, error) {
	declared := declare(f.Type, c.sink.collation(), 0)
	def := fmt.Sprintf("%s ADD COLUMN %s %s", alter, quote(f.Name), declared)
	if f.NotNull {
		def += " NOT NULL"
	} else {
		def += " NULL"
	}
	if f.Missing == nil {
		return []string{def}, nil
	}
	value := tailrace.ConstColumn(f.Type.Kind, f.Missing, 1)
	made := declaredColumn(f.Name, declared, f.Type)
	literal, err := c.sink.literal(nil, &made, f.Type, &value, 0)
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%s DEFAULT (%s)", def, literal), fmt.Sprintf("%s ALTER COLUMN %s DROP DEFAULT", alter, quote(f.Name))}, nil
}

// declaredColumn is a column that is about to be made, as far as a literal for it asks.
func declaredColumn(name, declared string, t tailrace.Type) column {
	kind, _, _ := strings.Cut(declared, " ")
	kind, _, _ = strings.Cut(kind, "(")
	c := column{name: name, data: strings.ToLower(kind), full: strings.ToLower(declared), chars: 1 << 32, precision: t.Precision(), scale: t.Scale()}
	if n := t.Length(); n >= 0 && c.data == "varchar" {
		c.chars = int64(n)
	}
	return c
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

func (c *sinkConn) hasColumn(ctx context.Context, t *table, name string) (bool, error) {
	rows, err := strs(ctx, c.conn, "SELECT 1 FROM information_schema.columns WHERE table_schema = ? AND table_name = ? AND column_name = ?", t.database, t.name, name)
	return len(rows) > 0, err
}
