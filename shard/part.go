package shard

import (
	"context"
	"fmt"

	"tailrace"
	"tailrace/stripe"
)

// PartBytes is where a run is cut into parts, in encoded bytes; with the piece that reaches it a part stays below 64 MiB.
const PartBytes = 32 << 20

// open returns the part's reader, whose footer is read once and kept as long as a manifest names the part.
func (s *Set) open(ctx context.Context, p *part) (*stripe.Reader, error) {
	if r := p.reader.Load(); r != nil {
		return r, nil
	}
	fetch := func(ctx context.Context, off, n int64) ([]byte, error) {
		raw, err := s.blob.Get(ctx, p.key, off, n)
		if err == nil && int64(len(raw)) != n {
			err = fmt.Errorf("%d of %d bytes at %d: %w", len(raw), n, off, tailrace.ErrCorrupt)
		}
		return raw, err
	}
	r, err := stripe.Open(ctx, fetch, p.size)
	if err != nil {
		return nil, fmt.Errorf("open part %s: %w", p.key, err)
	}
	r.Name = p.key
	if !p.reader.CompareAndSwap(nil, r) {
		r = p.reader.Load()
	}
	return r, nil
}

// read returns columns of page group g of the part, times and diffs included. Errors name the part.
func (s *Set) read(ctx context.Context, p *part, g int, cols []tailrace.ColumnID) (*tailrace.Batch, error) {
	r, err := s.open(ctx, p)
	if err != nil {
		return nil, err
	}
	return r.Read(ctx, g, cols)
}

// runWriter writes sorted updates as a run. Give up with abort, which deletes what was written.
type runWriter struct {
	set    *Set
	l      *layout
	single bool // all updates are at one time, each row once
	out    run

	w           *stripe.Writer
	first, last []byte
	rows        int64
	plain       bool
}

func (s *Set) newRunWriter(l *layout, lower, upper tailrace.Time, single bool) *runWriter {
	return &runWriter{set: s, l: l, single: single, out: run{lower: lower, upper: upper, order: l.ids()}}
}

// append adds updates that come after those before. A batch is not cut, so it must be well below PartBytes or the only one.
func (w *runWriter) append(ctx context.Context, b *tailrace.Batch) error {
	if b.N == 0 {
		return nil
	}
	if w.w == nil {
		w.w = stripe.NewWriter(w.l.schema, stripe.Options{})
		w.first, w.rows, w.plain = bound(w.l.appendKey(nil, b, 0)), 0, true
	}
	if err := w.w.Append(b); err != nil {
		return fmt.Errorf("write part: %w", err)
	}
	w.last = w.l.appendKey(w.last[:0], b, b.N-1)
	w.rows += int64(b.N)
	for _, d := range b.Diffs {
		w.plain = w.plain && d > 0
	}
	if w.w.Size() >= w.set.limits.part {
		return w.cut(ctx)
	}
	return nil
}

// cut finishes the part that is being written and puts it into Blob.
func (w *runWriter) cut(ctx context.Context) error {
	if w.w == nil {
		return nil
	}
	raw, _, err := w.w.Finish()
	if err != nil {
		return fmt.Errorf("write part: %w", err)
	}
	w.w = nil
	p := &part{key: w.set.newKey(), size: int64(len(raw)), rows: w.rows, first: w.first, last: bound(w.last)}
	if w.single {
		p.flags |= flagSingle
		if w.plain {
			p.flags |= flagPlain
		}
	}
	w.out.parts = append(w.out.parts, p) // before Put, so that abort deletes it when the outcome of Put is unknown
	if err := w.set.blob.Put(ctx, p.key, raw); err != nil {
		return fmt.Errorf("put part %s: %w", p.key, err)
	}
	return nil
}

// reuse puts a part that exists into the run as it is.
func (w *runWriter) reuse(ctx context.Context, p *part) error {
	if err := w.cut(ctx); err != nil {
		return err
	}
	w.out.parts = append(w.out.parts, p.at(0))
	return nil
}

// finish returns the run, nil when it has no updates.
func (w *runWriter) finish(ctx context.Context) (*run, error) {
	if err := w.cut(ctx); err != nil {
		return nil, err
	}
	if len(w.out.parts) == 0 {
		return nil, nil
	}
	return &w.out, nil
}

// abort deletes the parts written, except those that keep names. What cannot be deleted now is swept once the session has ended.
func (w *runWriter) abort(ctx context.Context, keep map[string]*part) {
	for _, p := range w.out.parts {
		if keep[p.key] == nil {
			w.set.discard(ctx, p.key)
		}
	}
}

// discard deletes an object that nobody names.
func (s *Set) discard(ctx context.Context, key string) {
	if err := s.blob.Delete(context.WithoutCancel(ctx), key); err != nil {
		s.logger.Warn("delete unused part", "key", key, "error", err)
	}
}

// newKey is a key that no object has had.
func (s *Set) newKey() string {
	return fmt.Sprintf("part/%s/%d", s.session, s.counter.Add(1))
}
