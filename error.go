package tailrace

import "errors"

// Error is an error as a user sees it, in PostgreSQL's form. Message says what is wrong, Hint what to type next.
type Error struct {
	Code     string // SQLSTATE, five characters
	Message  string
	Detail   string
	Hint     string
	Position int    // 1-based character in the statement's text, 0 when unknown
	Severity string // ERROR when empty; FATAL, WARNING, NOTICE
	// Where is PostgreSQL's CONTEXT: what was being read, for example "COPY t, line 3, column a".
	Where                             string
	Schema, Table, Column, Constraint string
	Err                               error // what caused it, for logs
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Code returns the SQLSTATE of err, XX000 (internal error) when it carries none, "" for nil.
func Code(err error) string {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	}
	return "XX000"
}
