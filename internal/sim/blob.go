package sim

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"tailrace"
)

// Blob is a tailrace.Blob in memory. Set the exported fields before first use.
type Blob struct {
	SyncTime time.Duration // what a sync takes, 0 nothing
	LazySync bool          // a planted bug: Put acknowledges and never syncs

	mu     sync.Mutex
	dead   bool
	values map[string]*value
}

// value is what a key holds. It is write-once, so that only synced changes.
type value struct {
	bytes  []byte
	synced bool
}

// NewBlob returns an empty store.
func NewBlob() *Blob { return &Blob{values: map[string]*value{}} }

// Get implements tailrace.Blob.
func (b *Blob) Get(ctx context.Context, key string, off, n int64) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.alive(ctx); err != nil {
		return nil, err
	}
	v := b.values[key]
	if v == nil {
		return nil, fmt.Errorf("get %s: %w", key, tailrace.ErrNotFound)
	}
	size := int64(len(v.bytes))
	off = min(off, size)
	if n < 0 || n > size-off {
		n = size - off
	}
	return append(make([]byte, 0, n), v.bytes[off:off+n]...), nil
}

// Put implements tailrace.Blob.
func (b *Blob) Put(ctx context.Context, key string, bytesOfValue []byte) error {
	v, err := b.write(ctx, key, bytesOfValue)
	if err != nil || b.LazySync {
		return err
	}
	pause(context.WithoutCancel(ctx), b.SyncTime)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dead {
		return ErrPower
	}
	v.synced = true
	return nil
}

func (b *Blob) write(ctx context.Context, key string, raw []byte) (*value, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.alive(ctx); err != nil {
		return nil, err
	}
	v := b.values[key]
	switch {
	case v == nil:
		v = &value{bytes: bytes.Clone(raw)}
		b.values[key] = v
	case !bytes.Equal(v.bytes, raw):
		return nil, fmt.Errorf("put %s: %w", key, tailrace.ErrExists)
	}
	return v, nil
}

// Delete implements tailrace.Blob.
func (b *Blob) Delete(ctx context.Context, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.alive(ctx); err != nil {
		return err
	}
	delete(b.values, key)
	return nil
}

// List implements tailrace.Blob. It yields the keys of the moment it began.
func (b *Blob) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		b.mu.Lock()
		err := b.alive(ctx)
		keys := slices.Sorted(maps.Keys(b.values))
		b.mu.Unlock()
		if err != nil {
			yield("", err)
			return
		}
		for _, key := range keys {
			if strings.HasPrefix(key, prefix) && !yield(key, nil) {
				return
			}
		}
	}
}

// alive says whether a call may go on. The caller holds mu.
func (b *Blob) alive(ctx context.Context) error {
	if b.dead {
		return ErrPower
	}
	return ctx.Err()
}

// PowerCut ends the store, whose calls fail from now on, and returns what a restarted machine finds.
func (b *Blob) PowerCut(rng *rand.Rand) *Blob {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dead = true
	after := NewBlob()
	after.SyncTime, after.LazySync = b.SyncTime, b.LazySync
	for _, key := range slices.Sorted(maps.Keys(b.values)) {
		if v := b.values[key]; v.synced || rng.IntN(2) == 0 {
			after.values[key] = &value{bytes: v.bytes, synced: true}
		}
	}
	return after
}
