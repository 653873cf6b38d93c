package shard

import (
	"math/bits"

	"tailrace/budget"
)

// KeySet is a set of key hashes (KeyHash) that are never 0 (0 is counted as 1): open addressing, because a COPY may hold tens of millions of them. A large set is cut by
// the first bits of the hash into tables that grow by themselves and by a quarter, so that growing takes little more than what is there: about twelve
// bytes a key. The zero value is empty and has no limit.
type KeySet struct {
	grant  *budget.Grant // of the share for transactions; nil: no limit
	tables []keyTable    // one, or keyTables
	n      int
}

// keyTable is a table of hashes, 0 for a free slot, at most three quarters full.
type keyTable struct {
	slots []uint64
	n     int
}

const (
	// keyTables is into how many tables a large set is cut.
	keyTables = 1 << keyTableBits
	// keyTableBits is how many bits of a hash choose the table.
	keyTableBits = 8
	// keysCut is from how many keys on a set is cut.
	keysCut = 1 << 14
	// slotBytes is what a slot takes.
	slotBytes = 8
)

// NewKeySet returns an empty set whose memory is taken from share.
func NewKeySet(share *budget.Share) KeySet {
	g := share.Grant()
	return KeySet{grant: &g}
}

// Len is how many hashes it has.
func (s *KeySet) Len() int { return s.n }

// table is the one that h belongs to, and the bits of h that choose the place in it.
func (s *KeySet) table(h uint64) (t *keyTable, place uint64) {
	if len(s.tables) == 1 {
		return &s.tables[0], h
	}
	return &s.tables[h>>(64-keyTableBits)], h << keyTableBits
}

// slot is where h is, or would be.
func (t *keyTable) slot(h, place uint64) int {
	at, _ := bits.Mul64(place, uint64(len(t.slots)))
	for i := int(at); ; {
		if v := t.slots[i]; v == h || v == 0 {
			return i
		}
		if i++; i == len(t.slots) {
			i = 0
		}
	}
}

// Add puts h in and reports whether it was there already. The error is 53200 when the share has no room for it.
func (s *KeySet) Add(h uint64) (was bool, err error) {
	if h == 0 {
		h = 1
	}
	if s.tables == nil {
		s.tables = make([]keyTable, 1)
	}
	if s.n == keysCut && len(s.tables) == 1 {
		if err := s.cut(); err != nil {
			return false, err
		}
	}
	t, place := s.table(h)
	if 4*(t.n+1) > 3*len(t.slots) {
		if err := s.grow(t, max(16, len(t.slots)+len(t.slots)/4)); err != nil {
			return false, err
		}
	}
	i := t.slot(h, place)
	if t.slots[i] == h {
		return true, nil
	}
	t.slots[i] = h
	t.n++
	s.n++
	return false, nil
}

// Has reports whether h is there. A nil set is empty.
func (s *KeySet) Has(h uint64) bool {
	if s == nil || s.n == 0 {
		return false
	}
	if h == 0 {
		h = 1
	}
	t, place := s.table(h)
	return len(t.slots) > 0 && t.slots[t.slot(h, place)] == h
}

// AddAll puts in all that o has.
func (s *KeySet) AddAll(o *KeySet) error {
	for i := range o.tables {
		for _, h := range o.tables[i].slots {
			if h == 0 {
				continue
			}
			if _, err := s.Add(h); err != nil {
				return err
			}
		}
	}
	return nil
}

// grow gives t n slots.
func (s *KeySet) grow(t *keyTable, n int) error {
	if !s.grant.Add(slotBytes * int64(n-len(t.slots))) {
		return s.grant.Full("The keys that a transaction writes are kept in memory unless they come in ascending order")
	}
	old := t.slots
	t.slots = make([]uint64, n)
	for _, h := range old {
		if h != 0 {
			place := h
			if len(s.tables) > 1 {
				place = h << keyTableBits
			}
			t.slots[t.slot(h, place)] = h
		}
	}
	return nil
}

// cut moves the keys of the only table to keyTables.
func (s *KeySet) cut() error {
	whole := KeySet{grant: s.grant, tables: make([]keyTable, keyTables)}
	if err := whole.AddAll(s); err != nil {
		return err
	}
	s.grant.Add(-slotBytes * int64(len(s.tables[0].slots)))
	s.tables = whole.tables
	return nil
}

// Free empties the set and gives back what it took.
func (s *KeySet) Free() {
	n := 0
	for i := range s.tables {
		n += len(s.tables[i].slots)
	}
	s.grant.Add(-slotBytes * int64(n))
	s.tables, s.n = nil, 0
}
