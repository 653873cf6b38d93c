package stripe

import "tailrace/fsst"

// The front page of a chunk of texts is what its other pages need:
//
//	symbols (kind 3)     SYMBOLS stream
//	dictionary (kind 2)  STR stream of the values | or SYMBOLS stream, FSST stream of the values by these
//
// and a SYMBOLS stream is a symbol table as package fsst stores it, its count the number of symbols and words.

// front is a front page as the decoders of the chunk's other pages need it: decoder.front while they run, nil when the chunk has none.
type front struct {
	kind    byte
	symbols *fsst.Table // of kind pageSymbols
	dict    dictionary  // of kind pageDict
}

// parseFront reads the body of a front page. What it returns holds memory of its own.
func parseFront(h pageHeader, body []byte) (*front, error) {
	f := &front{kind: h.kind}
	switch {
	case h.kind != pageDict && h.kind != pageSymbols, h.bitmap, h.nulls != 0:
		return nil, corrupt("page of kind %d, %d nulls", h.kind, h.nulls)
	case h.kind == pageSymbols:
		s, err := wholeStream(body, h.rows)
		if err != nil {
			return nil, err
		}
		if s.enc != h.enc || h.valueBytes != 0 {
			return nil, corrupt("symbols of encoding %d, %d bytes", s.enc, h.valueBytes)
		}
		f.symbols, err = parseSymbols(s)
		return f, err
	case h.rows < 1 || h.rows > maxDictTexts || h.valueBytes > maxDictBytes:
		return nil, corrupt("dictionary of %d values, %d bytes", h.rows, h.valueBytes)
	}
	d := decoders.Get().(*decoder)
	defer d.release()
	if h.enc == encFSST {
		s, rest, err := cutStream(body)
		if err != nil {
			return nil, err
		}
		symbols, err := parseSymbols(s)
		if err != nil {
			return nil, err
		}
		d.front, body = &front{kind: pageSymbols, symbols: symbols}, rest
	}
	s, err := wholeStream(body, h.rows)
	if err == nil && (s.enc != h.enc || s.enc != encStr && s.enc != encFSST) {
		err = corrupt("dictionary of encoding %d where the page says %d", s.enc, h.enc)
	}
	if err == nil {
		err = f.dict.read(d, s, h.valueBytes)
	}
	f.dict.ends = nil
	return f, err
}

func parseSymbols(s stream) (*fsst.Table, error) {
	if s.enc != encSymbols {
		return nil, corrupt("encoding %d of symbols", s.enc)
	}
	t, err := fsst.ParseTable(s.body)
	if err == nil && t.Symbols()+t.Words() != s.count {
		err = corrupt("%d symbols and %d words where %d belong", t.Symbols(), t.Words(), s.count)
	}
	if err != nil {
		return nil, corrupt("symbols: %v", err)
	}
	return t, nil
}

// size is the memory that f takes, in bytes.
func (f *front) size() int {
	if f.symbols != nil {
		return f.symbols.Size()
	}
	return cap(f.dict.words) + 8*cap(f.dict.places)
}

// appendSymbols adds the stream of a symbol table.
func appendSymbols(dst []byte, t *fsst.Table) []byte {
	dst, at := openStream(dst, encSymbols, 0, t.Symbols()+t.Words())
	dst = t.AppendTable(dst)
	closeStream(dst, at)
	return dst
}
