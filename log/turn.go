package log

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"tailrace"
)

// A node that appends all the time knows the head as soon as its append is answered; any other has to read what is new first, and comes too late, again and
// again, until its lease runs out. So one that lost turnAfter times in a row asks for a turn:
//
//  1. the loser sets the Consensus key "turn", which nobody races for
//  2. the winner looks there every lastPoll while it appends, and then lets a slot pass: it waits for an entry of another, turnWait at most
//  3. the loser, who tries on meanwhile, gets its whole group in
const (
	turnAfter = 3
	turnWait  = 250 * time.Millisecond
)

// turn is what a node knows of such requests.
type turn struct {
	wanted atomic.Bool // another node asks to be let in

	// The lookout's alone.
	seen   tailrace.SeqNo // of the requests
	looked int64          // own entries at the last look
	at     time.Duration  // of the last look
}

// isTurnWanted looks, if this node has appended of late, whether another asks for a turn, and notes it.
func (l *Log) isTurnWanted(ctx context.Context) bool {
	t := &l.look.turn
	_, mono := l.clocks()
	own := l.look.own.Load()
	if own == t.looked || mono-t.at < lastPoll {
		return false
	}
	t.looked, t.at = own, mono
	v, err := l.callHead(ctx, turnKey)
	if err != nil || v.Seq <= t.seen {
		return false
	}
	t.seen = v.Seq
	if len(v.Value) < 8 || binary.LittleEndian.Uint64(v.Value) == sessionBits(l.session) {
		return false
	}
	t.wanted.Store(true)
	return true
}

// askTurn asks for a turn. If another does at the same moment, its request serves both.
func (l *Log) askTurn(ctx context.Context) error {
	v, err := l.callHead(ctx, turnKey)
	if err != nil {
		return err
	}
	value := binary.LittleEndian.AppendUint64(nil, sessionBits(l.session))
	value = binary.LittleEndian.AppendUint64(value, rand.Uint64())
	if _, err := l.consensus.CompareAndSet(ctx, turnKey, v.Seq, value); err != nil {
		return err
	}
	return l.consensus.Truncate(ctx, turnKey, v.Seq+1)
}

// letIn waits until another's entry is there.
func (r *runner) letIn(ctx context.Context) error {
	timer := time.NewTimer(turnWait)
	defer timer.Stop()
	for !r.isBehind() {
		select {
		case <-r.wake:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
	return r.catchUp(ctx)
}
