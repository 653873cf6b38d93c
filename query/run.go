package query

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"

	"tailrace"
	"tailrace/duckdb"
	"tailrace/format"
)

// run is one execution of a plan: the rows it gives, and what functions may ask about the session. It implements tailrace.Rows.
type run struct {
	e        *Engine
	id       int64
	settings *format.Settings
	env      *Env
	cancel   context.CancelFunc // ends the scans
	free     []func()           // lets the sources go
	rows     *duckdb.Rows
	kinds    []kind
	closed   bool

	mu  sync.Mutex
	err error // the first error of a scan, as it was before DuckDB made text of it
}

// blame notes the error of a scan.
func (r *run) blame(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	return err
}

func (r *run) blamed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (p *Plan) start(ctx context.Context, params *tailrace.Batch, settings *format.Settings, env *Env) (*run, error) {
	if settings == nil {
		settings = format.Default()
	}
	if env == nil {
		env = &Env{}
	}
	r := &run{e: p.e, id: p.e.next.Add(1), settings: settings, env: env}
	for _, c := range p.columns {
		r.kinds = append(r.kinds, c.Type.Kind)
	}
	scans, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.cancel = cancel
	var sources []string
	for _, ref := range p.scans {
		id, free := p.e.db.Serve(&source{ctx: scans, ref: ref, run: r})
		sources, r.free = append(sources, id), append(r.free, free)
	}
	p.e.runs.Store(r.id, r)
	sql, err := p.render(r, params, sources)
	if err != nil {
		_ = r.Close() // nothing runs yet
		return nil, err
	}
	stop := context.AfterFunc(ctx, cancel)
	r.rows, err = p.e.db.Query(ctx, sql)
	stop()
	if err != nil {
		_ = r.Close() // the query did not start; err says why
		return nil, r.explain(ctx, err)
	}
	return r, nil
}

// explain turns DuckDB's error into the one to report.
func (r *run) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e := r.blamed(); e != nil {
		return e
	}
	return translate(err)
}

// render writes what is known now into the marks.
func (p *Plan) render(r *run, params *tailrace.Batch, sources []string) (string, error) {
	var b strings.Builder
	for i, piece := range p.pieces {
		if i%2 == 0 {
			b.WriteString(piece)
			continue
		}
		n, err := strconv.Atoi(piece[1:])
		if err != nil {
			return "", raise(codeInternal, "a mark in the plan is damaged")
		}
		switch piece[0] {
		case markRun:
			b.WriteString("CAST(" + strconv.FormatInt(r.id, 10) + " AS BIGINT)")
		case markScan:
			b.WriteString(sources[n])
		case markNow:
			b.WriteString("CAST(" + strconv.FormatInt(r.env.Now.UnixMicro()-epochUs, 10) + " AS BIGINT)")
		case markRead:
			b.WriteString(blob(tailrace.AppendDecimal(nil, new(bigInt).SetUint64(uint64(r.env.Logical)), 0)))
		case markUser:
			b.WriteString(quote(r.env.User))
		case markBase:
			b.WriteString(quote(r.env.Database))
		case markPID:
			b.WriteString("CAST(" + strconv.Itoa(int(r.env.PID)) + " AS INTEGER)")
		case markParam:
			k := p.params[n-1].Kind
			switch {
			case params == nil || n > len(params.Cols) || params.N < 1:
				return "", raise("08P01", "bind message supplies %d parameters, but the statement needs %d", columnsOf(params), len(p.params))
			case params.Cols[n-1].IsNull(0):
				b.WriteString(null(k))
			default:
				b.WriteString(stored(k, params.Cols[n-1].Bytes(0)))
			}
		}
	}
	return b.String(), nil
}

func columnsOf(b *tailrace.Batch) int {
	if b == nil {
		return 0
	}
	return len(b.Cols)
}

// Next returns the next rows.
func (r *run) Next(ctx context.Context) (*tailrace.Batch, error) {
	if r.closed {
		return nil, io.EOF
	}
	stop := context.AfterFunc(ctx, r.cancel)
	vectors, n, err := r.rows.Next(ctx)
	stop()
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if err != nil {
		return nil, r.explain(ctx, err)
	}
	b := &tailrace.Batch{N: n}
	for i, k := range r.kinds {
		b.Cols = append(b.Cols, take(vectors[i], k, n))
	}
	return b, nil
}

// take copies a vector's n rows into a column.
func take(v *duckdb.Vector, k kind, n int) tailrace.Column {
	c := tailrace.MakeColumn(k, n)
	w := width(k)
	if w > 0 && !v.HasNulls() {
		c.Data, c.N = append(c.Data, v.Fixed(w, n)...), n
		return c
	}
	for i := range n {
		switch {
		case v.IsNull(i):
			c.AppendNull()
		case w > 0:
			c.Append(v.Fixed(w, n)[i*w : (i+1)*w])
		default:
			c.Append(v.Bytes(i))
		}
	}
	return c
}

// Close ends the run.
func (r *run) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	r.cancel()
	var err error
	if r.rows != nil {
		err = r.rows.Close()
	}
	for _, free := range r.free {
		free()
	}
	r.e.runs.Delete(r.id)
	return err
}
