package world

import (
	"context"
	"encoding/binary"

	"tailrace"
	"tailrace/log"
)

// A Bug is something that is broken on purpose, at a seam of a node, so that a test can see a validator find it. NoBug breaks nothing.
type Bug int

// The bugs.
const (
	NoBug        Bug = iota
	LazyLog          // an entry of the log is acknowledged before it is synced
	LazyParts        // so is a part
	LostAppend       // an append is acknowledged and never done
	BlindAppend      // an append does not look whether others were faster
	DeafToEnd        // a node does not hear that its session was ended
	DeafToClaim      // nodes do not look whether another has the claim
	NoPromise        // nodes do not look what another still reads
	StaleHead        // a strict read asks for the head and gets an old answer
	Redelivered      // a source delivers a transaction twice
	HastyConfirm     // what a source delivers is confirmed before it is in the log
	SentTwice        // a subscriber is sent a row twice
	NeverSent        // a row is not sent
	SentLate         // a row is sent after the one that follows it
	Bugs
)

func (b Bug) String() string {
	return [...]string{
		"none", "log acknowledged before it is synced", "parts acknowledged before they are synced", "append lost", "append without comparing", "ended session goes on", "claim not checked",
		"hold dropped", "stale head", "transaction delivered twice", "confirmed before it is in the log", "row sent twice", "row not sent", "row sent late",
	}[b]
}

// every is how many calls go well between two that a bug spoils, where it does not spoil all.
const every = 40

// buggy is the Consensus of a node with a bug.
type buggy struct {
	tailrace.Consensus
	bug     Bug
	session string // of the node
	sets    *int   // so far, of the log
	head    *tailrace.Versioned
}

func (b Bug) consensus(under tailrace.Consensus, session string) tailrace.Consensus {
	if b == NoBug {
		return under
	}
	return buggy{under, b, session, new(int), new(tailrace.Versioned)}
}

// Head implements tailrace.Consensus.
func (c buggy) Head(ctx context.Context, key string) (tailrace.Versioned, error) {
	now, err := c.Consensus.Head(ctx, key)
	if err != nil || c.bug != StaleHead || key != logKey {
		return now, err
	}
	was := *c.head
	*c.head = now
	return was, nil
}

// Scan implements tailrace.Consensus.
func (c buggy) Scan(ctx context.Context, key string, from tailrace.SeqNo, limit int) ([]tailrace.Versioned, error) {
	page, err := c.Consensus.Scan(ctx, key, from, limit)
	if key != logKey {
		return page, err
	}
	for i := range page {
		page[i].Value = edited(page[i].Value, c.unheard)
	}
	return page, err
}

// unheard takes out of an entry what the node is deaf to.
func (c buggy) unheard(e *log.Entry, by string) {
	if c.bug == NoPromise && by != c.session {
		readsNothing(e)
	}
	for i := range e.Txns {
		var kept []log.Record
		for _, r := range e.Txns[i].Records {
			if !c.isDeafTo(r, by) {
				kept = append(kept, r)
			}
		}
		e.Txns[i].Records = kept
	}
}

func (c buggy) isDeafTo(r log.Record, by string) bool {
	switch {
	case c.bug == DeafToEnd && r.Kind == log.KindSession:
		change, err := log.DecodeSession(r.Payload)
		return err == nil && change.Ended && change.Session == c.session
	case c.bug == DeafToClaim:
		return r.Kind == log.KindClaim && by != c.session
	}
	return false
}

// CompareAndSet implements tailrace.Consensus.
func (c buggy) CompareAndSet(ctx context.Context, key string, expect tailrace.SeqNo, value []byte) (bool, error) {
	if key != logKey {
		return c.Consensus.CompareAndSet(ctx, key, expect, value)
	}
	*c.sets++
	switch {
	case c.bug == LostAppend && *c.sets%every == 0:
		return true, nil
	case c.bug == BlindAppend:
		head, err := c.Head(ctx, key)
		if err != nil {
			return false, err
		}
		expect = head.Seq
		value = edited(value, func(e *log.Entry, _ string) { e.Seq = head.Seq + 1 })
	}
	return c.Consensus.CompareAndSet(ctx, key, expect, value)
}

// readsNothing makes a node's promise in e one that says that it reads nothing below now.
func readsNothing(e *log.Entry) {
	for _, t := range e.Txns {
		for i, r := range t.Records {
			if r.Kind != log.KindSession {
				continue
			}
			if change, err := log.DecodeSession(r.Payload); err == nil && change.Reads > 0 {
				change.Reads = e.Time
				t.Records[i] = change.Record()
			}
		}
	}
}

// edited is an entry's bytes after edit.
func edited(raw []byte, edit func(e *log.Entry, by string)) []byte {
	e, nonce, by, err := log.DecodeEntry(raw)
	if err != nil {
		return raw
	}
	edit(&e, by)
	return e.Encode(nil, nonce, by)
}

// sender is what a node sends on one connection, with a bug.
type sender struct {
	bug   Bug
	rows  int    // so far
	later []byte // a row that waits for the next message
}

// sent is what is sent instead of p, which the node sends.
func (s *sender) sent(p []byte) []byte {
	if s.later != nil {
		p, s.later = append(append([]byte(nil), s.next(p)...), append(s.later, p[len(s.next(p)):]...)...), nil
		return p
	}
	first := s.next(p)
	if len(first) == 0 || first[0] != 'D' {
		return p
	}
	if s.rows++; s.rows%(every/4) != 0 {
		return p
	}
	switch s.bug {
	case SentTwice:
		return append(append([]byte(nil), first...), p...)
	case NeverSent:
		return p[len(first):]
	case SentLate:
		s.later = append([]byte(nil), first...)
		return p[len(first):]
	}
	return p
}

// next is the first message of p, empty when p does not begin with a whole one.
func (*sender) next(p []byte) []byte {
	if len(p) < 5 {
		return nil
	}
	n := 1 + int(binary.BigEndian.Uint32(p[1:]))
	if n > len(p) {
		return nil
	}
	return p[:n]
}
