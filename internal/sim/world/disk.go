package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
)

// logKey is the Consensus key of the log.
const logKey = "log"

// checkpointKey is the one that names the newest checkpoint.
const checkpointKey = "checkpoint"

// disk is the stores at the very bottom, which outlive nodes, and a witness of the log: it keeps every entry from the moment it can be read, so that what the
// log truncates later, or loses, is still known here.
type disk struct {
	world *World

	mu        sync.Mutex
	consensus *sim.Consensus
	blob      *sim.Blob
	raw       [][]byte // entry n is raw[n-1]
	entries   []log.Entry
	ended     map[string]bool // sessions
}

// stores are those of now.
func (d *disk) stores() (*sim.Consensus, *sim.Blob) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.consensus, d.blob
}

// witness takes in what the log holds and was not known yet, and checks that what was known is there still.
func (d *disk) witness() {
	d.mu.Lock()
	defer d.mu.Unlock()
	page, err := d.consensus.Scan(context.Background(), logKey, tailrace.SeqNo(len(d.raw)+1), 1<<30)
	if err != nil { // the power is off
		return
	}
	for _, v := range page {
		if int(v.Seq) != len(d.raw)+1 {
			d.world.fail("log: entry %d comes after entry %d", v.Seq, len(d.raw))
			return
		}
		e, _, by, err := log.DecodeEntry(v.Value)
		if err != nil {
			d.world.fail("log: entry %d: %v", v.Seq, err)
		}
		if d.ended[by] {
			d.world.fail("fenced: entry %d is of session %s, which had ended", v.Seq, by)
		}
		d.endings(e)
		d.raw, d.entries = append(d.raw, v.Value), append(d.entries, e)
		d.world.note("entry", uint64(e.Seq), uint64(e.Time), uint64(len(e.Txns)))
	}
}

// endings notes the sessions that e ends. The caller holds mu.
func (d *disk) endings(e log.Entry) {
	for _, t := range e.Txns {
		for _, r := range t.Records {
			if r.Kind != log.KindSession {
				continue
			}
			if c, err := log.DecodeSession(r.Payload); err != nil {
				d.world.fail("log: entry %d: %v", e.Seq, err)
			} else if c.Ended {
				d.ended[c.Session] = true
			}
		}
	}
}

// length is how many entries can be read.
func (d *disk) length() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.raw)
}

// newest is the newest committed time.
func (d *disk) newest() tailrace.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.entries) == 0 {
		return 0
	}
	return d.entries[len(d.entries)-1].Time
}

// has says whether a record of kind with this payload is in the log.
func (d *disk) has(kind log.Kind, payload []byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.entries) - 1; i >= 0; i-- {
		for _, t := range d.entries[i].Txns {
			for _, r := range t.Records {
				if r.Kind == kind && bytes.Equal(r.Payload, payload) {
					return true
				}
			}
		}
	}
	return false
}

// powerCut loses what was not synced, and checks that no entry that could be read is lost.
func (d *disk) powerCut(rng *rand.Rand) {
	d.mu.Lock()
	d.consensus, d.blob = d.consensus.PowerCut(rng), d.blob.PowerCut(rng)
	page, err := d.consensus.Scan(context.Background(), logKey, 0, 1<<30)
	if err != nil {
		panic("a restarted store does not answer: " + err.Error())
	}
	last := tailrace.SeqNo(0)
	for _, v := range page {
		if last = v.Seq; int(v.Seq) <= len(d.raw) && !bytes.Equal(v.Value, d.raw[v.Seq-1]) {
			d.world.fail("log: entry %d is another one after a power cut", v.Seq)
		}
	}
	if int(last) < len(d.raw) {
		d.world.fail("log: a power cut lost entries %d to %d, which could be read before", last+1, len(d.raw))
	}
	d.mu.Unlock()
	d.witness()
}

// errDead is what a process gets that was killed.
var errDead = errors.New("the process is dead")

// errCall ends a call of a dead process.
func errCall(dead *atomic.Bool) error {
	if dead.Load() {
		return errDead
	}
	return nil
}

// consensusOf is the disk's Consensus as one life of a process has it: once dead is set no call gets through. The newest store is asked, so that a message that
// was late reaches a machine that has started again.
type consensusOf struct {
	disk *disk
	dead *atomic.Bool
}

func (c consensusOf) Head(ctx context.Context, key string) (tailrace.Versioned, error) {
	if err := errCall(c.dead); err != nil {
		return tailrace.Versioned{}, err
	}
	s, _ := c.disk.stores()
	return s.Head(ctx, key)
}

func (c consensusOf) Scan(ctx context.Context, key string, from tailrace.SeqNo, limit int) ([]tailrace.Versioned, error) {
	if err := errCall(c.dead); err != nil {
		return nil, err
	}
	s, _ := c.disk.stores()
	return s.Scan(ctx, key, from, limit)
}

func (c consensusOf) CompareAndSet(ctx context.Context, key string, expect tailrace.SeqNo, value []byte) (bool, error) {
	if err := errCall(c.dead); err != nil {
		return false, err
	}
	s, _ := c.disk.stores()
	ok, err := s.CompareAndSet(ctx, key, expect, value)
	if key == logKey {
		c.disk.witness()
	}
	return ok, err
}

func (c consensusOf) Truncate(ctx context.Context, key string, before tailrace.SeqNo) error {
	if err := errCall(c.dead); err != nil {
		return err
	}
	s, _ := c.disk.stores()
	return s.Truncate(ctx, key, before)
}

// blobOf is the disk's Blob likewise.
type blobOf struct {
	disk *disk
	dead *atomic.Bool
}

func (b blobOf) Get(ctx context.Context, key string, off, n int64) ([]byte, error) {
	if err := errCall(b.dead); err != nil {
		return nil, err
	}
	_, s := b.disk.stores()
	return s.Get(ctx, key, off, n)
}

func (b blobOf) Put(ctx context.Context, key string, value []byte) error {
	if err := errCall(b.dead); err != nil {
		return err
	}
	_, s := b.disk.stores()
	err := s.Put(ctx, key, value)
	if errors.Is(err, tailrace.ErrExists) {
		b.disk.world.fail("blob %s is put twice with different values", key)
	}
	return err
}

func (b blobOf) Delete(ctx context.Context, key string) error {
	if err := errCall(b.dead); err != nil {
		return err
	}
	_, s := b.disk.stores()
	return s.Delete(ctx, key)
}

func (b blobOf) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	if err := errCall(b.dead); err != nil {
		return func(yield func(string, error) bool) { yield("", fmt.Errorf("list: %w", err)) }
	}
	_, s := b.disk.stores()
	return s.List(ctx, prefix)
}

// place is the newest position of the source in the log, -1 when there is none.
func (d *disk) place() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.entries) - 1; i >= 0; i-- {
		for _, t := range slices.Backward(d.entries[i].Txns) {
			for _, r := range t.Records {
				if r.Kind == log.KindPosition {
					n, _ := placeOf(r.Payload)
					return n
				}
			}
		}
	}
	return -1
}
