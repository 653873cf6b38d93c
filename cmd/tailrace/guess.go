package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"tailrace"
	"tailrace/format"
)

// column is a column of a table to make.
type column struct{ name, sqlType string }

// createTable is the statement that makes a table. name is in SQL's form.
func createTable(name string, columns []column) string {
	var list []string
	for _, c := range columns {
		list = append(list, "  "+identifier(c.name)+" "+c.sqlType)
	}
	return fmt.Sprintf("CREATE TABLE %s (\n%s\n)", name, strings.Join(list, ",\n"))
}

// identifier is a name as SQL has it, with quotes where it needs them.
func identifier(name string) string {
	if simpleName.MatchString(name) && !reservedWord[name] {
		return name
	}
	return pgx.Identifier{name}.Sanitize()
}

var simpleName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// reservedWord has PostgreSQL's words that cannot name a column without quotes.
var reservedWord = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column concurrently constraint create cross
		current_catalog current_date current_role current_schema current_time current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze
		from full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null offset on only or
		order outer overlaps placing primary references returning right select session_user similar some symmetric table tablesample then to trailing true union unique user using variadic
		verbose when where window with`) {
		words[w] = true
	}
	return words
}()

// guess is a type that a column may have when all its values in the sample look like it and can be read as it.
type guess struct {
	looks *regexp.Regexp
	kind  tailrace.Kind
}

// guesses are tried in order; text is what is left. A number that begins with 0 is none: it may be a postal code or a telephone number.
var guesses = []guess{
	{regexp.MustCompile(`^(t|f|true|false)$`), tailrace.KindBool},
	{regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`), tailrace.KindInt8},
	{regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`), tailrace.KindNumeric},
	{regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`), tailrace.KindFloat8},
	{regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`), tailrace.KindDate},
	{regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?$`), tailrace.KindTimestamp},
	{regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)? ?(Z|[-+][0-9]{2}(:?[0-9]{2})?)$`), tailrace.KindTimestamptz},
	{regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`), tailrace.KindUUID},
}

// columnType is the type of the first guess that all values fit; text when there is none, or no value.
func columnType(values []string) string {
	if len(values) == 0 {
		return "text"
	}
	for _, g := range guesses {
		if fits(g, values) {
			return tailrace.TypeOf(g.kind).String()
		}
	}
	return "text"
}

func fits(g guess, values []string) bool {
	c := tailrace.MakeColumn(g.kind, len(values))
	for _, v := range values {
		if !g.looks.MatchString(v) || format.ParseText(&c, tailrace.TypeOf(g.kind), v, format.Default()) != nil {
			return false
		}
	}
	return true
}

// guessBytes is how much of a file is looked at to guess the types of its columns.
const guessBytes = 1 << 20

// guessCSV names the columns of CSV, by its header when it has one, and guesses their types from the rows of sample, which are whole ones. An unquoted null stands for NULL.
func guessCSV(sample []byte, delimiter byte, null string, header bool) ([]column, error) {
	r := csv.NewReader(bytes.NewReader(sample))
	r.Comma, r.ReuseRecord, r.FieldsPerRecord = rune(delimiter), true, -1
	var columns []column
	var values [][]string
	for line := 0; ; line++ {
		fields, err := r.Read()
		var bad *csv.ParseError
		if errors.Is(err, io.EOF) || errors.As(err, &bad) && line > 0 {
			break // a row that is cut off at the end of the sample
		}
		if err != nil {
			return nil, fmt.Errorf("look at the first row: %w", err)
		}
		if line == 0 {
			for i, f := range fields {
				name := fmt.Sprintf("column%d", i+1)
				if header {
					name = f
				}
				columns = append(columns, column{name: name})
			}
			values = make([][]string, len(fields))
			if header {
				continue
			}
		}
		for i, f := range fields {
			if i < len(values) && f != null {
				values[i] = append(values[i], f)
			}
		}
	}
	for i := range columns {
		columns[i].sqlType = columnType(values[i])
	}
	return columns, nil
}
