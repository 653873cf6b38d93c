package log

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"slices"

	"tailrace"
)

// Standing is the log's own state at one moment: who is there and who has which work.
type Standing struct {
	Open   []string `json:"open"`  // sessions, in order
	Ended  int      `json:"ended"` // sessions that are remembered to have ended
	Claims []Held   `json:"claims"`
}

// Held is a claim that a session has.
type Held struct {
	Name    string        `json:"name"`
	Epoch   tailrace.Time `json:"epoch"`
	Session string        `json:"session"`
}

func (s state) standing() Standing {
	out := Standing{Open: slices.Sorted(maps.Keys(s.sessions.open)), Ended: len(s.sessions.order), Claims: []Held{}}
	for name, h := range s.claims {
		out.Claims = append(out.Claims, Held{name, h.epoch, h.session})
	}
	slices.SortFunc(out.Claims, func(a, b Held) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// StandingOf is the state that a checkpoint keeps. The checkpoint is not changed. An error is tailrace.ErrCorrupt.
func StandingOf(c *Checkpoint) (Standing, error) {
	s, err := takeState(maps.Clone(c.Sections))
	if err != nil {
		return Standing{}, err
	}
	return s.standing(), nil
}

// Export is c, which this node folded, with the log's own state in it: all that another environment needs to begin where this one is at c.
func (l *Log) Export(c *Checkpoint) *Checkpoint {
	whole := &Checkpoint{Seq: c.Seq, Time: c.Time, Sections: map[string][]byte{}}
	maps.Copy(whole.Sections, c.Sections)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.applied.state.encode(whole.Sections)
	return whole
}

// ErrBegun is returned (wrapped) by Begin for stores that hold a log already.
var ErrBegun = errors.New("there is a log already")

// Begin makes the log of a new environment that goes on where an exported checkpoint is: its first entry is a tick at the checkpoint's time, and what is
// appended later gets later times. Entries are counted from 1 again. session, 16 hex digits, is whoever does it, and never opens. The order makes a crash harmless: without
// the pointer, written last, the stores hold no environment.
func Begin(ctx context.Context, consensus tailrace.Consensus, blob tailrace.Blob, session string, c *Checkpoint) error {
	if _, err := StandingOf(c); err != nil {
		return fmt.Errorf("begin log: %w", err)
	}
	for _, key := range []string{logKey, checkpointKey} {
		v, err := consensus.Head(ctx, key)
		if err != nil {
			return fmt.Errorf("begin log: %w", err)
		}
		if v.Seq > 0 {
			return fmt.Errorf("begin log: %w", ErrBegun)
		}
	}
	first := &Entry{Seq: 1, Time: c.Time}
	raw := (&Checkpoint{Seq: first.Seq, Time: c.Time, Sections: c.Sections}).Encode(nil)
	p := &pointer{
		seq: first.Seq, time: c.Time, size: uint64(len(raw)), crc: crc32.Checksum(raw, castagnoli),
		key: fmt.Sprintf("%s%016x-%s-%08x", checkpointFolder, first.Seq, session, rand.Uint32()),
	}
	if err := blob.Put(ctx, p.key, raw); err != nil {
		return fmt.Errorf("begin log: %w", err)
	}
	for _, v := range []struct {
		key   string
		value []byte
	}{{logKey, first.Encode(nil, rand.Uint64(), session)}, {checkpointKey, p.encode()}} {
		ok, err := consensus.CompareAndSet(ctx, v.key, 0, v.value)
		if err == nil && !ok {
			err = ErrBegun
		}
		if err != nil {
			return fmt.Errorf("begin log: %w", err)
		}
	}
	return nil
}
