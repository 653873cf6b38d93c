package tail

import (
	"fmt"

	"tailrace"
	"tailrace/catalog"
)

// Envelope is the shape that changes are given in.
type Envelope uint8

// The envelopes. EnvelopeNone gives rows with mz_diff.
const (
	EnvelopeNone Envelope = iota
	EnvelopeUpsert
	EnvelopeDebezium
)

// Order is one term of WITHIN TIMESTAMP ORDER BY.
type Order struct {
	Column     string // a data column, or mz_diff; "" when Position is given
	Position   int    // 1 is mz_diff, 2 the first data column
	Desc       bool
	NullsFirst bool
	// At is the place of the term in the statement's text, for errors: 1-based, 0 unknown.
	At int
}

// Request is what a SUBSCRIBE asks for. The zero values of Envelope, Key, OrderBy, AsOf and UpTo mean "not given".
type Request struct {
	Table   *catalog.Table
	Session string // the session's uuid, shown in mz_subscriptions
	// Selection is the part of the table that is followed; nil is all of it.
	Selection *Selection
	Envelope  Envelope
	Key       []string
	OrderBy   []Order
	Snapshot  bool
	Progress  bool
	AsOf      *tailrace.Time
	AtLeast   bool // AsOf is a lower bound
	UpTo      *tailrace.Time
	// Now is the newest committed time that the statement must see: the as_of when none is given.
	Now tailrace.Time
	// Labels gives the labels of an enum in order, for OrderBy, at any time and from any goroutine; nil: enums order by their labels' bytes.
	Labels func(enum tailrace.CollectionID) []string
	// Notice is told what the client should know, for example that the result is empty. It may be nil.
	Notice func(*tailrace.Error)
}

// Times settles as_of and up_to (MaxTime when there is none) by the rules of SUBSCRIBE. since is the oldest readable time of the relation called of.
func (r *Request) Times(since tailrace.Time, of string) (asOf, upTo tailrace.Time, err error) {
	asOf, upTo = r.Now, tailrace.MaxTime
	if r.AsOf != nil {
		asOf = *r.AsOf
		if r.AtLeast {
			asOf = max(asOf, since)
		}
	}
	if asOf < since {
		return 0, 0, &tailrace.Error{
			Code: "22023", Message: "could not find a valid timestamp for the query",
			Detail: fmt.Sprintf("AS OF %d is below %d, the oldest readable time of %q.", asOf, since, of),
			Hint:   "Use AS OF AT LEAST, or keep more history: ALTER TABLE ... SET (RETAIN HISTORY FOR '1 day').",
		}
	}
	if r.UpTo != nil {
		upTo = *r.UpTo
	}
	if upTo < asOf {
		return 0, 0, &tailrace.Error{
			Code:    "22000",
			Message: fmt.Sprintf(`subscription lower ("as of") bound is beyond its upper ("up to") bound: %d < %d`, upTo, asOf),
		}
	}
	if upTo == asOf && r.Notice != nil {
		r.Notice(&tailrace.Error{
			Severity: "NOTICE", Code: "00000",
			Message: fmt.Sprintf(`subscription as of %d and up to %d is guaranteed to be empty`, asOf, upTo),
		})
	}
	return asOf, upTo, nil
}
