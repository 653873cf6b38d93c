package log

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"tailrace"
)

// maxEnded bounds how many ended sessions are remembered, 8 bytes each. When one is forgotten, blobs it left are never collected; that
// takes as many starts of a node without one sweep.
const maxEnded = 1 << 16

// SessionChange is what a KindSession record says: a node's session opens, ends, or tells how far back it reads. A session never opens
// again once it has ended.
type SessionChange struct {
	Session string // 16 hex digits
	Ended   bool
	// Reads is a promise: the session reads at no time below it, and needs no part that was let go at or before it. 0 when the record
	// says nothing of it.
	Reads tailrace.Time
}

// The first byte of a KindSession payload.
const (
	sessionOpens = 0
	sessionEnds  = 1
	sessionReads = 2
)

// Record is the log record of the change.
func (c SessionChange) Record() Record {
	payload := []byte{sessionOpens}
	switch {
	case c.Ended:
		payload[0] = sessionEnds
	case c.Reads > 0:
		payload[0] = sessionReads
	}
	payload = binary.LittleEndian.AppendUint64(payload, sessionBits(c.Session))
	if payload[0] == sessionReads {
		payload = binary.LittleEndian.AppendUint64(payload, uint64(c.Reads))
	}
	return Record{Kind: KindSession, Payload: payload}
}

// DecodeSession reads the payload of a KindSession record. An error is tailrace.ErrCorrupt.
func DecodeSession(payload []byte) (SessionChange, error) {
	d := tailrace.ByteReader{Src: payload}
	what := d.Byte()
	c := SessionChange{Session: sessionName(d.Uint64()), Ended: what == sessionEnds}
	if what == sessionReads {
		if c.Reads = tailrace.Time(d.Uint64()); c.Reads == 0 {
			d.Fail("no time")
		}
	}
	if what > sessionReads {
		d.Fail("change %d", what)
	}
	if err := d.End(); err != nil {
		return SessionChange{}, fmt.Errorf("decode session record: %w", err)
	}
	return c, nil
}

// sessions is the fold of all SessionChanges. But for promises, of which the last counts, folding one twice, or an older one after a newer,
// changes nothing: a session only ever goes from unknown to open to ended.
type sessions struct {
	open  map[string]tailrace.Time // what each promised last, 0 when it has not yet
	ended map[string]bool
	order []string // ended, oldest first
}

func newSessions() *sessions {
	return &sessions{open: map[string]tailrace.Time{}, ended: map[string]bool{}}
}

func (s *sessions) clone() *sessions {
	return &sessions{open: maps.Clone(s.open), ended: maps.Clone(s.ended), order: slices.Clone(s.order)}
}

func (s *sessions) fold(c SessionChange) {
	switch {
	case s.ended[c.Session]:
		return
	case !c.Ended:
		if _, known := s.open[c.Session]; !known || c.Reads > 0 {
			s.open[c.Session] = c.Reads
		}
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

// readsFrom is the least that the open sessions but one promised: below it nobody else reads. tailrace.MaxTime when there are no others.
func (s *sessions) readsFrom(but string) tailrace.Time {
	oldest := tailrace.MaxTime
	for name, t := range s.open {
		if name != but {
			oldest = min(oldest, t)
		}
	}
	return oldest
}

// ending is the records that end all open sessions but one, in order.
func (s *sessions) ending(but string) []Record {
	var records []Record
	for _, name := range slices.Sorted(maps.Keys(s.open)) {
		if name != but {
			records = append(records, SessionChange{Session: name, Ended: true}.Record())
		}
	}
	return records
}

// encode is the sessions as a checkpoint keeps them: counts u32 of open and ended, then u64 each. Promises are not kept: until a session
// tells again, nothing it may read goes.
func (s *sessions) encode() []byte {
	open := slices.Sorted(maps.Keys(s.open))
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
