package sim

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"tailrace"
)

// ErrPower is returned by a store whose machine has lost power. Whether an interrupted write is there, only PowerCut's result knows.
var ErrPower = errors.New("power lost")

// Consensus is a tailrace.Consensus in memory. Set the exported fields before first use.
type Consensus struct {
	SyncTime time.Duration // what a sync takes, 0 nothing
	LazySync bool          // a planted bug: acknowledge before the sync, and sync only every eighth write

	mu   sync.Mutex
	dead bool
	keys map[string]*history
}

// history is one key. What is written is values; values[:visible] can be read, values[:synced] survives a power cut.
type history struct {
	values          []tailrace.Versioned
	visible, synced int
	turn            chan struct{} // held by the one writer
	grew            chan struct{} // closed when more is visible; nil while nobody watches
}

func (h *history) head() tailrace.Versioned {
	if h.visible == 0 {
		return tailrace.Versioned{}
	}
	return h.values[h.visible-1]
}

// NewConsensus returns an empty store.
func NewConsensus() *Consensus { return &Consensus{keys: map[string]*history{}} }

// key returns the history of key. The caller holds mu.
func (c *Consensus) key(key string) (*history, error) {
	if c.dead {
		return nil, ErrPower
	}
	h := c.keys[key]
	if h == nil {
		h = &history{turn: make(chan struct{}, 1)}
		c.keys[key] = h
	}
	return h, nil
}

// Head implements tailrace.Consensus.
func (c *Consensus) Head(ctx context.Context, key string) (tailrace.Versioned, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, err := c.key(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return tailrace.Versioned{}, err
	}
	v := h.head()
	v.Value = bytes.Clone(v.Value)
	return v, nil
}

// Scan implements tailrace.Consensus.
func (c *Consensus) Scan(ctx context.Context, key string, from tailrace.SeqNo, limit int) ([]tailrace.Versioned, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, err := c.key(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	var out []tailrace.Versioned
	for _, v := range h.values[:h.visible] {
		if v.Seq >= from && len(out) < limit {
			out = append(out, tailrace.Versioned{Seq: v.Seq, Value: bytes.Clone(v.Value)})
		}
	}
	return out, nil
}

// CompareAndSet implements tailrace.Consensus: written, then synced after SyncTime, then visible and acknowledged.
func (c *Consensus) CompareAndSet(ctx context.Context, key string, expect tailrace.SeqNo, value []byte) (bool, error) {
	c.mu.Lock()
	h, err := c.key(key)
	c.mu.Unlock()
	if err != nil {
		return false, err
	}
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if ok, err := c.write(h, expect, value); !ok || err != nil {
		return false, err
	}
	if c.LazySync {
		return true, nil
	}
	pause(context.WithoutCancel(ctx), c.SyncTime) // a sync under way cannot be called back
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return false, ErrPower
	}
	h.synced = len(h.values)
	h.show()
	return true, nil
}

// show makes all that is written visible. The caller holds mu.
func (h *history) show() {
	h.visible = len(h.values)
	if h.grew != nil {
		close(h.grew)
		h.grew = nil
	}
}

// Watch implements tailrace.Watcher.
func (c *Consensus) Watch(ctx context.Context, key string, after tailrace.SeqNo) error {
	c.mu.Lock()
	h, err := c.key(key)
	if err != nil || h.head().Seq > after {
		c.mu.Unlock()
		return err
	}
	if h.grew == nil {
		h.grew = make(chan struct{})
	}
	grew := h.grew
	c.mu.Unlock()
	select {
	case <-grew:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write adds value to what is written. The caller holds the key's turn.
func (c *Consensus) write(h *history, expect tailrace.SeqNo, value []byte) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return false, ErrPower
	}
	if h.head().Seq != expect {
		return false, nil
	}
	h.values = append(h.values, tailrace.Versioned{Seq: expect + 1, Value: bytes.Clone(value)})
	if c.LazySync {
		h.show()
		if expect%8 == 7 {
			h.synced = len(h.values)
		}
	}
	return true, nil
}

// Truncate implements tailrace.Consensus.
func (c *Consensus) Truncate(ctx context.Context, key string, before tailrace.SeqNo) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, err := c.key(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	for h.visible > 1 && h.values[0].Seq < before {
		h.values = h.values[1:]
		h.visible--
		h.synced = max(h.synced-1, 0)
	}
	return nil
}

// PowerCut ends the store, whose calls fail from now on, and returns what a restarted machine finds.
func (c *Consensus) PowerCut(rng *rand.Rand) *Consensus {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead = true
	after := NewConsensus()
	after.SyncTime, after.LazySync = c.SyncTime, c.LazySync
	for _, key := range slices.Sorted(maps.Keys(c.keys)) {
		h := c.keys[key]
		kept := h.synced + rng.IntN(len(h.values)-h.synced+1)
		after.keys[key] = &history{
			values: append([]tailrace.Versioned(nil), h.values[:kept]...), visible: kept, synced: kept, turn: make(chan struct{}, 1),
		}
	}
	return after
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
