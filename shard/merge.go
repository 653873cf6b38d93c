package shard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"tailrace/log"
)

// ReuseBytes is the size of a part from which a merge takes it over as it is, when its keys meet no other part's. Smaller ones are written
// anew so that parts do not stay small.
const ReuseBytes = 4 << 20

// mergeAll merges every collection that is due.
func (s *Set) mergeAll(ctx context.Context, commit Commit) {
	for _, sh := range s.all() {
		s.report(ctx, "merge", sh.id, sh.merge(ctx, commit))
		s.report(ctx, "compact history", sh.id, sh.compact(ctx, commit))
	}
}

// merge carries out the collection's mergePlan, if any. The upper is read before the manifest is pinned; see flush. Two at a time do no
// harm: the log's order lets one win, and the other's parts are garbage.
func (sh *Shard) merge(ctx context.Context, commit Commit) error {
	upper := sh.set.Upper()
	m, release := sh.pin()
	defer release()
	j := mergePlan(m, upper, sh.set.limits)
	if j == nil {
		return nil
	}
	grant := sh.set.shares.merges.Grant()
	if err := grant.Wait(ctx, sh.set.mergeCost(j)); err != nil {
		return fmt.Errorf("merge collection %d: %w", sh.id, err)
	}
	defer grant.Free()
	w := sh.set.newRunWriter(newLayout(m.schema), 0, j.to+1, true)
	r, err := sh.fold(ctx, j, w)
	if err != nil {
		w.abort(ctx, m.parts())
		return fmt.Errorf("merge collection %d: %w", sh.id, err)
	}
	record := mergeRecord{merges: j.merges, folded: j.to, keep: j.keep}
	if r != nil {
		record.runs = append(record.runs, r)
	}
	txn := log.Txn{ReadTime: upper - 1, Records: []log.Record{{Kind: log.KindMerge, Collection: sh.id, Payload: record.encode()}}}
	if _, err := commit(ctx, txn); err != nil {
		if notCommitted(err) {
			w.abort(ctx, m.parts())
		}
		return fmt.Errorf("commit merge of collection %d: %w", sh.id, err)
	}
	return nil
}

// fold writes the sum of the job's runs.
func (sh *Shard) fold(ctx context.Context, j *mergeJob, w *runWriter) (*run, error) {
	ins, written, err := sh.inputs(ctx, j, w.l)
	defer func() {
		for _, x := range written {
			x.abort(ctx, nil)
		}
	}()
	if err != nil {
		return nil, err
	}
	for _, s := range stretches(ins, j.whole(), w.l, sh.set.limits.reuse) {
		if s.whole != nil {
			if err := w.reuse(ctx, s.whole); err != nil {
				return nil, err
			}
			continue
		}
		if err := sh.foldStretch(ctx, j, s, w); err != nil {
			return nil, err
		}
	}
	return w.finish(ctx)
}

// foldStretch merges the parts of one stretch of keys.
func (sh *Shard) foldStretch(ctx context.Context, j *mergeJob, s stretch, w *runWriter) error {
	p := &picture{sh: sh, l: w.l}
	for _, in := range s.inputs {
		p.run(sh.reader(in, j, w.l))
	}
	c := newCursor(w.l, SnapshotOptions{PieceRows: sh.set.limits.piece})
	c.signed, c.what = !j.whole(), fmt.Sprintf("state of collection %d as of %d", sh.id, j.to)
	c.memory.sorts = p.sorts
	defer c.Close()
	if err := c.start(ctx, p.streams, nil); err != nil {
		return err
	}
	for {
		piece, err := c.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := w.append(ctx, piece); err != nil {
			return err
		}
	}
}

// input is a run, or some of its parts, to be merged.
type input struct {
	r       *run
	history bool
	loose   bool // written for this merge only: its parts cannot be taken over
}

// inputs lists what the job merges. A run that the order's head does not find its place in is sorted first.
func (sh *Shard) inputs(ctx context.Context, j *mergeJob, l *layout) (ins []input, written []*runWriter, err error) {
	for i, r := range append(slices.Clone(j.state), j.history...) {
		in := input{r: r, history: i >= len(j.state)}
		if n, _ := l.shared(r); n >= l.head {
			ins = append(ins, in)
			continue
		}
		more, w, err := sh.resort(ctx, in, j, l)
		ins, written = append(ins, more...), append(written, w...)
		if err != nil {
			return nil, written, err
		}
	}
	return ins, written, nil
}

// reader reads the updates of an input that the job folds.
func (sh *Shard) reader(in input, j *mergeJob, l *layout) *runReader {
	rr := sh.set.readRun(in.r, l)
	if in.history {
		rr.timed, rr.lo, rr.hi = true, j.from, j.to
	}
	return rr
}

// stretch is a range of keys: either one part that is taken over whole or inputs to be merged.
type stretch struct {
	whole  *part
	inputs []input
}

// stretches divides the inputs' parts by keys, in key order. A part of at least reuse bytes that meets no other one and is fit to stand in the result is a stretch
// of its own; all that lies between two such makes one stretch.
func stretches(ins []input, whole bool, l *layout, reuse int) []stretch {
	if slices.ContainsFunc(ins, func(in input) bool { return !slices.Equal(in.r.order, l.ids()) }) {
		return []stretch{{inputs: ins}}
	}
	type piece struct {
		p  *part
		in int
	}
	var pieces []piece
	for i, in := range ins {
		for _, p := range in.r.parts {
			pieces = append(pieces, piece{p, i})
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return bytes.Compare(a.p.first, b.p.first) })
	var out []stretch
	var open []piece
	closeOpen := func() {
		if len(open) == 0 {
			return
		}
		s := stretch{}
		for i, in := range ins { // a run's parts in the stretch follow one another
			sub := *in.r
			sub.parts = nil
			for _, x := range open {
				if x.in == i {
					sub.parts = append(sub.parts, x.p)
				}
			}
			if len(sub.parts) > 0 {
				s.inputs = append(s.inputs, input{r: &sub, history: in.history, loose: in.loose})
			}
		}
		out, open = append(out, s), nil
	}
	for i := 0; i < len(pieces); {
		end, n := pieces[i].p, 1 // parts i..i+n meet; end reaches furthest
		for i+n < len(pieces) && !end.endsBelow(pieces[i+n].p.first) {
			if next := pieces[i+n].p; bytes.Compare(next.last, end.last) > 0 {
				end = next
			}
			n++
		}
		if p := pieces[i].p; n == 1 && p.size >= int64(reuse) && !ins[pieces[i].in].loose && fits(p, whole) {
			closeOpen()
			out = append(out, stretch{whole: p})
		} else {
			open = append(open, pieces[i:i+n]...)
		}
		i += n
	}
	closeOpen()
	return out
}

// fits reports whether a part can be part of the result as it is; whole tells that this is the whole state.
func fits(p *part, whole bool) bool {
	if whole {
		return p.flags&flagPlain != 0
	}
	return p.flags&flagSingle != 0
}
