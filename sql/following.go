package sql

import (
	"fmt"
	"sync"
	"time"
)

// following is the subscriptions over relations of the system, which the tail does not know of.
type following struct {
	mu   sync.Mutex
	next int
	open map[int]followed
}

type followed struct {
	id, session, relation string
	created               time.Time
}

// add shows a subscription until release is called.
func (f *following) add(session, relation string) (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open = map[int]followed{}
	}
	f.next++
	n := f.next
	f.open[n] = followed{fmt.Sprintf("m%d", n), session, relation, time.Now()}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.open, n)
	}
}

func (f *following) list() []followed {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]followed, 0, len(f.open))
	for _, o := range f.open {
		out = append(out, o)
	}
	return out
}
