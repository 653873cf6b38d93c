package log

import (
	"context"
	"fmt"

	"tailrace"
)

// Extent is what an environment's stores hold of its log, as Inspect finds it.
type Extent struct {
	Oldest          tailrace.SeqNo `json:"oldest"` // 0: the log is empty
	OldestTime      tailrace.Time  `json:"oldest_time"`
	Head            tailrace.SeqNo `json:"head"`
	HeadTime        tailrace.Time  `json:"head_time"`
	Entries         int64          `json:"entries"`
	Ticks           int64          `json:"ticks"` // entries without transactions
	Transactions    int64          `json:"transactions"`
	Bytes           int64          `json:"bytes"`          // of the entries
	CheckpointKey   string         `json:"checkpoint_key"` // in Blob
	CheckpointBytes int64          `json:"checkpoint_bytes"`
	Standing        Standing       `json:"-"` // at the head, or where damage begins
}

// Inspect reads everything that the stores hold of a log, and changes nothing. Each entry's checksum and place are checked. found hears of the newest checkpoint,
// nil when there is none, and then of each entry after it, in order. damage is told of whatever is not as it was written; after damage to the checkpoint found is not called.
// An error is the stores' or found's.
func Inspect(ctx context.Context, consensus tailrace.Consensus, blob tailrace.Blob, found func(*Checkpoint, *Entry) error, damage func(error)) (*Extent, error) {
	l := &Log{consensus: consensus, blob: blob}
	x := &Extent{}
	_, p, err := l.readPointer(ctx)
	if err != nil {
		damage(err)
	}
	whole, folded := err == nil, newState()
	from := tailrace.SeqNo(0)
	if p != nil {
		x.CheckpointKey, x.CheckpointBytes, from = p.key, int64(p.size), p.seq
	}
	if whole {
		c, state, err := l.inspectCheckpoint(ctx, p)
		if err != nil {
			whole = false
			damage(err)
		} else if err := found(c, nil); err != nil {
			return x, err
		} else if c != nil {
			folded = state
		}
	}
	err = l.walk(ctx, x, from, func(e *Entry) error {
		if !whole {
			return nil
		}
		if _, err := folded.fold(e); err != nil {
			whole = false
			damage(err)
			return nil
		}
		return found(nil, e)
	}, func(err error) {
		whole = false
		damage(err)
	})
	x.Standing = folded.standing()
	return x, err
}

// inspectCheckpoint reads the checkpoint that p, if any, names, and the log's own state in it.
func (l *Log) inspectCheckpoint(ctx context.Context, p *pointer) (*Checkpoint, state, error) {
	if p == nil {
		return nil, state{}, nil
	}
	raw, err := l.blob.Get(ctx, p.key, 0, -1)
	if err != nil {
		return nil, state{}, fmt.Errorf("read checkpoint: %w", err)
	}
	return p.open(raw)
}

// walk visits the entries after a checkpoint at from, having looked at those before it. It stops at a gap.
func (l *Log) walk(ctx context.Context, x *Extent, from tailrace.SeqNo, visit func(*Entry) error, damage func(error)) error {
	next := tailrace.SeqNo(0)
	for {
		page, err := l.consensus.Scan(ctx, logKey, next, followPage)
		if err != nil {
			return fmt.Errorf("read log from %d: %w", next, err)
		}
		if len(page) == 0 {
			break
		}
		for _, v := range page {
			if next > 0 && v.Seq != next {
				damage(fmt.Errorf("log entries %d to %d are missing: %w", next, v.Seq-1, tailrace.ErrCorrupt))
			}
			next = v.Seq + 1
			x.Bytes += int64(len(v.Value))
			x.Entries++
			e, _, err := decodeSlot(v)
			if err != nil {
				damage(err)
				continue
			}
			if x.Oldest == 0 {
				x.Oldest, x.OldestTime = e.Seq, e.Time
			}
			x.note(e)
			if e.Seq > from {
				if err := visit(e); err != nil {
					return err
				}
			}
		}
	}
	if from > 0 && next <= from {
		damage(fmt.Errorf("checkpoint of entry %d, but the log ends at %d: %w", from, max(next, 1)-1, tailrace.ErrCorrupt))
	}
	return nil
}

func (x *Extent) note(e *Entry) {
	x.Head, x.HeadTime = e.Seq, e.Time
	x.Transactions += int64(len(e.Txns))
	if len(e.Txns) == 0 {
		x.Ticks++
	}
}
