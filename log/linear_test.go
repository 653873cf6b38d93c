package log_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

// versions is a fold that can be read as of a time.
type versions struct {
	mu   sync.Mutex
	keys map[uint64][]version
}

type version struct {
	time  tailrace.Time
	value string
}

func (v *versions) apply(e *log.Entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, txn := range e.Txns {
		for _, r := range txn.Records {
			if r.Kind == log.KindData {
				v.keys[r.Keys[0]] = append(v.keys[r.Keys[0]], version{txn.Time, string(r.Payload)})
			}
		}
	}
}

func (v *versions) at(key uint64, t tailrace.Time) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, x := range slices.Backward(v.keys[key]) {
		if x.time <= t {
			return x.value
		}
	}
	return ""
}

// call is an operation on one key. A read gives value; a write sets value, and if it is a swap only where from was.
type call struct {
	key         uint64
	isRead      bool
	isSwap      bool
	value, from string
}

// register is one key's value. An answer is what a read gave, or whether a write was "done", "not", or "unknown": then it may take effect
// at any time until the end, where nobody looks any more.
var register = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[uint64][]porcupine.Operation{}
		for _, op := range history {
			k := op.Input.(call).key
			parts[k] = append(parts[k], op)
		}
		var out [][]porcupine.Operation
		for _, p := range parts {
			out = append(out, p)
		}
		return out
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		c, answer := input.(call), output.(string)
		holds := !c.isSwap || state == c.from
		switch {
		case c.isRead:
			return answer == state, state
		case answer == "done":
			return holds, c.value
		case answer == "unknown" && holds:
			return true, c.value
		}
		return true, state
	},
}

func TestCommitsAndStrictReadsAreLinearizable(t *testing.T) {
	for seed := range seeds(100) {
		var history []porcupine.Operation
		synctest.Test(t, func(t *testing.T) { history = linearHistory(t, seed) })
		if got := porcupine.CheckOperationsTimeout(register, history, 10*time.Second); got != porcupine.Ok {
			t.Errorf("seed %d: history of %d operations: got %s, want Ok", seed, len(history), got)
		}
	}
}

// linearHistory is what clients of a node on a faulty store saw.
func linearHistory(t *testing.T, seed uint64) []porcupine.Operation {
	w := newWorld(seed, sim.Faults{Lost: 0.1, Unknown: 0.1, Late: 0.05, Slow: 0.05, Torn: 0.2, Latency: 100 * time.Microsecond})
	fold := &versions{keys: map[uint64][]version{}}
	n := &node{fold: fold.apply}
	w.start(t, 1, n)
	var clock atomic.Int64
	var mu sync.Mutex
	var history []porcupine.Operation
	var wg sync.WaitGroup
	for client := range 5 {
		rng := rand.New(rand.NewPCG(seed, uint64(client)))
		wg.Go(func() {
			for i := range 15 {
				c := call{key: rng.Uint64N(2), isRead: rng.IntN(3) == 0, isSwap: rng.IntN(2) == 0, value: fmt.Sprintf("%d.%d", client, i)}
				begin := clock.Add(1)
				answer := operate(n, fold, &c, rng)
				end := clock.Add(1)
				if answer == "unknown" {
					end = 1 << 60
				}
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: client, Input: c, Call: begin, Output: answer, Return: end})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	w.plan.Heal()
	n.close()
	w.plan.Wait()
	return history
}

// operate does c, fills in what a swap expects, and returns the answer.
func operate(n *node, fold *versions, c *call, rng *rand.Rand) string {
	ctx, cancel := context.WithCancel(context.Background())
	if rng.IntN(8) == 0 {
		cancel()
		ctx, cancel = context.WithTimeout(context.Background(), time.Duration(rng.IntN(400))*time.Microsecond)
	}
	defer cancel()
	read, err := n.Sync(context.Background())
	if err != nil {
		return "unknown"
	}
	pauseInBubble(time.Duration(rng.IntN(100)) * time.Microsecond)
	if c.isRead {
		if read, err = n.Sync(context.Background()); err != nil {
			panic(err) // a context that never ends
		}
		return fold.at(c.key, read)
	}
	txn := log.Txn{ReadTime: read, Records: []log.Record{put(1, c.value, c.key)}}
	if c.isSwap {
		c.from = fold.at(c.key, read)
		txn.Reads = []log.Read{{Collection: 1, Keys: []uint64{c.key}}}
	}
	_, err = n.Commit(ctx, txn)
	switch {
	case err == nil:
		return "done"
	case isNotDone(err):
		return "not"
	}
	return "unknown"
}
