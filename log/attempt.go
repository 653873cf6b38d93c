package log

import (
	"bytes"
	"errors"

	"tailrace"
)

// attempt is one value on its way into one slot, from the first try to a known outcome. It decides; someone else does the I/O.
//
// A compare-and-set that returns an error may be done, not done, or be done later by a message still under way. So nothing is concluded
// from it. The same bytes are sent at the same head again, which has three ends:
//
//	true                   done now, so no earlier try was
//	false, the slot ours   an earlier try was done
//	false, the slot not    none was, and none will be: the slot is taken
//
// Once the slot is filled a delayed message can do nothing any more. Bytes carry a nonce, so equal bytes are ours.
type attempt struct {
	expect tailrace.SeqNo
	value  []byte
	unsure bool // an earlier try had no answer
}

// verdict is what is to be done, or what has come out.
type verdict uint8

const (
	send    verdict = iota // try the compare-and-set (again)
	look                   // read the slot (again)
	ours                   // done
	theirs                 // not done, another value is in the slot
	full                   // not done, the store has no space
	unknown                // cannot be found out: the slot was truncated
)

func (v verdict) decided() bool { return v >= ours }

// sent takes the answer of a compare-and-set.
func (a *attempt) sent(ok bool, err error) verdict {
	switch {
	case ok:
		return ours
	case err == nil && a.unsure:
		return look
	case err == nil:
		return theirs
	case errors.Is(err, tailrace.ErrFull) && a.unsure:
		return send
	case errors.Is(err, tailrace.ErrFull):
		return full
	}
	a.unsure = true
	return send
}

// looked takes the first value at or after the slot.
func (a *attempt) looked(page []tailrace.Versioned, err error) verdict {
	switch {
	case err != nil:
		return look
	case len(page) == 0 || page[0].Seq != a.expect+1: // gone; or the head went back, and then the store can tell nothing
		return unknown
	case bytes.Equal(page[0].Value, a.value):
		return ours
	}
	return theirs
}
