package shard

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"tailrace"
	"tailrace/stripe"
)

// assembler puts stripes, which come in order, into the parts of a run, and those into Blob while the next one is assembled. Which stripes share a part is
// decided by their sizes alone. One goroutine uses it. Give up with abort, which deletes what was written.
//
//	stripe n+1 ─▶ part ─ full ─▶ [hash ─▶ Blob]  one at a time, beside the assembler
type assembler struct {
	set    *Set
	l      *layout
	opts   stripe.Options
	single bool // all updates are at one time, each row once
	out    run
	puts   *puts // may be shared with other runs of one transaction

	part        *stripe.Part // of the stripes since the last cut; nil when there are none
	rows        int64        // of it
	first, last []byte       // row keys, likewise
	plain       bool         // no diff in it is below 1
}

func (s *Set) newAssembler(l *layout, opts stripe.Options, lower, upper tailrace.Time, single bool, p *puts) *assembler {
	return &assembler{set: s, l: l, opts: opts, single: single, out: run{lower: lower, upper: upper, order: l.ids()}, puts: p}
}

// add appends a stripe, whose memory is the assembler's from now on.
func (a *assembler) add(ctx context.Context, s *stripe.Stripe) error {
	if a.part != nil && !a.part.Fits(s) {
		if err := a.cut(ctx); err != nil {
			return err
		}
	}
	if a.part == nil {
		a.part, a.rows, a.plain = stripe.NewPart(a.l.schema, a.opts, a.puts.memory()), 0, true
		a.first = bound(s.Meta.FirstKey)
	}
	a.rows += int64(s.Meta.Rows)
	a.last = bound(s.Meta.LastKey)
	a.plain = a.plain && addsOnly(&s.Meta)
	if err := a.part.Add(s); err != nil {
		return fmt.Errorf("write part: %w", err)
	}
	if a.part.Size() >= a.set.limits.part {
		return a.cut(ctx)
	}
	return nil
}

// addsOnly reports whether every diff of a stripe is above 0, by the bounds that are kept of them.
func addsOnly(m *stripe.StripeMeta) bool {
	one := tailrace.Column{Width: 8, N: 1, Data: []byte{1, 0, 0, 0, 0, 0, 0, 0}}
	diffs := &m.Chunks[1]
	return diffs.Min != nil && bytes.Compare(diffs.Min, tailrace.AppendKey(nil, tailrace.TypeOf(tailrace.KindInt8), &one, 0)) >= 0
}

// cut ends the part under way and begins to put it into Blob.
func (a *assembler) cut(ctx context.Context) error {
	if a.part == nil {
		return nil
	}
	p := &part{key: a.set.newKey(), rows: a.rows, first: a.first, last: a.last}
	if a.single {
		p.flags |= flagSingle
		if a.plain {
			p.flags |= flagPlain
		}
	}
	full := a.part
	a.part = nil
	a.out.parts = append(a.out.parts, p) // before it is put, so that abort deletes it when the outcome is unknown
	return a.puts.begin(ctx, p, full)
}

// reuse puts a part that exists into the run as it is.
func (a *assembler) reuse(ctx context.Context, p *part) error {
	if err := a.cut(ctx); err != nil {
		return err
	}
	a.out.parts = append(a.out.parts, p.at(0))
	return nil
}

// size is what the part under way takes in memory, in bytes.
func (a *assembler) size() int64 {
	if a.part == nil {
		return 0
	}
	return int64(a.part.Size())
}

// finish returns the run, nil when it has no updates, once all of it is in Blob.
func (a *assembler) finish(ctx context.Context) (*run, error) {
	if err := a.cut(ctx); err != nil {
		return nil, err
	}
	if err := a.puts.wait(); err != nil {
		return nil, err
	}
	if len(a.out.parts) == 0 {
		return nil, nil
	}
	return &a.out, nil
}

// abort deletes the parts written, except those that keep names. What cannot be deleted now is swept once the session has ended.
func (a *assembler) abort(ctx context.Context, keep map[string]*part) {
	_ = a.puts.wait()
	a.part = nil
	for _, p := range a.out.parts {
		if keep[p.key] == nil {
			a.set.discard(ctx, p.key)
		}
	}
	a.out.parts = nil
}

// puts puts parts into Blob, one at a time: a goroutine at most, which wait waits for. Only its owner calls it.
type puts struct {
	set   *Set
	under sync.WaitGroup
	size  int64                  // of the part under way, in bytes
	buf   atomic.Pointer[[]byte] // memory of a part that is in Blob, for a next one
	err   error                  // the first, for good
}

// held is what it holds, in bytes: the part under way, and memory for a next one.
func (p *puts) held() int64 {
	if buf := p.buf.Load(); buf != nil {
		return p.size + int64(len(*buf))
	}
	return p.size
}

// memory is that of a part that is in Blob already, for a next one; nil for none.
func (p *puts) memory() []byte {
	if buf := p.buf.Swap(nil); buf != nil {
		return *buf
	}
	return nil
}

// begin finishes a part and puts it, after the one before. ctx does not end that once it began.
func (p *puts) begin(ctx context.Context, to *part, from *stripe.Part) error {
	if err := p.wait(); err != nil {
		return err
	}
	p.size = int64(from.Size())
	ctx = context.WithoutCancel(ctx)
	p.under.Go(func() { p.err = p.put(ctx, to, from) })
	return nil
}

func (p *puts) put(ctx context.Context, to *part, from *stripe.Part) error {
	raw, _, err := from.Finish()
	if err != nil {
		return fmt.Errorf("write part: %w", err)
	}
	to.size = int64(len(raw))
	if err := p.set.blob.Put(ctx, to.key, raw); err != nil {
		return fmt.Errorf("put part %s: %w", to.key, err)
	}
	p.buf.Store(&raw)
	return nil
}

// wait waits until all that was begun is in Blob.
func (p *puts) wait() error {
	p.under.Wait()
	p.size = 0
	return p.err
}
