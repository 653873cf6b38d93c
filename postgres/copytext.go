package postgres

import (
	"bytes"
	"fmt"
	"unsafe"

	"tailrace"
)

// copyText turns lines of COPY ... TO STDOUT (text format: columns parted by tabs, \N for NULL, backslash escapes) into batches of a table.
type copyText struct {
	table *tailrace.SourceTable
	parse func(c *tailrace.Column, t tailrace.Type, text string) error
	batch *tailrace.Batch
	buf   []byte // one unescaped value
}

func newCopyText(t *tailrace.SourceTable, parse func(*tailrace.Column, tailrace.Type, string) error) *copyText {
	return &copyText{table: t, parse: parse, batch: emptyBatch(t)}
}

// emptyBatch is a batch for rows of t.
func emptyBatch(t *tailrace.SourceTable) *tailrace.Batch {
	b := &tailrace.Batch{Cols: make([]tailrace.Column, len(t.Columns))}
	for i := range t.Columns {
		b.Cols[i] = tailrace.MakeColumn(t.Columns[i].Type.Kind, 0)
	}
	return b
}

// line adds one row. line is one line with or without its newline.
func (c *copyText) line(line []byte) error {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	escapes := bytes.IndexByte(line, '\\') >= 0 // without one, no value is NULL and none has escapes
	last := len(c.table.Columns) - 1
	for i := range c.table.Columns {
		value := line
		if i < last {
			tab := bytes.IndexByte(line, '\t')
			if tab < 0 {
				return fmt.Errorf("a COPY line with %d columns instead of %d: %w", i+1, last+1, tailrace.ErrCorrupt)
			}
			value, line = line[:tab], line[tab+1:]
		}
		var err error
		if escapes {
			err = c.value(i, value)
		} else {
			err = appendValue(c.parse, &c.table.Columns[i], &c.batch.Cols[i], value)
		}
		if err != nil {
			return err
		}
	}
	c.batch.N++
	return nil
}

// value adds a value of a line that has escapes.
func (c *copyText) value(i int, value []byte) error {
	if len(value) == 2 && value[0] == '\\' && value[1] == 'N' {
		c.batch.Cols[i].AppendNull()
		return nil
	}
	if bytes.IndexByte(value, '\\') >= 0 {
		c.buf = unescape(c.buf[:0], value)
		value = c.buf
	}
	return appendValue(c.parse, &c.table.Columns[i], &c.batch.Cols[i], value)
}

// take returns the rows so far and begins a new batch, with room for as much as that one has.
func (c *copyText) take() *tailrace.Batch {
	b := c.batch
	c.batch = &tailrace.Batch{Cols: make([]tailrace.Column, len(b.Cols))}
	for i := range b.Cols {
		kind := c.table.Columns[i].Type.Kind
		c.batch.Cols[i] = tailrace.MakeColumn(kind, b.N+b.N/8)
		if kind.Width() == 0 {
			c.batch.Cols[i].Data = make([]byte, 0, len(b.Cols[i].Data)+len(b.Cols[i].Data)/8)
		}
	}
	return b
}

// appendValue adds the value that text is to col. Text that is stored as it is skips the parser.
func appendValue(parse func(*tailrace.Column, tailrace.Type, string) error, sc *tailrace.SourceColumn, col *tailrace.Column, text []byte) error {
	switch sc.Type.Kind {
	case tailrace.KindText, tailrace.KindVarchar, tailrace.KindChar, tailrace.KindJSON, tailrace.KindJSONB, tailrace.KindForeign:
		col.Append(text)
		return nil
	case tailrace.KindInt4:
		if v, ok := smallInt(text); ok {
			col.AppendInt32(int32(v))
			return nil
		}
	case tailrace.KindInt8:
		if v, ok := smallInt(text); ok {
			col.AppendInt64(v)
			return nil
		}
	}
	if err := parse(col, sc.Type, unsafe.String(unsafe.SliceData(text), len(text))); err != nil {
		return &tailrace.Error{
			Code: "22P02", Message: fmt.Sprintf("value of column %s cannot be read: %v", sc.Name, err), Column: sc.Name, Err: err,
			Hint: "Correct the value at the source, then drop the source here and create it again.",
		}
	}
	return nil
}

// smallInt reads an integer of up to nine digits; anything else is left to the parser.
func smallInt(text []byte) (int64, bool) {
	digits := text
	if len(text) > 0 && text[0] == '-' {
		digits = text[1:]
	}
	if len(digits) == 0 || len(digits) > 9 {
		return 0, false
	}
	v := int64(0)
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		v = v*10 + int64(d-'0')
	}
	if len(digits) != len(text) {
		v = -v
	}
	return v, true
}

// unescape adds value to dst without the escapes of COPY's text format.
func unescape(dst, value []byte) []byte {
	for i := 0; i < len(value); i++ {
		if value[i] != '\\' || i+1 == len(value) {
			dst = append(dst, value[i])
			continue
		}
		i++
		switch b := value[i]; b {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'v':
			dst = append(dst, '\v')
		default: // the server escapes nothing else but the backslash itself
			dst = append(dst, b)
		}
	}
	return dst
}
