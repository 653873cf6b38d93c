package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"tailrace"
)

// readColumns reads the table's columns. One that is not of the feed has to take care of itself.
func (t *table) readColumns(ctx context.Context, conn *sql.Conn, st *tailrace.SinkTable) error {
	rows, err := strs(ctx, conn, "SELECT column_name, data_type, column_type, character_maximum_length, numeric_precision, numeric_scale, datetime_precision, "+
		"is_nullable = 'YES', extra, column_default IS NOT NULL, character_set_name, collation_name "+
		"FROM information_schema.columns WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position", t.database, t.name)
	if err != nil {
		return err
	}
	number := func(s string) int64 {
		n, _ := strconv.ParseInt(s, 10, 64) // NULL is 0; the largest, 4 GiB, fits
		return n
	}
	t.columns = make([]column, len(st.Columns.Fields))
	for _, r := range rows {
		extra := strings.ToLower(r[8])
		c := column{
			name: r[0], data: strings.ToLower(r[1]), full: r[2], chars: number(r[3]), precision: int(number(r[4])), scale: int(number(r[5])), fraction: int(number(r[6])),
			nullable: r[7] == "1", generated: strings.Contains(extra, "generated") && !strings.Contains(extra, "default_generated"),
			filled: r[9] == "1" || strings.Contains(extra, "auto_increment"), charset: r[10], collation: r[11],
		}
		switch i := st.Columns.ByName(c.name); {
		case i >= 0:
			t.columns[i] = c
		case !c.nullable && !c.filled && !c.generated:
			return t.fault("42000", fmt.Sprintf("column %s of the target's table %s must be given and is not one of the feed", quote(c.name), t.quoted()),
				fmt.Sprintf("At the target: ALTER TABLE %s MODIFY COLUMN %s %s NULL;", t.quoted(), quote(c.name), c.full))
		}
	}
	return nil
}
