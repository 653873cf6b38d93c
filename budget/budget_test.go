package budget

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"tailrace"
)

func TestSharesFitInTheBudget(t *testing.T) {
	for _, total := range []int64{Least, 512 * mib, 1 << 30, 64 << 30} {
		n, err := New(total, nil)
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for _, u := range n.Usage() {
			if u.Name != Spill && u.Name != Subscribe {
				sum += u.Limit
			}
		}
		if sum > total {
			t.Errorf("of %s: the shares come to %s", Format(total), Format(sum))
		}
		if goes := n.GoLimit(); goes <= 0 || goes > total {
			t.Errorf("of %s: Go gets %s", Format(total), Format(goes))
		}
	}
	if _, err := New(Least-1, nil); err == nil || !strings.Contains(err.Error(), "--memory") {
		t.Errorf("too small: got %v, want an error that names the flag", err)
	}
	if n, err := New(Least, map[string]int64{Query: 5}); err != nil || n.Share(Query).Limit(0) != 5 {
		t.Errorf("an override: got %v, %v", n, err)
	}
}

// TestAcquireWaitsForItsTurn and what is given out is never more than there is.
func TestAcquireWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewShare("test", 10)
		a, b, c := s.Grant(), s.Grant(), s.Grant()
		if err := a.Wait(t.Context(), 8); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- b.Wait(t.Context(), 5) }()
		synctest.Wait()
		if c.Set(1) {
			t.Error("somebody who came later was served before the one who waits")
		}
		a.Free()
		if err := <-done; err != nil || s.Usage().Used != 5 {
			t.Errorf("got %v, %+v, want 5 used", err, s.Usage())
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := c.Wait(ctx, 8); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: got %v", err)
		}
		b.Free()
		var e *tailrace.Error
		if err := c.Wait(t.Context(), 11); !errors.As(err, &e) || e.Code != "53200" || !strings.Contains(e.Hint, "--memory") {
			t.Errorf("more than there is: got %v, want 53200 with a hint", err)
		}
		if u := s.Usage(); u.Used != 0 || u.Peak != 8 || u.Waits != 2 || u.Refusals != 2 {
			t.Errorf("got %+v, want 0 used, 8 at most, 2 waits, 2 refusals", u)
		}
	})
}

func TestNoShareHasNoLimit(t *testing.T) {
	var n *Node
	g := n.Share(Query).Grant()
	if !g.Set(1<<60) || g.Crowded() || n.Usage() != nil || n.Share(Query).Limit(7) != 7 {
		t.Error("a node without a budget limits something")
	}
	var none *Grant
	if !none.Add(5) || none.Size() != 0 {
		t.Error("no grant limits something")
	}
	g.Free()
}
