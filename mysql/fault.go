package mysql

import (
	"context"
	"errors"
	"fmt"

	driver "github.com/go-sql-driver/mysql"

	"tailrace"
)

// numbersOf lists the error numbers of a fault. All that are in no list are faults of a table.
func numbersOf(f tailrace.SinkFault) []uint16 {
	switch f {
	case tailrace.SinkRetry:
		// Lock wait timeout, deadlock; too many connections (of the user), shutdown, killed, interrupted, time over; read-only; disk, table or memory full; the definition
		// changed meanwhile; network.
		return []uint16{1205, 1213, 1614, 1020, 1040, 1203, 1226, 1053, 1927, 1317, 1969, 3024, 1290, 1836, 1792, 1021, 1114, 1037, 1038, 1041, 1412, 1158, 1159, 1160, 1161}
	case tailrace.SinkDown:
		return []uint16{1044, 1045, 1049, 1130, 1129, 1227, 1698, 1251, 1275, 3159}
	case tailrace.SinkRowFault:
		// Too long, out of range, cut, wrong value, NULL, duplicate, foreign keys, CHECK (MariaDB's and MySQL's), a trigger's SIGNAL, too large.
		return []uint16{1406, 1264, 1265, 1366, 1292, 1411, 1690, 1048, 1062, 1169, 1586, 1451, 1452, 1216, 1217, 4025, 3819, 1644, 1153, 1118, 1416, 3140, 1300, 1367}
	}
	return nil
}

func faultOf(number uint16) tailrace.SinkFault {
	for _, f := range []tailrace.SinkFault{tailrace.SinkRetry, tailrace.SinkDown, tailrace.SinkRowFault} {
		for _, n := range numbersOf(f) {
			if n == number {
				return f
			}
		}
	}
	return tailrace.SinkTableFault
}

// fault turns an error of a statement about table into one that a feed knows what to do with. Errors of a context and the seam's own stay as they are.
func fault(table string, err error) error {
	if err == nil || errors.Is(err, tailrace.ErrSinkFenced) || errors.Is(err, tailrace.ErrSinkMoved) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if se := (*tailrace.SinkError)(nil); errors.As(err, &se) {
		return err
	}
	out := &tailrace.SinkError{Fault: tailrace.SinkRetry, Table: table, Step: -1, Row: -1}
	if my := (*driver.MySQLError)(nil); errors.As(err, &my) {
		out.Fault = faultOf(my.Number)
		out.Err = &tailrace.Error{Code: string(my.SQLState[:]), Message: fmt.Sprintf("%s (error %d)", my.Message, my.Number), Hint: hintFor(table, my.Number, out.Fault), Err: err}
		return out
	}
	out.Err = &tailrace.Error{Code: "08006", Message: "the target cannot be reached: " + err.Error(), Hint: "Check that it runs and listens; it is tried again.", Err: err}
	return out
}

// hintFor is the way on after an error of the server.
func hintFor(table string, number uint16, f tailrace.SinkFault) string {
	switch {
	case number == 1045 || number == 1698:
		return "Check the user and the password; set it at the target with: ALTER USER ... IDENTIFIED BY '...';"
	case number == 1049:
		return "Make it at the target: CREATE DATABASE ...;"
	case number == 1044 || number == 1227:
		return "At the target: GRANT CREATE, SELECT, INSERT, UPDATE, DELETE ON tailrace.* TO the feed's user;"
	case number == 1142 || number == 1143:
		return "At the target: GRANT SELECT, INSERT, UPDATE, DELETE ON " + table + " TO the feed's user;"
	case number == 1290 || number == 1836:
		return "The target takes no writes now; it is tried again."
	case f == tailrace.SinkRetry:
		return "It is tried again."
	case f == tailrace.SinkRowFault:
		return "Widen the column or drop the constraint at the target, or change the row here; then resume the table."
	}
	return "Make the table at the target as it is here, then resume the table."
}

// whole is for what concerns the target as a whole: what would be a table's fault means that nothing can go on.
func whole(err error) error {
	if se := (*tailrace.SinkError)(nil); errors.As(err, &se) && se.Fault == tailrace.SinkTableFault {
		se.Fault = tailrace.SinkDown
		if n := (*driver.MySQLError)(nil); errors.As(err, &n) && n.Number == 1142 {
			se.Err.Hint = hintFor("", 1044, se.Fault)
		}
	}
	return err
}
