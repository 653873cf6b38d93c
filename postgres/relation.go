package postgres

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
)

// A Relation message lists a table's columns by name, in order of attnum, but without the attnum. Which column is which must be found from
// what was known before and what pg_attribute says now, which may be later than the message:
//
//	known before   message      pg_attribute now     so
//	1 id, 2 a      id, b        1 id, 2 b            2 was renamed
//	1 id, 2 a      id, a        1 id, 3 a            2 was dropped and 3 added; the message may be from before or after
//	1 id, 2 a      id, x        1 id                 3 came and is gone again, or 2 was renamed and then dropped
//
// assign chooses the cheapest assignment of columns to attnums under what PostgreSQL guarantees: attnums grow with each column added, are never
// used twice, and a column that is there before and now was there in between. Only a column that was dropped and added again under its name leaves a
// doubt; the transaction that added it decides that: an older transaction meant the old column.

// candidate is an attnum that a column of a message may be.
type candidate struct {
	num   int
	known *tailrace.SourceColumn // as it was before, nil when it was not there
	now   *attribute             // as it is now, nil when it is dropped
}

const (
	costImpossible = 1000
	costStranger   = 4 // neither the name before nor the name now
	costRetyped    = 8
	costYounger    = 2 // a column added by a transaction that began later than this one
	costDropped    = 1 // a column that is dropped by now
)

func (c *candidate) matchCost(w *wireColumn, xid uint32) int {
	cost := 0
	named := c.known != nil && c.known.Name == w.name || c.now != nil && c.now.Name == w.name
	typed := c.known != nil && c.known.TypeID == w.typeID || c.now != nil && c.now.TypeID == w.typeID
	blank := c.known == nil && c.now == nil // came and went: nothing is known of it
	if !named {
		cost += costStranger
	}
	if !typed && !blank {
		cost += costRetyped
	}
	if c.known == nil && c.now != nil && int32(xid-c.now.xmin) < 0 {
		cost += costYounger
	}
	if c.now == nil {
		cost += costDropped
	}
	return cost
}

func (c *candidate) skipCost() int {
	if c.known != nil && c.now != nil {
		return costImpossible
	}
	return 0
}

// assign returns, for each column of a message, the index of the candidate it is; nil when there is no way. candidates are in order of attnum.
func assign(columns []wireColumn, candidates []candidate, xid uint32) []int {
	n, m := len(columns), len(candidates)
	// best[i][j] is the cost of giving columns[i:] candidates out of [j:].
	best := make([][]int, n+1)
	for i := range best {
		best[i] = make([]int, m+1)
	}
	for i := range n {
		best[i][m] = costImpossible * (n + 1)
	}
	for j := m - 1; j >= 0; j-- {
		best[n][j] = best[n][j+1] + candidates[j].skipCost()
		for i := range n {
			best[i][j] = min(best[i][j+1]+candidates[j].skipCost(), best[i+1][j+1]+candidates[j].matchCost(&columns[i], xid))
		}
	}
	if best[0][0] >= costImpossible {
		return nil
	}
	out := make([]int, 0, n)
	for i, j := 0, 0; i < n; j++ {
		if best[i+1][j+1]+candidates[j].matchCost(&columns[i], xid) <= best[i][j+1]+candidates[j].skipCost() {
			out = append(out, j)
			i++
		}
	}
	return out
}

// resolve finds out what table r describes, given known, what it was before. A table that cannot be followed any more has Err set. The stream may
// be ahead of what queries see: a transaction's changes are sent when its commit is in the log, a moment before others see it. So its end is waited
// for, and all is read in one snapshot.
func (c *Config) resolve(ctx context.Context, conn *pgconn.PgConn, r *wireRelation, known *tailrace.SourceTable, xid uint32) (*tailrace.SourceTable, error) {
	doing := "describe the table " + plainTable(r.schema, r.name)
	if err := waitVisible(ctx, conn, xid); err != nil {
		return nil, c.explain(doing, err)
	}
	if err := exec(ctx, conn, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); err != nil {
		return nil, c.explain(doing, err)
	}
	t, err := c.recognize(ctx, conn, r, known, xid)
	if end := exec(ctx, conn, "ROLLBACK"); end != nil && err == nil {
		return nil, c.explain(doing, end)
	}
	return t, err
}

// waitVisible waits until transaction xid, whose commit is in the log, is seen by others: it holds the lock on its own number until then.
func waitVisible(ctx context.Context, conn *pgconn.PgConn, xid uint32) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		rows, err := query(ctx, conn, "SELECT FROM pg_locks WHERE locktype = 'transactionid' AND transactionid = $1::xid AND granted",
			strconv.FormatUint(uint64(xid), 10))
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := wait(ctx, pause); err != nil {
			return err
		}
	}
}

// recognize is resolve inside one snapshot.
func (c *Config) recognize(ctx context.Context, conn *pgconn.PgConn, r *wireRelation, known *tailrace.SourceTable, xid uint32) (*tailrace.SourceTable, error) {
	now, _, err := c.columns(ctx, conn, r.rel) // generated columns are not copied: their coming and going changes nothing
	if err != nil {
		return nil, c.explain("describe the table "+plainTable(r.schema, r.name), err)
	}
	dropped, err := query(ctx, conn, "SELECT attnum FROM pg_attribute WHERE attrelid = $1::oid AND attnum > 0 AND attisdropped ORDER BY attnum",
		strconv.FormatUint(uint64(r.rel), 10))
	if err != nil {
		return nil, c.explain("describe the table "+plainTable(r.schema, r.name), err)
	}
	t := &tailrace.SourceTable{Rel: r.rel, Schema: r.schema, Name: r.name, Rows: known.Rows, LooseKey: r.identity == 'f'}
	candidates := candidatesFor(known, now, dropped)
	chosen := assign(r.columns, candidates, xid)
	if chosen == nil {
		t.Err = alteredError(t, "was altered in a way that its log does not explain")
		return t, nil
	}
	for i, j := range chosen {
		t.Columns = append(t.Columns, columnOf(&r.columns[i], &candidates[j], known))
		if t.Err == nil {
			t.Err = retyped(t, &t.Columns[i], &candidates[j])
		}
	}
	if t.Err == nil {
		t.Err = c.keyOf(t, r, known)
	}
	if t.Err == nil && r.identity == 'f' && len(t.Key) > 0 {
		t.Err, err = c.checkPrimary(ctx, conn, t)
	}
	return t, err
}

// candidatesFor lists the attnums that a message's columns may be, in order.
func candidatesFor(known *tailrace.SourceTable, now []attribute, dropped [][]string) []candidate {
	byNum := map[int]*candidate{}
	last := 0
	for i := range known.Columns {
		k := &known.Columns[i]
		byNum[k.Num] = &candidate{num: k.Num, known: k}
		last = max(last, k.Num)
	}
	for i := range now {
		a := &now[i]
		if byNum[a.Num] == nil {
			byNum[a.Num] = &candidate{num: a.Num}
		}
		byNum[a.Num].now = a
	}
	for _, row := range dropped {
		if num := int(parseInt64(row[0], 0)); num > last && byNum[num] == nil {
			byNum[num] = &candidate{num: num}
		}
	}
	out := make([]candidate, 0, len(byNum))
	for _, c := range byNum {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b candidate) int { return a.num - b.num })
	return out
}

// columnOf describes the column of a message once it is known which one it is.
func columnOf(w *wireColumn, c *candidate, known *tailrace.SourceTable) tailrace.SourceColumn {
	col := tailrace.SourceColumn{Num: c.num, Name: w.name, TypeID: w.typeID, Mod: w.mod}
	switch {
	case c.known != nil:
		col.Type, col.Missing = c.known.Type, c.known.Missing
	case c.now != nil:
		col.Type, col.Missing, col.MissingUnknown = c.now.Type, c.now.Missing, c.now.MissingUnknown
		for i := range known.Columns {
			if known.Columns[i].Num > c.num { // it was generated before: its values were never told
				col.MissingUnknown = true
			}
		}
	default: // it is gone by now: what older rows had in it for a while nobody can say, and nobody will see
		col.Type = typeFor(w.typeID, w.mod, "text")
	}
	return col
}

// retyped says that column c has another type than before, or values in older rows that nobody told.
func retyped(t *tailrace.SourceTable, col *tailrace.SourceColumn, c *candidate) *tailrace.Error {
	switch {
	case c.known != nil && (c.known.TypeID != col.TypeID || c.known.Mod != col.Mod):
		return alteredError(t, "has a column "+plainIdent(col.Name)+" of another type than before")
	case c.known == nil && c.now != nil && c.now.TypeID != col.TypeID:
		return alteredError(t, "has a column "+plainIdent(col.Name)+" that was added and then given another type")
	case c.known == nil && col.MissingUnknown:
		return alteredError(t, "got a column "+plainIdent(col.Name)+" whose values in older rows are not in PostgreSQL's log")
	}
	return nil
}
