package log

import (
	"encoding/binary"
	"fmt"
	"slices"

	"tailrace"
)

// maxEnded bounds how many ended sessions are remembered, 8 bytes each. When one is forgotten, blobs it left are never collected; that
// takes as many starts of a node without one sweep.
const maxEnded = 1 << 16

// SessionChange is what a KindSession record says: a node's session opens, or ends. A session never opens again once it has ended.
type SessionChange struct {
	Session string // 16 hex digits
	Ended   bool
}

// Record is the log record of the change.
func (c SessionChange) Record() Record {
	payload := []byte{0}
	if c.Ended {
		payload[0] = 1
	}
	return Record{Kind: KindSession, Payload: binary.LittleEndian.AppendUint64(payload, sessionBits(c.Session))}
}

// DecodeSession reads the payload of a KindSession record. An error is tailrace.ErrCorrupt.
func DecodeSession(payload []byte) (SessionChange, error) {
	if len(payload) != 9 || payload[0] > 1 {
		return SessionChange{}, fmt.Errorf("decode session record: %w", tailrace.ErrCorrupt)
	}
	return SessionChange{Session: sessionName(binary.LittleEndian.Uint64(payload[1:])), Ended: payload[0] == 1}, nil
}

// sessions is the fold of all SessionChanges. Folding one twice, or an older one after a newer, changes nothing: a session only ever
// goes from unknown to open to ended.
type sessions struct {
	open  map[string]bool
	ended map[string]bool
	order []string // ended, oldest first
}

func newSessions() *sessions {
	return &sessions{open: map[string]bool{}, ended: map[string]bool{}}
}

func (s *sessions) fold(c SessionChange) {
	switch {
	case s.ended[c.Session]:
		return
	case !c.Ended:
		s.open[c.Session] = true
		return
	}
	delete(s.open, c.Session)
	s.ended[c.Session] = true
	s.order = append(s.order, c.Session)
	if len(s.order) > maxEnded {
		delete(s.ended, s.order[0])
		s.order = s.order[1:]
	}
}

// eachSession calls fn for the session records of e. One that cannot be read passed the entry's checksum, so a bug wrote it.
func eachSession(e *Entry, fn func(SessionChange)) error {
	for i := range e.Txns {
		for j := range e.Txns[i].Records {
			r := &e.Txns[i].Records[j]
			if r.Kind != KindSession {
				continue
			}
			c, err := DecodeSession(r.Payload)
			if err != nil {
				return fmt.Errorf("entry %d: %w", e.Seq, err)
			}
			fn(c)
		}
	}
	return nil
}

// opening is the records that open session and end all others: who holds the data folder's lock knows that they are dead.
func (s *sessions) opening(session string) []Record {
	var records []Record
	for other := range s.open {
		if other != session {
			records = append(records, SessionChange{Session: other, Ended: true}.Record())
		}
	}
	slices.SortFunc(records, func(a, b Record) int { return slices.Compare(a.Payload, b.Payload) })
	return append(records, SessionChange{Session: session}.Record())
}

// encode is the sessions as a checkpoint keeps them: counts u32 of open and ended, then u64 each.
func (s *sessions) encode() []byte {
	open := make([]string, 0, len(s.open))
	for name := range s.open {
		open = append(open, name)
	}
	slices.Sort(open)
	dst := binary.LittleEndian.AppendUint32(nil, uint32(len(open)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s.order)))
	for _, name := range append(open, s.order...) {
		dst = binary.LittleEndian.AppendUint64(dst, sessionBits(name))
	}
	return dst
}

func decodeSessions(raw []byte) (*sessions, error) {
	s := newSessions()
	if len(raw) < 8 {
		return nil, fmt.Errorf("decode sessions: %w", tailrace.ErrCorrupt)
	}
	open, ended := uint64(binary.LittleEndian.Uint32(raw)), uint64(binary.LittleEndian.Uint32(raw[4:]))
	if raw = raw[8:]; uint64(len(raw)) != 8*(open+ended) {
		return nil, fmt.Errorf("decode sessions: %w", tailrace.ErrCorrupt)
	}
	for i := range open + ended {
		s.fold(SessionChange{Session: sessionName(binary.LittleEndian.Uint64(raw[8*i:])), Ended: i >= open})
	}
	return s, nil
}
