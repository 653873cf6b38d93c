package shard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"tailrace"
	"tailrace/index"
)

// follow brings the index from st.Low to st.High, from history. Changes are added up first, by key: what remains of a key is its newest row or that it is gone.
func (sh *Shard) follow(ctx context.Context, store *index.Store, m *manifest, st index.State) error {
	p := &picture{sh: sh, m: m, l: newLayout(m.schema)}
	if err := p.updates(st.Low, st.High, 1); err != nil {
		return err
	}
	c := newCursor(p.l, SnapshotOptions{})
	c.signed, c.what = true, fmt.Sprintf("changes of collection %d after %d", sh.id, st.Low)
	c.memory.sorts = p.sorts
	defer c.Close()
	if err := c.start(ctx, p.streams, nil); err != nil {
		return err
	}
	sh.rows.high.Store(uint64(st.High))
	b, err := store.NewBatch(sh.id)
	if err != nil {
		return err
	}
	defer func() { b.Close() }()
	var key, row []byte
	for {
		piece, err := c.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		for i := 0; i < piece.N; {
			key = p.l.appendHead(key[:0], piece, i)
			next, at, err := keyChange(p.l, piece, i, key)
			if err != nil {
				return err
			}
			if at < 0 {
				err = b.Delete(key)
			} else {
				row = appendIndexRow(row[:0], piece, at)
				err = b.Set(key, row)
			}
			if err != nil {
				return err
			}
			i = next
		}
		if b.Size() >= sh.set.limits.indexBatch { // Low stays: the rows are between
			if err := b.Commit(st); err != nil {
				return err
			}
			if b, err = store.NewBatch(sh.id); err != nil {
				return err
			}
		}
	}
	st.Low = st.High
	if err := b.Commit(st); err != nil {
		return err
	}
	sh.rows.low.Store(uint64(st.Low))
	return nil
}

// keyChange is what the updates from i on that share key come to: the place of the row that was put there, -1 when there is none any more. Pieces
// never cut a key apart. next is the first update of another key.
func keyChange(l *layout, b *tailrace.Batch, i int, key []byte) (next, at int, err error) {
	var buf [64]byte
	at = -1
	for next = i; next < b.N && (next == i || bytes.Equal(key, l.appendHead(buf[:0], b, next))); next++ {
		if b.Diff(next) <= 0 {
			continue
		}
		if at >= 0 {
			return next, at, fmt.Errorf("two rows have one primary key: %w", tailrace.ErrCorrupt)
		}
		at = next
	}
	return next, at, nil
}

// load makes the collection's index from a snapshot of all rows. Lookups go on as before meanwhile: through the old index, if there is one.
func (sh *Shard) load(ctx context.Context, store *index.Store, upper tailrace.Time, seq tailrace.SeqNo) error {
	began := sh.set.opts.Now()
	at := max(upper, 1) - 1
	release, err := sh.hold(at)
	if err != nil {
		return err
	}
	defer release()
	c, err := sh.Snapshot(ctx, SnapshotOptions{AsOf: at})
	if err != nil {
		return err
	}
	defer c.Close()
	shape := keyShape(c.l.schema)
	into, err := store.NewLoad(sh.id, index.State{Low: at, High: at, Seq: seq, Shape: shape})
	if err != nil {
		return err
	}
	defer into.Close()
	rows := 0
	var key, row []byte
	for {
		piece, err := c.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		for i := range piece.N {
			key, row = c.l.appendHead(key[:0], piece, i), appendIndexRow(row[:0], piece, i)
			if err := into.Add(key, row); err != nil {
				return err
			}
		}
		rows += piece.N
	}
	sh.rows.high.Store(max(sh.rows.high.Load(), uint64(at)))
	if err := into.Finish(ctx); err != nil {
		sh.rows.off()
		return err
	}
	sh.rows.on(at, at, shape)
	sh.rows.hold(at)
	sh.set.logger.Info("index of keys made", "collection", sh.id, "rows", rows, "took", sh.set.opts.Now().Sub(began))
	return nil
}
