package tailrace

import (
	"context"
	"errors"
	"iter"
)

// ErrNotFound is returned (wrapped) by Blob.Get for a key that holds nothing.
var ErrNotFound = errors.New("not found")

// ErrExists is returned (wrapped) by Blob.Put for a key that already holds another value.
var ErrExists = errors.New("already exists")

// ErrFull is returned (wrapped) by a store that has too little free space to accept a write safely. Nothing was written.
var ErrFull = errors.New("no space left")

// Blob keeps write-once values under unique keys and is linearizable: a value that one caller Put is there for all.
// Keys are slash-separated names of [a-z0-9-_.]; values are at most 256 MiB.
type Blob interface {
	// Get reads n bytes from offset off; n < 0 reads to the end. A value shorter than off+n gives what is there.
	// The caller owns the result. A missing key is ErrNotFound.
	Get(ctx context.Context, key string, off, n int64) ([]byte, error)
	// Put stores value, durable when it returns nil. After any other error than ErrFull and ErrExists it is unknown whether the
	// value is there; the same bytes may be put again. The store does not keep value.
	Put(ctx context.Context, key string, value []byte) error
	// Delete removes the key; a missing one is fine.
	Delete(ctx context.Context, key string) error
	// List yields the keys that begin with prefix, in byte order.
	List(ctx context.Context, prefix string) iter.Seq2[string, error]
}

// Versioned is one value of a Consensus key and its place in that key's history. The zero Versioned means the key was never set.
type Versioned struct {
	Seq   SeqNo
	Value []byte
}

// Consensus keeps a history of values under each of a few keys and is linearizable.
type Consensus interface {
	// Head returns the newest value of key, the zero Versioned if there is none. Truncation never removes the head.
	Head(ctx context.Context, key string) (Versioned, error)
	// Scan returns up to limit values from SeqNo from on, oldest first. Values that were truncated are left out: the
	// first result then has a larger Seq than from.
	Scan(ctx context.Context, key string, from SeqNo, limit int) ([]Versioned, error)
	// CompareAndSet writes value as Seq expect+1 if the head is at expect. true: done and durable. false: not done and never
	// will be. An error means the outcome is unknown, except ErrFull (not done).
	CompareAndSet(ctx context.Context, key string, expect SeqNo, value []byte) (bool, error)
	// Truncate removes the values below before.
	Truncate(ctx context.Context, key string, before SeqNo) error
}

// Watcher is what a Consensus may be besides: one that tells of new values, so that nobody needs to ask again and again. It is found by type assertion.
type Watcher interface {
	// Watch returns nil once the head of key is past after, at once if it is already. It may return nil before, so the caller looks. An error is
	// ctx's or says that the store cannot watch now.
	Watch(ctx context.Context, key string, after SeqNo) error
}
