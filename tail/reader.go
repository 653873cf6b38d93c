package tail

import (
	"context"
	"errors"
	"iter"
	"slices"

	"tailrace"
	"tailrace/shard"
)

// reader cuts the history of a collection into pieces, one after the other. Who has its turn uses it; at is the catchup's, and changed by nobody else.
type reader struct {
	turn chan struct{} // has one token
	at   place         // everything up to it was read

	next   func() (*tailrace.Batch, error, bool) // nil: open the history where it is
	cancel context.CancelFunc
	stop   func()
	until  tailrace.Time   // how far the open history reaches
	rest   *tailrace.Batch // what came; from on it is in no piece yet
	from   int
	skip   int // updates of the first time that were read before
	ended  bool
	wanted tailrace.Time // when somebody last read
}

func newReader(at place) *reader {
	r := &reader{turn: make(chan struct{}, 1), at: at}
	r.turn <- struct{}{}
	return r
}

// reaches says that r gets to p soon.
func (r *reader) reaches(p place) bool {
	return !p.before(r.at) && p.after-r.at.after <= near
}

// open begins at r.at.
func (r *reader) open(t *Tail, sh *shard.Shard, schema *tailrace.Schema) {
	r.until = t.shards.Upper() - 1
	ctx, cancel := context.WithCancel(context.Background()) // it is read by one caller after the other
	after, until := r.at.after, r.until
	r.next, r.stop = iter.Pull2(func(yield func(*tailrace.Batch, error) bool) {
		err := sh.Listen(ctx, after, until+1, schema, func(b *tailrace.Batch) error {
			if !yield(b, nil) {
				return context.Canceled
			}
			return nil
		})
		if err != nil {
			yield(nil, err) // nobody hears it after close
		}
	})
	r.cancel = cancel
	r.skip, r.rest, r.from, r.ended = r.at.given, tailrace.NewBatch(schema, 0), 0, false
	t.cache.catchups.Add(1)
}

// close gives up the open history; the next read opens it where r is.
func (r *reader) close() {
	if r.next != nil {
		r.cancel()
		r.stop()
		r.next, r.rest = nil, nil
	}
}

// stretch is what read returns: updates that follow each other, and the place after them.
type stretch struct {
	updates *tailrace.Batch
	to      place
}

// read returns the updates after r.at; nil when somebody else's cancellation came between. The caller moves r.at.
func (r *reader) read(ctx context.Context, t *Tail, sh *shard.Shard, schema *tailrace.Schema) (*stretch, error) {
	if r.next == nil {
		r.open(t, sh, schema)
	}
	r.wanted = t.Newest()
	defer context.AfterFunc(ctx, r.cancel)()
	for {
		n := boundary(schema, r.rest, r.from, r.from+min(pieceUpdates, rowsWithin(r.rest, pieceBytes)))
		if n < r.rest.N || r.ended {
			return r.cut(n), nil
		}
		b, err, more := r.next()
		switch {
		case ctx.Err() != nil:
			r.close()
			return nil, ctx.Err()
		case errors.Is(err, context.Canceled): // by who had the turn before
			r.close()
			return nil, nil
		case err != nil:
			r.close()
			return nil, err
		case more:
			r.add(b)
		default:
			r.ended = true
		}
	}
}

// add puts b, without what was read before, behind the rest.
func (r *reader) add(b *tailrace.Batch) {
	n := min(r.skip, b.N)
	r.skip -= n
	if r.from == r.rest.N {
		r.rest, r.from = b, n
		return
	}
	both := cut(r.rest, r.from, r.rest.N)
	both.Times = slices.Clone(r.rest.Times[r.from:])
	appendAll(both, cut(b, n, b.N))
	both.Times = append(both.Times, b.Times[n:]...)
	r.rest, r.from = both, 0
}

// cut takes the rest up to update n.
func (r *reader) cut(n int) *stretch {
	out := cut(r.rest, r.from, n)
	out.Times = slices.Clone(r.rest.Times[r.from:n])
	p := &stretch{updates: out, to: place{after: r.until}}
	if n < r.rest.N {
		p.to = placeIn(r.rest.Times[r.from:], n-r.from, r.at)
	}
	r.from = n
	return p
}
