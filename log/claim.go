package log

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tailrace"
)

// maxClaimName bounds the name of a claim, in bytes.
const maxClaimName = 255

// Claim is the right to do work that runs once in an environment: to follow a source, to keep house. It is a name, and the epoch in which a
// session has it. Epochs of one name only go up, so a transaction that carries an old one is told from one that carries the newest
// (ErrFenced), however late it comes.
type Claim struct {
	Name  string        // 1 to 255 bytes
	Epoch tailrace.Time // of the commit that took it
}

// claimChange is what a KindClaim record says. Whoever takes a claim gets the time of its commit as the epoch.
type claimChange struct {
	name    string
	session string        // that takes it, or gives it up
	gives   tailrace.Time // the epoch that is given up; 0: it is taken
}

func (c claimChange) record() Record {
	payload := binary.LittleEndian.AppendUint64(nil, sessionBits(c.session))
	payload = binary.LittleEndian.AppendUint64(payload, uint64(c.gives))
	return Record{Kind: KindClaim, Payload: append(payload, c.name...)}
}

// decodeClaim reads the payload of a KindClaim record. An error is tailrace.ErrCorrupt.
func decodeClaim(payload []byte) (claimChange, error) {
	d := tailrace.ByteReader{Src: payload}
	c := claimChange{session: sessionName(d.Uint64()), gives: tailrace.Time(d.Uint64())}
	c.name = string(d.Take(min(len(d.Src), maxClaimName)))
	if c.name == "" {
		d.Fail("no name")
	}
	if err := d.End(); err != nil {
		return claimChange{}, fmt.Errorf("decode claim record: %w", err)
	}
	return c, nil
}

// claims is the fold of all claimChanges: the claims that are held. Those of a session go with its end. Folding a change again after newer
// ones comes to the same once the newer ones are folded again too, because epochs only go up.
type claims map[string]holder

// holder is who has a claim.
type holder struct {
	session string
	epoch   tailrace.Time
}

func (c claims) fold(change claimChange, at tailrace.Time, s *sessions) {
	now := c[change.name]
	switch {
	case change.gives > 0:
		if now.epoch == change.gives {
			delete(c, change.name)
		}
	case at > now.epoch && !s.ended[change.session]:
		c[change.name] = holder{change.session, at}
	}
}

// free gives up all that a session holds.
func (c claims) free(session string) {
	maps.DeleteFunc(c, func(_ string, h holder) bool { return h.session == session })
}

// allows says whether a claim's work may still be done.
func (c claims) allows(claim Claim) bool {
	return claim == Claim{} || claim.Epoch > 0 && c[claim.Name].epoch == claim.Epoch
}

// fits says whether a change may be committed: only what nobody else holds is taken, only what is held is given up.
func (c claims) fits(change claimChange) bool {
	now, held := c[change.name]
	if change.gives > 0 {
		return now.epoch == change.gives
	}
	return !held || now.session == change.session
}

// encode is the claims as a checkpoint keeps them, by name: session u64 | epoch u64 | length u8 | name.
func (c claims) encode() []byte {
	var dst []byte
	for _, name := range slices.Sorted(maps.Keys(c)) {
		dst = binary.LittleEndian.AppendUint64(dst, sessionBits(c[name].session))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(c[name].epoch))
		dst = append(append(dst, byte(len(name))), name...)
	}
	return dst
}

func decodeClaims(raw []byte) (claims, error) {
	c := claims{}
	d := tailrace.ByteReader{Src: raw}
	for d.Err == nil && len(d.Src) > 0 {
		h := holder{sessionName(d.Uint64()), tailrace.Time(d.Uint64())}
		name := string(d.Take(int(d.Byte())))
		if name == "" || h.epoch == 0 {
			d.Fail("claim without name or epoch")
		}
		c[name] = h
	}
	if err := d.End(); err != nil {
		return nil, fmt.Errorf("decode claims: %w", err)
	}
	return c, nil
}

// TakeClaim waits until no other session has the claim and takes it for this one, in a new epoch: a session that has it already fences its own earlier
// work with that. Errors are those of Commit.
func (l *Log) TakeClaim(ctx context.Context, name string) (Claim, error) {
	if name == "" || len(name) > maxClaimName {
		return Claim{}, fmt.Errorf("take claim %q: its name has %d bytes, 1 to %d are allowed", name, len(name), maxClaimName)
	}
	take := claimChange{name: name, session: l.session}.record()
	for {
		freed := l.claimsFreed()
		if session, held := l.ClaimHolder(name); held && session != l.session {
			select {
			case <-freed:
			case <-l.over:
				return Claim{}, l.closedBy()
			case <-ctx.Done():
				return Claim{}, ctx.Err()
			}
			continue
		}
		t, err := l.commitBehind(ctx, Txn{ReadTime: l.Newest(), Records: []Record{take}})
		switch {
		case err == nil:
			return Claim{Name: name, Epoch: t}, nil
		case !errors.Is(err, ErrConflict):
			return Claim{}, fmt.Errorf("take claim %s: %w", name, err)
		}
	}
}

// GiveClaim gives a claim up, so that another node can take it at once. One that has moved on already is left alone.
func (l *Log) GiveClaim(ctx context.Context, claim Claim) error {
	give := claimChange{name: claim.Name, session: l.session, gives: claim.Epoch}.record()
	_, err := l.commitBehind(ctx, Txn{ReadTime: l.Newest(), Records: []Record{give}})
	if err != nil && !errors.Is(err, ErrConflict) {
		return fmt.Errorf("give up claim %s: %w", claim.Name, err)
	}
	return nil
}

// commitBehind is Commit that never leads: its caller stops waiting when ctx ends, however long the store is away.
func (l *Log) commitBehind(ctx context.Context, txn Txn) (tailrace.Time, error) {
	c, err := newCommit(&txn)
	if err != nil {
		return 0, err
	}
	if err := l.enqueue(c); err != nil {
		return 0, err
	}
	l.wakeRun()
	select {
	case <-c.done:
		return c.time, c.err
	case <-l.over: // then nobody may be there any more to apply it
		return 0, l.closedBy()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// ClaimHolder is the session that has a claim, as far as this node has applied the log.
func (l *Log) ClaimHolder(name string) (session string, held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, held := l.applied.state.claims[name]
	return h.session, held
}

// claimsFreed is closed when the next claim is given up or its session ends.
func (l *Log) claimsFreed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.applied.freed == nil {
		l.applied.freed = make(chan struct{})
	}
	return l.applied.freed
}
