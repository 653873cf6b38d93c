package log

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"

	"tailrace"
)

// checkpointFolder is where checkpoints are in Blob. They are outside of all sessions' folders, and swept by WriteCheckpoint.
const checkpointFolder = "checkpoint/"

// readCheckpoint returns the newest checkpoint, nil when there is none, and the log's own state in it. A node that writes a newer one deletes the
// blob that was just named to us: then we look again.
func (l *Log) readCheckpoint(ctx context.Context) (*Checkpoint, state, error) {
	_, p, err := l.readPointer(ctx)
	for {
		if err != nil || p == nil {
			return nil, newState(), err
		}
		raw, getErr := l.blob.Get(ctx, p.key, 0, -1)
		if getErr == nil {
			return p.open(raw)
		}
		missing := p.key
		if errors.Is(getErr, tailrace.ErrNotFound) {
			getErr = fmt.Errorf("%w: %w", getErr, tailrace.ErrCorrupt)
			_, p, err = l.readPointer(ctx)
		}
		if err == nil && (p == nil || p.key == missing) {
			return nil, state{}, fmt.Errorf("read checkpoint %s: %w", missing, getErr)
		}
	}
}

// open reads the checkpoint that the pointer names.
func (p *pointer) open(raw []byte) (*Checkpoint, state, error) {
	if uint64(len(raw)) != p.size || crc32.Checksum(raw, castagnoli) != p.crc {
		return nil, state{}, fmt.Errorf("read checkpoint %s: not the bytes that were written: %w", p.key, tailrace.ErrCorrupt)
	}
	c, err := DecodeCheckpoint(raw)
	if err != nil {
		return nil, state{}, fmt.Errorf("read checkpoint %s: %w", p.key, err)
	}
	folded, err := takeState(c.Sections)
	if err != nil {
		return nil, state{}, fmt.Errorf("read checkpoint %s: %w", p.key, err)
	}
	return c, folded, nil
}

// readPointer returns the pointer to the newest checkpoint, nil when there is none, and its place in Consensus.
func (l *Log) readPointer(ctx context.Context) (tailrace.SeqNo, *pointer, error) {
	v, err := l.consensus.Head(ctx, checkpointKey)
	if err != nil {
		return 0, nil, fmt.Errorf("find checkpoint: %w", err)
	}
	if v.Seq == 0 {
		return 0, nil, nil
	}
	p, err := decodePointer(v.Value)
	return v.Seq, p, err
}

// WriteCheckpoint keeps c, the state after applying c.Seq, as where the next start begins, and cuts the log off below it, but for what
// RetainBytes and RetainAge say. One that is not newer than the last changes nothing. The order makes every crash harmless:
//
//  1. Blob holds the new checkpoint   a crash leaves a blob that nobody names; step 3 of the next one sweeps it
//  2. Consensus names it              from here on, starts begin at it
//  3. older checkpoints' blobs go     a crash leaves them for the next
//  4. the log is truncated            a crash leaves it longer
//
// An error before 2 leaves the old one in force. One goroutine of a node at a time calls it; it runs beside everything else. Of two nodes that call it
// one is told that another checkpoint was named meanwhile.
func (l *Log) WriteCheckpoint(ctx context.Context, c *Checkpoint) error {
	at, old, err := l.readPointer(ctx)
	if err != nil {
		return err
	}
	if old != nil && c.Seq <= old.seq {
		return nil
	}
	whole := &Checkpoint{Seq: c.Seq, Time: c.Time, Sections: maps.Clone(c.Sections)}
	if whole.Sections == nil {
		whole.Sections = map[string][]byte{}
	}
	l.mu.Lock()
	isApplied := c.Seq <= l.applied.seq
	l.applied.state.encode(whole.Sections)
	l.mu.Unlock()
	if !isApplied {
		return fmt.Errorf("write checkpoint of entry %d: it is not applied yet", c.Seq)
	}
	raw := whole.Encode(nil)
	p := &pointer{
		seq: c.Seq, time: c.Time, size: uint64(len(raw)), crc: crc32.Checksum(raw, castagnoli),
		key: fmt.Sprintf("%s%016x-%s-%08x", checkpointFolder, c.Seq, l.session, rand.Uint32()),
	}
	if err := l.blob.Put(ctx, p.key, raw); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	switch outcome, err := l.settle(ctx, checkpointKey, at, p.encode()); outcome {
	case ours:
	case full:
		return fmt.Errorf("name checkpoint %s: %w", p.key, err)
	case theirs:
		return fmt.Errorf("name checkpoint %s: another was named meanwhile", p.key)
	default:
		return fmt.Errorf("name checkpoint %s: outcome unknown: %w", p.key, errors.Join(err, ctx.Err()))
	}
	return l.cleanUp(ctx, p, at+1)
}

// cleanUp removes what p, named at a place in Consensus, has replaced.
func (l *Log) cleanUp(ctx context.Context, p *pointer, at tailrace.SeqNo) error {
	for key, err := range l.blob.List(ctx, checkpointFolder) {
		if err != nil {
			return fmt.Errorf("sweep checkpoints: %w", err)
		}
		if key < p.key { // names begin with the entry in 16 hex digits: an older one's, or one that got no answer
			if err := l.blob.Delete(ctx, key); err != nil {
				return fmt.Errorf("sweep checkpoints: %w", err)
			}
		}
	}
	if err := l.consensus.Truncate(ctx, checkpointKey, at); err != nil {
		return fmt.Errorf("truncate checkpoint history: %w", err)
	}
	l.mu.Lock()
	cut := l.applied.marks.cut(&Checkpoint{Seq: p.seq, Time: p.time})
	l.mu.Unlock()
	if cut == 0 {
		return nil
	}
	if err := l.consensus.Truncate(ctx, logKey, cut); err != nil {
		return fmt.Errorf("truncate log below %d: %w", cut, err)
	}
	return nil
}
