package pebble

import (
	"context"
	"fmt"
	"strings"

	lsm "github.com/cockroachdb/pebble/v2"

	"tailrace"
)

// cell is what is remembered of one Consensus key, guarded by Consensus.mu.
type cell struct {
	turn chan struct{} // held by the one caller that compares and sets
	// head is the newest durable SeqNo, while known: not before it was first read, nor after a write that failed.
	head  tailrace.SeqNo
	known bool
}

func (cl *cell) give() { <-cl.turn }

// take waits for the turn to change key. The caller gives it back.
func (c *Consensus) take(ctx context.Context, key string) (*cell, error) {
	cl, _, _, err := c.cell(key)
	if err != nil {
		return nil, err
	}
	select {
	case cl.turn <- struct{}{}:
		return cl, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// cell returns the cell of key and what it knows.
func (c *Consensus) cell(key string) (cl *cell, head tailrace.SeqNo, known bool, err error) {
	if strings.IndexByte(key, 0) >= 0 {
		return nil, 0, false, fmt.Errorf("key %q holds a zero byte", key)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	cl = c.keys[key]
	if cl == nil {
		cl = &cell{turn: make(chan struct{}, 1)}
		c.keys[key] = cl
	}
	return cl, cl.head, cl.known, nil
}

func (c *Consensus) remember(cl *cell, head tailrace.SeqNo, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cl.head, cl.known = head, known
}

// durableHead is the newest durable SeqNo of key. While an append is being synced it is still the one before.
func (c *Consensus) durableHead(ctx context.Context, key string) (tailrace.SeqNo, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if _, head, known, err := c.cell(key); known || err != nil {
		return head, err
	}
	cl, err := c.take(ctx, key)
	if err != nil {
		return 0, err
	}
	defer cl.give()
	return c.load(key, cl)
}

// load is the durable head, read if it is not known. The caller has the turn. A write that failed may be in pebble's memory and not
// on disk, so all that is there is synced before it is looked at.
func (c *Consensus) load(key string, cl *cell) (head tailrace.SeqNo, err error) {
	c.mu.Lock()
	head, known := cl.head, cl.known
	c.mu.Unlock()
	if known {
		return head, nil
	}
	if err := c.db.LogData(nil, lsm.Sync); err != nil {
		return 0, fmt.Errorf("sync %s: %w", c.dir, err)
	}
	err = c.iterate(context.Background(), key, 0, 1<<64-2, func(it *lsm.Iterator) error {
		if !it.Last() {
			return it.Error()
		}
		v, err := read(it)
		head = v.Seq
		return err
	})
	if err != nil {
		return 0, err
	}
	c.remember(cl, head, true)
	return head, nil
}
