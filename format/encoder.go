package format

import (
	"encoding/binary"

	"tailrace"
)

// Col is one column of an Encoder.
type Col struct {
	Name       string // for a header
	Type       tailrace.Type
	Binary     bool // DataRow only: in the binary form
	ForceQuote bool // CSV only: quote every value that is not NULL
}

// Encoder writes rows of batches as wire messages. Set it up, then call its methods from one goroutine; nothing in it may change after the first
// call, the settings included.
type Encoder struct {
	Layout   Layout
	Columns  []Col
	Settings *Settings
	Copy     CopyFormat // for CopyText and CopyCSV

	ready   bool
	session session
	columns []columnEncoder
}

// columnEncoder is what was decided for a column.
type columnEncoder struct {
	text   textAppender   // nil when binary is set
	binary binaryAppender // nil when text is set
	plain  bool           // values never need escapes or quotes
}

// Message bytes of the wire protocol.
const (
	msgDataRow  = 'D'
	msgCopyData = 'd'
)

func (e *Encoder) prepare() {
	e.session.Settings = e.Settings
	if e.Settings == nil {
		e.session.Settings = Default()
	}
	if e.Copy == (CopyFormat{}) || e.Copy.Delimiter == 0 {
		header := e.Copy.Header
		e.Copy = DefaultCopy(e.Layout)
		e.Copy.Header = header
	}
	e.columns = make([]columnEncoder, len(e.Columns))
	for i, c := range e.Columns {
		if e.Layout == CopyBinary || e.Layout == DataRow && c.Binary {
			e.columns[i].binary = binaryAppenderOf(c.Type)
			continue
		}
		e.columns[i].text = appenderOf(c.Type)
		e.columns[i].plain = e.neverEscaped(c)
	}
	e.ready = true
}

// neverEscaped reports whether no value of a column can hold a character that the layout treats specially.
func (e *Encoder) neverEscaped(c Col) bool {
	switch c.Type.Kind {
	case tailrace.KindText, tailrace.KindVarchar, tailrace.KindChar, tailrace.KindBytea, tailrace.KindJSON, tailrace.KindJSONB, tailrace.KindForeign, tailrace.KindArray,
		tailrace.KindEnum, tailrace.KindName, tailrace.KindLetter, tailrace.KindRegclass, tailrace.KindRegtype, tailrace.KindRegproc, tailrace.KindRegnspace, tailrace.KindRegrole:
		return e.Layout == DataRow
	}
	switch d := e.Copy; {
	case e.Layout == DataRow:
		return true
	case d.Delimiter != '\t' && d.Delimiter != ',' && d.Delimiter != ';' && d.Delimiter != '|':
		return false
	case e.Layout == CopyCSV:
		return d.Null == "" && d.Quote == '"' && !c.ForceQuote
	}
	return true
}

// AppendStart adds the message that goes before the rows: a header line when the format has one, the signature of binary COPY; else nothing.
func (e *Encoder) AppendStart(dst []byte) []byte {
	if !e.ready {
		e.prepare()
	}
	switch {
	case e.Layout == CopyBinary:
		dst, start := openMessage(dst, msgCopyData)
		dst = append(dst, copySignature...)
		return closeMessage(append(dst, 0, 0, 0, 0, 0, 0, 0, 0), start) // no flags, no extension
	case e.Layout == DataRow || !e.Copy.Header:
		return dst
	}
	dst, start := openMessage(dst, msgCopyData)
	for i, c := range e.Columns {
		if i > 0 {
			dst = append(dst, e.Copy.Delimiter)
		}
		at := len(dst)
		dst = append(dst, c.Name...)
		if e.Layout == CopyCSV {
			dst = e.quote(dst, at, false)
		} else {
			dst = e.escape(dst, at)
		}
	}
	return closeMessage(append(dst, '\n'), start)
}

// AppendEnd adds the message that goes after the rows: the trailer of binary COPY; else nothing.
func (e *Encoder) AppendEnd(dst []byte) []byte {
	if e.Layout != CopyBinary {
		return dst
	}
	dst, start := openMessage(dst, msgCopyData)
	return closeMessage(append(dst, 0xff, 0xff), start)
}

// AppendBatch adds the messages of rows [from, to).
func (e *Encoder) AppendBatch(dst []byte, b *tailrace.Batch, from, to int) []byte {
	for i := from; i < to; i++ {
		dst = e.AppendRow(dst, b, i)
	}
	return dst
}

// AppendRow adds the message of row i of b, whose Cols are e's Columns. Its diff is not looked at.
//
// Hot: no allocation; held by TestEncoderAllocates.
func (e *Encoder) AppendRow(dst []byte, b *tailrace.Batch, i int) []byte {
	if !e.ready {
		e.prepare()
	}
	switch e.Layout {
	case DataRow:
		dst, start := openMessage(dst, msgDataRow)
		return closeMessage(e.appendFields(dst, b, i), start)
	case CopyBinary:
		dst, start := openMessage(dst, msgCopyData)
		return closeMessage(e.appendFields(dst, b, i), start)
	}
	dst, start := openMessage(dst, msgCopyData)
	for k := range e.columns {
		if k > 0 {
			dst = append(dst, e.Copy.Delimiter)
		}
		col := &b.Cols[k]
		if col.IsNull(i) {
			dst = append(dst, e.Copy.Null...)
			continue
		}
		c := &e.columns[k]
		at := len(dst)
		dst = c.text(dst, col.Bytes(i), &e.session)
		switch {
		case c.plain:
		case e.Layout == CopyCSV:
			dst = e.quote(dst, at, e.Columns[k].ForceQuote)
		default:
			dst = e.escape(dst, at)
		}
	}
	return closeMessage(append(dst, '\n'), start)
}

// appendFields adds the number of fields and each with its length, -1 for NULL.
func (e *Encoder) appendFields(dst []byte, b *tailrace.Batch, i int) []byte {
	dst = append(dst, byte(len(e.columns)>>8), byte(len(e.columns)))
	for k := range e.columns {
		col := &b.Cols[k]
		if col.IsNull(i) {
			dst = append(dst, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		if c := &e.columns[k]; c.text != nil {
			dst = c.text(dst, col.Bytes(i), &e.session)
		} else {
			dst = c.binary(dst, col.Bytes(i))
		}
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst
}

// openMessage adds a message's kind and leaves room for its length.
func openMessage(dst []byte, kind byte) (out []byte, start int) {
	start = len(dst)
	return append(dst, kind, 0, 0, 0, 0), start
}

// closeMessage sets the length of the message that began at start: all but its kind.
func closeMessage(dst []byte, start int) []byte {
	binary.BigEndian.PutUint32(dst[start+1:], uint32(len(dst)-start-1))
	return dst
}
