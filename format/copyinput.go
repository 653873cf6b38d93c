package format

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"tailrace"
)

const (
	// MorselRows are the rows of a full morsel: a page group of a stripe.
	MorselRows = 8192
	// MorselBytes of rows make a morsel full too, so that wide rows stay bounded.
	MorselBytes = 4 << 20
	maxCopyLine = 1 << 30 // bytes of one row; PostgreSQL's own limit
	shownBytes  = 100     // bytes of a line or value that an error shows
)

// CopyOptions are the options of COPY FROM.
type CopyOptions struct {
	Layout  Layout     // CopyText, CopyCSV or CopyBinary
	Copy    CopyFormat // zero: DefaultCopy
	Table   string     // for errors
	Columns []string   // names, for errors and for HeaderMatch
	// HeaderMatch wants the names in the header line to be those of the columns; it takes effect with Copy.Header.
	HeaderMatch bool
	// ForceNotNull and ForceNull are CSV's options by column: the null string counts as text, or as NULL even in quotes. nil is none.
	ForceNotNull, ForceNull []bool
}

// filled is o with the layout's spelling where none is given.
func (o CopyOptions) filled() CopyOptions {
	if o.Copy.Delimiter == 0 {
		header := o.Copy.Header
		o.Copy = DefaultCopy(o.Layout)
		o.Copy.Header = header
	}
	return o
}

func (o *CopyOptions) name(i int) string {
	if i < len(o.Columns) {
		return o.Columns[i]
	}
	return fmt.Sprintf("column%d", i+1)
}

// where adds the place of a whole line to err; text is nil when it is not known as a whole.
func (o *CopyOptions) where(err error, line int64, text []byte) error {
	var e *tailrace.Error
	if !errors.As(err, &e) {
		return err
	}
	e.Where = fmt.Sprintf("COPY %s, line %d", o.Table, line)
	if text != nil {
		e.Where += ": \"" + shorten(string(text)) + "\""
	}
	return e
}

// whereColumn adds the place of a value to err.
func (o *CopyOptions) whereColumn(err error, line int64, i int, text string) error {
	var e *tailrace.Error
	if !errors.As(err, &e) {
		return err
	}
	e.Where = fmt.Sprintf("COPY %s, line %d, column %s: \"%s\"", o.Table, line, o.name(i), shorten(text))
	return e
}

// shorten cuts text to what an error shows, between characters.
func shorten(text string) string {
	if len(text) <= shownBytes {
		return text
	}
	n := shownBytes
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "..."
}
