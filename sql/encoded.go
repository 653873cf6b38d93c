package sql

import (
	"context"
	"time"

	"tailrace"
	"tailrace/format"
	"tailrace/tail"
)

// Encoded is the rows of a SUBSCRIBE as wire messages, which subscribers of the same shape share.
type Encoded struct {
	sub      *tail.Subscription
	deadline time.Time // zero: none
}

// Delivery is what Encoded gives at once: Messages, which others may be sending too and nobody may change, then Rows, which are still to be encoded. Both
// are there until the next call.
type Delivery struct {
	Messages [][]byte
	Rows     *tailrace.Batch
	N        int // rows in both
}

// Encoded gives the rows as messages of e instead of by Rows.Next; nil when r's rows are nobody else's. It is asked once. In e only the fields are read.
func (r *Result) Encoded(e *format.Encoder) *Encoded {
	w, ok := r.Rows.(*within)
	if !ok {
		return nil
	}
	sub, ok := w.rows.(*tail.Subscription)
	if !ok || !sub.Encode(e) {
		return nil
	}
	return &Encoded{sub, w.deadline}
}

// PushTo lets rows that come once everything was given be pushed, while Next waits; Next then returns without rows when they were not taken whole. It is called at most once,
// before Next.
func (e *Encoded) PushTo(push func(messages []byte, rows int) bool) { e.sub.PushTo(push) }

// Next waits for at least one row. The end is io.EOF.
func (e *Encoded) Next(ctx context.Context) (Delivery, error) {
	d, err := inTime(ctx, e.deadline, e.sub.NextEncoded)
	return Delivery(d), err
}
