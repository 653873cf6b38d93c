package sql

import (
	"context"
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/format"
)

// copyTable runs COPY in both directions.
func (s *Session) copyTable(ctx context.Context, st *statement, n *pg_query.CopyStmt) (*Result, error) {
	if n.IsProgram || n.Filename != "" {
		return nil, &tailrace.Error{Code: "0A000", Message: "COPY to or from a file of the server is not supported", Hint: "Use COPY ... FROM STDIN or TO STDOUT; in psql, \\copy."}
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
	if n.Query != nil {
		if n.Query.GetSelectStmt() == nil {
			return nil, s.unsupported("COPY of a statement that is not a SELECT", "")
		}
		columns, rows, err := s.selectRows(ctx, st, n.Query)
		if err != nil {
			return nil, err
		}
		return s.copyOut(o, columns, rows), nil
	}
	return s.copyTo(ctx, st, n, o)
}

// copyTo runs COPY table TO STDOUT.
func (s *Session) copyTo(ctx context.Context, st *statement, n *pg_query.CopyStmt, o *copyOptions) (*Result, error) {
	if s.txn.subscribes {
		return nil, errOnlyRead
	}
	if v := s.named(n.Relation.Schemaname, n.Relation.Relname).view; v != nil {
		return nil, &tailrace.Error{Code: "42809", Message: fmt.Sprintf("cannot copy from view \"%s\"", v.Name), Hint: "Try the COPY (SELECT ...) TO variant."}
	}
	table, err := s.relation(n.Relation)
	if err != nil {
		return nil, err
	}
	if table.Upstream != nil {
		if err := s.waitLive(ctx, table); err != nil {
			return nil, err
		}
	}
	s.txn.selects = true
	cols, err := copyColumns(table, n.Attlist)
	if err != nil {
		return nil, err
	}
	rows, err := s.scan(ctx, table.ID, table.Columns, cols)
	if err != nil {
		return nil, err
	}
	var columns []tailrace.ResultColumn
	for _, c := range cols {
		f := table.Columns.Fields[c]
		columns = append(columns, tailrace.ResultColumn{Name: f.Name, Type: f.Type, Table: table.ID, Attr: int16(c + 1)})
	}
	return s.copyOut(o, columns, &spread{rows: rows}), nil
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
