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

// A large table is read in stretches of its blocks, by a condition on ctid, which PostgreSQL 14 and later answer without looking at other blocks:
//
//	lane 0   [0, 1024)                 [2048, 3072)     ...
//	lane 1              [1024, 2048)                    [3072, end)
//
// The last one has no upper end: the table may have grown. All are read in one snapshot, so together they are the table.

const (
	minStretch = 1024  // blocks, 8 MiB: less is not worth a statement
	maxStretch = 32768 // blocks, 256 MiB: so that the lanes end at about the same time
	// stretchesPerLane is how many stretches a lane gets of a table between these bounds.
	stretchesPerLane = 4
	// tidRangeVersion is the first server version that reads a range of blocks by itself.
	tidRangeVersion = 140000
)

// stretch is a part of a table: the blocks [from, to); to 0 has no end.
type stretch struct {
	table    int // which of the tables
	from, to int64
}

// planStretches cuts tables into stretches, the largest table first, so that the last stretch to end is a small one.
func (c *Config) planStretches(ctx context.Context, conn *pgconn.PgConn, tables []*tailrace.SourceTable) ([]stretch, error) {
	oids := make([]string, len(tables))
	for i, t := range tables {
		oids[i] = strconv.FormatUint(uint64(t.Rel), 10)
	}
	rows, err := query(ctx, conn, `SELECT c.oid, relkind, pg_relation_size(c.oid) / current_setting('block_size')::int, current_setting('server_version_num')
		FROM pg_class c WHERE c.oid = ANY ($1::oid[])`, "{"+strings.Join(oids, ",")+"}")
	if err != nil {
		return nil, c.explain("read the sizes of tables", err)
	}
	blocks := map[uint32]int64{}
	for _, row := range rows {
		if row[1] == "r" && parseInt64(row[3], 0) >= tidRangeVersion {
			blocks[parseUint32(row[0])] = parseInt64(row[2], 0)
		}
	}
	order := make([]int, len(tables))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { // partitioned roots have no blocks; their rows tell
		size := func(i int) int64 { return max(tables[i].Rows, blocks[tables[i].Rel]) }
		return int(max(-1, min(1, size(b)-size(a))))
	})
	var out []stretch
	for _, i := range order {
		out = appendStretches(out, i, blocks[tables[i].Rel])
	}
	return out, nil
}

// appendStretches adds those of a table of so many blocks.
func appendStretches(out []stretch, table int, blocks int64) []stretch {
	step := max(minStretch, min(maxStretch, blocks/(lanes*stretchesPerLane)))
	from := int64(0)
	for blocks-from >= 2*step {
		out = append(out, stretch{table: table, from: from, to: from + step})
		from += step
	}
	return append(out, stretch{table: table, from: from})
}

// copyStatement is the COPY that reads t's columns in a stretch.
func copyStatement(t *tailrace.SourceTable, parted bool, st stretch) string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = quoteIdent(c.Name)
	}
	from := " FROM ONLY " // tables that inherit from it are tables of their own
	if parted {
		from = " FROM "
	}
	where := ""
	if st.from > 0 {
		where = fmt.Sprintf(" WHERE ctid >= '(%d,0)'", st.from)
	}
	switch {
	case st.to > 0 && where == "":
		where = fmt.Sprintf(" WHERE ctid < '(%d,0)'", st.to)
	case st.to > 0:
		where += fmt.Sprintf(" AND ctid < '(%d,0)'", st.to)
	}
	return "COPY (SELECT " + strings.Join(names, ", ") + from + quoteTable(t.Schema, t.Name) + where + ") TO STDOUT"
}
