package shard

import (
	"bytes"
	"context"
	"slices"

	"tailrace/stripe"
)

// storedStripe is a stripe of an input of a merge.
type storedStripe struct {
	in     int // input
	part   int // of its parts
	reader *stripe.Reader
	i      int
	copies bool // it can be copied when no other stripe meets it
}

func (s *storedStripe) meta() *stripe.StripeMeta { return &s.reader.Footer().Stripes[s.i] }

// byStripes divides a stretch whose parts meet into finer ones by their stripes; whole tells that the result is the whole state.
func (sh *Shard) byStripes(ctx context.Context, s stretch, whole bool, w *runWriter) ([]stretch, error) {
	all, err := sh.storedStripes(ctx, s.inputs, whole, w)
	if err != nil {
		return nil, err
	}
	for i := range all {
		s.rows += int64(all[i].meta().Rows)
	}
	differs := func(in input) bool { return !slices.Equal(in.r.order, w.l.ids()) }
	if slices.ContainsFunc(s.inputs, differs) || !slices.ContainsFunc(all, func(x storedStripe) bool { return x.copies }) {
		return []stretch{s}, nil
	}
	slices.SortStableFunc(all, func(a, b storedStripe) int { return bytes.Compare(a.meta().FirstKey, b.meta().FirstKey) })
	var out []stretch
	var open []storedStripe
	closeOpen := func() {
		if len(open) > 0 {
			out = append(out, stretchOf(s.inputs, open))
			open = nil
		}
	}
	for i := 0; i < len(all); {
		end, n := all[i].meta().LastKey, 1 // stripes i..i+n meet; end is the last key of all
		for i+n < len(all) && bytes.Compare(all[i+n].meta().FirstKey, end) <= 0 {
			if last := all[i+n].meta().LastKey; bytes.Compare(last, end) > 0 {
				end = last
			}
			n++
		}
		if n == 1 && all[i].copies {
			closeOpen()
			out = append(out, stretch{reader: all[i].reader, stripe: all[i].i})
		} else {
			open = append(open, all[i:i+n]...)
		}
		i += n
	}
	closeOpen()
	return out, nil
}

// storedStripes lists the stripes of all parts, each input's in order.
func (sh *Shard) storedStripes(ctx context.Context, ins []input, whole bool, w *runWriter) ([]storedStripe, error) {
	var out []storedStripe
	like := stripe.NewPart(w.l.schema, w.opts, nil)
	for i, in := range ins {
		for p, part := range in.r.parts {
			r, err := sh.set.open(ctx, part)
			if err != nil {
				return nil, err
			}
			fit := fits(part, whole) && like.Takes(r.Footer())
			for k := range r.Footer().Stripes {
				x := storedStripe{in: i, part: p, reader: r, i: k}
				x.copies = fit && r.Plain(k) && sh.set.limits.worthCopying(x.meta())
				out = append(out, x)
			}
		}
	}
	return out, nil
}

func (l limits) worthCopying(m *stripe.StripeMeta) bool {
	return m.Rows >= l.stripe/copyShare || m.Bytes >= int64(l.mergeStripe/copyShare)
}

// stretchOf is the stretch of stripes, which lie in the inputs; those of each follow one another.
func stretchOf(ins []input, stripes []storedStripe) stretch {
	s := stretch{}
	for i, in := range ins {
		sub := *in.r
		sub.parts = nil
		x := input{history: in.history, loose: in.loose}
		last := -1
		for k := range stripes {
			st := &stripes[k]
			if st.in != i {
				continue
			}
			s.rows += int64(st.meta().Rows)
			from, to := st.reader.StripeGroups(st.i)
			if st.part != last {
				last = st.part
				sub.parts = append(sub.parts, in.r.parts[last])
				x.spans = append(x.spans, groupSpan{from, to})
				continue
			}
			x.spans[len(x.spans)-1].to = to
		}
		if len(sub.parts) > 0 {
			x.r = &sub
			s.inputs = append(s.inputs, x)
		}
	}
	return s
}
