package query

import (
	"fmt"
	"strings"

	"tailrace"
)

// planner plans one statement.
type planner struct {
	text     string
	resolver Resolver
	params   []tailrace.Type
	scans    []scanRef
	aliases  int // DuckDB aliases handed out
	depth    int // of nested queries and expressions
	rowRef   bool
	exposes  bool // the next query is to say its order, see relation.order

	returning bool // the outermost select list is that of a RETURNING
}

// maxDepth bounds the nesting of expressions and queries. PostgreSQL's bound is its stack.
const maxDepth = 500

// alias is a name that no other relation of the DuckDB query has.
func (p *planner) alias(prefix string) string {
	p.aliases++
	return fmt.Sprintf("%s%d", prefix, p.aliases)
}

// A mark stands in DuckDB SQL for what is known only when the plan runs: a zero byte, a letter, decimal digits, a zero byte. PostgreSQL's
// texts cannot hold zero bytes, so nothing a user writes looks like one.
const (
	markRun   = 'r' // the number of this run, for functions that ask about their session
	markScan  = 's' // the number of a scan's source
	markParam = 'p' // a parameter as a typed literal
	markNow   = 'n' // env.Now as stored
	markRead  = 'm' // env.Logical as a stored numeric
	markUser  = 'u'
	markBase  = 'd' // env.Database
	markPID   = 'i'
	// These are known when the plan is made.
	markNames  = 'e' // the labels of an enum as a DuckDB list
	markLabels = 'l' // the labels of an enum as a stored array of text
)

func mark(letter byte, n int) string { return fmt.Sprintf("\x00%c%d\x00", letter, n) }

var runMark = mark(markRun, 0)

// cutMarks splits SQL into text, mark (without its zero bytes), text, and so on.
func cutMarks(sql string) []string { return strings.Split(sql, "\x00") }

// relation is a planned query: SQL that gives columns named c1, c2, ...
type relation struct {
	sql     string
	columns []column
	// order is ORDER BY over the names of the relation's own outputs, when it was asked for; see planner.exposes.
	order string
}

// column is a column of a relation or of a FROM item.
type column struct {
	name  string
	sql   string // how to refer to it
	typ   tailrace.Type
	table tailrace.CollectionID // the table column that it passes through, if any
	attr  int16
	param int // a parameter without a type yet
	loc   int32
}

// expr is a piece of DuckDB SQL with its PostgreSQL type.
type expr struct {
	sql   string
	typ   tailrace.Type
	lit   *string // the text of a quoted literal without a type
	null  bool    // the literal NULL without a type
	param int     // number of a parameter without a type
	table tailrace.CollectionID
	attr  int16
	loc   int32
	fixed bool       // a constant or parameter, maybe cast: the same for all rows
	row   []rowField // of a row, kRow
}

// untyped reports whether the expression takes its type from where it stands.
func (e expr) untyped() bool { return e.typ.Kind == kUnknown }

// output names column i (from 0) of a relation's SQL.
func output(i int) string { return fmt.Sprintf("c%d", i+1) }

// quote is s as a DuckDB literal of type VARCHAR.
func quote(s string) string {
	return "CAST('" + strings.ReplaceAll(s, "'", "''") + "' AS VARCHAR)"
}

// blob is b as a DuckDB literal of type BLOB.
func blob(b []byte) string {
	var s strings.Builder
	s.WriteString("CAST('")
	for _, c := range b {
		fmt.Fprintf(&s, "\\x%02X", c)
	}
	s.WriteString("' AS BLOB)")
	return s.String()
}

// settle gives the columns of a query that still have no type the type text, as PostgreSQL does.
func (p *planner) settle(q relation) relation {
	for i := range q.columns {
		c := &q.columns[i]
		if c.typ.Kind != kUnknown {
			continue
		}
		if c.param > 0 {
			p.params[c.param-1] = tailrace.TypeOf(kText)
			c.param = 0
		}
		c.typ = tailrace.TypeOf(kText)
	}
	return q
}

// key is SQL that compares, groups and sorts as the value does.
func key(sql string, t tailrace.Type) string {
	switch t.Kind {
	case kNumeric, kInterval, kJSONB:
		return "tr_key_" + keyNames[t.Kind] + "(" + sql + ")"
	case kChar:
		return "rtrim(" + sql + ", ' ')"
	case kEnum:
		return enumKey(sql, t.ID)
	case kArray:
		return arrayKey(sql, t)
	}
	return sql
}

// zeroed is a float with -0 made 0, so that equal values are the same bits.
func zeroed(sql string, k kind) string { return "tr_zeroed_" + kindNames[k] + "(" + sql + ")" }

var keyNames = map[kind]string{kNumeric: "numeric", kInterval: "interval", kJSONB: "jsonb"}

// comparable refuses kinds without equality, with PostgreSQL's words.
func (p *planner) comparable(e expr, loc int32) error {
	if unordered(e.typ) {
		return p.fail(loc, codeNoFunction, "could not identify an equality operator for type %s", typeName(e.typ))
	}
	return nil
}

// enter counts one level of nesting, which leave ends.
func (p *planner) enter() error {
	if p.depth++; p.depth > maxDepth {
		return p.fail(-1, "54001", "stack depth limit exceeded")
	}
	return nil
}

func (p *planner) leave() { p.depth-- }
