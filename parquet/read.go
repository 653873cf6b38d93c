package parquet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"tailrace"
	"tailrace/duckdb"
)

// Reader is a file on its way in: tailrace.Rows. One goroutine uses it.
type Reader struct {
	Columns []Column // what batches have: all of the file, or what Select chose
	Rows    int64    // that the file says it has

	file *os.File
	db   *duckdb.Engine
	as   []string     // the expression that reads each of Columns
	rows *duckdb.Rows // nil until the first Next
	take []taker
}

// Read looks at file, which stays open until the Reader is closed. The rows come in the file's order.
func (e *Engine) Read(ctx context.Context, file *os.File) (*Reader, error) {
	r := &Reader{file: file, db: e.db}
	if err := r.look(ctx); err != nil {
		return nil, userError(err, reading, file.Name())
	}
	return r, nil
}

// look reads the file's footer.
func (r *Reader) look(ctx context.Context) (err error) {
	if r.Rows, err = countRows(ctx, r.db, pathOf(r.file)); err != nil {
		return err
	}
	shape, err := r.db.Query(ctx, fmt.Sprintf("SELECT * FROM read_parquet(%s) LIMIT 0", pathOf(r.file)))
	if err != nil {
		return err
	}
	for _, c := range shape.Columns() {
		as, t := readAs(quoted(c.Name), c.Type)
		r.as = append(r.as, as)
		r.Columns = append(r.Columns, Column{Name: c.Name, Type: t})
	}
	return shape.Close()
}

// Select makes batches have the columns that list names by their numbers, in its order. It is called before the first Next, if at all.
func (r *Reader) Select(list []int) {
	columns, as := r.Columns, r.as
	r.Columns, r.as = nil, nil
	for _, i := range list {
		r.Columns, r.as = append(r.Columns, columns[i]), append(r.as, as[i])
	}
}

// start begins to read rows.
func (r *Reader) start(ctx context.Context) (err error) {
	for _, c := range r.Columns {
		r.take = append(r.take, takerOf(c.Type))
	}
	r.rows, err = r.db.Query(ctx, fmt.Sprintf("SELECT %s FROM read_parquet(%s)", strings.Join(r.as, ", "), pathOf(r.file)))
	return err
}

func countRows(ctx context.Context, db *duckdb.Engine, path string) (int64, error) {
	rows, err := db.Query(ctx, fmt.Sprintf("SELECT num_rows FROM parquet_file_metadata(%s)", path))
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	v, n, err := rows.Next(ctx)
	if err != nil {
		return 0, err
	}
	return duckdb.Values[int64](v[0], n)[0], nil
}

// readAs is the expression that reads a column, and the type that its values are then read as. What is no type of ours is cast to one that is, or comes as json.
func readAs(name string, t duckdb.Type) (expression string, as tailrace.Type) {
	if as, ok := kindOf(t); ok {
		return name, as
	}
	brackets := ""
	element, list := duckdb.Element(t)
	if list {
		brackets = "[]"
	}
	for _, c := range []struct {
		from []duckdb.Type
		to   string
		kind tailrace.Type
	}{
		{[]duckdb.Type{duckdb.TinyInt, duckdb.UTinyInt}, "SMALLINT", tailrace.TypeOf(tailrace.KindInt2)},
		{[]duckdb.Type{duckdb.USmallInt}, "INTEGER", tailrace.TypeOf(tailrace.KindInt4)},
		{[]duckdb.Type{duckdb.UInteger}, "BIGINT", tailrace.TypeOf(tailrace.KindInt8)},
		{[]duckdb.Type{duckdb.UBigInt}, "DECIMAL(20,0)", tailrace.Type{Kind: tailrace.KindNumeric, Mod: 20<<16 + 4}},
		{[]duckdb.Type{duckdb.TimestampNS, duckdb.TimestampMS, duckdb.TimestampSec}, "TIMESTAMP", tailrace.TypeOf(tailrace.KindTimestamp)},
		{[]duckdb.Type{duckdb.Interval}, "VARCHAR", tailrace.TypeOf(tailrace.KindInterval)},
	} {
		for _, from := range c.from {
			if element != from {
				continue
			}
			if list {
				c.kind = tailrace.ArrayOf(c.kind)
			}
			return fmt.Sprintf("CAST(%s AS %s%s)", name, c.to, brackets), c.kind
		}
	}
	if !list && t != 0 && !duckdb.Nested(t) {
		return fmt.Sprintf("CAST(%s AS VARCHAR)", name), tailrace.TypeOf(tailrace.KindText)
	}
	return fmt.Sprintf("to_json(%s)", name), tailrace.TypeOf(tailrace.KindJSON)
}

// Next implements tailrace.Rows.
func (r *Reader) Next(ctx context.Context) (*tailrace.Batch, error) {
	if r.rows == nil {
		if err := r.start(ctx); err != nil {
			return nil, userError(err, reading, r.file.Name())
		}
	}
	vectors, n, err := r.rows.Next(ctx)
	if err != nil { // io.EOF too
		return nil, userError(err, reading, r.file.Name())
	}
	b := &tailrace.Batch{N: n, Cols: make([]tailrace.Column, len(vectors))}
	for i, v := range vectors {
		if b.Cols[i], err = r.column(i, v, n); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// column copies n rows of a vector.
func (r *Reader) column(i int, v *duckdb.Vector, n int) (tailrace.Column, error) {
	c := tailrace.MakeColumn(r.Columns[i].Type.Kind, n)
	for row := range n {
		if v.IsNull(row) {
			c.AppendNull()
			continue
		}
		if err := r.take[i](&c, v, row); err != nil {
			var e *tailrace.Error
			if errors.As(err, &e) {
				e.Where = fmt.Sprintf("file \"%s\", column %s", r.file.Name(), r.Columns[i].Name)
			}
			return c, err
		}
	}
	return c, nil
}

// Close implements tailrace.Rows.
func (r *Reader) Close() error {
	if r.rows == nil {
		return nil
	}
	return r.rows.Close()
}
