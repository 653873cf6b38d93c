package shard

import (
	"context"
	"fmt"

	"tailrace"
	"tailrace/pool"
	"tailrace/stripe"
)

// runWriter writes sorted updates as a run: for flushes and merges. It is encoded in tasks of a flight of its own, which ends with finish or abort.
type runWriter struct {
	assembler
	flight *pool.Flight
	w      *stripe.Writer // nil until there are updates
	ready  []*stripe.Stripe
}

// newRunWriter begins a run of updates in [lower, upper). single says that all are at one time, each row once. ctx bounds the encoding.
func (s *Set) newRunWriter(ctx context.Context, l *layout, lower, upper tailrace.Time, single bool) *runWriter {
	opts := s.limits.stripeOptions(l, stripe.Options{}, s.limits.mergeStripe)
	return &runWriter{
		assembler: *s.newAssembler(l, opts, lower, upper, single, &puts{set: s}),
		flight:    s.opts.Pool.Flight(ctx, 0),
	}
}

// stripeOptions are opts with the limits of stripes, raw bytes of values to one, and filters of the key.
func (l limits) stripeOptions(of *layout, opts stripe.Options, raw int) stripe.Options {
	opts.StripeRows, opts.PageRows = l.stripe, l.group
	if opts.StripeBytes <= 0 || opts.StripeBytes > raw {
		opts.StripeBytes = raw
	}
	if opts.Filters == nil {
		for _, k := range of.schema.Key {
			opts.Filters = append(opts.Filters, of.schema.Fields[k].ID)
		}
	}
	return opts
}

// newStripes is a stripe.Writer whose stripes are appended to ready.
func (s *Set) newStripes(l *layout, opts stripe.Options, f *pool.Flight, ready *[]*stripe.Stripe) *stripe.Writer {
	w := stripe.NewWriter(l.schema, opts, f, func(x *stripe.Stripe) error {
		s.stripes.encoded.Add(1)
		*ready = append(*ready, x)
		return nil
	})
	w.Logger = s.logger
	return w
}

func (w *runWriter) stripes() *stripe.Writer {
	if w.w == nil {
		w.w = w.set.newStripes(w.l, w.opts, w.flight, &w.ready)
	}
	return w.w
}

// take adds updates that come after those before; b's memory is the writer's from now on.
func (w *runWriter) take(ctx context.Context, b *tailrace.Batch) error {
	return w.written(ctx, w.stripes().Take(b))
}

// sorted is finish after all updates of the groups, in whatever order they are; those of one row, or of one row and time if byTime, are added up.
func (w *runWriter) sorted(ctx context.Context, g *groups, byTime bool) (*run, error) {
	t := tasks{flight: w.flight, logger: w.set.logger}
	in, err := w.l.sortGroups(t, g.all(), w.opts.PageRows, byTime)
	if err != nil {
		return nil, fmt.Errorf("sort rows: %w", err)
	}
	for _, b := range in {
		if err := w.take(ctx, b); err != nil {
			return nil, err
		}
	}
	return w.finish(ctx)
}

// endStripe makes a stripe of what was appended since the last one.
func (w *runWriter) endStripe(ctx context.Context) error {
	if w.w == nil {
		return nil
	}
	return w.written(ctx, w.w.Cut())
}

// written puts the stripes that are encoded into parts.
func (w *runWriter) written(ctx context.Context, err error) error {
	if err != nil {
		return fmt.Errorf("write part: %w", err)
	}
	for _, s := range w.ready {
		if err := w.add(ctx, s); err != nil {
			return err
		}
	}
	w.ready = w.ready[:0]
	return nil
}

// settle puts all updates so far into stripes of the part under way.
func (w *runWriter) settle(ctx context.Context) error {
	if err := w.endStripe(ctx); err != nil || w.w == nil {
		return err
	}
	return w.written(ctx, w.w.Settle())
}

// reuse puts a part that exists into the run as it is, after what was appended.
func (w *runWriter) reuse(ctx context.Context, p *part) error {
	if err := w.settle(ctx); err != nil {
		return err
	}
	return w.assembler.reuse(ctx, p)
}

// copy puts a stripe of a part that exists into the run as it is stored, after what was appended.
func (w *runWriter) copy(ctx context.Context, r *stripe.Reader, i int) error {
	if err := w.settle(ctx); err != nil {
		return err
	}
	s, err := r.Stripe(ctx, i)
	if err != nil {
		return err
	}
	w.set.stripes.copied.Add(1)
	return w.add(ctx, s)
}

// finish returns the run, nil when it has no updates, once all of it is in Blob.
func (w *runWriter) finish(ctx context.Context) (*run, error) {
	if w.w != nil {
		if err := w.written(ctx, w.w.Finish()); err != nil {
			return nil, err
		}
	}
	w.flight.Close()
	return w.assembler.finish(ctx)
}

// abort gives up: it deletes the parts written, except those that keep names.
func (w *runWriter) abort(ctx context.Context, keep map[string]*part) {
	if w.w != nil {
		w.w.Close()
	}
	w.flight.Close()
	w.ready = nil
	w.assembler.abort(ctx, keep)
}
