package tail

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tailrace"
)

// TestDrainEndsThemEvenly: not two of three subscriptions end in any third of the time, each with its resume point; who comes late ends at once; when the time
// is cut short all end.
func TestDrainEndsThemEvenly(t *testing.T) {
	const subs, over = 600, 3 * time.Second
	for _, short := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newSmall(t, 1, nil)
			began := time.Now()
			var mu sync.Mutex
			var ends []time.Duration
			var all sync.WaitGroup
			for range subs {
				s := w.subscribe(0, Request{})
				all.Go(func() {
					wantDrained(t, s)
					mu.Lock()
					defer mu.Unlock()
					ends = append(ends, time.Since(began))
				})
			}
			synctest.Wait()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			all.Go(func() { w.tail.Drain(ctx, over) })
			<-time.After(over / 3)
			wantDrained(t, w.subscribe(0, Request{}))
			if time.Since(began) != over/3 {
				t.Error("a new one did not end at once")
			}
			if short {
				cancel()
			}
			all.Wait()
			first := 0
			for _, at := range ends {
				if at < over/3 {
					first++
				}
			}
			last := ends[len(ends)-1]
			switch {
			case first < subs/4 || first > subs/2:
				t.Errorf("%d of %d ended in the first third", first, subs)
			case short && last > over/3:
				t.Errorf("the last ended after %v, though the time was cut to %v", last, over/3)
			case !short && (last < over*9/10 || last > over):
				t.Errorf("the last ended after %v of %v", last, over)
			}
		})
	}
}

func wantDrained(t *testing.T, s *Subscription) {
	_, err := s.Next(context.Background())
	var e *tailrace.Error
	if !errors.As(err, &e) || e.Code != "57P01" || !strings.Contains(e.Hint, "AS OF") {
		t.Errorf("got %v, want 57P01 with the resume point", err)
	}
}
