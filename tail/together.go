package tail

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"tailrace"
	"tailrace/budget"
)

const (
	// MaxHeldBytes bounds the rows of one time that must be together before any is given out (an envelope, WITHIN TIMESTAMP ORDER BY), where there is no disk.
	MaxHeldBytes = 512 << 20
	// heldBytes is how many of them a subscription has in memory, on a node without a budget, before they go to disk.
	heldBytes = 64 << 20
	// heldPart is which part of the share of frames that is on a node with one.
	heldPart = 16
	// judged is how many updates of one key an envelope looks at: with a third it is a violation, whatever follows.
	judged = 3
)

// held is the rows of one time that must be together. They come, in the collection's order, and are given out when all are there.
type held struct {
	time   tailrace.Time
	rows   *sorter
	sorted *merge // of those that are given out, when some were on disk
	skip   int    // output rows that were given out before
}

// newSorter is for rows as they come.
func (s *Subscription) newSorter() *sorter {
	sh := s.shape
	if !sh.sel.streams() { // rows may be there twice: add them up first
		return &sorter{
			schema: sh.rows, disk: s.tail.disk, mem: sh.newHeld(), sum: sh.sel.order,
			key: func(dst []byte, b *tailrace.Batch, i int) []byte {
				return tailrace.AppendRowKey(dst, sh.rows, sh.sel.order, b, i)
			},
		}
	}
	return s.newFinalSorter()
}

// newFinalSorter is for rows that are added up, in the collection's order.
func (s *Subscription) newFinalSorter() *sorter {
	sh := s.shape
	x := &sorter{schema: sh.rows, disk: s.tail.disk, mem: sh.newHeld()}
	if sh.envelope != EnvelopeNone {
		x.key, x.group = sh.appendKeyOf, judged
	} else {
		x.key = sh.appendTerms
	}
	return x
}

// appendTerms adds what update i is ordered by in WITHIN TIMESTAMP ORDER BY, as comparable bytes.
func (sh *shape) appendTerms(dst []byte, b *tailrace.Batch, i int) []byte {
	for _, t := range sh.sort {
		if t.Column >= 0 && b.Cols[t.Column].IsNull(i) {
			if t.NullsFirst {
				dst = append(dst, 0)
			} else {
				dst = append(dst, 2)
			}
			continue
		}
		dst = append(dst, 1)
		from := len(dst)
		switch {
		case t.Column < 0:
			dst = binary.BigEndian.AppendUint64(dst, uint64(b.Diff(i))^1<<63)
		case t.Labels != nil:
			dst = binary.BigEndian.AppendUint64(dst, uint64(1+slices.Index(t.Labels(), string(b.Cols[t.Column].Bytes(i)))))
		default:
			dst = tailrace.AppendKey(dst, sh.rows.Fields[t.Column].Type, &b.Cols[t.Column], i)
		}
		if t.Desc {
			for k := from; k < len(dst); k++ {
				dst[k] ^= 0xff
			}
		}
	}
	return dst
}

// hold keeps rows of time t, as the shard gives them; 53200 when there is no room, on disk neither.
func (s *Subscription) hold(t tailrace.Time, rows *tailrace.Batch) error {
	if s.held == nil {
		s.held = &held{time: t, rows: s.newSorter(), skip: s.pos.given}
	}
	if s.shape.sel != nil {
		var err error
		if rows, err = s.shape.sel.of(rows, nil); err != nil {
			return err
		}
	}
	return s.keep(s.held.rows, rows)
}

// keep adds rows to x, which is the only one of s that is growing.
func (s *Subscription) keep(x *sorter, rows *tailrace.Batch) error {
	appendAll(x.mem, rows)
	size := x.mem.Size()
	if x.disk == nil {
		return s.holdRows(size)
	}
	if size <= int(s.tail.frames.Limit(heldBytes*heldPart)/heldPart) && s.tail.grant(&s.together, int64(size)) {
		return nil
	}
	err := x.spill()
	s.together.Free()
	if errors.Is(err, errSpillFull) {
		full := s.tooMuch(fmt.Sprintf("and they pass the %s that all subscriptions of this node may spill", budget.Format(x.disk.share.Limit(0))))
		full.Hint += " Or give subscriptions more disk: tailrace serve --subscribe-spill-bytes BYTES."
		return full
	}
	return err
}

// giveHeld adds what is held to out, until it has room bytes. done says that this was all of it.
func (s *Subscription) giveHeld(ctx context.Context, out *output, room int) (done bool, err error) {
	h := s.held
	if h.sorted == nil && len(h.rows.runs) == 0 {
		rows := s.shape.newRows()
		s.shape.appendHeld(rows, h.time, h.rows.mem)
		s.giveRest(out, rows)
		s.dropHeld()
		return true, nil
	}
	if h.sorted == nil {
		if err := s.sortHeld(ctx); err != nil {
			return false, err
		}
	}
	for !out.full(room) {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		piece, err := h.sorted.next(room)
		if errors.Is(err, io.EOF) {
			s.dropHeld()
			return true, nil
		}
		if err != nil {
			return false, err
		}
		rows := s.shape.newRows()
		s.shape.appendSelected(rows, h.time, piece)
		s.giveRest(out, rows)
	}
	return false, nil
}

// giveRest adds rows, without those that were given out before.
func (s *Subscription) giveRest(out *output, rows *tailrace.Batch) {
	n := min(s.held.skip, rows.N)
	s.held.skip -= n
	for c := range rows.Cols {
		out.Cols[c].AppendRange(&rows.Cols[c], n, rows.N)
	}
	out.N += rows.N - n
	s.pos.given += rows.N - n
}

// sortHeld begins to give out rows of which some are on disk.
func (s *Subscription) sortHeld(ctx context.Context) error {
	h := s.held
	m, err := h.rows.merge()
	if err != nil {
		return err
	}
	if sh := s.shape; h.rows.sum != nil && (sh.envelope != EnvelopeNone || len(sh.sort) > 0) {
		final := s.newFinalSorter()
		added := h.rows
		defer added.close()
		h.rows = final
		for {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			rows, err := m.next(pieceBytes)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			if err := s.keep(final, rows); err != nil {
				return err
			}
		}
		if m, err = final.merge(); err != nil {
			return err
		}
	}
	h.sorted = m
	return nil
}

// dropHeld gives up what is held.
func (s *Subscription) dropHeld() {
	if s.held != nil {
		s.held.rows.close()
		s.held = nil
	}
	s.together.Free()
}
