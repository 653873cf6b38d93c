package log

import (
	"fmt"
	"maps"

	"tailrace"
)

// state is the log's own fold: which sessions are open and what they claim. A committer has it as of the head, Applied as of what this
// node has applied.
type state struct {
	sessions *sessions
	claims   claims
}

func newState() state { return state{newSessions(), claims{}} }

func (s state) clone() state { return state{s.sessions.clone(), maps.Clone(s.claims)} }

// fold takes an entry and says whether a claim was freed. A record that cannot be read passed the entry's checksum, so a bug wrote it.
func (s state) fold(e *Entry) (freed bool, err error) {
	for i := range e.Txns {
		for j := range e.Txns[i].Records {
			r := &e.Txns[i].Records[j]
			switch r.Kind {
			case KindSession:
				var c SessionChange
				if c, err = DecodeSession(r.Payload); err == nil {
					s.sessions.fold(c)
					if c.Ended {
						s.claims.free(c.Session)
						freed = true
					}
				}
			case KindClaim:
				var c claimChange
				if c, err = decodeClaim(r.Payload); err == nil {
					s.claims.fold(c, e.Txns[i].Time, s.sessions)
					freed = freed || c.gives > 0
				}
			}
			if err != nil {
				return freed, fmt.Errorf("entry %d: %w", e.Seq, err)
			}
		}
	}
	return freed, nil
}

// The sections of a checkpoint that are the log's own.
const (
	sessionsSection = "log.sessions"
	claimsSection   = "log.claims"
)

// encode puts the state into sections. It may be ahead of the checkpoint's entry, which folding again does not mind.
func (s state) encode(sections map[string][]byte) {
	sections[sessionsSection], sections[claimsSection] = s.sessions.encode(), s.claims.encode()
}

// takeState reads the state back and takes it out of sections. A checkpoint of before claims has none.
func takeState(sections map[string][]byte) (s state, err error) {
	if s.sessions, err = decodeSessions(sections[sessionsSection]); err != nil {
		return state{}, err
	}
	if s.claims, err = decodeClaims(sections[claimsSection]); err != nil {
		return state{}, err
	}
	delete(sections, sessionsSection)
	delete(sections, claimsSection)
	return s, nil
}

// Ended says whether the session has ended, as far as this node has applied the log. What it had not committed by then it never will.
func (l *Log) Ended(session string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.applied.state.sessions.ended[session]
}

// OthersRead is the oldest time that the other open sessions may read at, by their newest promises: what was let go of at or before it, and history
// below it, they do not need. tailrace.MaxTime when no other is open; a session that has not told yet may read anything.
func (l *Log) OthersRead() tailrace.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.applied.state.sessions.readsFrom(l.session)
}
