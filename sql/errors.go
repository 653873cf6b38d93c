package sql

import (
	"context"
	"errors"
	"fmt"

	"tailrace"
	"tailrace/log"
	"tailrace/shard"
)

// errTimeout is the cause of a context that statement_timeout ended.
var errTimeout = &tailrace.Error{Code: "57014", Message: "canceling statement due to statement timeout"}

func failure(code, format string, args ...any) *tailrace.Error {
	return &tailrace.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (s *Session) unsupported(what string, hint string) error {
	return &tailrace.Error{Code: "0A000", Message: what + " is not supported", Hint: hint}
}

// userError is err as the client sees it. A cancelled statement says who cancelled it: the cause of ctx, when that is an error in our form.
func userError(ctx context.Context, err error) error {
	var e *tailrace.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		if cause := context.Cause(ctx); errors.As(cause, &e) {
			return e
		}
		return failure("57014", "canceling statement due to user request")
	case errors.As(err, &e):
		return err
	case errors.Is(err, log.ErrConflict):
		return &tailrace.Error{
			Code: "40001", Message: "could not serialize access due to concurrent update", Err: err,
			Hint: "The transaction might succeed if retried.",
		}
	case errors.Is(err, log.ErrUnknown):
		return &tailrace.Error{
			Code: "08007", Message: "the outcome of the transaction is unknown", Err: err,
			Hint: "Look whether its changes are there before you run it again.",
		}
	case errors.Is(err, log.ErrUnreachable):
		return &tailrace.Error{
			Code: "08006", Message: "could not read: the store of the log does not answer", Err: err,
			Hint: "SET transaction_isolation = 'serializable' reads what this node has.",
		}
	case errors.Is(err, tailrace.ErrFull):
		return &tailrace.Error{
			Code: "53100", Message: "could not write: no space left on the data disk", Err: err,
			Hint: "Free space on the disk of the data folder, then run the statement again. Reading goes on.",
		}
	case errors.Is(err, log.ErrTooLarge):
		return &tailrace.Error{Code: "54000", Message: "transaction touches too many tables for one commit", Hint: "Split it into smaller transactions.", Err: err}
	case errors.Is(err, log.ErrEnded), errors.Is(err, log.ErrClosed):
		return &tailrace.Error{Severity: "FATAL", Code: "57P01", Message: "terminating connection due to administrator command", Err: err}
	case errors.Is(err, shard.ErrCompacted):
		return &tailrace.Error{
			Code: "72000", Message: "snapshot too old", Err: err,
			Hint: "Run the transaction again, or keep more history: ALTER TABLE ... SET (RETAIN HISTORY FOR '1 day').",
		}
	}
	return err
}

// at gives e the position of byte offset loc of st's text, unless it has one.
func at(e error, pos int) error {
	var te *tailrace.Error
	if !errors.As(e, &te) || te.Position != 0 {
		return e
	}
	placed := *te
	placed.Position = pos
	return &placed
}
