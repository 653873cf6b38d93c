package world

import (
	"context"
	"hash/fnv"
	"iter"
	"time"

	"tailrace"
)

// pass waits while the process is stopped, and fails when it is dead. What waited together goes on one after the other, each at a moment that its name tells:
// without that, no seed would tell who is first.
func (l *life) pass(name string) error {
	if l.gate.Pass() {
		h := fnv.New64a()
		_, _ = h.Write([]byte(name)) // never fails
		sleep(context.Background(), 1+time.Duration(h.Sum64()%uint64(time.Millisecond)))
	}
	return errCall(&l.dead)
}

// call makes a call of a process that may be stopped, or killed: then it ends with an error, whatever became of it.
func call[T any](l *life, name string, fn func() (T, error)) (out T, err error) {
	if err := l.pass(name); err != nil {
		return out, err
	}
	out, err = fn()
	if dead := l.pass(name); dead != nil {
		err = dead
	}
	return out, err
}

type none struct{}

// alive is the Consensus of a process.
type alive struct {
	under tailrace.Consensus
	life  *life
}

func (a alive) Head(ctx context.Context, key string) (tailrace.Versioned, error) {
	return call(a.life, "head "+key, func() (tailrace.Versioned, error) { return a.under.Head(ctx, key) })
}

func (a alive) Scan(ctx context.Context, key string, from tailrace.SeqNo, limit int) ([]tailrace.Versioned, error) {
	return call(a.life, "scan "+key, func() ([]tailrace.Versioned, error) { return a.under.Scan(ctx, key, from, limit) })
}

func (a alive) CompareAndSet(ctx context.Context, key string, expect tailrace.SeqNo, value []byte) (bool, error) {
	return call(a.life, "set "+key, func() (bool, error) {
		ok, err := a.under.CompareAndSet(ctx, key, expect, value)
		if ok && key == checkpointKey && a.life.ambushed.Swap(false) {
			a.life.kill()
		}
		return ok, err
	})
}

func (a alive) Truncate(ctx context.Context, key string, before tailrace.SeqNo) error {
	_, err := call(a.life, "truncate "+key, func() (none, error) { return none{}, a.under.Truncate(ctx, key, before) })
	return err
}

// aliveBlob is the Blob of a process.
type aliveBlob struct {
	under tailrace.Blob
	life  *life
}

func (a aliveBlob) Get(ctx context.Context, key string, off, n int64) ([]byte, error) {
	return call(a.life, "get "+key, func() ([]byte, error) { return a.under.Get(ctx, key, off, n) })
}

func (a aliveBlob) Put(ctx context.Context, key string, value []byte) error {
	_, err := call(a.life, "put "+key, func() (none, error) { return none{}, a.under.Put(ctx, key, value) })
	return err
}

func (a aliveBlob) Delete(ctx context.Context, key string) error {
	_, err := call(a.life, "delete "+key, func() (none, error) { return none{}, a.under.Delete(ctx, key) })
	return err
}

func (a aliveBlob) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := a.life.pass("list " + prefix); err != nil {
			yield("", err)
			return
		}
		a.under.List(ctx, prefix)(yield)
	}
}
