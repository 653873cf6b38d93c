package log

import (
	"context"
	"fmt"
	"iter"

	"tailrace"
)

// windowBytes bounds the newest entries that followers share from memory. A follower that falls behind them reads from Consensus.
const windowBytes = 16 << 20

// followPage is how many entries a follower reads from Consensus, or takes from memory, at once: 16 MiB at most.
const followPage = 16

// window is the newest entries, oldest first, without gaps.
type window struct {
	entries []*Entry
	sizes   []int // bytes, of each
	bytes   int
}

func (w *window) add(e *Entry, size int) {
	w.entries, w.sizes = append(w.entries, e), append(w.sizes, size)
	w.bytes += size
	for w.bytes > windowBytes && len(w.entries) > 1 {
		w.bytes -= w.sizes[0]
		w.entries[0] = nil // the array lives on
		w.entries, w.sizes = w.entries[1:], w.sizes[1:]
	}
}

// from adds to dst the entries from next on, a page at most; none when the window begins later.
func (w *window) from(dst []*Entry, next tailrace.SeqNo) []*Entry {
	if len(w.entries) == 0 || next < w.entries[0].Seq {
		return dst
	}
	skip := next - w.entries[0].Seq
	if skip >= tailrace.SeqNo(len(w.entries)) {
		return dst
	}
	rest := w.entries[skip:]
	return append(dst, rest[:min(len(rest), followPage)]...)
}

// publish makes an entry known that is durable. members return from Commit when it is applied.
func (l *Log) publish(e *Entry, size int, members []*commit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.head, l.last = e.Seq, e.Time
	l.window.add(e, size)
	if len(members) > 0 {
		l.applied.commits = append(l.applied.commits, group{e.Seq, members})
	}
	if l.grew != nil {
		close(l.grew)
		l.grew = nil
	}
}

// Follow yields every entry after the given one, in order, for ever: those in Consensus, then new ones as they are appended, which all
// followers share. Entries are not changed. It ends after an error: ErrTruncated when the next entry is gone, ctx's when that ends,
// what Consensus says, or tailrace.ErrCorrupt. The caller may follow again from the last entry it got.
func (l *Log) Follow(ctx context.Context, after tailrace.SeqNo) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		next := after + 1
		var entries []*Entry
		for {
			clear(entries)
			var err error
			if entries, err = l.read(ctx, entries[:0], next); err != nil {
				yield(nil, err)
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
				next = e.Seq + 1
			}
		}
	}
}

// read waits for the entry next and adds it, and some that follow it, to dst.
func (l *Log) read(ctx context.Context, dst []*Entry, next tailrace.SeqNo) ([]*Entry, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l.mu.Lock()
		dst = l.window.from(dst, next)
		head := l.head
		grew := l.grew
		if next > head && grew == nil {
			grew = make(chan struct{})
			l.grew = grew
		}
		l.mu.Unlock()
		switch {
		case len(dst) > 0:
			return dst, nil
		case next <= head:
			return l.scan(ctx, dst, next, head)
		}
		select {
		case <-grew:
		case <-ctx.Done():
		}
	}
}

// scan reads entries from Consensus, up to head: one that is there already but not published is still the committer's.
func (l *Log) scan(ctx context.Context, dst []*Entry, next, head tailrace.SeqNo) ([]*Entry, error) {
	page, err := l.consensus.Scan(ctx, logKey, next, followPage)
	if err != nil {
		return nil, fmt.Errorf("read log from %d: %w", next, err)
	}
	if len(page) == 0 {
		return nil, fmt.Errorf("read log from %d: it ends there and did not before: %w", next, tailrace.ErrCorrupt)
	}
	for _, v := range page {
		if v.Seq != next {
			return nil, fmt.Errorf("read log from %d: the next is %d: %w", next, v.Seq, ErrTruncated)
		}
		if v.Seq > head {
			break
		}
		e, _, err := decodeSlot(v)
		if err != nil {
			return nil, err
		}
		dst = append(dst, e)
		next++
	}
	return dst, nil
}
