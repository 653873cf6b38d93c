package sql

import "tailrace"

// keySetBytes bounds a keySet: 8 bytes a slot, at most two thirds full.
const keySetBytes = 256 << 20

// keySet is a set of key hashes that are never 0 (0 is counted as 1): open addressing, because a COPY may hold tens of millions of them.
type keySet struct {
	slots []uint64
	n     int
}

// add puts h in and reports whether it was there already.
func (s *keySet) add(h uint64) (was bool, err error) {
	if h == 0 {
		h = 1
	}
	if 3*(s.n+1) > 2*len(s.slots) {
		if err := s.grow(); err != nil {
			return false, err
		}
	}
	mask := uint64(len(s.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case h:
			return true, nil
		case 0:
			s.slots[i] = h
			s.n++
			return false, nil
		}
	}
}

// has reports whether h is there. A nil set is empty.
func (s *keySet) has(h uint64) bool {
	if s == nil || s.n == 0 {
		return false
	}
	if h == 0 {
		h = 1
	}
	mask := uint64(len(s.slots) - 1)
	for i := h & mask; s.slots[i] != 0; i = (i + 1) & mask {
		if s.slots[i] == h {
			return true
		}
	}
	return false
}

func (s *keySet) grow() error {
	old := s.slots
	if 16*len(old) > keySetBytes {
		return &tailrace.Error{
			Code: "53200", Message: "too many rows in one transaction for a table with a primary key",
			Hint: "Write the rows in several transactions.",
		}
	}
	s.slots, s.n = make([]uint64, max(64, 2*len(old))), 0
	for _, h := range old {
		if h != 0 {
			if _, err := s.add(h); err != nil {
				return err
			}
		}
	}
	return nil
}
