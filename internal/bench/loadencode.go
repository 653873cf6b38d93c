package bench

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"

	"tailrace"
	"tailrace/pool"
	"tailrace/stripe"
)

// encoding puts the stripes of a Writer into parts.
type encoding struct {
	schema *tailrace.Schema
	opts   stripe.Options
	part   *stripe.Part // under way; nil: none
	parts  [][]byte
}

// newWriter returns a writer whose stripes go to the encoding.
func (e *encoding) newWriter(f *pool.Flight) *stripe.Writer {
	w := stripe.NewWriter(e.schema, e.opts, f, e.emit)
	w.Logger = slog.New(slog.DiscardHandler) // a panic that was asked for is no news
	return w
}

func (e *encoding) emit(s *stripe.Stripe) error {
	if e.part != nil && !e.part.Fits(s) {
		if err := e.cut(); err != nil {
			return err
		}
	}
	if e.part == nil {
		e.part = stripe.NewPart(e.schema, e.opts, nil)
	}
	return e.part.Add(s)
}

// cut finishes the part under way.
func (e *encoding) cut() error {
	if e.part == nil {
		return nil
	}
	raw, _, err := e.part.Finish()
	e.parts, e.part = append(e.parts, raw), nil
	return err
}

// encode makes parts of batches, which stay the caller's.
func encode(schema *tailrace.Schema, batches []*tailrace.Batch, f *pool.Flight, opts stripe.Options) ([][]byte, error) {
	defer f.Close()
	e := &encoding{schema: schema, opts: opts}
	w := e.newWriter(f)
	defer w.Close()
	for _, b := range batches {
		if err := w.Append(b); err != nil {
			return nil, err
		}
	}
	if err := w.Finish(); err != nil {
		return nil, err
	}
	return e.parts, e.cut()
}

// sumOf is one SHA-256 for several parts.
func sumOf(parts [][]byte) string {
	h := sha256.New()
	for _, p := range parts {
		sum := sha256.Sum256(p)
		h.Write(sum[:])
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// opened are readers of parts in memory.
func opened(ctx context.Context, parts [][]byte) (out []*stripe.Reader, err error) {
	for _, raw := range parts {
		r, err := stripe.Open(ctx, func(_ context.Context, off, n int64) ([]byte, error) { return raw[off : off+n], nil }, int64(len(raw)))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
