package tail

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"tailrace"
	"tailrace/catalog"
	"tailrace/format"
	"tailrace/log"
)

// pushee follows a table from a goroutine of its own, and is pushed to.
type pushee struct {
	*sharer
	takes  func(messages []byte) bool // nil: all that comes
	pushes int
	reads  int // deliveries that were read
	want   int // rows, after which got is closed
	got    chan struct{}
	err    error
}

func newPushee(t *testing.T, w *small, r Request) *pushee {
	t.Helper()
	r.Table, r.Now = w.tables[0], w.tail.Newest()
	p := &pushee{sharer: newSharer(t, w.tail, r, format.CopyText), got: make(chan struct{})}
	p.s.PushTo(func(messages []byte, _ int) bool {
		p.pushes++
		p.add(messages)
		return p.takes == nil || p.takes(messages)
	})
	return p
}

func (p *pushee) add(messages []byte) {
	p.sent = append(p.sent, messages...)
	if p.want > 0 && bytes.Count(dataIn(p.sent, p.r.Progress), []byte{'\n'}) == p.want {
		p.want = 0
		close(p.got)
	}
}

// follow reads until the subscription ends.
func (p *pushee) follow(ctx context.Context) {
	for p.err == nil {
		var d Encoded
		if d, p.err = p.s.NextEncoded(ctx); p.err != nil {
			return
		}
		p.reads++
		for _, m := range d.Messages {
			p.add(m)
		}
		p.add(p.encoder.AppendBatch(nil, d.Rows, 0, d.Rows.N))
	}
}

// TestPushedIsWhatIsRead: subscribers who are pushed to, some of whom do not take everything at once, have what one has who reads by itself, in the same order.
func TestPushedIsWhatIsRead(t *testing.T) {
	w := newSmall(t, 1, nil)
	w.insert(0, 0, 50, 64)
	asOf := w.tail.Newest()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	for range 2 {
		all.Go(func() { _ = w.tail.Push(ctx) })
	}
	const changes = 400
	pushees := make([]*pushee, 200)
	for i := range pushees {
		p := newPushee(t, w, Request{Snapshot: true, Progress: i%2 == 0})
		p.want = 50 + changes
		if i%5 == 0 {
			p.takes = func([]byte) bool { return p.pushes%7 != 0 }
		}
		pushees[i] = p
		all.Go(func() { p.follow(ctx) })
	}
	for k := range changes {
		w.insert(0, 1000+k, 1, 64)
		if k%20 == 0 {
			w.tail.cache.clear()
			w.apply(nil)
		}
	}
	upTo := w.tail.Newest() + 1
	w.apply(nil)
	pushes := 0
	for _, p := range pushees {
		<-p.got
	}
	cancel()
	all.Wait()
	for i, p := range pushees {
		pushes += p.pushes
		if !errors.Is(p.err, context.Canceled) {
			t.Fatalf("subscriber %d ended with %v", i, p.err)
		}
		lone := newSharer(t, w.tail, Request{Table: w.tables[0], Now: upTo, AsOf: &p.s.asOf, UpTo: &upTo, Snapshot: true, Progress: p.r.Progress}, format.CopyText)
		lone.read(t, -1)
		if p.s.asOf < asOf || !bytes.Equal(dataIn(p.sent, p.r.Progress), dataIn(lone.sent, p.r.Progress)) {
			t.Fatalf("subscriber %d (of %d), pushed to %d times, has other rows than one who reads", i, len(pushees), p.pushes)
		}
	}
	if pushes == 0 {
		t.Error("nothing was pushed")
	}
}

// pushedTo runs do with a subscriber who is parked, and returns it when it has ended.
func pushedTo(t *testing.T, do func(w *small, p *pushee, leave, stop context.CancelFunc)) (p *pushee) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newSmall(t, 1, nil)
		pushing, stop := context.WithCancel(t.Context())
		ctx, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _ = w.tail.Push(pushing) })
		synctest.Wait()
		p = newPushee(t, w, Request{})
		all.Go(func() { p.follow(ctx) })
		w.apply(nil)
		synctest.Wait()
		if n := len(w.tail.windows[100].parked); n != 1 {
			t.Fatalf("%d are parked, want 1", n)
		}
		do(w, p, leave, stop)
		synctest.Wait()
		leave()
		stop()
		all.Wait()
	})
	return p
}

// TestWhoIsParkedGoesWhenItMust: to what nobody pushes, and when the subscription ends.
func TestWhoIsParkedGoesWhenItMust(t *testing.T) {
	rows := func(p *pushee) int { return bytes.Count(p.sent, []byte{'\n'}) }
	if p := pushedTo(t, func(w *small, _ *pushee, _, _ context.CancelFunc) { w.insert(0, 1, 3, 64) }); p.pushes != 1 || rows(p) != 3 {
		t.Errorf("a change: %d pushes, %d rows; want 1 and 3", p.pushes, rows(p))
	}
	p := pushedTo(t, func(w *small, p *pushee, _, _ context.CancelFunc) {
		p.takes = func([]byte) bool { return p.pushes > 1 }
		w.insert(0, 1, 3, 64)
		synctest.Wait()
		w.insert(0, 4, 3, 64)
	})
	if p.pushes != 2 || p.reads != 1 || rows(p) != 6 {
		t.Errorf("a slow client: %d pushes, %d deliveries, %d rows; want 2, 1 and 6", p.pushes, p.reads, rows(p))
	}
	if p = pushedTo(t, func(w *small, _ *pushee, _, _ context.CancelFunc) { w.insert(0, 1, 3, pushBytes) }); p.pushes != 0 || rows(p) != 3 {
		t.Errorf("a large change: %d pushes, %d rows; want 0 and 3", p.pushes, rows(p))
	}
	p = pushedTo(t, func(w *small, _ *pushee, _, stop context.CancelFunc) {
		stop()
		synctest.Wait()
		w.insert(0, 1, 3, 64)
	})
	if p.pushes != 0 || rows(p) != 3 {
		t.Errorf("when nobody pushes: %d pushes, %d rows; want 0 and 3", p.pushes, rows(p))
	}
	ended := func(what, code string, do func(w *small, p *pushee, leave, stop context.CancelFunc)) {
		var e *tailrace.Error
		if p := pushedTo(t, do); !errors.As(p.err, &e) || e.Code != code {
			t.Errorf("%s: it ended with %v, want %s", what, p.err, code)
		}
	}
	ended("a drain", "57P01", func(w *small, _ *pushee, _, _ context.CancelFunc) { w.tail.Drain(t.Context(), 0) })
	ended("a drop", "42704", func(w *small, _ *pushee, _, _ context.CancelFunc) {
		w.now++
		w.tail.Apply(&log.Entry{Seq: w.seq + 1, Time: w.now}, []catalog.TableChange{{Time: w.now, Before: w.tables[0]}})
	})
	p = pushedTo(t, func(_ *small, _ *pushee, leave, _ context.CancelFunc) { leave() })
	if !errors.Is(p.err, context.Canceled) {
		t.Errorf("who leaves ended with %v", p.err)
	}
}
