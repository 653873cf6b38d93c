package redo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"tailrace"
)

const (
	foldEvery    = 64   // manifests; then a base
	pageSegments = 1024 // that a base names one by one before they go into a page
	retryFirst   = 100 * time.Millisecond
	retryMost    = 5 * time.Second
)

// flight is a gathering on its way: its segment is being put, and once it is there its manifest is.
type flight struct {
	*gathering
	segment segment       // if it has drafts
	put     chan struct{} // closed when the segment is there, or err tells why not
	err     error
}

// Run puts what is added, until ctx ends or Close: segments side by side with the collecting of the next, manifests one after the other. Errors of the store are told to
// Options.State and tried again. It returns ctx's error, one that wraps tailrace.ErrSinkFenced, or nil after Close.
func (w *Writer) Run(ctx context.Context) error {
	w.mu.Lock()
	w.running = true
	w.mu.Unlock()
	group, ctx := errgroup.WithContext(ctx)
	flights, useless := make(chan *flight, 1), make(chan []string, 1)
	group.Go(func() error {
		defer close(flights)
		return w.cut(ctx, group, flights)
	})
	group.Go(func() error {
		defer close(useless)
		return w.commit(ctx, flights, useless)
	})
	group.Go(func() error { return w.clean(ctx, useless) })
	err := group.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	w.signal()
	close(w.done)
	return err
}

// cut sends off what was collected, each time it is due.
func (w *Writer) cut(ctx context.Context, group *errgroup.Group, flights chan<- *flight) error {
	for {
		g, err := w.due(ctx)
		if err != nil || g == nil {
			return err
		}
		f := &flight{gathering: g, put: make(chan struct{})}
		var raw []byte
		if len(g.drafts) > 0 {
			f.segment, raw = assemble(w.newName(), g.drafts)
			g.drafts = nil
		}
		group.Go(func() error {
			defer close(f.put)
			if raw == nil {
				return nil
			}
			f.err = w.retry(ctx, func() error { return w.blob.Put(ctx, w.folder+segmentRoom+f.segment.name, raw) })
			return f.err
		})
		select {
		case flights <- f:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (w *Writer) newName() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
	return objectName(w.o.Epoch, w.nonce, w.count)
}

// due waits until what was collected is to be put, and takes it; nil when the writer is closed and all is taken.
func (w *Writer) due(ctx context.Context) (*gathering, error) {
	for {
		g, wait, changed, closed := w.takeDue()
		if g != nil || closed {
			return g, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
		timer.Stop()
	}
}

// takeDue takes what was collected if it is due, and else says how long that may last and what to wait for.
func (w *Writer) takeDue() (g *gathering, wait time.Duration, changed <-chan struct{}, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	empty := w.open.since.IsZero()
	if !empty {
		wait = w.o.FlushEvery - time.Since(w.open.since)
	}
	switch {
	case empty:
		w.flush = false
		return nil, w.o.FlushEvery, w.changed, w.closed
	case wait > 0 && w.open.total < int64(w.o.FlushBytes) && !w.flush && !w.closed:
		return nil, wait, w.changed, false
	}
	g, w.open, w.flush = w.open, newGathering(), false
	return g, 0, nil, false
}

// commit puts the manifest of each flight after its segment, and tells that it is durable. What a base makes of no use it sends to useless.
func (w *Writer) commit(ctx context.Context, flights <-chan *flight, useless chan<- []string) error {
	for f := range flights {
		if <-f.put; f.err != nil {
			return f.err
		}
		m, err := w.manifest(ctx, f)
		if err == nil {
			err = w.putManifest(ctx, m)
		}
		if err != nil {
			return err
		}
		old := w.committed.base
		w.committed.apply(m)
		w.acked(f.gathering)
		if m.base != old {
			select {
			case useless <- w.folded(old, m):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// manifest is that of f: what is new with it, or from time to time a base.
func (w *Writer) manifest(ctx context.Context, f *flight) (*manifest, error) {
	s := w.committed
	m := &manifest{number: s.number + 1, epoch: w.o.Epoch, nonce: w.nonce, base: s.base, spans: f.to}
	if len(f.segment.regions) > 0 {
		m.loose = []segment{f.segment}
	}
	if m.number-s.base < foldEvery {
		return m, nil
	}
	b := s.folded(m.number)
	maps.Copy(b.spans, m.spans)
	if len(b.loose) >= pageSegments {
		name := w.newName()
		if err := w.retry(ctx, func() error { return w.blob.Put(ctx, w.folder+pageRoom+name, encodePage(b.loose)) }); err != nil {
			return nil, err
		}
		b.pages, b.loose = append(b.pages, page{name, len(b.loose)}), nil
	}
	b.loose = append(b.loose, m.loose...)
	return b, nil
}

// putManifest puts m. Its number is taken only by a writer that has begun later.
func (w *Writer) putManifest(ctx context.Context, m *manifest) error {
	key, raw := manifestKey(w.folder, m.number), m.encode()
	return w.retry(ctx, func() error { return w.blob.Put(ctx, key, raw) })
}

// folded lists the manifests that base m makes of no use: those from the base before it on, but openings.
func (w *Writer) folded(from uint64, m *manifest) []string {
	var keys []string
	for n := from; n < m.number; n++ {
		if !slices.Contains(m.openings, n) {
			keys = append(keys, manifestKey(w.folder, n))
		}
	}
	return keys
}

// clean deletes what it is sent. What it cannot delete, the next Open does.
func (w *Writer) clean(ctx context.Context, useless <-chan []string) error {
	for keys := range useless {
		for _, key := range keys {
			if err := w.blob.Delete(ctx, key); err != nil {
				w.o.Logger.Warn("redo: manifests that are folded stay until the next start", "feed", w.o.Feed, "error", err)
				break
			}
		}
	}
	return nil
}

// acked notes and tells that g is durable.
func (w *Writer) acked(g *gathering) {
	w.mu.Lock()
	w.unflushed -= g.total
	maps.Copy(w.durable, g.to)
	w.signal()
	w.mu.Unlock()
	for id, to := range g.to {
		w.o.Acked(id, g.bytes[id], to)
	}
}

// retry does what may fail until it does not. Of a key that another value has it says that the writer is fenced: names are ours alone, and the numbers of manifests
// are ours until another one begins.
func (w *Writer) retry(ctx context.Context, put func() error) error {
	failing := false
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		err := put()
		switch {
		case err == nil:
			if failing {
				w.o.State(nil)
			}
			return nil
		case errors.Is(err, tailrace.ErrExists):
			return fmt.Errorf("write the redo log of feed %s: %w: %w", w.o.Feed, err, tailrace.ErrSinkFenced)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if !failing {
			w.o.Logger.Warn("redo: the store fails; trying on", "feed", w.o.Feed, "error", err)
		}
		failing = true
		w.o.State(err)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}
