package tailrace

import "context"

// ResultColumn describes one column of a result.
type ResultColumn struct {
	Name string
	Type Type
	// Table and Attr name the table column that the result column passes through, 0 when it is computed.
	Table CollectionID
	Attr  int16
}

// Rows is a result on its way, by column: of a query, a subscription, or a literal.
type Rows interface {
	// Next waits for at least one row and returns it with what is there besides, as a batch whose Cols are the result's columns. Only the
	// caller reads the batch, until the next call. The end is io.EOF.
	Next(ctx context.Context) (*Batch, error)
	// Close gives up what the rows hold. It may be called twice.
	Close() error
}
