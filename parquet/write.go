package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"tailrace"
	"tailrace/duckdb"
)

// A row group, which is what DuckDB encodes at once and readers skip at once, has GroupRows rows, fewer when they are wide: it takes about GroupBytes in
// memory, uncompressed.
const (
	GroupRows  = 122_880
	GroupBytes = 64 << 20
)

// Rows opens the rows to write. They are opened again when they have to be written again.
type Rows func(ctx context.Context) (tailrace.Rows, error)

// Written is what Write wrote.
type Written struct {
	Columns []Column // those given, with Text set where a value did not fit
	Rows    []int64  // of each file
}

// Write writes all rows to files, which are open for writing, and closes none. Each file gets whole row groups in the order of rows, and which is a matter of
// who is first: with one file the order is that of rows. A file without rows is complete and empty.
//
// A value that does not fit its column makes all be written again, with the column as text; told, which may be nil, is told why. An error leaves files of no
// use. It is a *tailrace.Error or what rows or ctx said.
//
// The files take turns at the one stream: while one encodes the row group that it took, the next takes its own. So the encoding, which is most of the work, is
// done in parallel, and nothing is buffered besides a row group a file.
func (e *Engine) Write(ctx context.Context, columns []Column, open Rows, files []*os.File, told func(why string)) (*Written, error) {
	if len(columns) == 0 {
		return nil, &tailrace.Error{Code: "0A000", Message: "rows without columns cannot be written as Parquet"}
	}
	out := &Written{Columns: slices.Clone(columns)}
	plain := false
	for {
		var err error
		out.Rows, err = e.writeOnce(ctx, out.Columns, plain, open, files)
		var m *misfit
		if !errors.As(err, &m) {
			return out, err
		}
		if m.zero {
			plain = true
		} else {
			out.Columns[m.column].Text = true
			if told != nil {
				told(fmt.Sprintf("column \"%s\" holds %s: it is written as text", columns[m.column].Name, m.what))
			}
		}
		for _, f := range files {
			if err := f.Truncate(0); err != nil {
				return nil, fmt.Errorf("begin again: %w", err)
			}
		}
	}
}

// writeOnce is Write that gives up at a misfit. plain does without dictionaries.
func (e *Engine) writeOnce(ctx context.Context, columns []Column, plain bool, open Rows, files []*os.File) (counts []int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	f := &feed{ctx: ctx, columns: columns, plain: plain, turn: make(chan *cursor, 1), cancel: cancel}
	first := &cursor{rows: rows}
	if err := first.load(ctx); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	f.group = groupRows(first.batch)
	f.turn <- first
	counts = make([]int64, len(files))
	var writers sync.WaitGroup
	for i, file := range files {
		writers.Go(func() {
			n, err := e.writeFile(ctx, f, file)
			counts[i] = n
			f.fail(err)
		})
	}
	writers.Wait()
	return counts, f.err
}

// groupRows is the rows of a row group for rows like those of b: a multiple of a vector's.
func groupRows(b *tailrace.Batch) int {
	if b == nil || b.N == 0 {
		return GroupRows
	}
	n := GroupBytes / max(1, b.Size()/b.N)
	return max(duckdb.MaxRows, min(GroupRows, n-n%duckdb.MaxRows))
}

// writeFile writes one file.
func (e *Engine) writeFile(ctx context.Context, f *feed, file *os.File) (int64, error) {
	source := &source{feed: f}
	id, free := e.db.Serve(source)
	defer free()
	var list strings.Builder
	for i := range f.columns {
		fmt.Fprintf(&list, ", c%d AS %s", i, quoted(f.columns[i].Name))
	}
	dictionaries := ""
	if f.plain {
		dictionaries = ", DICTIONARY_SIZE_LIMIT 0"
	}
	sql := fmt.Sprintf("COPY (SELECT %s FROM %s(%s)) TO %s (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false, ROW_GROUP_SIZE %d%s)",
		list.String()[2:], duckdb.ScanFunction, id, pathOf(file), f.group, dictionaries)
	rows, err := e.db.Query(ctx, sql)
	if err == nil {
		_, _, err = rows.Next(ctx)
		err = errors.Join(err, rows.Close())
	}
	if err != nil {
		return 0, userError(err, writing, file.Name())
	}
	return source.rows, nil
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// feed is the one stream of rows that files take turns at.
type feed struct {
	ctx     context.Context //nolint:containedctx // of the Write: DuckDB calls back without one
	cancel  context.CancelFunc
	columns []Column
	plain   bool         // no dictionaries
	group   int          // rows
	turn    chan *cursor // holds the cursor while nobody reads

	mu  sync.Mutex
	err error // the first
}

// fail notes the first error and stops the other files.
func (f *feed) fail(err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
	f.cancel()
}

// cursor is a place in the rows. Whoever has it reads on.
type cursor struct {
	rows  tailrace.Rows
	batch *tailrace.Batch
	at    int // next row of batch
	ended bool
}

// load makes sure that there is a next row, or says io.EOF.
func (c *cursor) load(ctx context.Context) error {
	for !c.ended && (c.batch == nil || c.at == c.batch.N) {
		b, err := c.rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			c.ended = true
			break
		}
		if err != nil {
			return err
		}
		if b.Diffs != nil {
			return errors.New("write Parquet: rows have multiplicities") // our own mistake: callers spread them
		}
		c.batch, c.at = b, 0
	}
	if c.ended {
		return io.EOF
	}
	return nil
}

// source is what one file reads: row groups of the feed.
type source struct {
	feed *feed
	rows int64
}

// Columns implements duckdb.Source.
func (s *source) Columns() []duckdb.Type {
	var out []duckdb.Type
	for i := range s.feed.columns {
		if c := &s.feed.columns[i]; c.asText() {
			out = append(out, duckdb.Varchar)
		} else {
			out = append(out, fileType(c.Type))
		}
	}
	return out
}

// Open implements duckdb.Source. The statement reads all columns, once.
func (s *source) Open(projection []int) (duckdb.Scan, error) {
	r := &scan{source: s, columns: projection}
	for _, p := range projection {
		r.fill = append(r.fill, fillerOf(&s.feed.columns[p], s.feed.plain))
	}
	return r, nil
}

// scan is the reading of a source.
type scan struct {
	source  *source
	columns []int
	fill    []filler
	cursor  *cursor // nil while another file reads
	left    int     // rows of the row group, which is what a turn is
}

// Fill implements duckdb.Scan.
func (r *scan) Fill(out []*duckdb.Vector) (int, error) {
	n, err := r.next(out)
	if err != nil {
		r.source.feed.fail(err)
	}
	return n, err
}

// next writes rows of the turn, after waiting for one. The turn is given on before the last of its rows are returned, which is when DuckDB begins to encode.
func (r *scan) next(out []*duckdb.Vector) (int, error) {
	f := r.source.feed
	if r.cursor == nil {
		select {
		case r.cursor = <-f.turn:
			r.left = f.group
		case <-f.ctx.Done():
			return 0, f.ctx.Err()
		}
	}
	c := r.cursor
	if err := c.load(f.ctx); errors.Is(err, io.EOF) {
		r.pass()
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	n := min(duckdb.MaxRows, r.left, c.batch.N-c.at)
	for i, v := range out {
		p := r.columns[i]
		col := &c.batch.Cols[p]
		if err := r.fill[i](v, col, c.at, n); err != nil {
			return 0, inColumn(err, p)
		}
		if col.Valid != nil {
			v.SetValidity(col.Valid, c.at, n)
		}
	}
	c.at += n
	r.left -= n
	r.source.rows += int64(n)
	if r.left == 0 {
		r.pass()
	}
	return n, nil
}

// pass gives the turn on.
func (r *scan) pass() {
	c := r.cursor
	r.cursor = nil
	r.source.feed.turn <- c // never waits: there is one cursor
}

// Close implements duckdb.Scan. A turn that was not over is given on; a file that failed has stopped the others.
func (r *scan) Close() error {
	if r.cursor != nil {
		r.pass()
	}
	return nil
}
