package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"tailrace/internal/bench/shape"
)

// Load is `tailrace bench load`: files of several shapes through COPY into a server, beside DuckDB and a PostgreSQL, and the stages of it in this process.
type Load struct {
	Shapes   []string // names; none: all
	Scale    float64  // of the shapes' rows
	Runs     int      // interleaved rounds
	Postgres string   // URL, "" for none
}

// source is a shape's rows on disk, as every side reads them.
type source struct {
	shape.Shape
	rows  int
	path  string
	bytes int64
}

// loading is a Load under way.
type loading struct {
	Load
	r      *Report
	log    io.Writer
	dir    string
	sums   map[string]string // what the bytes of parts hashed to, by what was encoded
	differ []string          // what hashed to another sum, for people
}

// Run measures, and tells progress to log.
func (b Load) Run(ctx context.Context, log io.Writer) (r *Report, err error) {
	settings := fmt.Sprintf("rows x %s, %d runs, shapes %s", number(b.Scale), b.Runs, strings.Join(b.names(), " "))
	l := &loading{Load: b, log: log, r: &Report{Name: "load", Settings: settings}, sums: map[string]string{}}
	if l.dir, err = os.MkdirTemp("", "tailrace-bench-load-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(l.dir)) }()
	for _, name := range b.names() {
		f, err := l.write(name, 1)
		if err != nil {
			return nil, err
		}
		for _, stage := range []func(context.Context, *source) error{l.copies, l.stages} {
			if err := stage(ctx, f); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		if err := os.Remove(f.path); err != nil {
			return nil, err
		}
	}
	if err := l.scaling(ctx); err != nil {
		return nil, err
	}
	l.conclude()
	return l.r, nil
}

func (b Load) names() []string {
	if len(b.Shapes) == 0 {
		return shape.Names()
	}
	return b.Shapes
}

// write makes the file of a shape, with times as many rows as the benchmark measures.
func (l *loading) write(name string, times float64) (*source, error) {
	s, err := shape.Named(name)
	if err != nil {
		return nil, err
	}
	f := &source{Shape: s, rows: max(1, int(float64(s.Rows)*l.Scale*times)), path: filepath.Join(l.dir, name+".csv")}
	out, err := os.Create(f.path)
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriter(out)
	if err := errors.Join(s.WriteCSV(w, f.rows), w.Flush(), out.Close()); err != nil {
		return nil, err
	}
	at, err := os.Stat(f.path)
	if err != nil {
		return nil, err
	}
	f.bytes = at.Size()
	l.say("%s: %d rows, %d MB of CSV", name, f.rows, f.bytes/1e6)
	return f, nil
}

// say tells progress.
func (l *loading) say(format string, args ...any) { fmt.Fprintf(l.log, format+"\n", args...) }
