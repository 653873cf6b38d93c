package world

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// found makes the tables and the source.
func (w *World) found(ctx context.Context) bool {
	rng := w.rand("founder")
	for _, sql := range founding() {
		conn := w.session(ctx, "founder", rng)
		if conn == nil {
			return false
		}
		if _, err := conn.ask(sql); err != nil {
			w.fail("%s: %v", sql, err)
			return false
		}
		conn.drop()
	}
	return true
}

// subscribe starts the subscribers: of every manner one, on tables that the seed chooses, and one of the source's tables each.
func (w *World) subscribe(ctx context.Context, readers *sync.WaitGroup) {
	rng := w.rand("subscribers")
	for m := range manners {
		w.addSubscriber(ctx, readers, ours[rng.IntN(len(ours))], m)
	}
	w.addSubscriber(ctx, readers, brief, []manner{slow, dying, cursor}[rng.IntN(3)])
	w.addSubscriber(ctx, readers, upKeyed, manner(rng.IntN(int(manners))))
	w.addSubscriber(ctx, readers, upBag, manner(rng.IntN(int(manners))))
}

// last starts a new subscriber of each table, which sees what is there in the end.
func (w *World) last(ctx context.Context, readers *sync.WaitGroup) {
	for _, table := range append(slices.Clone(ours), upKeyed, upBag) {
		w.addSubscriber(ctx, readers, table, fast)
	}
}

func (w *World) addSubscriber(ctx context.Context, readers *sync.WaitGroup, table string, m manner) {
	name := fmt.Sprintf("%s subscriber %d of %s", m, len(w.subs), table)
	s := &subscriber{world: w, name: name, table: table, calls: table, manner: m, rng: w.rand(name), until: w.target.Load}
	w.subs = append(w.subs, s)
	readers.Go(func() { s.follow(ctx) })
}

// settles waits until the source has brought everything that is at the upstream.
func (w *World) settles(ctx context.Context) bool {
	deadline := time.Now().Add(patience)
	for !w.upstream.isHere() {
		if time.Now().After(deadline) || ctx.Err() != nil {
			w.fail("source: stuck at %d of %d", w.disk.place(), w.upstream.length())
			return false
		}
		sleep(ctx, 500*time.Millisecond)
	}
	return true
}

// session connects to some node; nil when that cannot be now, after a pause.
func (w *World) session(ctx context.Context, name string, rng *rand.Rand) *client {
	l := w.someNode(ctx, rng)
	if l == nil {
		return nil
	}
	conn, err := connect(ctx, l, name)
	if err != nil {
		w.surprising(l, err)
		sleep(ctx, upTo(rng, 400*time.Millisecond))
		return nil
	}
	return conn
}

// someNode is a node that serves, or the first that does again; nil when ctx ends before.
func (w *World) someNode(ctx context.Context, rng *rand.Rand) *life {
	first := rng.IntN(len(w.machines))
	for i := range w.machines {
		m := w.machines[(first+i)%len(w.machines)]
		select {
		case <-m.upNow():
			if l := m.now(); l != nil {
				return l
			}
		default:
		}
	}
	return w.machines[first].serving(ctx)
}
