package pgwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"tailrace"
)

// Errors that end what runs, as causes of a context's end.
var (
	errCancelled = &tailrace.Error{Code: "57014", Message: "canceling statement due to user request"}
	errShutdown  = &tailrace.Error{
		Severity: "FATAL", Code: "57P01", Message: "terminating connection due to administrator command",
		Hint: "Connect again: the server restarts, or another node serves the same data.",
	}
	errTerminated  = &tailrace.Error{Severity: "FATAL", Code: "57P01", Message: "terminating connection due to administrator command"}
	errGone        = &tailrace.Error{Severity: "FATAL", Code: "08006", Message: "the client closed the connection"}
	errStartupTime = &tailrace.Error{
		Severity: "FATAL", Code: "57014", Message: "canceling authentication due to timeout",
		Hint: fmt.Sprintf("Send the startup packet and the password within %s of connecting.", StartupTime),
	}
	errTooMany = &tailrace.Error{
		Severity: "FATAL", Code: "53300", Message: "sorry, too many clients already",
		Hint: "Close idle connections, or start the server with a larger --max-connections.",
	}
)

// lost makes the error of a client that can not be read from any more errGone: it is no error of the statement that waited for its data.
func lost(err error) error {
	var broken net.Error
	if errors.Is(err, io.EOF) || errors.As(err, &broken) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return err
}

// violation is an error about the order or shape of messages.
func violation(format string, args ...any) error {
	return &tailrace.Error{Code: "08P01", Message: fmt.Sprintf(format, args...)}
}

// cause gives err the reason for which ctx ended, if that is why there is an error: whoever was cancelled knows only that it was.
func cause(ctx context.Context, err error) error {
	var e *tailrace.Error
	why := context.Cause(ctx)
	if err == nil || why == nil || (errors.As(err, &e) && !errors.Is(err, context.Canceled)) || errors.Is(why, context.Canceled) {
		return err
	}
	return why
}

// form is err as a client sees it.
func form(err error) *tailrace.Error {
	var e *tailrace.Error
	if errors.As(err, &e) {
		return e
	}
	code, hint := "XX000", ""
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		code = "57014"
	case errors.Is(err, tailrace.ErrCorrupt):
		code = "XX001"
	case errors.Is(err, tailrace.ErrFull):
		code, hint = "53100", "Make room on the disk of the data folder; reads go on meanwhile."
	}
	return &tailrace.Error{Code: code, Message: err.Error(), Hint: hint, Err: err}
}

// fatal reports whether the connection ends with e.
func fatal(e *tailrace.Error) bool { return e.Severity == "FATAL" || e.Code == "57P01" }

// response is e as a message.
func response(e *tailrace.Error) *pgproto3.ErrorResponse {
	severity := e.Severity
	switch {
	case fatal(e):
		severity = "FATAL"
	case severity == "":
		severity = "ERROR"
	}
	schema := e.Schema
	if schema == "" && e.Table != "" {
		schema = "public"
	}
	return &pgproto3.ErrorResponse{
		Severity: severity, SeverityUnlocalized: severity, Code: e.Code, Message: field(e.Message), Detail: field(e.Detail),
		Hint: field(e.Hint), Position: int32(e.Position), Where: field(e.Where), SchemaName: field(schema),
		TableName: field(e.Table), ColumnName: field(e.Column), ConstraintName: field(e.Constraint),
	}
}

// field is s as it may stand in a message, where a zero byte ends it.
func field(s string) string {
	if len(s) > ErrorBytes {
		s = strings.ToValidUTF8(s[:ErrorBytes], "") + "..."
	}
	return strings.ReplaceAll(s, "\x00", `\0`)
}

// notice is e as a message that does not end the statement.
func notice(e *tailrace.Error) *pgproto3.NoticeResponse {
	n := pgproto3.NoticeResponse(*response(e))
	if e.Severity == "" {
		n.Severity, n.SeverityUnlocalized = "NOTICE", "NOTICE"
	}
	return &n
}
