package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	lsm "github.com/cockroachdb/pebble/v2"

	"tailrace"
)

// scanBytes ends a Scan early: a result holds at most this and one more value.
const scanBytes = 4 << 20

// appendKey adds the pebble key of (key, seq).
func appendKey(dst []byte, key string, seq tailrace.SeqNo) []byte {
	dst = append(append(dst, key...), 0)
	return binary.BigEndian.AppendUint64(dst, uint64(seq))
}

// Head implements tailrace.Consensus.
func (c *Consensus) Head(ctx context.Context, key string) (v tailrace.Versioned, err error) {
	for err == nil && v.Seq == 0 {
		var head tailrace.SeqNo
		if head, err = c.durableHead(ctx, key); err != nil || head == 0 {
			return tailrace.Versioned{}, err
		}
		// Nothing is found only when others have appended and truncated in between: then look again.
		err = c.iterate(ctx, key, head, head, func(it *lsm.Iterator) error {
			if it.Last() {
				v, err = read(it)
			}
			return err
		})
	}
	return v, err
}

// Scan implements tailrace.Consensus. It gives fewer than limit values where they are large: about 4 MiB, one value at least.
func (c *Consensus) Scan(ctx context.Context, key string, from tailrace.SeqNo, limit int) (out []tailrace.Versioned, err error) {
	head, err := c.durableHead(ctx, key)
	if err != nil || from > head {
		return nil, err
	}
	err = c.iterate(ctx, key, from, head, func(it *lsm.Iterator) error {
		size := 0
		for ok := it.First(); ok && len(out) < limit && size < scanBytes; ok = it.Next() {
			v, err := read(it)
			if err != nil {
				return err
			}
			out, size = append(out, v), size+len(v.Value)
		}
		return nil
	})
	return out, err
}

// iterate runs fn over the values of key from one SeqNo to another, which is included. Pebble shows a value as soon as it is in memory;
// so to must not pass the durable head.
func (c *Consensus) iterate(ctx context.Context, key string, from, to tailrace.SeqNo, fn func(*lsm.Iterator) error) error {
	it, err := c.db.NewIterWithContext(ctx, &lsm.IterOptions{LowerBound: appendKey(nil, key, from), UpperBound: appendKey(nil, key, to+1)})
	if err != nil {
		return fmt.Errorf("read %s: %w", c.dir, err)
	}
	err = fn(it)
	if closeErr := it.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("read %s: %w", c.dir, closeErr)
	}
	return err
}

func read(it *lsm.Iterator) (tailrace.Versioned, error) {
	k := it.Key()
	if len(k) < 9 {
		return tailrace.Versioned{}, fmt.Errorf("key %q of %d bytes: %w", k, len(k), tailrace.ErrCorrupt)
	}
	value, err := it.ValueAndErr()
	if err != nil {
		return tailrace.Versioned{}, fmt.Errorf("read %q: %w", k, err)
	}
	return tailrace.Versioned{Seq: tailrace.SeqNo(binary.BigEndian.Uint64(k[len(k)-8:])), Value: bytes.Clone(value)}, nil
}

// CompareAndSet implements tailrace.Consensus. Cancelling ctx stops the wait for the turn, not a write under way.
func (c *Consensus) CompareAndSet(ctx context.Context, key string, expect tailrace.SeqNo, value []byte) (bool, error) {
	cl, err := c.take(ctx, key)
	if err != nil {
		return false, err
	}
	defer cl.give()
	head, err := c.load(key, cl)
	if err != nil {
		return false, err
	}
	if head != expect {
		return false, nil
	}
	if err := c.checkFree(len(value)); err != nil {
		return false, fmt.Errorf("append to %s: %w", key, err)
	}
	if err := c.db.Set(appendKey(nil, key, expect+1), value, lsm.Sync); err != nil {
		c.remember(cl, 0, false)
		return false, fmt.Errorf("append to %s at %d: %w", key, expect+1, err)
	}
	c.remember(cl, expect+1, true)
	return true, nil
}

// Truncate implements tailrace.Consensus. It is not synced: what a crash brings back is truncated by the next one.
func (c *Consensus) Truncate(ctx context.Context, key string, before tailrace.SeqNo) error {
	head, err := c.durableHead(ctx, key)
	if err != nil {
		return err
	}
	before = min(before, head)
	if before == 0 {
		return nil
	}
	if err := c.db.DeleteRange(appendKey(nil, key, 0), appendKey(nil, key, before), lsm.NoSync); err != nil {
		return fmt.Errorf("truncate %s before %d: %w", key, before, err)
	}
	return nil
}
