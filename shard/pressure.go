package shard

import (
	"context"
	"fmt"
	"sync"

	"tailrace/budget"
	"tailrace/log"
)

// memWeight is what a byte of a memtable's encoded updates takes of the budget: itself, itself decoded once somebody reads it, and the index of its keys.
const memWeight = 3

// pressure keeps the memtables of a node within their share. What the log holds must be applied, so it is who commits that waits:
//
//	used      what the memtables have, in bytes of the budget
//	coming    what transactions that were let in may add; each leaves when its commit is decided, and is applied by then if it is committed
//
// used + coming never passes the limit, unless another node, which does not ask here, fills the log faster than this one flushes.
type pressure struct {
	limit int64

	mu           sync.Mutex // for memory only
	used, coming int64
	changed      chan struct{} // closed when there is more room
	share        *budget.Share // counts the waits
}

func newPressure(share *budget.Share, nodeBytes int) *pressure {
	p := &pressure{limit: share.Limit(int64(nodeBytes) * memWeight), changed: make(chan struct{}), share: share}
	share.Measure(p.size)
	return p
}

func (p *pressure) size() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// add tells that memtables grew by n bytes of encoded updates, or shrank.
func (p *pressure) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used += memWeight * int64(n)
	if n < 0 {
		p.wake()
	}
}

// keep takes n bytes for a copy that may be made again, if they leave a quarter of the share to writers; a negative n gives back.
func (p *pressure) keep(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > 0 && p.used+p.coming+int64(n) > p.limit/4*3 {
		return false
	}
	p.used += int64(n)
	if n < 0 {
		p.wake()
	}
	return true
}

func (p *pressure) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// high reports whether memtables are to be flushed whatever their size.
func (p *pressure) high() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used+p.coming > p.limit/2
}

// enter lets n bytes in, or returns a channel to wait on.
func (p *pressure) enter(n int64) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used+p.coming+n > p.limit && p.used+p.coming > 0 {
		return p.changed
	}
	p.coming += n
	return nil
}

func (p *pressure) leave(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.coming -= n
	p.wake()
}

// Admit waits until the memtables have room for what a transaction's records will put there. The caller then commits, and calls done when it knows the
// outcome. The error is ctx's.
func (s *Set) Admit(ctx context.Context, txns ...log.Txn) (done func(), err error) {
	n := int64(0)
	for i := range txns {
		for k := range txns[i].Records {
			if r := &txns[i].Records[k]; r.Kind == log.KindData {
				n += memWeight * int64(len(r.Payload))
			}
		}
	}
	if n == 0 {
		return func() {}, nil
	}
	n = min(n, s.pressure.limit)
	wait := s.pressure.enter(n)
	if wait != nil {
		s.pressure.share.Waited()
	}
	for wait != nil {
		s.nudge(s.wake)
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a flush of the memtables: %w", context.Cause(ctx))
		}
		wait = s.pressure.enter(n)
	}
	return func() { s.pressure.leave(n) }, nil
}
