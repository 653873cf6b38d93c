package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
)

// keyOf sets t's key, which must be the one that it had before.
func (c *Config) keyOf(t *tailrace.SourceTable, r *wireRelation, known *tailrace.SourceTable) *tailrace.Error {
	for _, k := range known.Key {
		at := slices.IndexFunc(t.Columns, func(col tailrace.SourceColumn) bool { return col.Num == known.Columns[k].Num })
		if at < 0 {
			return alteredError(t, "lost a column of its key, "+plainIdent(known.Columns[k].Name))
		}
		t.Key = append(t.Key, at)
	}
	name := plainTable(t.Schema, t.Name)
	switch {
	case r.identity == 'f':
		return nil
	case r.identity == 'n' || len(known.Key) == 0:
		e := alteredError(t, "no longer has the replica identity that its rows are known by")
		e.Hint = fmt.Sprintf("At the source: ALTER TABLE %s REPLICA IDENTITY FULL; %s", name, e.Hint)
		return e
	}
	for i := range r.columns {
		if r.columns[i].key != slices.Contains(t.Key, i) {
			return alteredError(t, "has another key than before")
		}
	}
	return nil
}

// checkPrimary makes sure that a table under REPLICA IDENTITY FULL, whose messages do not tell its key, still has the primary key it had.
func (c *Config) checkPrimary(ctx context.Context, conn *pgconn.PgConn, t *tailrace.SourceTable) (*tailrace.Error, error) {
	rows, err := query(ctx, conn, `SELECT i.indkey::text, i.indnkeyatts FROM pg_index i WHERE i.indrelid = $1::oid AND i.indisprimary`,
		strconv.FormatUint(uint64(t.Rel), 10))
	if err != nil {
		return nil, c.explain("read the key of "+plainTable(t.Schema, t.Name), err)
	}
	if len(rows) == 1 {
		nums := strings.Fields(rows[0][0])[:parseInt64(rows[0][1], 0)]
		same := len(nums) == len(t.Key)
		for _, k := range t.Key {
			same = same && slices.Contains(nums, strconv.Itoa(t.Columns[k].Num))
		}
		if same {
			return nil, nil
		}
	}
	return alteredError(t, "has another key than before"), nil
}

// alteredError says why a table is followed no further.
func alteredError(t *tailrace.SourceTable, what string) *tailrace.Error {
	return &tailrace.Error{
		Code: "55000", Message: fmt.Sprintf("table %s %s", plainTable(t.Schema, t.Name), what), Table: t.Name,
		Hint: "Copy it again: drop the source here and create it again.",
	}
}
