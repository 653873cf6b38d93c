package format

// Layout is a kind of row message.
type Layout uint8

// The layouts. The Copy ones are one CopyData message a row.
const (
	DataRow Layout = iota
	CopyText
	CopyCSV
	CopyBinary
)

// CopyFormat holds the options of COPY that say how rows are spelled. The zero value stands for the layout's own: DefaultCopy.
type CopyFormat struct {
	Delimiter     byte
	Null          string // how NULL is spelled
	Quote, Escape byte   // CSV only
	Header        bool   // the first line holds the columns' names
}

// DefaultCopy returns the options of COPY without any: tabs and \N for text, commas and nothing for CSV.
func DefaultCopy(l Layout) CopyFormat {
	if l == CopyCSV {
		return CopyFormat{Delimiter: ',', Quote: '"', Escape: '"'}
	}
	return CopyFormat{Delimiter: '\t', Null: `\N`}
}
