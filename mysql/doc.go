// Package mysql writes into a MariaDB or MySQL as the target of changefeeds.
//
// Transactions are those of InnoDB. What changefeeds remember is in a database of its own:
//
//	tailrace.feeds     (feed, epoch)                                     who holds a feed
//	tailrace.progress  (feed, span, lane, time, ordinal, epoch, note)    how far each lane came
//
// and one transaction of a lane is
//
//	START TRANSACTION
//	SELECT epoch FROM tailrace.feeds WHERE feed = ... LOCK IN SHARE MODE    another epoch: roll back, tailrace.ErrSinkFenced
//	INSERT ... ON DUPLICATE KEY UPDATE, DELETE, ...                         the steps
//	INSERT INTO tailrace.progress ... ON DUPLICATE KEY UPDATE ...           another time than was seen: roll back, tailrace.ErrSinkMoved
//	COMMIT
//
// The first two and the last two are one round trip each, so that a transaction takes as many as one that checks nothing.
//
// Prepare writes a new epoch into the locked row, so it waits for the transactions of older epochs, and none begins after it.
//
// Three habits of these servers lose data without an error, and each is dealt with here. ON DUPLICATE KEY UPDATE fires on any unique key and would overwrite
// another row: the statement compares the primary key, and a difference fails. Rounding and the cutting of trailing blanks are mere notes, even in strict
// mode: such values are found before they are sent (literal.go). Collations that ignore case or trailing blanks make different keys equal: a key column
// has to compare by bytes, without padding (column.go).
//
// Values are written into the statements as literals: the server then parses one text, where a prepared statement would need as many round trips as it has
// shapes. What the target cannot hold is an error of the row (docs/changefeeds.md), never a changed value.
package mysql
