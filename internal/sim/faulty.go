package sim

import (
	"bytes"
	"context"
	"iter"

	"tailrace"
)

// FaultyConsensus does to the calls of Under what Plan says.
type FaultyConsensus struct {
	Under tailrace.Consensus
	Plan  *Plan
}

// Head implements tailrace.Consensus.
func (c *FaultyConsensus) Head(ctx context.Context, key string) (v tailrace.Versioned, err error) {
	err = c.Plan.read(ctx, "head "+key, func(outcome) error {
		v, err = c.Under.Head(ctx, key)
		return err
	})
	return v, err
}

// Scan implements tailrace.Consensus. A torn one gives the first half, one value at least.
func (c *FaultyConsensus) Scan(ctx context.Context, key string, from tailrace.SeqNo, limit int) (vs []tailrace.Versioned, err error) {
	err = c.Plan.read(ctx, "scan "+key, func(o outcome) error {
		vs, err = c.Under.Scan(ctx, key, from, limit)
		if o.torn {
			vs = vs[:(len(vs)+1)/2]
		}
		return err
	})
	return vs, err
}

// CompareAndSet implements tailrace.Consensus.
func (c *FaultyConsensus) CompareAndSet(ctx context.Context, key string, expect tailrace.SeqNo, value []byte) (bool, error) {
	var done bool
	value = bytes.Clone(value) // a late write must not see what the caller does with its buffer afterwards
	answer := make(chan bool, 1)
	err := c.Plan.write(ctx, "compareandset "+key, func(ctx context.Context) error {
		ok, err := c.Under.CompareAndSet(ctx, key, expect, value)
		answer <- ok
		return err
	})
	if err == nil {
		done = <-answer
	}
	return done, err
}

// Truncate implements tailrace.Consensus.
func (c *FaultyConsensus) Truncate(ctx context.Context, key string, before tailrace.SeqNo) error {
	return c.Plan.write(ctx, "truncate "+key, func(ctx context.Context) error { return c.Under.Truncate(ctx, key, before) })
}

// FaultyBlob does to the calls of Under what Plan says.
type FaultyBlob struct {
	Under tailrace.Blob
	Plan  *Plan
}

// Get implements tailrace.Blob.
func (b *FaultyBlob) Get(ctx context.Context, key string, off, n int64) (value []byte, err error) {
	err = b.Plan.read(ctx, "get "+key, func(outcome) error {
		value, err = b.Under.Get(ctx, key, off, n)
		return err
	})
	return value, err
}

// Put implements tailrace.Blob.
func (b *FaultyBlob) Put(ctx context.Context, key string, value []byte) error {
	value = bytes.Clone(value)
	return b.Plan.write(ctx, "put "+key, func(ctx context.Context) error { return b.Under.Put(ctx, key, value) })
}

// Delete implements tailrace.Blob.
func (b *FaultyBlob) Delete(ctx context.Context, key string) error {
	return b.Plan.write(ctx, "delete "+key, func(ctx context.Context) error { return b.Under.Delete(ctx, key) })
}

// List implements tailrace.Blob. A torn one breaks off with an error after some keys.
func (b *FaultyBlob) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var torn bool
		err := b.Plan.read(ctx, "list "+prefix, func(o outcome) error {
			torn = o.torn
			return nil
		})
		if err != nil {
			yield("", err)
			return
		}
		n := 0
		for key, err := range b.Under.List(ctx, prefix) {
			if n++; torn && n > 2 {
				yield("", ErrFault)
				return
			}
			if !yield(key, err) {
				return
			}
		}
	}
}
