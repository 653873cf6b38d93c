package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"tailrace"
	"tailrace/format"
	"tailrace/parquet"
)

// parquetInput is a Parquet file as the text of a COPY.
type parquetInput struct {
	engine  *parquet.Engine
	reader  *parquet.Reader
	encoder *format.Encoder // nil until the first row
	batch   *tailrace.Batch
	next    int    // row of batch
	text    []byte // of rows, not given out yet
	buffer  []byte // under text
	message []byte
}

// openParquet opens a Parquet file.
func openParquet(ctx context.Context, f *os.File) (*parquetInput, error) {
	engine, err := parquet.Open(parquet.Options{TempDir: os.TempDir()})
	if err != nil {
		return nil, err
	}
	r, err := engine.Read(ctx, f)
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return &parquetInput{engine: engine, reader: r}, nil
}

func (p *parquetInput) close() {
	_ = p.reader.Close() // it was only read
	_ = p.engine.Close()
}

// rows is how many the file says it has.
func (p *parquetInput) rows() int64 { return p.reader.Rows }

// columns are the file's.
func (p *parquetInput) columns() []column {
	var out []column
	for _, c := range p.reader.Columns {
		out = append(out, column{c.Name, strings.Replace(c.Type.String(), "json", "jsonb", 1)})
	}
	return out
}

// choose makes the rows have the named columns.
func (p *parquetInput) choose(names []string) error {
	var list []int
	for _, name := range names {
		found := -1
		for i, c := range p.reader.Columns {
			if c.Name == name || found < 0 && strings.EqualFold(c.Name, name) {
				found = i
			}
		}
		if found < 0 {
			return &tailrace.Error{Code: "42703", Message: fmt.Sprintf("the file has no column \"%s\"", name)}
		}
		list = append(list, found)
	}
	p.reader.Select(list)
	return nil
}

// textAhead is how much text is made of rows at once, in bytes.
const textAhead = 256 << 10

// read fills dst with text and tells how many rows were begun with it.
func (p *parquetInput) read(ctx context.Context, dst []byte) (n, rows int, err error) {
	if len(p.text) == 0 {
		if rows, err = p.encode(ctx); err != nil {
			return 0, 0, err
		}
	}
	n = copy(dst, p.text)
	p.text = p.text[n:]
	return n, rows, nil
}

// encode makes text of some rows.
func (p *parquetInput) encode(ctx context.Context) (rows int, err error) {
	if p.encoder == nil {
		p.encoder = &format.Encoder{Layout: format.CopyText}
		for _, c := range p.reader.Columns {
			p.encoder.Columns = append(p.encoder.Columns, format.Col{Name: c.Name, Type: c.Type})
		}
	}
	if p.batch == nil || p.next == p.batch.N {
		if p.batch, err = p.reader.Next(ctx); err != nil { // io.EOF too
			return 0, err
		}
		p.next = 0
	}
	p.text = p.buffer[:0]
	for from := p.next; p.next < p.batch.N && len(p.text) < textAhead; p.next++ {
		p.message = p.encoder.AppendRow(p.message[:0], p.batch, p.next)
		p.text = append(p.text, p.message[copyHead:]...)
		rows = p.next + 1 - from
	}
	p.buffer = p.text
	return rows, nil
}

// copyHead is the type and length before the content of a CopyData message.
const copyHead = 5
