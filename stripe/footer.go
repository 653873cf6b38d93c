package stripe

import (
	"bytes"
	"encoding/binary"

	"tailrace"
)

// Footer is what a part says about itself.
type Footer struct {
	Schema *tailrace.Schema
	// Settings are the options the part was written with, none of them 0.
	Settings         Options
	Rows             int64 // updates
	SumDiff          int64 // of all updates, wrapping
	MinTime, MaxTime tailrace.Time
	// SortKey lists the columns that the rows are sorted by.
	SortKey []tailrace.ColumnID
	Stripes []StripeMeta
	// Hash is the xxh3-128 of the part up to it: the identity of its content.
	Hash [16]byte
}

// StripeMeta describes one stripe.
type StripeMeta struct {
	Offset, Bytes int64 // where it is in the part
	Rows          int
	// FirstKey and LastKey bound the row keys (tailrace.AppendRowKey of all columns in sort order) of the stripe: FirstKey <= key <= LastKey.
	// They are the first and the last row's own keys when these take at most MaxKeyBytes, else cut and, LastKey, rounded up.
	FirstKey, LastKey []byte
	// Groups has one entry for each page group, in row order.
	Groups []GroupMeta
	// Chunks has the time, the diff, then each column of the schema.
	Chunks []ChunkMeta
}

// GroupMeta is the border between a page group and the one before it.
type GroupMeta struct {
	// Bound is at least every row key before the group, and greater than each when Strict. It is a separator: as short as it can be, and
	// not above the group's own first key unless that is cut.
	Bound  []byte
	Strict bool
}

// ChunkMeta describes one column of a stripe.
type ChunkMeta struct {
	Offset, Bytes int64 // from the start of the stripe
	Nulls         int
	// Min and Max bound the values (tailrace.AppendKey) that are not NULL; both nil when they are not known.
	Min, Max []byte
	// Distinct estimates how many different values there are, from a sample; 0 when it is not known.
	Distinct int64
	// Sum of the integers, as a 128-bit two's complement number, when HasSum.
	SumHigh, SumLow uint64
	HasSum          bool
}

// number is the one value of a chunk of times or diffs, if there is but one.
func (c *ChunkMeta) number() (int64, bool) {
	if len(c.Min) != 9 || !bytes.Equal(c.Min, c.Max) || c.Nulls != 0 {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(c.Min[1:]) ^ 1<<63), true // tailrace.AppendKey of an int8
}
