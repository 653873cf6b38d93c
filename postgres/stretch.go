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

// A large table is read in stretches of its blocks, side by side, by a condition on ctid, which PostgreSQL 14 and later answer without looking at
// other blocks:
//
//	lane 0   [0, 5000)
//	lane 1   [5000, end)     no upper end: the table may have grown
//
// All are read in one snapshot, so together they are the table. A stretch is as long as can be, not one of many small ones: the rows of many tables lie
// in the order of their key, and then two long stretches are two runs of rows that need no merging.

const (
	// lanes is how many connections read at a time, and so how many stretches a table has: one per core of a small machine, so that the source
	// keeps most of its own.
	lanes = 2
	// minStretch is the fewest blocks of a stretch, 32 MiB: a smaller table is read as fast by one plain COPY, which costs the source less.
	minStretch = 4096
	// tidRangeVersion is the first server version that reads a range of blocks by itself.
	tidRangeVersion = 140000
)

// stretch is a part of a table: the blocks [from, to); to 0 has no end.
type stretch struct {
	table    int // which of the tables
	lane     int // which of the table's stretches
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
	n := max(1, min(lanes, blocks/minStretch))
	for lane := range n {
		st := stretch{table: table, lane: int(lane), from: lane * blocks / n}
		if lane+1 < n {
			st.to = (lane + 1) * blocks / n
		}
		out = append(out, st)
	}
	return out
}

// copyStatement is the COPY that reads t's columns in a stretch. A plain COPY, where it will do, does not go through the source's executor.
func copyStatement(t *tailrace.SourceTable, parted bool, st stretch) string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = quoteIdent(c.Name)
	}
	columns, table := strings.Join(names, ", "), quoteTable(t.Schema, t.Name)
	var where []string
	if st.from > 0 {
		where = append(where, fmt.Sprintf("ctid >= '(%d,0)'", st.from))
	}
	if st.to > 0 {
		where = append(where, fmt.Sprintf("ctid < '(%d,0)'", st.to))
	}
	switch {
	case parted:
		return "COPY (SELECT " + columns + " FROM " + table + ") TO STDOUT"
	case len(where) == 0:
		return "COPY " + table + " (" + columns + ") TO STDOUT" // not of tables that inherit from it: they are tables of their own
	}
	return "COPY (SELECT " + columns + " FROM ONLY " + table + " WHERE " + strings.Join(where, " AND ") + ") TO STDOUT"
}
