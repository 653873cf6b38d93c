package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"tailrace"
	"tailrace/pool"
	"tailrace/shard"
)

// whole takes the file all the way that a COPY takes below SQL: cut, parsed, tested for order or sorted, encoded, put. It returns a hash of the parts in the
// order of their keys. A nil pool, or one that nobody runs, leaves all work to the caller.
func (s *source) whole(ctx context.Context, p *pool.Pool, workers int) (sum string, err error) {
	in, err := os.Open(s.path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	kept := &sumBlob{sums: map[string][sha256.Size]byte{}}
	set := shard.New(kept, "00000000000000aa", shard.Options{Logger: slog.New(slog.DiscardHandler), Pool: p})
	set.Define(directTable, s.Schema, time.Minute, 1)
	f := p.Flight(ctx, workers)
	defer f.Close()
	w := set.NewWriter(directTable, s.Schema, shard.WriteOptions{Workers: workers})
	r := newReading(s.Shape, f)
	r.memory = w.Spare
	if err := r.read(in, func(_ *reading, b *tailrace.Batch) error { return w.Take(ctx, b) }); err != nil {
		w.Abort(ctx)
		return "", err
	}
	if _, err := w.Records(ctx); err != nil {
		return "", err
	}
	return kept.sum(), nil
}

// sumBlob is a Blob that keeps a hash of what is put.
type sumBlob struct {
	tailrace.Blob // nil: a load puts parts, and deletes them when it fails
	mu            sync.Mutex
	sums          map[string][sha256.Size]byte
}

// Put implements tailrace.Blob.
func (b *sumBlob) Put(_ context.Context, key string, value []byte) error {
	sum := sha256.Sum256(value)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sums[key] = sum
	return nil
}

// Delete implements tailrace.Blob.
func (b *sumBlob) Delete(_ context.Context, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.sums, key)
	return nil
}

// sum is one hash of all values, in the order of their keys.
func (b *sumBlob) sum() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(b.sums)) {
		sum := b.sums[key]
		all.Write(sum[:])
	}
	return hex.EncodeToString(all.Sum(nil))
}
