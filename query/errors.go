package query

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"tailrace"
	"tailrace/duckdb"
)

// SQLSTATEs.
const (
	codeSyntax        = "42601"
	codeUnsupported   = "0A000"
	codeNoColumn      = "42703"
	codeAmbiguous     = "42702"
	codeNoTable       = "42P01"
	codeDuplicate     = "42712"
	codeNoFunction    = "42883"
	codeManyFunctions = "42725"
	codeNoType        = "42704"
	codeMismatch      = "42804"
	codeCannotCast    = "42846"
	codeGrouping      = "42803"
	codeWindowing     = "42P20"
	codeInvalidRef    = "42P10"
	codeNoParameter   = "42P02"
	codeIndeterminate = "42P18"
	codeBadText       = "22P02"
	codeOutOfRange    = "22003"
	codeDivision      = "22012"
	codeInvalid       = "22023"
	codeDatetime      = "22008"
	codeCardinality   = "21000"
	codeInternal      = "XX000"
)

// fail is an error that points at the byte loc of the statement's text; loc below 0 points nowhere.
func (p *planner) fail(loc int32, code, format string, args ...any) *tailrace.Error {
	return &tailrace.Error{Code: code, Message: fmt.Sprintf(format, args...), Position: p.position(loc)}
}

// position is the byte loc of the statement's text as errors give it: a character, counted from 1; 0 when loc is nowhere.
func (p *planner) position(loc int32) int {
	if loc < 0 || int(loc) > len(p.text) {
		return 0
	}
	return utf8.RuneCountInString(p.text[:loc]) + 1
}

// refuse is an error for SQL that PostgreSQL runs and we do not.
func (p *planner) refuse(loc int32, what string) *tailrace.Error {
	return p.fail(loc, codeUnsupported, "%s is not supported", what)
}

// at gives err the position loc unless it has one.
func (p *planner) at(loc int32, err error) error {
	var e *tailrace.Error
	if errors.As(err, &e) && e.Position == 0 {
		c := *e
		c.Position = p.position(loc)
		return &c
	}
	return err
}

// raise is an error of a Go function, at run time.
func raise(code, format string, args ...any) *tailrace.Error {
	return &tailrace.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// An error of a Go function passes through DuckDB as text: mark, fields, end.
const (
	errorMark  = "\x01tr:"
	errorField = "\x1f"
	errorEnd   = "\x02"
)

// carry wraps err so that it survives the way through DuckDB.
func carry(err error) error {
	var e *tailrace.Error
	if !errors.As(err, &e) {
		e = &tailrace.Error{Code: codeInternal, Message: err.Error()}
	}
	return errors.New(errorMark + strings.Join([]string{e.Code, e.Message, e.Detail, e.Hint, strconv.Itoa(e.Position)}, errorField) + errorEnd)
}

var (
	overflowed = regexp.MustCompile(`Overflow in \w+ of INT(16|32|64)|destination type INT(16|32|64)`)
	integers   = map[string]string{"16": "smallint", "32": "integer", "64": "bigint"}
)

// translate turns what DuckDB said into PostgreSQL's words. Its own are kept as the cause, for logs.
func translate(err error) error {
	var d *duckdb.Error
	if !errors.As(err, &d) {
		return err
	}
	m := d.Message
	if _, rest, ok := strings.Cut(m, errorMark); ok {
		rest, _, _ = strings.Cut(rest, errorEnd)
		if f := strings.Split(rest, errorField); len(f) == 5 {
			position, _ := strconv.Atoi(f[4]) // we wrote it
			return &tailrace.Error{Code: f[0], Message: f[1], Detail: f[2], Hint: f[3], Position: position}
		}
	}
	e := &tailrace.Error{Err: err}
	has := func(s string) bool { return strings.Contains(m, s) }
	switch f := overflowed.FindStringSubmatch(m); {
	case f != nil:
		e.Code, e.Message = codeOutOfRange, integers[f[1]+f[2]]+" out of range"
	case has("More than one row returned by a subquery"):
		e.Code, e.Message = codeCardinality, "more than one row returned by a subquery used as an expression"
	case has("max_temp_directory_size"), has("No space left"):
		e.Code, e.Message = "53100", "the query needs more temporary space than it may use"
		e.Hint = "Make the query smaller, or free space on the disk of the data folder. See mz_internal.mz_memory for how much temporary files may take."
	case has("Out of Memory"), has("could not allocate"):
		e.Code, e.Message = "53200", "the query needs more memory than it may use"
		e.Hint = "Make the query smaller, for example with a WHERE or a LIMIT, or give queries more: tailrace serve --query-memory BYTES."
	case has("Binder Error"), has("Parser Error"), has("Catalog Error"), has("Not implemented"):
		e.Code, e.Message = codeUnsupported, "this form of query is not supported"
		e.Hint = "Write it in simpler parts, for example with a subquery in FROM."
	default:
		e.Code, e.Message = codeInternal, "the query engine could not run the statement"
	}
	return e
}
