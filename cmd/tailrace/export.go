package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"tailrace"
	"tailrace/parquet"
)

// ExportCmd is `tailrace export`.
type ExportCmd struct {
	Table   string   `arg:"" help:"The table, as in SQL: t, schema.t, \"T\"."`
	To      string   `required:"" placeholder:"DIR" help:"Folder for the files; it must not exist or be empty."`
	URL     string   `default:"postgres://127.0.0.1:6875/postgres" env:"TAILRACE_SERVER" placeholder:"URL" help:"The server."`
	AsOf    string   `placeholder:"T" help:"The time that the rows are of: microseconds since 1970, a timestamp, or an expression such as \"now() - interval '1 hour'\". Now when left out."`
	Format  string   `enum:"parquet,csv" default:"parquet" help:"parquet (zstd) or csv (with a header)."`
	Workers int      `placeholder:"N" help:"Parquet files that are written at once; one for each core when left out."`
	Text    []string `placeholder:"A,B" help:"Columns to write as PostgreSQL's text, whatever their type."`
}

// Help is shown by --help.
func (c *ExportCmd) Help() string {
	return `The rows are those of one time, each exactly once, whatever is written to the table meanwhile. The time is printed, and kept with the table's columns and each file's rows, size and SHA-256 in
DIR/export.json. DIR appears when everything in it is complete and on disk, not before: an export that fails or is killed leaves no folder of that name.

  tailrace export orders --to ./orders
  tailrace export shop.orders --to ./yesterday --as-of "now() - interval '1 day'"
  duckdb -c "SELECT count(*) FROM './orders/*.parquet'"
  tailrace load ./orders/orders-1.parquet --table orders2 --create

Each column has the Parquet type that holds every value of it: numeric(p,s) is DECIMAL, numeric without them is text, timestamptz is UTC, json is JSON, arrays are lists, enums are text. A value that does not
fit (NaN in DECIMAL, an array of two dimensions) makes its column text, with a word about it. The whole table is in docs/operation.md.

Exit status: 0 done; 1 failed, and why; 80 wrong command line; 130 cancelled.`
}

// Run exports the table.
func (c *ExportCmd) Run(ctx context.Context) error {
	if !tableName.MatchString(c.Table) {
		return &tailrace.Error{Code: "42602", Message: fmt.Sprintf("%q is no name of a table", c.Table), Hint: `As in SQL: orders, shop.orders, "Orders".`}
	}
	to, err := filepath.Abs(c.To)
	if err != nil {
		return err
	}
	if err := absentOrEmpty(to); err != nil {
		return err
	}
	conn, err := connect(ctx, c.URL)
	if err != nil {
		return atURL(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	aside, err := os.MkdirTemp(filepath.Dir(to), "."+filepath.Base(to)+".incomplete-")
	if err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	defer os.RemoveAll(aside) // when it does not have its name by then
	e := &exporting{ExportCmd: c, conn: conn, dir: aside}
	defer e.close()
	if err := e.run(ctx); err != nil {
		return cancelled(ctx, roomFor(err, to), "nothing was exported")
	}
	if err := complete(aside, to); err != nil {
		return err
	}
	m := &e.manifest
	fmt.Printf("exported %d rows of %s as of %s (%d) to %s: %d files, %s\n", m.Rows, c.Table, timeText(m.AsOf), m.AsOf, c.To, len(m.Files), bytesText(m.bytes()))
	return nil
}

// absentOrEmpty refuses a folder that has something in it.
func absentOrEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return &tailrace.Error{Code: "58P02", Message: fmt.Sprintf("folder %s is not empty", dir), Hint: "Name a new one: an export has a folder of its own."}
	}
	return nil
}

// roomFor makes an error about a full disk say so. opened names are those of the folder aside, which is gone.
func roomFor(err error, to string) error {
	var e *tailrace.Error
	if errors.As(err, &e) && e.Code == "53100" {
		return &tailrace.Error{Code: e.Code, Message: "no room for the files of " + to, Detail: e.Message, Hint: e.Hint, Err: err}
	}
	return err
}

// complete gives the folder aside its name, once it is on disk.
func complete(aside, to string) error {
	if err := os.Chmod(aside, 0o755); err != nil { //nolint:gosec // as a folder that its user makes
		return err
	}
	if err := syncFolder(aside); err != nil {
		return err
	}
	if err := unix.Rename(aside, to); err != nil { // os.Rename refuses to take the place of an empty folder
		return fmt.Errorf("name the folder %s: %w", to, err)
	}
	return syncFolder(filepath.Dir(to))
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// exporting is one export.
type exporting struct {
	*ExportCmd
	conn     *pgx.Conn
	dir      string
	columns  []tailrace.ResultColumn
	wire     *wire // nil before the first rows
	show     *progress
	manifest manifest
}

func (e *exporting) close() {
	e.wire.stop()
	if e.show != nil {
		e.show.end()
	}
}

// run writes the files and export.json. One transaction reads everything, so that the rows stay readable as long as they are needed.
func (e *exporting) run(ctx context.Context) error {
	if _, err := e.conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); err != nil {
		return asError(err)
	}
	if err := e.decideTime(ctx); err != nil {
		return err
	}
	var err error
	if e.columns, err = describeTable(ctx, e.conn, e.Table); err != nil {
		return err
	}
	var total int64
	if err := e.conn.QueryRow(ctx, fmt.Sprintf("SELECT count(*) FROM %s AS OF %d", e.Table, e.manifest.AsOf)).Scan(&total); err != nil {
		return asError(err)
	}
	fmt.Fprintf(os.Stderr, "export %d rows of %s as of %s (%d)\n", total, e.Table, timeText(e.manifest.AsOf), e.manifest.AsOf)
	e.manifest.Format, e.manifest.Table, e.manifest.Version, e.manifest.Made = e.Format, e.Table, version(), time.Now().UTC().Truncate(time.Second)
	if e.Format == "csv" {
		err = e.csv(ctx, total)
	} else {
		err = e.parquet(ctx, total)
	}
	if err != nil {
		return err
	}
	if e.manifest.Rows != total {
		return fmt.Errorf("%d rows came where the table has %d: this is a bug, please report it", e.manifest.Rows, total)
	}
	return e.manifest.write(e.dir)
}

// decideTime asks the server which time is meant.
func (e *exporting) decideTime(ctx context.Context) error {
	sql := "SELECT mz_now()::text"
	if e.AsOf != "" {
		sql += " AS OF " + timeExpression(e.AsOf)
	}
	var at string
	err := e.conn.QueryRow(ctx, sql).Scan(&at)
	if err != nil {
		return asError(err)
	}
	if _, err := fmt.Sscan(at, &e.manifest.AsOf); err != nil {
		return fmt.Errorf("the server says that its time is %q", at)
	}
	return nil
}

var startsWithDate = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}`)

// timeExpression is a time as a person types it in SQL: a date gets its quotes.
func timeExpression(s string) string {
	if startsWithDate.MatchString(s) {
		return literal(s) + "::timestamptz"
	}
	return s
}

// copyStatement reads the table.
func (e *exporting) copyStatement(options string) string {
	return fmt.Sprintf("COPY (TABLE %s AS OF %d) TO STDOUT (%s)", e.Table, e.manifest.AsOf, options)
}

// parquet writes Parquet files.
func (e *exporting) parquet(ctx context.Context, total int64) error {
	columns := make([]parquet.Column, len(e.columns))
	for i, c := range e.columns {
		columns[i] = parquet.Column{Name: c.Name, Type: c.Type}
	}
	for _, name := range e.Text {
		found := false
		for i := range columns {
			if columns[i].Name == name {
				columns[i].Text, found = true, true
			}
		}
		if !found {
			return &tailrace.Error{Code: "42703", Message: fmt.Sprintf("table %s has no column \"%s\"", e.Table, name)}
		}
	}
	workers := e.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, int((total+parquet.GroupRows-1)/parquet.GroupRows)))
	engine, err := parquet.Open(parquet.Options{Threads: workers, MemoryBytes: int64(workers) * exportMemory, TempDir: e.dir})
	if err != nil {
		return err
	}
	defer engine.Close()
	files, err := e.create(workers, ".parquet")
	defer closeAll(files)
	if err != nil {
		return err
	}
	e.show = newProgress(ctx, os.Stderr, "export", total)
	open := func(context.Context) (tailrace.Rows, error) { // not that one: it ends before the rows are read again
		e.wire.wait()
		e.wire = startWire(ctx, e.conn, e.copyStatement("FORMAT binary"), e.columns, e.show)
		return e.wire, nil
	}
	written, err := engine.Write(ctx, columns, open, files, func(why string) {
		fmt.Fprintln(os.Stderr, "again from the beginning: "+why)
		e.show.reset()
	})
	if err != nil {
		return err
	}
	e.show.end()
	for i, c := range written.Columns {
		e.manifest.Columns = append(e.manifest.Columns, manifestColumn{Name: c.Name, Type: e.columns[i].Type.String(), File: c.FileType()})
	}
	return e.manifest.add(files, written.Rows)
}

// exportMemory is what DuckDB may take for each file that is written, in bytes: a row group as it came and as it is encoded.
const exportMemory = 512 << 20

// create makes n files, whose names begin with the table's.
func (e *exporting) create(n int, suffix string) (files []*os.File, err error) {
	base := strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\"`, r) || r < ' ' {
			return '_'
		}
		return r
	}, e.Table), "_.")
	for i := range n {
		f, err := os.OpenFile(filepath.Join(e.dir, fmt.Sprintf("%s-%d%s", base, i+1, suffix)), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // as a file that its user makes
		if err != nil {
			return files, err
		}
		files = append(files, f)
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // what was written was synced
	}
}

// csv writes one file, as the rows come.
func (e *exporting) csv(ctx context.Context, total int64) error {
	files, err := e.create(1, ".csv")
	defer closeAll(files)
	if err != nil {
		return err
	}
	e.show = newProgress(ctx, os.Stderr, "export", total)
	w := newCountedWriter(files[0], e.show)
	if _, err = e.conn.PgConn().CopyTo(ctx, w, e.copyStatement("FORMAT csv, HEADER")); err == nil {
		err = w.flush()
	}
	if err != nil {
		return writeError(asError(err), files[0].Name())
	}
	e.show.end()
	for _, c := range e.columns {
		e.manifest.Columns = append(e.manifest.Columns, manifestColumn{Name: c.Name, Type: c.Type.String(), File: "text"})
	}
	return e.manifest.add(files, []int64{w.rows - 1})
}
