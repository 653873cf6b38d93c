package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
	"unsafe"

	"tailrace"
)

func beUint32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }

// CopyParser turns morsels into batches. It holds no state: any number of goroutines may call it.
//
// A morsel is parsed a block of rows at a time, and a block a column at a time, so that the loop over a column's values knows its type and writes straight into
// the column's memory. at holds where each row's next field begins:
//
//	12,abc,2024-01-31      at 0 ─▶ loop of integers ─▶ 3 ─▶ loop of texts ─▶ 7 ─▶ loop of dates ─▶ 18
//	7,,2024-02-01          at 0                        2                     3                     14
//
// A loop reads what is common, eight bytes at a time, and leaves any other field to the plain way (copyfield.go and the types' own functions). A field that is refused there ends
// the morsel before its row; then the row is read once more the plain way, which finds what is wrong with it first.
type CopyParser struct {
	opts  CopyOptions
	types []tailrace.Type
	s     *Settings
	loops []columnLoop // nil for the plain way
	plain bool         // every row is read the plain way
}

// columnLoop reads column k of the rows of a block.
type columnLoop func(b *block, k int)

// NewCopyParser returns a parser for the morsels of a CopySplitter with the same options and types. s must be safe for concurrent use if the parser's is.
func NewCopyParser(opts CopyOptions, types []tailrace.Type, s *Settings) *CopyParser {
	if s == nil {
		s = Default()
	}
	p := &CopyParser{opts: opts.filled(), types: types, s: s, loops: make([]columnLoop, len(types))}
	p.plain = len(types) == 0 || p.opts.Layout != CopyBinary && meansSomething(p.opts.Copy.Delimiter)
	for i, t := range types {
		switch {
		case p.opts.Layout == CopyBinary:
			p.loops[i] = binaryLoop(t)
		case i < len(opts.ForceNotNull) && opts.ForceNotNull[i] || i < len(opts.ForceNull) && opts.ForceNull[i]:
		default:
			p.loops[i] = textLoop(t)
		}
		if p.loops[i] == nil {
			p.loops[i] = plainLoop
			if p.opts.Layout == CopyBinary {
				p.loops[i] = plainBinaryLoop
			}
		}
	}
	return p
}

// meansSomething tells that a delimiter is a byte that a number or a date may have: then no loop knows where such a value ends.
func meansSomething(c byte) bool {
	return isDigit(c) || isAlpha(c) || bytes.IndexByte([]byte(" +-.:\\"), c) >= 0
}

// blockRows are as many rows as fit, with their columns' ends, in the caches next to a core.
const blockRows = 256

// block is rows that are parsed a column at a time, and where their values go.
type block struct {
	*CopyParser
	reader fieldReader
	value  tailrace.Column // that a loop left to the plain way
	out    *tailrace.Batch
	used   []int // bytes of each variable-width column

	data    []byte         // of the piece, with slack behind
	text    unsafe.Pointer // of data
	lineEnd byte
	suspect bool // data is not all text
	at      [blockRows]int32
	ends    []int32
	n       int // rows; fewer once one is bad
	base    int // rows of the morsel before the block
}

// Parse returns the rows of m, in columns without IDs. into, if not nil, is an earlier batch of the same parser whose memory is used for it. With an error, which says
// where like PostgreSQL's CONTEXT, it returns the rows before the bad one.
func (p *CopyParser) Parse(m *Morsel, into *tailrace.Batch) (*tailrace.Batch, error) {
	b := &block{CopyParser: p, out: into, used: make([]int, len(p.types))}
	b.reader.opts = &p.opts
	b.begin(m)
	for i := range m.pieces {
		if err := b.piece(m, &m.pieces[i]); err != nil {
			b.finish()
			return b.out, err
		}
	}
	b.finish()
	return b.out, nil
}

// begin makes room for the morsel's rows.
func (b *block) begin(m *Morsel) {
	if b.out == nil {
		b.out = &tailrace.Batch{Cols: make([]tailrace.Column, len(b.types))}
		for i, t := range b.types {
			b.out.Cols[i].Width = t.Kind.Width()
		}
	}
	b.out.N, b.out.IDs, b.out.Times, b.out.Diffs = 0, nil, nil, nil
	for i := range b.out.Cols {
		c := &b.out.Cols[i]
		c.Valid = nil
		if c.Width > 0 {
			c.Data = room(c.Data, m.Rows*c.Width)[:m.Rows*c.Width]
		} else {
			const guess = 16 // bytes a value
			if cap(c.Offsets) < m.Rows+1 {
				c.Offsets = make([]int32, m.Rows+1)
			}
			c.Offsets = c.Offsets[:m.Rows+1]
			c.Offsets[0] = 0
			c.Data = room(c.Data, m.Rows*guess+slack)
			c.Data = c.Data[:cap(c.Data)]
		}
		c.N = m.Rows
	}
}

// room is b if it has n bytes, else new memory.
func room(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:cap(b)]
}

// finish cuts the columns to the rows that are good.
func (b *block) finish() {
	rows := b.base
	b.out.N = rows
	for i := range b.out.Cols {
		c := &b.out.Cols[i]
		c.N = rows
		if c.Width > 0 {
			c.Data = c.Data[:rows*c.Width]
		} else {
			c.Offsets = c.Offsets[:rows+1]
			c.Data = c.Data[:c.Offsets[rows]]
		}
		if c.Valid == nil {
			continue
		}
		c.Valid = c.Valid[:(rows+7)/8]
		if rows&7 != 0 {
			c.Valid[rows>>3] &= 1<<(rows&7) - 1
		}
	}
}

// piece parses the rows of a piece.
func (b *block) piece(m *Morsel, p *piece) error {
	b.data, b.text, b.lineEnd = p.data, unsafe.Pointer(unsafe.SliceData(p.data)), p.lineEnd
	if b.opts.Layout != CopyBinary {
		text := p.data[p.from:p.ends[len(p.ends)-1]]
		b.suspect = !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0
	}
	for from := 0; from < len(p.ends); from += blockRows {
		b.ends = p.ends[from:min(from+blockRows, len(p.ends))]
		b.n = len(b.ends)
		b.at[0] = int32(p.start(from))
		for i := 1; i < b.n; i++ {
			b.at[i] = b.ends[i-1] + int32(p.gap)
		}
		if b.plain {
			b.n = 0
		} else {
			for k, loop := range b.loops {
				loop(b, k)
			}
		}
		bad := b.n
		b.base += bad
		if bad == len(b.ends) {
			continue
		}
		for i := from + bad; i < from+len(b.ends); i++ {
			if err := b.plainly(m, p, i); err != nil || !b.plain {
				return err
			}
		}
	}
	return nil
}

// plainly reads row i of a piece the plain way: to be told what is wrong with it, unless every row is read so.
func (b *block) plainly(m *Morsel, p *piece, i int) error {
	one := &tailrace.Batch{Cols: make([]tailrace.Column, len(b.types))}
	for k, t := range b.types {
		one.Cols[k] = tailrace.MakeColumn(t.Kind, 1)
	}
	row, line := p.data[p.start(i):p.ends[i]], m.lineOf(b.base)
	var err error
	if b.opts.Layout == CopyBinary {
		err = b.plainBinaryRow(one, row, line)
	} else {
		err = b.plainRow(one, &b.reader, row, line)
	}
	switch {
	case err != nil:
		return err
	case !b.plain:
		panic(fmt.Sprintf("parse line %d: a column's loop refused what the type's function reads", line))
	}
	for k := range one.Cols {
		if one.Cols[k].IsNull(0) {
			b.setNull(k, b.base)
		} else {
			b.set(k, b.base, one.Cols[k].Bytes(0))
		}
	}
	b.base++
	return nil
}

// binaryWhere adds the place of a value that cannot be shown to err.
func (o *CopyOptions) binaryWhere(err error, line int64, i int) error {
	if e := (*tailrace.Error)(nil); errors.As(err, &e) {
		e.Where = fmt.Sprintf("COPY %s, line %d, column %s", o.Table, line, o.name(i))
	}
	return err
}
