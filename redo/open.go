package redo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"tailrace"
)

// Open makes the writer of a feed: it reads the newest manifest, takes the next number for its opening, and deletes what no manifest names. From when it returns, writers
// of earlier epochs fail with tailrace.ErrSinkFenced; so does Open when a later one was here before. After any other error it may be called again.
func Open(ctx context.Context, blob tailrace.Blob, o Options) (*Writer, error) {
	if o.Feed == "" {
		return nil, errors.New("open a redo log: the feed has no name")
	}
	w := &Writer{
		blob: blob, o: o.withDefaults(), folder: folder(o.Feed), nonce: rand.Uint64(),
		spans: map[tailrace.CollectionID]*span{}, open: newGathering(), changed: make(chan struct{}), done: make(chan struct{}),
	}
	if err := w.take(ctx); err != nil {
		return nil, fmt.Errorf("open the redo log of feed %s: %w", o.Feed, err)
	}
	w.durable = maps.Clone(w.committed.spans)
	for id, p := range w.durable {
		w.spans[id] = &span{to: p}
	}
	if err := w.sweep(ctx); err != nil {
		w.o.Logger.Warn("redo: what no manifest names stays until the next start", "feed", o.Feed, "error", err)
	}
	return w, nil
}

// take puts the opening. A number that a base has deleted may look free to who read the store before; so the number counts only when it is the newest afterwards.
func (w *Writer) take(ctx context.Context) error {
	for {
		s, err := readState(ctx, w.blob, w.folder)
		if err != nil {
			return err
		}
		if s.epoch > w.o.Epoch {
			return fmt.Errorf("epoch %d holds it, this is %d: %w", s.epoch, w.o.Epoch, tailrace.ErrSinkFenced)
		}
		m := &manifest{number: s.number + 1, epoch: w.o.Epoch, nonce: w.nonce, base: max(s.base, 1), opening: true}
		err = w.blob.Put(ctx, manifestKey(w.folder, m.number), m.encode())
		if errors.Is(err, tailrace.ErrExists) {
			continue
		}
		if err != nil {
			return err
		}
		if newest, err := w.isNewest(ctx, m.number); err != nil || newest {
			s.apply(m)
			w.committed = s
			return err
		}
	}
}

// isNewest reports whether number is the newest manifest, and deletes it if it is one that does not count.
func (w *Writer) isNewest(ctx context.Context, number uint64) (bool, error) {
	numbers, err := manifests(ctx, w.blob, w.folder)
	if err != nil {
		return false, err
	}
	if numbers[len(numbers)-1] == number {
		return true, nil
	}
	s, err := readState(ctx, w.blob, w.folder)
	if err != nil || number >= s.base || slices.Contains(s.openings, number) {
		return false, err
	}
	return false, w.blob.Delete(ctx, manifestKey(w.folder, number))
}

// sweep deletes what earlier writers put and no manifest names, and what the base has made of no use.
func (w *Writer) sweep(ctx context.Context) error {
	numbers, err := manifests(ctx, w.blob, w.folder)
	if err != nil {
		return err
	}
	var litter []string
	for _, n := range numbers {
		if n < w.committed.base && !slices.Contains(w.committed.openings, n) {
			litter = append(litter, manifestKey(w.folder, n))
		}
	}
	named, err := w.named(ctx)
	if err != nil {
		return err
	}
	for _, room := range []string{segmentRoom, pageRoom} {
		for key, err := range w.blob.List(ctx, w.folder+room) {
			if err != nil {
				return err
			}
			epoch, nonce, err := writerOf(strings.TrimPrefix(key, w.folder+room))
			if err == nil && !named[key] && epoch <= w.o.Epoch && nonce != w.nonce {
				litter = append(litter, key)
			}
		}
	}
	for _, key := range litter {
		if err := w.blob.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// named are the keys of the segments and pages that count.
func (w *Writer) named(ctx context.Context) (map[string]bool, error) {
	all, err := w.committed.all(ctx, w.blob, w.folder)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for i := range all {
		named[w.folder+segmentRoom+all[i].name] = true
	}
	for _, p := range w.committed.pages {
		named[w.folder+pageRoom+p.name] = true
	}
	return named, nil
}
