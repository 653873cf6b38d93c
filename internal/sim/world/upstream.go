package world

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"
)

// upstream is the database that a source follows, outside of all that fails here: a list of transactions, of which the position is a number. It remembers what
// was confirmed, and forgets its transactions up to there.
type upstream struct {
	world *World

	mu        sync.Mutex
	rng       *rand.Rand
	txns      []upTxn // transaction n is txns[n-1]
	state     model   // after all of them
	confirmed int
	grew      chan struct{}
}

// upTxn is a transaction of the upstream; none of its changes when it touches tables that nobody follows.
type upTxn []upChange

// upChange is a change of a row: old and new are rows as text, "" when there is none.
type upChange struct{ table, old, new string }

// fold does to m what the transaction does.
func (t upTxn) fold(m model) error {
	for _, c := range t {
		if c.old == "" && c.new == "" {
			m[c.table].clear()
			continue
		}
		if c.old != "" {
			if err := m[c.table].add(c.old, -1); err != nil {
				return err
			}
		}
		if c.new != "" {
			if err := m[c.table].add(c.new, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

func newUpstream(w *World) *upstream {
	u := &upstream{world: w, rng: w.rand("upstream"), state: newModel(), grew: make(chan struct{})}
	for range 40 {
		u.commit()
	}
	return u
}

// write commits transactions at the upstream until ctx is done.
func (u *upstream) write(ctx context.Context) {
	for ctx.Err() == nil {
		u.mu.Lock()
		u.commit()
		pause := upTo(u.rng, 600*time.Millisecond)
		u.mu.Unlock()
		sleep(ctx, pause)
	}
}

// commit makes up a transaction. The caller holds mu, or nobody else knows u.
func (u *upstream) commit() {
	mark := fmt.Sprintf("u.%d", len(u.txns)+1)
	var t upTxn
	add := func(c upChange) {
		if err := (upTxn{c}).fold(u.state); err != nil {
			panic("the upstream contradicts itself: " + err.Error())
		}
		t = append(t, c)
	}
	if u.rng.IntN(8) > 0 {
		for range 1 + u.rng.IntN(4) {
			add(u.change(mark))
		}
		add(upChange{upBag, "", row(u.rng.IntN(10), mark)})
	}
	if u.rng.IntN(50) == 0 {
		add(upChange{table: upKeyed})
	}
	u.txns = append(u.txns, t)
	close(u.grew)
	u.grew = make(chan struct{})
}

// change makes up a change of the keyed table: an insert, an update that may move the row to another key, or a delete.
func (u *upstream) change(mark string) upChange {
	id := u.rng.IntN(30)
	t := u.state[upKeyed]
	was := t.byKey[strconv.Itoa(id)]
	big := mark + "/" + strconv.Itoa(u.rng.IntN(1000))
	if was == "" {
		return upChange{upKeyed, "", row(id, u.rng.IntN(100), mark, big)}
	}
	switch u.rng.IntN(4) {
	case 0:
		return upChange{upKeyed, was, ""}
	case 1:
		if to := u.rng.IntN(30); t.byKey[strconv.Itoa(to)] == "" {
			id = to
		}
	}
	if u.rng.IntN(2) == 0 {
		big = columns(was)[3] // as it was: the upstream does not send it
	}
	return upChange{upKeyed, was, row(id, u.rng.IntN(100), mark, big)}
}

// length is how many transactions there are.
func (u *upstream) length() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.txns)
}

// position is the place after transaction n.
func position(n int) []byte { return fmt.Appendf(nil, "upstream position %012d", n) }

// placeOf is the opposite of position; false when raw is none.
func placeOf(raw []byte) (int, bool) {
	var n int
	_, err := fmt.Sscanf(string(raw), "upstream position %d", &n)
	return n, err == nil
}

// isHere says whether the log has all that happened upstream.
func (u *upstream) isHere() bool {
	u.mu.Lock()
	n := len(u.txns)
	for n > 0 && len(u.txns[n-1]) == 0 {
		n--
	}
	u.mu.Unlock()
	return u.world.disk.place() >= n
}
