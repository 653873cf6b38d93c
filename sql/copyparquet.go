package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/format"
	"tailrace/parquet"
)

// isParquet tells that the options of a COPY ask for FORMAT parquet.
func isParquet(options []*pg_query.Node) bool {
	return slices.ContainsFunc(options, func(n *pg_query.Node) bool {
		d := n.GetDefElem()
		return d.GetDefname() == "format" && strings.EqualFold(optionText(d.Arg), "parquet")
	})
}

// errParquetClient refuses FORMAT parquet to and from the client: a Parquet file is read from its end.
var errParquetClient = &tailrace.Error{
	Code: "0A000", Message: "COPY with FORMAT parquet needs a file", Hint: "Give the name of a file of the server, or at the client: tailrace load FILE --table t; tailrace export t --to DIR.",
}

// copyParquet runs COPY to or from a Parquet file of the server.
func (s *Session) copyParquet(ctx context.Context, st *statement, n *pg_query.CopyStmt) (*Result, error) {
	for _, o := range n.Options {
		if d := o.GetDefElem(); d.Defname != "format" {
			return nil, at(failure("0A000", "COPY %s is not available with FORMAT parquet", d.Defname), st.pos(d.Location))
		}
	}
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	if n.IsFrom {
		return s.copyFromParquet(ctx, st, n)
	}
	columns, first, err := s.copySource(ctx, st, n)
	if err != nil {
		return nil, err
	}
	defer first.Close()
	var list []parquet.Column
	for _, c := range columns {
		list = append(list, parquet.Column{Name: c.Name, Type: c.Type})
	}
	opened := false
	open := func(ctx context.Context) (tailrace.Rows, error) {
		if !opened {
			opened = true
			return first, nil
		}
		_, again, err := s.copySource(ctx, st, n) // of the same transaction: the same rows
		return again, err
	}
	count := int64(0)
	err = s.engine.Files.write(n.Filename, func(f *os.File) error {
		w, err := s.engine.Files.Parquet.Write(ctx, list, open, []*os.File{f}, func(why string) { s.notice("NOTICE", "00000", why) })
		if err != nil {
			return renamed(err, f.Name(), n.Filename)
		}
		count = w.Rows[0]
		return nil
	})
	if err != nil {
		return nil, err
	}
	return done(fmt.Sprintf("COPY %d", count)), nil
}

// renamed is err with the name that the statement has for a file in the place of the one it was opened under.
func renamed(err error, opened, name string) error {
	var e *tailrace.Error
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Message, out.Where = strings.ReplaceAll(e.Message, opened, name), strings.ReplaceAll(e.Where, opened, name)
	return &out
}

// copyFromParquet runs COPY table FROM a Parquet file. Columns are found by name; without a list those of the file are taken.
func (s *Session) copyFromParquet(ctx context.Context, st *statement, n *pg_query.CopyStmt) (*Result, error) {
	table, err := s.target(n.Relation, "copy to")
	if err != nil {
		return nil, err
	}
	f, err := s.engine.Files.open(n.Filename)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := s.engine.Files.Parquet.Read(ctx, f)
	if err != nil {
		return nil, renamed(err, f.Name(), n.Filename)
	}
	defer r.Close()
	into, err := parquetColumns(r, table, n.Attlist)
	if err != nil {
		return nil, err
	}
	plain := &pg_query.CopyStmt{Relation: n.Relation, Attlist: into, IsFrom: true, WhereClause: n.WhereClause}
	res, err := s.copyFrom(st, plain, &copyOptions{layout: format.CopyText})
	if err != nil {
		return nil, err
	}
	count, err := res.CopyIn.takeParquet(ctx, r)
	if err != nil {
		res.CopyIn.Fail()
		return nil, renamed(err, f.Name(), n.Filename)
	}
	return done(fmt.Sprintf("COPY %d", count)), nil
}

// parquetColumns are the columns to copy into: those of list, which the file must have, else all of the file. It makes r read just them, in that order.
func parquetColumns(r *parquet.Reader, table *catalog.Table, list []*pg_query.Node) (into []*pg_query.Node, err error) {
	if len(list) == 0 {
		for _, c := range r.Columns {
			i := slices.IndexFunc(table.Columns.Fields, func(f tailrace.Field) bool { return f.Name == c.Name })
			if i < 0 { // as names without quotes are
				i = slices.IndexFunc(table.Columns.Fields, func(f tailrace.Field) bool { return strings.EqualFold(f.Name, c.Name) })
			}
			if i < 0 {
				e := &tailrace.Error{Code: "42703", Message: fmt.Sprintf("column \"%s\" of the file does not exist in relation \"%s\"", c.Name, table.Name)}
				e.Hint = "Name the columns to copy after the table's name, or add the column to the table."
				return nil, e
			}
			into = append(into, stringNode(table.Columns.Fields[i].Name))
		}
		return into, nil
	}
	var from []int
	for _, n := range list {
		name := n.GetString_().Sval
		i := slices.IndexFunc(r.Columns, func(c parquet.Column) bool { return c.Name == name })
		if i < 0 {
			i = slices.IndexFunc(r.Columns, func(c parquet.Column) bool { return strings.EqualFold(c.Name, name) })
		}
		if i < 0 {
			return nil, &tailrace.Error{Code: "42703", Message: fmt.Sprintf("column \"%s\" does not exist in the file", name)}
		}
		from = append(from, i)
	}
	r.Select(from)
	return list, nil
}

// takeParquet takes all rows of r and returns how many there were.
func (c *CopyIn) takeParquet(ctx context.Context, r *parquet.Reader) (int64, error) {
	settings := *c.session.format
	settings.Now = c.session.start
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return c.Done(ctx)
		}
		if err != nil {
			return 0, err
		}
		if b, err = refit(b, r.Columns, c.types, &settings); err != nil {
			return 0, err
		}
		if err := c.take(ctx, b); err != nil {
			return 0, err
		}
	}
}

// refit is b, which has the types of a file, with the types of the columns to copy into: by way of their text, as COPY of a text file would, where they differ.
func refit(b *tailrace.Batch, from []parquet.Column, to []tailrace.ResultColumn, settings *format.Settings) (*tailrace.Batch, error) {
	out := &tailrace.Batch{N: b.N, Cols: make([]tailrace.Column, len(to))}
	var text []byte
	for k := range to {
		src := &b.Cols[k]
		if f := from[k].Type; f == to[k].Type || f.Kind == to[k].Type.Kind && f.Elem == to[k].Type.Elem && to[k].Type == to[k].Type.Plain() {
			out.Cols[k] = *src
			continue
		}
		dst := tailrace.MakeColumn(to[k].Type.Kind, b.N)
		for i := range b.N {
			if src.IsNull(i) {
				dst.AppendNull()
				continue
			}
			text = format.AppendText(text[:0], from[k].Type, src, i, format.Default())
			if err := format.ParseText(&dst, to[k].Type, string(text), settings); err != nil {
				if e := (*tailrace.Error)(nil); errors.As(err, &e) {
					e.Where = fmt.Sprintf("COPY, column %s: \"%s\"", to[k].Name, text[:min(len(text), 100)])
				}
				return nil, err
			}
		}
		out.Cols[k] = dst
	}
	return out, nil
}
