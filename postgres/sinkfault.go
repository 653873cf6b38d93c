package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
)

// faultOf says whose fault an SQLSTATE is.
func faultOf(code string) tailrace.SinkFault {
	switch code {
	case "40001", "40P01", "55P03", "57014", "25006", "55006", "25P03", "25P04":
		return tailrace.SinkRetry // serialization, deadlock, lock timeout, canceled, read-only for now, in use, timeouts of the session
	case "54000", "54001", "P0001", "P0002", "44000":
		return tailrace.SinkRowFault // too large, a trigger's RAISE, a row that is not there, a view's CHECK OPTION
	}
	switch code[:2] {
	case "08", "53", "57", "58":
		return tailrace.SinkRetry // connection, resources, shutdown, the system
	case "28", "3D", "0L", "0P":
		return tailrace.SinkDown // login, database, roles
	case "22", "23":
		return tailrace.SinkRowFault // the value, the constraint
	}
	return tailrace.SinkTableFault
}

// sinkFault turns an error of a statement about table into one that a feed knows what to do with. Errors of ctx and the seam's own stay as they are.
func sinkFault(table string, err error) error {
	if err == nil || errors.Is(err, tailrace.ErrSinkFenced) || errors.Is(err, tailrace.ErrSinkMoved) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if se := (*tailrace.SinkError)(nil); errors.As(err, &se) {
		return err
	}
	e := (*tailrace.Error)(nil)
	pg := (*pgconn.PgError)(nil)
	switch {
	case errors.As(err, &pg):
		e = &tailrace.Error{Code: pg.Code, Message: pg.Message, Detail: pg.Detail, Hint: sinkHint(table, pg), Constraint: pg.ConstraintName, Column: pg.ColumnName, Err: err}
	case !errors.As(err, &e):
		e = &tailrace.Error{Code: "08006", Message: "the connection was lost: " + shortNetError(err), Hint: "It is tried again.", Err: err}
	}
	out := &tailrace.SinkError{Fault: faultOf(e.Code), Table: table, Step: -1, Row: -1, Err: e}
	if e.Hint == "" {
		e.Hint = map[tailrace.SinkFault]string{
			tailrace.SinkRetry:      "It is tried again.",
			tailrace.SinkRowFault:   "Change the row here, or what refuses it at the target; then resume the table.",
			tailrace.SinkTableFault: "Make the table at the target as it is here; then resume the table.",
			tailrace.SinkDown:       "Correct the target's address and privileges; then resume the feed.",
		}[out.Fault]
	}
	return out
}

// sinkWhole is sinkFault for what concerns the target as a whole, where no privilege means that nothing can go on. explained has the message, err the cause.
func sinkWhole(explained, err error) error {
	if errors.Is(err, tailrace.ErrSinkFenced) {
		return err
	}
	out := sinkFault("", explained)
	if se := (*tailrace.SinkError)(nil); errors.As(out, &se) && se.Fault == tailrace.SinkTableFault {
		se.Fault = tailrace.SinkDown
		if se.Err.Code == "42501" {
			se.Err.Hint = "At the target: GRANT CREATE ON DATABASE ... TO the feed's user, or make the schema tailrace and give it to that user."
		}
	}
	return out
}

// sinkHint is the way on after an error of the server about a table.
func sinkHint(table string, pg *pgconn.PgError) string {
	switch {
	case pg.Hint != "":
		return pg.Hint
	case pg.Code == "42501" && table != "":
		return "At the target: GRANT SELECT, INSERT, UPDATE, DELETE ON " + table + " TO the feed's user;"
	case pg.Code == "25006":
		return "The target takes no writes now; it is tried again."
	case strings.HasPrefix(pg.Code, "22") || strings.HasPrefix(pg.Code, "23"):
		return "Widen the column or drop the constraint at the target, or change the row here; then resume the table."
	}
	return ""
}
