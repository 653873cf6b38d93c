package changefeed

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/zeebo/xxh3"

	"tailrace"
	"tailrace/catalog"
	"tailrace/schedule"
	"tailrace/steps"
)

// Lanes is how many lanes a span has: as many transactions of it may be under way. A target keeps a row of progress for each that was used.
const Lanes = 16

// table is a collection of a span.
type table struct {
	id      tailrace.CollectionID
	version *catalog.Table       // as of the reader's position
	until   tailrace.Time        // when it changes next
	altered tailrace.Time        // the target has the version of this time already, though rows of the time are still to come
	target  *tailrace.SinkTarget // for version
	reader  reader
	refers  []foreign // to tables of the span
	referee [][]int   // columns that tables of the span refer to
}

// foreign is a foreign key within a span: columns of a table refer to columns of parent.
type foreign struct {
	columns []int
	parent  *table
	key     int // which of parent.referee they refer to
}

// span is what is read together, in time order: one table, or several that the target ties together. The feed's mutex guards all but what scan uses, which one
// goroutine does at a time.
type span struct {
	id     tailrace.CollectionID // of the first table
	tables []*table              // parents first
	atomic bool                  // CONSISTENCY 'transaction': whole transactions, in one lane
	serial bool                  // whole times, in the first lane: rows of a table refer to others of it
	lanes  []*lane
	locks  locks

	read       schedule.Position // everything at or before it is in queue or done; scan's
	end        tailrace.Time     // the readable end: there is something to read up to it
	applied    schedule.Position // everything at or before it is in the target
	scanning   bool
	scannedAt  time.Time // when the last scan ended; its readers may be open still
	queue      []*slice  // in time order; the first are on their way
	routed     int       // of queue, whole slices
	job        *job      // waits until nothing is on its way, or runs
	jobRuns    bool
	calls      int // transactions under way
	stuck      int // of them, those that take long
	limit      int // of items of a transaction while one of them is refused; 0: none
	failed     error
	retryAt    time.Time // of failed, or of a target that asks for patience; zero: when the sink is altered
	pause      time.Duration
	counts     []*spanCounts   // of tables
	waits      schedule.Reason // as of the last look
	waitsSince time.Time
}

// slice is a stretch of a span's updates on its way to the target.
type slice struct {
	parts   []part
	items   []*item
	next    int // the first item that is not in a lane yet
	pending int // items that are not in the target yet
	bytes   int64
	to      schedule.Position
}

// part is updates of one table.
type part struct {
	table    *table
	batch    *tailrace.Batch // of which others may be parts of other slices
	from, to int
}

// item is the updates of one key at one time, of a table without a key one update: [from, to) of its part.
type item struct {
	slice    *slice
	part     int
	from, to int
	lane     int
	time     tailrace.Time
	ordinal  uint64 // of its last update among those of its time, from 1
	locks    []lock
}

func (it *item) table() *table { return it.slice.parts[it.part].table }

// size is about what the item takes, in bytes.
func (it *item) size() int { return it.slice.parts[it.part].size(it.from, it.to) }

// lane is items in the order in which they must come to the target. What is under way stays in it until it is there.
type lane struct {
	n        int
	items    []*item
	busy     int                   // items under way, the first ones
	progress tailrace.SinkProgress // in the target
}

// covers tells that the target has the item already.
func (l *lane) covers(it *item) bool {
	return it.time < l.progress.Time || it.time == l.progress.Time && it.ordinal <= l.progress.Ordinal
}

// whole is how far a position is in whole times.
func whole(p schedule.Position) tailrace.Time {
	if p.Ordinal > 0 {
		return p.Time - 1
	}
	return p.Time
}

// tied tells that updates of one time must be seen together: by those that order them, or by the target.
func (s *span) tied() bool {
	return s.atomic || s.serial || len(s.tables) > 1 || len(s.tables[0].target.Unique) > 0
}

// errTooLarge ends a scan that took nothing: what comes next is larger than the slice.
var errTooLarge = errors.New("the next item is larger than the slice")

// scan reads on from s.read, within the bounds of a slice; errTooLarge when not even one item is within them and it may not have a larger one. more is false when everything up to the slice's end was read. alter is set when the span's next update comes
// after a change of a table's columns; huge is a time whose updates are too many to be held together.
func (s *span) scan(ctx context.Context, sl schedule.Slice, cat *catalog.Catalog, now func() time.Time) (out *slice, more bool, j *job, err error) {
	out = &slice{to: s.read}
	for _, tb := range s.tables {
		tb.version, tb.until = cat.TableAt(tb.id, max(whole(s.read), tb.altered))
	}
	deadline := now().Add(sl.Time)
	for {
		t, at, err := s.peek(ctx, sl.End)
		if err != nil {
			return nil, false, nil, err
		}
		if change := s.nextChange(); change != nil && change.at <= sl.End && (at == nil || t >= change.at) {
			if len(out.items) == 0 {
				out.to = maxPosition(out.to, schedule.Position{Time: change.at - 1})
				return out, true, change, nil
			}
			return out, true, nil, nil // the job comes with the next slice
		}
		if at == nil {
			out.to = schedule.Position{Time: sl.End}
			return out, false, nil, nil
		}
		if len(out.items) > 0 && (out.bytes >= sl.Bytes || len(out.items) >= sl.Rows || !now().Before(deadline)) {
			return out, true, nil, nil
		}
		if room := sl.Bytes - out.bytes; s.sizeOfNext(t, at) > room && (len(out.items) > 0 || !sl.Large) {
			if len(out.items) == 0 {
				return nil, true, nil, errTooLarge
			}
			return out, true, nil, nil
		}
		if s.tied() {
			huge, err := s.takeTime(ctx, out, t)
			if err != nil {
				return nil, false, nil, err
			}
			if huge {
				return s.afterHuge(out, t)
			}
			continue
		}
		s.takeSome(out, at, sl)
	}
}

// sizeOfNext is about what must be taken together next, in bytes: an update of at, or all updates at t where they are tied, as far as they are in the batches at hand.
func (s *span) sizeOfNext(t tailrace.Time, at *table) (bytes int64) {
	if !s.tied() {
		return at.reader.rowSize()
	}
	for _, tb := range s.tables {
		bytes += tb.reader.sizeAt(t)
	}
	return bytes
}

// close gives up what its readers have open; they open it again where they are.
func (s *span) close() {
	for _, tb := range s.tables {
		tb.reader.close()
	}
}

// rewind has the next scan go on at a position, whatever was taken after it.
func (s *span) rewind(at schedule.Position) {
	s.close()
	for _, tb := range s.tables {
		tb.reader.at = at
	}
}

// peek finds the next update at or before until: its time and table, nil when there is none.
func (s *span) peek(ctx context.Context, until tailrace.Time) (t tailrace.Time, at *table, err error) {
	for _, tb := range s.tables {
		limit := min(until, tb.until-1)
		next, ok, err := tb.reader.peek(ctx, limit)
		if err != nil {
			return 0, nil, err
		}
		if ok && (at == nil || next < t) {
			t, at = next, tb
		}
	}
	return t, at, nil
}

// takeSome adds updates of the span's only table.
func (s *span) takeSome(out *slice, tb *table, sl schedule.Slice) {
	before := tb.reader.at
	rows := max(1, (sl.Bytes-out.bytes)/tb.reader.rowSize())
	b, from, to := tb.reader.take(min(sl.End, tb.until-1), int(min(rows, int64(sl.Rows-len(out.items)))))
	out.add(part{tb, b, from, to})
	ordinal := uint64(0)
	if before.Ordinal > 0 && before.Time == b.Times[from] {
		ordinal = before.Ordinal
	}
	s.itemize(out, len(out.parts)-1, ordinal)
	out.to = tb.reader.at
}

// hugeBytes is how much the updates of one time may take when they must be together in memory.
const hugeBytes = 16 << 20

// takeTime adds all updates at t, of all tables. huge: they are too many; then none was added.
func (s *span) takeTime(ctx context.Context, out *slice, t tailrace.Time) (huge bool, err error) {
	parts, items, bytes := len(out.parts), len(out.items), out.bytes
	for _, tb := range s.tables {
		for {
			next, ok, err := tb.reader.peek(ctx, min(t, tb.until-1))
			if err != nil {
				return false, err
			}
			if !ok || next != t {
				break
			}
			b, from, to := tb.reader.take(t, 1<<30)
			out.add(part{tb, b, from, to})
			if out.bytes-bytes > hugeBytes {
				out.parts, out.items, out.bytes = out.parts[:parts], out.items[:items], bytes
				s.rewind(schedule.Position{Time: t})
				return true, nil
			}
		}
	}
	ordinal := uint64(0)
	for p := parts; p < len(out.parts); p++ {
		ordinal = s.itemize(out, p, ordinal)
	}
	s.arrange(out, items)
	out.to = schedule.Position{Time: t}
	return false, nil
}

// afterHuge ends a slice before the huge time t, which is a job.
func (s *span) afterHuge(out *slice, t tailrace.Time) (*slice, bool, *job, error) {
	out.to = schedule.Position{Time: t - 1}
	return out, true, hugeJob(s, t), nil
}

func (out *slice) add(p part) {
	out.parts = append(out.parts, p)
	out.bytes += int64(p.size(p.from, p.to))
}

// size is about what rows [from, to) of a part's batch take, in bytes.
func (p *part) size(from, to int) int { return p.batch.Size() * (to - from) / p.batch.N }

// itemBytes is what an item takes besides its updates.
const itemBytes = 96

// itemize cuts a part of a slice into items, of which the first update is the ordinal'th of its time, and returns where it ends. A row's key is made once.
func (s *span) itemize(out *slice, p int, ordinal uint64) uint64 {
	tb, b, from, end := out.parts[p].table, out.parts[p].batch, out.parts[p].from, out.parts[p].to
	schema := tb.reader.schema
	keyed := len(schema.Key) > 0
	appendKey := func(dst []byte, i int) []byte {
		if keyed {
			return steps.AppendKey(dst, schema, b, i)
		}
		return steps.AppendStored(dst, b, i)
	}
	first := len(out.items)
	items := make([]item, 0, end-from) // one piece of memory: all go at about the same time
	key, next := appendKey(nil, from), []byte(nil)
	for i := from; i < end; {
		j := i + 1
		for ; j < end; j++ {
			if next = appendKey(next[:0], j); !keyed || b.Times[j] != b.Times[i] || !bytes.Equal(key, next) {
				break
			}
		}
		if i > from && b.Times[i] != b.Times[i-1] {
			ordinal = 0
		}
		ordinal += uint64(j - i)
		it := item{slice: out, part: p, from: i, to: j, time: b.Times[i], ordinal: ordinal}
		if len(s.lanes) > 1 && !s.serial {
			it.lane = int(xxh3.Hash(key) % uint64(len(s.lanes)))
			if s.tied() {
				it.locks = tb.locksOf(b, i, j)
			}
		}
		items = append(items, it)
		out.items = append(out.items, &items[len(items)-1])
		key, next = next, key
		i = j
	}
	out.bytes += int64(itemBytes * (len(out.items) - first))
	return ordinal
}

func maxPosition(a, b schedule.Position) schedule.Position {
	if whole(a) >= whole(b) {
		return a
	}
	return b
}
