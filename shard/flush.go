package shard

import (
	"context"
	"fmt"

	"tailrace"
	"tailrace/log"
)

// Commit appends a transaction to the log (log.Log.Commit).
type Commit = func(context.Context, log.Txn) (tailrace.Time, error)

// Flush puts every memtable above RemainderBytes into runs now: before a checkpoint, which carries the others.
func (s *Set) Flush(ctx context.Context, commit Commit) error {
	for _, sh := range s.all() {
		select {
		case sh.flushing <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		err := sh.flush(ctx, commit, RemainderBytes)
		<-sh.flushing
		if err != nil {
			return err
		}
	}
	return nil
}

// flushLarge flushes the memtables that are due.
func (s *Set) flushLarge(ctx context.Context, commit Commit) {
	threshold := s.opts.FlushBytes
	all := s.all()
	if unflushed := s.Unflushed(); unflushed > s.opts.NodeBytes || s.pressure.high() {
		threshold = min(threshold, max(1, unflushed/max(1, len(all))/2)) // those with half the mean, or more, have half of all at least
	}
	for _, sh := range all {
		select {
		case sh.flushing <- struct{}{}:
		default:
			continue // Flush is at it
		}
		err := sh.flush(ctx, commit, threshold)
		<-sh.flushing
		s.report(ctx, "flush", sh.id, err)
	}
}

// flush writes the memtable as history runs and commits them in its place. The caller holds the token of flushing.
//
// The upper is read before the manifest is pinned, so that the manifest has every update below it.
func (sh *Shard) flush(ctx context.Context, commit Commit, threshold int) error {
	upper := sh.set.Upper()
	m, release := sh.pin()
	defer release()
	plan := flushPlan(m, upper, threshold, sh.set.limits)
	if len(plan) == 0 || m.dropped {
		return nil
	}
	grant := sh.set.shares.merges.Grant()
	if err := grant.Wait(ctx, sh.set.flushCost()); err != nil {
		return fmt.Errorf("flush collection %d: %w", sh.id, err)
	}
	defer grant.Free()
	l := newLayout(m.schema)
	record := flushRecord{lower: m.flushed, upper: upper}
	var written []*runWriter
	abort := func() {
		for _, w := range written {
			w.abort(ctx, nil)
		}
	}
	for _, batches := range plan {
		w := sh.set.newRunWriter(ctx, l, batches[0].time, batches[len(batches)-1].time+1, false)
		written = append(written, w)
		r, err := writeBatches(ctx, w, batches)
		if err != nil {
			abort()
			return fmt.Errorf("flush collection %d: %w", sh.id, err)
		}
		if r != nil {
			record.runs = append(record.runs, r)
		}
	}
	txn := log.Txn{ReadTime: upper - 1, Records: []log.Record{{Kind: log.KindFlush, Collection: sh.id, Payload: record.encode()}}}
	if _, err := commit(ctx, txn); err != nil {
		if notCommitted(err) {
			abort()
		}
		return fmt.Errorf("commit flush of collection %d: %w", sh.id, err)
	}
	return nil
}

// writeBatches sorts memtable batches into a run, nil when they come to nothing.
func writeBatches(ctx context.Context, w *runWriter, batches []*memBatch) (*run, error) {
	g := w.set.newGroups(w.l)
	var times []tailrace.Time
	for _, m := range batches {
		b, err := m.batch()
		if err != nil {
			return nil, err
		}
		for times = times[:0]; len(times) < b.N; {
			times = append(times, m.time)
		}
		b = b.Project(w.l.schema)
		b.Times = times
		g.append(b)
	}
	return w.sorted(ctx, &g, true)
}
