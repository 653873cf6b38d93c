package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"tailrace/log"
)

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
	w := sh.set.newRunWriter(ctx, newLayout(m.schema), 0, j.to+1, true)
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
		finer, err := sh.byStripes(ctx, s, j.whole(), w)
		if err != nil {
			return nil, err
		}
		for _, x := range finer {
			if x.reader != nil {
				err = w.copy(ctx, x.reader, x.stripe)
			} else {
				err = sh.foldStretch(ctx, j, x, w)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return w.finish(ctx)
}

// foldStretch adds up the rows of one stretch of keys. They are divided evenly into as few stripes as take all: a short one at the end would stay short, with those after it
// copied.
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
	most := s.stripeRows(sh.set.limits)
	for rows := 0; ; {
		piece, err := c.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		rows += piece.N
		if err := w.take(ctx, piece); err != nil {
			return err
		}
		if rows >= most {
			rows = 0
			if err := w.endStripe(ctx); err != nil {
				return err
			}
		}
	}
}

// input is a run, or some of its parts, to be merged.
type input struct {
	r       *run
	history bool
	loose   bool        // written for this merge only: its parts cannot be taken over
	spans   []groupSpan // of each part: what is merged of it; nil: everything
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
	rr.spans = in.spans
	if in.history {
		rr.timed, rr.lo, rr.hi = true, j.from, j.to
	}
	return rr
}
