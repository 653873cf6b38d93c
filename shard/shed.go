package shard

import (
	"context"

	"tailrace/budget"
)

// room is what a Writer takes of the share for transactions. When it gets no more, the writer sheds: it puts all it has into a part, however small, and begins
// with nothing. So a transaction may be as large as the disk, and many at a time are slow rather than refused.
type room struct {
	grant   budget.Grant
	largest int64 // size of the buffers that were handed over since it shed last: their memory is used again
	handed  int64 // bytes of values in the part that is open
}

const (
	// uncounted is what a writer holds without asking, in bytes: most transactions change a few rows.
	uncounted = 16 << 10
	// writeFactor is how many times a buffer is in memory while it is written: itself, sorted, and encoded.
	writeFactor = 3
	// crowdedCut is how many times smaller buffers are cut while others may need the room.
	crowdedCut = 4
)

// need is what the writer holds, and will until its buffer is in a part, in bytes.
func (w *Writer) need() int64 {
	n := int64(w.buf.Size())
	if n < uncounted && w.room.largest == 0 {
		return 0
	}
	return writeFactor*n + writeFactor*w.room.largest + min(w.room.handed, int64(w.set.limits.part))
}

// limit is how large the buffer grows.
func (w *Writer) limit() int {
	limit := w.set.limits.cut
	if w.order != nil {
		limit = w.set.limits.hand
	}
	if w.room.grant.Crowded() {
		limit = max(limit/crowdedCut, w.set.limits.inline)
	}
	return limit
}

// claim takes what the writer needs, or sheds. Beyond a little it leaves half of the share to what cannot be put into parts, such as sets of keys.
func (w *Writer) claim(ctx context.Context) error {
	need := w.need()
	if w.room.grant.Set(need) && (!w.room.grant.Crowded() || need <= writeFactor*int64(w.set.limits.inline)) {
		return nil
	}
	return w.shed(ctx)
}

// shed puts everything into parts and lets go of the memory.
func (w *Writer) shed(ctx context.Context) error {
	if err := w.Cut(ctx); err != nil {
		return err
	}
	w.cut.spare = nil
	w.begin(w.cut.buffer())
	w.room.largest, w.room.handed = 0, 0
	w.room.grant.Free()
	return nil
}
