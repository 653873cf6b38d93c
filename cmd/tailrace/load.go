package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tailrace"
)

// LoadCmd is `tailrace load`.
type LoadCmd struct {
	File      string   `arg:"" help:"The file: .csv, .txt, .tsv, .bin, .parquet, with .gz or .zst behind it if compressed. - is stdin."`
	Table     string   `required:"" short:"t" placeholder:"NAME" help:"The table, as in SQL: t, schema.t, \"T\"."`
	URL       string   `default:"postgres://127.0.0.1:6875/postgres" env:"TAILRACE_SERVER" placeholder:"URL" help:"The server."`
	Format    string   `enum:",text,csv,binary,parquet" default:"" placeholder:"F" help:"csv, text, binary or parquet, when the name does not tell."`
	Header    bool     `help:"CSV: the first line names the columns, in any order; those it lacks take their defaults."`
	Columns   []string `placeholder:"A,B" help:"The columns that the file has, in its order, when it has not all of the table's."`
	Delimiter string   `placeholder:"C" help:"Between fields: one character. A comma for CSV, a tab for text when left out."`
	Null      *string  `placeholder:"S" help:"What stands for NULL: nothing for CSV, \\N for text when left out."`
	Create    bool     `help:"Make the table, with types guessed from the file's first MiB or told by Parquet."`
}

// Help is shown by --help.
func (c *LoadCmd) Help() string {
	return `Everything is loaded in one transaction: all rows are there, or none. What each format looks like is as for COPY of PostgreSQL.

  tailrace load orders.csv --table orders --header
  tailrace load orders.csv.zst --table orders --header --create     make the table too
  tailrace load trips.parquet --table trips --create
  pg_dump ... | tailrace load - --table t --format text
  psql "$PG" -c "COPY t TO STDOUT (FORMAT binary)" | tailrace load - --table t --format binary

A Parquet file is read here, its columns found by name, and sent as text, so any type goes into any column that can read it, and the server needs no access to the file. (COPY t FROM
'file' (FORMAT parquet) reads it at the server, below the folder of serve --files.)

On a terminal there is a bar, else a line at every tenth. Ctrl-C cancels, and leaves the table as it was.

Exit status: 0 all rows are in the table; 1 none is, and why; 2 the connection was lost at the end: look; 80 wrong command line; 130 cancelled, none is.`
}

// Run loads the file.
func (c *LoadCmd) Run(ctx context.Context) error {
	form, compression := formOf(c.File)
	if c.Format != "" {
		form = c.Format
	}
	if err := c.check(form, compression); err != nil {
		return err
	}
	in, err := openInput(ctx, c.File, compression)
	if err != nil {
		return err
	}
	defer in.Close()
	conn, err := connect(ctx, c.URL)
	if err != nil {
		return atURL(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	l := &loading{LoadCmd: c, form: form, in: in, conn: conn}
	defer l.close()
	err = l.run(ctx)
	return cancelled(ctx, err, "nothing was loaded")
}

// atURL makes the hint of an error of connect name this command's flag.
func atURL(err error) error {
	var e *tailrace.Error
	if errors.As(err, &e) {
		e.Hint = strings.ReplaceAll(e.Hint, "--server ", "--url ")
	}
	return err
}

// check refuses what cannot go together, before anything is opened.
func (c *LoadCmd) check(form, compression string) error {
	switch {
	case form == "":
		return errForm(c.File)
	case form == formParquet && (c.File == "-" || compression != ""):
		return &tailrace.Error{Code: "22023", Message: "a Parquet file is read from its end", Hint: "Save it to a file, decompressed: it is compressed within."}
	case c.Header && form != formCSV:
		return &tailrace.Error{Code: "22023", Message: "--header is for CSV", Hint: "Leave it out, or say --format csv."}
	case (c.Delimiter != "" || c.Null != nil) && form != formCSV && form != formText:
		return &tailrace.Error{Code: "22023", Message: "--delimiter and --null are for CSV and text"}
	case len(c.Delimiter) > 1 && c.Delimiter != `\t`:
		return &tailrace.Error{Code: "22023", Message: "--delimiter must be one character"}
	case c.Create && (form == formText || form == formBinary):
		return &tailrace.Error{Code: "22023", Message: "--create needs CSV or Parquet: other files do not tell what their columns are", Hint: "Make the table with CREATE TABLE."}
	case !tableName.MatchString(c.Table):
		return &tailrace.Error{Code: "42602", Message: fmt.Sprintf("%q is no name of a table", c.Table), Hint: `As in SQL: orders, shop.orders, "Orders".`}
	}
	return nil
}

// loading is one load.
type loading struct {
	*LoadCmd
	form    string
	in      *input
	conn    *pgx.Conn
	parquet *parquetInput // when form is that
	made    string        // the CREATE TABLE that --create ran
	show    *progress
	sent    bool // all of the data
}

func (l *loading) close() {
	if l.parquet != nil {
		l.parquet.close()
	}
	if l.show != nil {
		l.show.end()
	}
}

// run makes the table if asked to, and copies.
func (l *loading) run(ctx context.Context) error {
	start := time.Now()
	columns, err := l.columns(ctx)
	if err != nil {
		return err
	}
	if l.Create {
		if err := l.create(ctx, columns); err != nil {
			return err
		}
	} else if columns, err = l.match(ctx, columns); err != nil {
		return err
	}
	tag, err := l.copy(ctx, l.statement(columns))
	if err != nil {
		return l.explained(err)
	}
	if l.Create {
		if _, err := l.conn.Exec(ctx, "COMMIT"); err != nil {
			return l.explained(err)
		}
	}
	l.show.end()
	took := time.Since(start)
	rows := tag.RowsAffected()
	fmt.Printf("loaded %d rows into %s in %s: %.0f rows/s, %.1f MB/s\n", rows, l.Table, took.Round(time.Millisecond), float64(rows)/took.Seconds(), float64(l.show.bytes.Load())/took.Seconds()/1e6)
	return nil
}

// columns are those that the file tells, with types for --create; nil when it tells none.
func (l *loading) columns(ctx context.Context) ([]column, error) {
	if l.form == formParquet {
		var err error
		if l.parquet, err = openParquet(ctx, l.in.file); err != nil {
			return nil, err
		}
		return l.parquet.columns(), nil
	}
	if l.form != formCSV || !l.Header && len(l.Columns) > 0 && !l.Create {
		return nil, nil
	}
	head, err := l.in.peek(guessBytes)
	if err != nil {
		return nil, err
	}
	switch {
	case len(head) == 0 && !l.Header && !l.Create:
		return nil, nil
	case len(head) == 0:
		return nil, fmt.Errorf("%s is empty", l.File)
	}
	null := ""
	if l.Null != nil {
		null = *l.Null
	}
	columns, err := guessCSV(wholeLines(head, len(head) < guessBytes), l.delimiter(','), null, l.Header)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.File, err)
	}
	for i, name := range l.Columns {
		if !l.Header && i < len(columns) {
			columns[i].name = name
		}
	}
	return columns, nil
}

func (l *loading) delimiter(otherwise byte) byte {
	switch l.Delimiter {
	case "":
		return otherwise
	case `\t`:
		return '\t'
	}
	return l.Delimiter[0]
}

// create makes the table in the transaction that loads it.
func (l *loading) create(ctx context.Context, columns []column) error {
	l.made = createTable(l.Table, columns)
	if _, err := l.conn.Exec(ctx, "BEGIN"); err != nil {
		return asError(err)
	}
	_, err := l.conn.Exec(ctx, l.made)
	if e := asError(err); tailrace.Code(e) == "42P07" {
		return &tailrace.Error{Code: "42P07", Message: e.Error(), Hint: "Leave --create out to add to the table, or DROP TABLE it first.", Err: err}
	}
	if err != nil {
		return asError(err)
	}
	fmt.Fprintf(os.Stderr, "%s;\n", l.made)
	return nil
}

// match finds the table, and the columns of the file in it. What it returns is what COPY is to name; nil is all of the table, in its order.
func (l *loading) match(ctx context.Context, columns []column) ([]column, error) {
	table, err := l.conn.PgConn().Prepare(ctx, "", "SELECT * FROM "+l.Table, nil)
	if e := asError(err); tailrace.Code(e) == "42P01" {
		hint := "Make it with CREATE TABLE, then run this again."
		if len(columns) > 0 {
			hint = "Run this again with --create, or make the table first, for example:\n\n" + createTable(l.Table, columns) + ";"
		}
		return nil, &tailrace.Error{Code: "42P01", Message: fmt.Sprintf("the server has no table %s", l.Table), Hint: hint, Err: err}
	}
	if err != nil {
		return nil, asError(err)
	}
	named := columns
	switch {
	case len(l.Columns) > 0:
		named = nil
		for _, name := range l.Columns {
			named = append(named, column{name: name})
		}
	case !l.Header && l.form != formParquet:
		return nil, nil
	}
	var out []column
	for _, c := range named {
		name, ok := fieldNamed(table.Fields, c.name)
		if !ok {
			return nil, &tailrace.Error{
				Code: "42703", Message: fmt.Sprintf("table %s has no column \"%s\"", l.Table, c.name),
				Hint: "It has " + fieldNames(table.Fields) + ". ALTER TABLE " + l.Table + " ADD COLUMN ..., or name the columns to load with --columns.",
			}
		}
		out = append(out, column{name: name})
	}
	if l.parquet != nil && len(l.Columns) > 0 {
		return out, l.parquet.choose(l.Columns)
	}
	return out, nil
}

// fieldNamed is the column of a table that a file means by name: case decides only between columns that differ by nothing else.
func fieldNamed(fields []pgconn.FieldDescription, name string) (string, bool) {
	for _, f := range fields {
		if f.Name == name {
			return f.Name, true
		}
	}
	for _, f := range fields {
		if strings.EqualFold(f.Name, name) {
			return f.Name, true
		}
	}
	return "", false
}

func fieldNames(fields []pgconn.FieldDescription) string {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// statement is the COPY.
func (l *loading) statement(columns []column) string {
	list := ""
	if len(columns) > 0 {
		var names []string
		for _, c := range columns {
			names = append(names, identifier(c.name))
		}
		list = " (" + strings.Join(names, ", ") + ")"
	}
	form := l.form
	if form == formParquet {
		form = formText
	}
	options := "FORMAT " + form
	if l.Header {
		options += ", HEADER"
	}
	if l.Delimiter != "" {
		options += ", DELIMITER " + literal(string(l.delimiter(0)))
	}
	if l.Null != nil {
		options += ", NULL " + literal(*l.Null)
	}
	return fmt.Sprintf("COPY %s%s FROM STDIN (%s)", l.Table, list, options)
}

// cancelTime is how long a cancelled load waits for the server to say that nothing is left of it.
const cancelTime = 5 * time.Second

// copy sends the data. When ctx ends the server is told so in the middle of it, and answers: the connection stays whole.
func (l *loading) copy(ctx context.Context, statement string) (pgconn.CommandTag, error) {
	l.show = newProgress(ctx, os.Stderr, "load", l.total())
	if l.Header {
		l.show.rows.Store(-1) // the first line is none
	}
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(cancelTime, stop) })()
	return l.conn.PgConn().CopyFrom(sending, &loadReader{ctx: ctx, l: l}, statement)
}

// total is what progress counts: rows of a Parquet file, else bytes of the file as it is stored.
func (l *loading) total() int64 {
	if l.parquet != nil {
		return l.parquet.rows()
	}
	return l.in.size
}

// loadReader is the data on its way to the server, counted.
type loadReader struct {
	ctx  context.Context //nolint:containedctx // io.Reader has none
	l    *loading
	seen int64 // bytes of the file as it is stored
}

// errCancelled is what the server is told.
var errCancelled = errors.New("cancelled by the user")

// Read implements io.Reader.
func (r *loadReader) Read(p []byte) (n int, err error) {
	if r.ctx.Err() != nil {
		return 0, errCancelled
	}
	l := r.l
	if l.parquet != nil {
		var rows int
		n, rows, err = l.parquet.read(r.ctx, p)
		l.show.add(int64(rows), int64(rows), int64(n))
	} else {
		n, err = l.in.Read(p)
		stored := l.in.read.Load()
		l.show.add(stored-r.seen, int64(bytes.Count(p[:n], []byte{'\n'})), int64(n))
		r.seen = stored
	}
	if r.ctx.Err() != nil {
		return 0, errCancelled
	}
	l.sent = l.sent || errors.Is(err, io.EOF)
	return n, err
}

// explained is an error of the COPY with what to do about it.
func (l *loading) explained(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		if l.sent {
			return &exitError{exitUnknown, fmt.Errorf("the connection was lost after all data had been sent: look whether the rows are in %s: %w", l.Table, err)}
		}
		return fmt.Errorf("nothing was loaded: the connection was lost: %w", err)
	}
	e := &tailrace.Error{Code: pg.Code, Message: "nothing was loaded: " + pg.Message, Detail: pg.Detail, Hint: pg.Hint, Where: pg.Where, Err: err}
	if e.Hint == "" && l.made != "" && strings.HasPrefix(pg.Code, "22") {
		e.Hint = "The types were guessed from the first MiB. Make the table yourself, with text for that column for example, and load without --create:\n\n" + l.made + ";"
	}
	return e
}
