package stripe

import (
	"bytes"
	"fmt"
	"log/slog"
	"sync/atomic"

	"tailrace"
	"tailrace/pool"
)

// Writer makes stripes of updates that come in sort order: by row (tailrace.AppendRowKey of all columns, ties by tailrace.CompareStored), then time. The
// stripes are a function of the schema, the options and the updates; how these are cut into batches, and who encodes them, does not show.
//
// It cuts a stripe when its rows or their size reach the options' limits and hands it to a flight: first a task for each chunk that decides how it is
// encoded, which then queues a task for each page. While these run the next updates are taken in. Small stripes, and all of a Writer without
// a flight, are encoded at once by the goroutine that calls.
//
// One goroutine uses a Writer, the flight's owner. After an error it is of no more use.
type Writer struct {
	// Logger is told of tasks that failed and were done again; nil: slog.Default(). Set before the first update, as is Free.
	Logger *slog.Logger
	// Free is called with each batch given to Take once its memory is not needed any more, by the goroutine that uses the Writer. It may be nil.
	Free func(*tailrace.Batch)

	schema   *tailrace.Schema
	order    []int
	opts     Options
	fixedRow int64 // see RawSize
	filtered []bool
	emit     func(*Stripe) error
	flight   *pool.Flight

	pending pending
	flying  []*work // stripes whose tasks are under way, oldest first
	stripes int     // cut so far
	rows    int64   // of them
	last    []byte  // row key of the last update cut
	enc     *encoder
	stopped atomic.Bool // tasks that have not begun do nothing
}

const (
	// maxFlying is how many stripes' tasks are under way besides the stripe that is being filled.
	maxFlying = 2
	// inlineBytes is the size of the values, and PageRows the number of rows, below which the last stripe is encoded by the caller: tasks would cost more
	// than they save.
	inlineBytes = 64 << 10
)

// NewWriter returns a Writer of rows of schema s, which it keeps. It gives the stripes to emit in order, on the goroutine that calls the Writer. f is the
// flight whose tasks they become; without one they are encoded as they are cut. The caller closes the flight.
func NewWriter(s *tailrace.Schema, opts Options, f *pool.Flight, emit func(*Stripe) error) *Writer {
	w := &Writer{schema: s, order: s.SortOrder(), opts: opts.filled(), fixedRow: FixedRow(s), emit: emit, flight: f}
	w.filtered = make([]bool, len(s.Fields)+2)
	for _, id := range w.opts.Filters {
		if i := s.Index(id); i >= 0 {
			w.filtered[i+2] = true
		}
	}
	return w
}

// Append adds the updates of b, which has the columns of the schema in its order. Times that are nil are stored as 0, "the base time that the
// log entry gives", diffs that are nil as +1. b is not kept. A *tailrace.Error with code 54000 says that a value is larger than MaxValueBytes.
func (w *Writer) Append(b *tailrace.Batch) error { return w.add(b, false) }

// Take is Append of a batch whose memory is the Writer's from now on. Page groups that lie whole in b, and what ends a stripe, are encoded from there;
// others are copied.
func (w *Writer) Take(b *tailrace.Batch) error { return w.add(b, true) }

func (w *Writer) add(b *tailrace.Batch, take bool) error {
	if err := w.check(b); err != nil {
		return w.fail(err)
	}
	if take && b.N == 0 && w.Free != nil {
		w.Free(b)
	}
	for from := 0; from < b.N; {
		n, full := w.room(b, from)
		keep := take || w.flight == nil && full && w.pending.rows == 0 // that stripe is encoded before add returns
		w.pending.raw += RawSize(w.fixedRow, b, from, from+n)
		w.pending.add(b, from, n, w.opts.PageRows, keep)
		if from += n; take && from == b.N {
			w.pending.done = append(w.pending.done, b)
		}
		if full {
			if err := w.cut(false); err != nil {
				return err
			}
		}
	}
	return nil
}

// Cut makes a stripe of the updates that are pending, if any, and does not wait for it. What comes next need not come after them in order: it is of
// another sequence, and belongs in another part.
func (w *Writer) Cut() error {
	var err error
	if w.pending.rows > 0 {
		err = w.cut(true)
	}
	w.last = w.last[:0]
	return err
}

// Poll emits the oldest stripes whose tasks are done, and frees their batches. It does not wait.
func (w *Writer) Poll() error { return w.settle(maxFlying) }

// Settle emits every stripe that was cut. Pending updates stay so.
func (w *Writer) Settle() error { return w.settle(0) }

// cut makes a stripe of the pending updates. last says that none come after it.
func (w *Writer) cut(last bool) error {
	p := w.pending
	w.pending = pending{}
	meta, err := w.directory(&p)
	if err != nil {
		return w.fail(err)
	}
	x := newWork(w, &p, meta)
	w.stripes++
	w.rows += int64(p.rows)
	if w.flight == nil || last && (p.rows < PageRows || p.raw < inlineBytes) {
		if err := w.settle(0); err != nil {
			return err
		}
		return w.deliver(x, x.encode)
	}
	w.flying = append(w.flying, x)
	x.launch()
	return w.settle(maxFlying)
}

// settle emits the oldest stripes until at most n are under way, and those after them that are done.
func (w *Writer) settle(n int) error {
	for len(w.flying) > 0 && (len(w.flying) > n || w.flying[0].left.Load() == 0) {
		x := w.flying[0]
		w.flying = w.flying[1:]
		if err := w.deliver(x, x.collect); err != nil {
			return err
		}
	}
	return nil
}

// deliver emits the stripe that encode makes of x.
func (w *Writer) deliver(x *work, encode func() (*Stripe, error)) error {
	s, err := encode()
	if err != nil {
		w.stopped.Store(true)
		x.await() // the tasks of other chunks
	}
	x.end()
	if err != nil {
		return w.fail(err)
	}
	if err := w.emit(s); err != nil {
		return w.fail(err)
	}
	return nil
}

// Finish emits what is left. The Writer is then of no more use.
func (w *Writer) Finish() error {
	if w.pending.rows > 0 {
		if err := w.cut(true); err != nil {
			return err
		}
	}
	if err := w.settle(0); err != nil {
		return err
	}
	w.Close()
	return nil
}

// Close gives up what was not emitted. No task of the Writer runs when it returns. It may be called at any time, and twice.
func (w *Writer) Close() {
	w.stopped.Store(true)
	for _, x := range w.flying {
		x.await()
		x.end()
	}
	w.flying, w.pending = nil, pending{}
	if w.enc != nil {
		w.enc.release()
		w.enc = nil
	}
}

// fail gives up and returns err.
func (w *Writer) fail(err error) error {
	w.Close()
	return err
}

// encoder is the one of the goroutine that uses the Writer.
func (w *Writer) encoder() *encoder {
	if w.enc == nil {
		w.enc = newEncoder(w.opts)
	}
	return w.enc
}

func (w *Writer) logger() *slog.Logger {
	if w.Logger == nil {
		return slog.Default()
	}
	return w.Logger
}

// directory makes the entry of the stripe directory for p, all but the chunks. It refuses updates whose order is wrong at the border of page
// groups.
func (w *Writer) directory(p *pending) (StripeMeta, error) {
	s := StripeMeta{Rows: p.rows, Groups: make([]GroupMeta, 0, len(p.groups)), Chunks: make([]ChunkMeta, 0, len(w.schema.Fields)+2)}
	for i, g := range p.groups {
		first := tailrace.AppendRowKey(nil, w.schema, w.order, g.b, g.from)
		if bytes.Compare(w.last, first) > 0 {
			return s, fmt.Errorf("write stripe: update %d orders before the one that precedes it", w.rows+int64(i*w.opts.PageRows))
		}
		if i == 0 {
			s.FirstKey = cutLow(first, MaxKeyBytes)
			s.Groups = append(s.Groups, GroupMeta{})
		} else {
			s.Groups = append(s.Groups, separate(w.last, first))
		}
		w.last = tailrace.AppendRowKey(w.last[:0], w.schema, w.order, g.b, g.from+g.n-1)
	}
	s.LastKey = bytes.Clone(cutHigh(w.last, MaxKeyBytes))
	return s, nil
}
