package sql

import (
	"context"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/format"
)

// copyTable runs COPY in both directions.
func (s *Session) copyTable(ctx context.Context, st *statement, n *pg_query.CopyStmt) (*Result, error) {
	if n.IsProgram || n.Filename != "" {
		return s.copyFile(ctx, st, n)
	}
	if isParquet(n.Options) {
		return nil, errParquetClient
	}
	o, err := s.copyOptionsOf(st, n.Options, n.IsFrom)
	if err != nil {
		return nil, err
	}
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	if n.IsFrom {
		return s.copyFrom(st, n, o)
	}
	columns, rows, err := s.copySource(ctx, st, n)
	if err != nil {
		return nil, err
	}
	return s.copyOut(o, columns, rows), nil
}

func copyColumns(table *catalog.Table, list []*pg_query.Node) ([]int, error) {
	var out []int
	for _, n := range list {
		name := n.GetString_().Sval
		i := table.Columns.ByName(name)
		switch {
		case i < 0:
			return nil, noColumn(name, table)
		case slices.Contains(out, i):
			return nil, failure("42701", "column \"%s\" specified more than once", name)
		}
		out = append(out, i)
	}
	if len(list) == 0 {
		for i := range table.Columns.Fields {
			out = append(out, i)
		}
	}
	return out, nil
}

// copyOut is the result that sends rows as COPY data.
func (s *Session) copyOut(o *copyOptions, columns []tailrace.ResultColumn, rows tailrace.Rows) *Result {
	e := &format.Encoder{Layout: o.layout, Settings: s.format, Copy: o.spelling()}
	for _, c := range columns {
		force := slices.Contains(o.forceQuote, "*") || slices.Contains(o.forceQuote, c.Name)
		e.Columns = append(e.Columns, format.Col{Name: c.Name, Type: c.Type, ForceQuote: force, Binary: o.layout == format.CopyBinary})
	}
	r := rowsOf("COPY", columns, rows)
	r.CopyOut = &CopyOut{Encoder: e, Binary: o.layout == format.CopyBinary, Header: payload(e.AppendStart(nil)), Trailer: payload(e.AppendEnd(nil))}
	return r
}

// payload is what a CopyData message carries, nil for no message: behind its type and its length.
func payload(message []byte) []byte {
	if len(message) < 5 {
		return nil
	}
	return message[5:]
}
