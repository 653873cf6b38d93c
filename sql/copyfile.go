package sql

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/shard"
)

// COPY with the name of a file runs as with STDIN and STDOUT, and this file is the client.

// copyChunk is how much is written to a file at once, in bytes.
const copyChunk = 256 << 10

// copyFile runs COPY to or from a file of the server.
func (s *Session) copyFile(ctx context.Context, st *statement, n *pg_query.CopyStmt) (*Result, error) {
	if n.IsProgram {
		return nil, &tailrace.Error{Code: "0A000", Message: "COPY to or from a program of the server is not supported", Hint: "Use psql's \\copy ... FROM PROGRAM, or a pipe: program | tailrace load - --table t."}
	}
	if s.engine.Files == nil {
		return nil, errNoFiles
	}
	if isParquet(n.Options) {
		return s.copyParquet(ctx, st, n)
	}
	o, err := s.copyOptionsOf(st, n.Options, n.IsFrom)
	if err != nil {
		return nil, err
	}
	if err := s.txn.open(ctx, false); err != nil {
		return nil, err
	}
	if n.IsFrom {
		return s.copyFromFile(ctx, st, n, o)
	}
	columns, rows, err := s.copySource(ctx, st, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := s.copyOut(o, columns, rows).CopyOut
	count := int64(0)
	err = s.engine.Files.write(n.Filename, func(f *os.File) error {
		count, err = out.writeTo(ctx, f, rows)
		return err
	})
	if err != nil {
		return nil, err
	}
	return done(fmt.Sprintf("COPY %d", count)), nil
}

// copyFromFile runs COPY table FROM 'file'.
func (s *Session) copyFromFile(ctx context.Context, st *statement, n *pg_query.CopyStmt, o *copyOptions) (*Result, error) {
	r, err := s.copyFrom(st, n, o)
	if err != nil {
		return nil, err
	}
	f, err := s.engine.Files.open(n.Filename)
	if err != nil {
		r.CopyIn.Fail()
		return nil, err
	}
	defer f.Close()
	count, err := r.CopyIn.readFrom(ctx, f)
	if err != nil {
		r.CopyIn.Fail()
		return nil, err
	}
	return done(fmt.Sprintf("COPY %d", count)), nil
}

// readFrom takes all of f and returns the number of rows.
func (c *CopyIn) readFrom(ctx context.Context, f io.Reader) (int64, error) {
	for {
		n, err := f.Read(c.Room())
		if n > 0 {
			if err := c.Filled(ctx, n); err != nil {
				return 0, err
			}
		}
		if errors.Is(err, io.EOF) {
			return c.Done(ctx)
		}
		if err != nil {
			return 0, fmt.Errorf("read the file: %w", err)
		}
	}
}

// writeTo writes rows and what goes around them, and returns how many there were.
func (o *CopyOut) writeTo(ctx context.Context, f io.Writer, rows tailrace.Rows) (count int64, err error) {
	w := bufio.NewWriterSize(f, copyChunk)
	if _, err := w.Write(o.Header); err != nil {
		return 0, err
	}
	var messages []byte
	err = drain(ctx, rows, func(b *tailrace.Batch) error {
		count += int64(b.N)
		step := max(1, copyChunk/(b.Size()/max(1, b.N)+1))
		for from := 0; from < b.N; from += step {
			messages = o.Encoder.AppendBatch(messages[:0], b, from, min(b.N, from+step))
			if err := writePayloads(w, messages); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(o.Trailer); err != nil {
		return 0, err
	}
	return count, w.Flush()
}

// writePayloads writes what the CopyData messages carry.
func writePayloads(w io.Writer, messages []byte) error {
	for len(messages) > 0 {
		end := 1 + int(binary.BigEndian.Uint32(messages[1:]))
		if _, err := w.Write(messages[5:end]); err != nil {
			return err
		}
		messages = messages[end:]
	}
	return nil
}

// copySource opens the rows of a COPY ... TO: those of a table, straight from storage, or of a query.
func (s *Session) copySource(ctx context.Context, st *statement, n *pg_query.CopyStmt) ([]tailrace.ResultColumn, tailrace.Rows, error) {
	relation := n.Relation
	if n.Query != nil {
		if n.Query.GetSelectStmt() == nil {
			return nil, nil, s.unsupported("COPY of a statement that is not a SELECT", "")
		}
		if relation = s.wholeTable(n.Query.GetSelectStmt()); relation == nil {
			return s.selectRows(ctx, st, n.Query)
		}
	}
	if s.txn.subscribes {
		return nil, nil, errOnlyRead
	}
	if v := s.named(relation.Schemaname, relation.Relname).view; v != nil {
		return nil, nil, &tailrace.Error{Code: "42809", Message: fmt.Sprintf("cannot copy from view \"%s\"", v.Name), Hint: "Try the COPY (SELECT ...) TO variant."}
	}
	table, err := s.relation(relation)
	if err != nil {
		return nil, nil, err
	}
	if table.Upstream != nil {
		if err := s.waitLive(ctx, table); err != nil {
			return nil, nil, err
		}
	}
	s.txn.selects = true
	cols, err := copyColumns(table, n.Attlist)
	if err != nil {
		return nil, nil, err
	}
	rows, err := s.copyScan(ctx, table, cols)
	if err != nil {
		return nil, nil, err
	}
	var columns []tailrace.ResultColumn
	for _, c := range cols {
		f := table.Columns.Fields[c]
		columns = append(columns, tailrace.ResultColumn{Name: f.Name, Type: f.Type, Table: table.ID, Attr: int16(c + 1)})
	}
	return columns, &spread{rows: rows}, nil
}

// copyScan reads a table at the statement's time.
func (s *Session) copyScan(ctx context.Context, table *catalog.Table, cols []int) (tailrace.Rows, error) {
	if s.at == nil {
		return s.scan(ctx, table.ID, table.Columns, cols)
	}
	sh, err := s.historyOf(table, *s.at)
	if err != nil {
		return nil, err
	}
	return sh.Snapshot(ctx, shard.SnapshotOptions{AsOf: *s.at, Schema: table.Columns, Columns: cols})
}

// wholeTable is the table whose rows, all of them and as they are, a query has: TABLE t, SELECT * FROM t. It is nil for any other query.
func (s *Session) wholeTable(q *pg_query.SelectStmt) *pg_query.RangeVar {
	if q.Op != pg_query.SetOperation_SETOP_NONE || len(q.FromClause) != 1 || len(q.TargetList) != 1 || q.WithClause != nil || q.WhereClause != nil ||
		q.GroupClause != nil || q.HavingClause != nil || q.WindowClause != nil || q.SortClause != nil || q.DistinctClause != nil || q.LimitCount != nil || q.LimitOffset != nil ||
		q.LockingClause != nil || q.ValuesLists != nil || q.IntoClause != nil {
		return nil
	}
	fields := q.TargetList[0].GetResTarget().GetVal().GetColumnRef().GetFields()
	relation := q.FromClause[0].GetRangeVar()
	if len(fields) != 1 || fields[0].GetAStar() == nil || relation == nil || relation.Alias != nil || s.systemTable(relation.Schemaname, relation.Relname) != nil ||
		s.named(relation.Schemaname, relation.Relname).table == nil {
		return nil
	}
	return relation
}
