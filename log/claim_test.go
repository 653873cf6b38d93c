package log

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"tailrace"
)

const self, other = "0123456789abcdef", "00000000000000aa"

func take(name, session string) Record { return claimChange{name: name, session: session}.record() }

func give(name, session string, epoch tailrace.Time) Record {
	return claimChange{name: name, session: session, gives: epoch}.record()
}

func (c *committer) mustFold(t *testing.T, at tailrace.Time, records ...Record) {
	t.Helper()
	e := &Entry{Seq: c.head + 1, Time: at, Txns: []Committed{{Time: at, Records: records}}}
	if err := c.fold(e, other, 0); err != nil {
		t.Fatal(err)
	}
}

// why is what plan says of a single transaction, nil when it is a member.
func (c *committer) why(t *testing.T, txn Txn) error {
	t.Helper()
	p := c.plan(waiting(txn), 5000, 0)
	switch {
	case len(p.refused) == 1:
		return p.refused[0].why
	case len(p.members) != 1:
		t.Fatalf("plan: got %d members, want 1", len(p.members))
	}
	return nil
}

func TestOldEpochIsFenced(t *testing.T) {
	c := newCommitter()
	under := func(epoch tailrace.Time) Txn {
		return Txn{ReadTime: tailrace.MaxTime, Claim: Claim{"source/1", epoch}, Records: []Record{data(1, 5)}}
	}
	if err := c.why(t, under(1500)); !errors.Is(err, ErrFenced) {
		t.Errorf("claim that nobody took: got %v, want ErrFenced", err)
	}
	c.mustFold(t, 2000, take("source/1", self))
	for epoch, want := range map[tailrace.Time]error{0: ErrFenced, 1999: ErrFenced, 2000: nil, 2001: ErrFenced} {
		if err := c.why(t, under(epoch)); !errors.Is(err, want) {
			t.Errorf("epoch %d of claim 2000: got %v, want %v", epoch, err, want)
		}
	}
	c.mustFold(t, 2100, take("source/1", self)) // a session may take its own claim anew
	if err := c.why(t, under(2000)); !errors.Is(err, ErrFenced) {
		t.Errorf("the epoch before: got %v, want ErrFenced", err)
	}
	c.mustFold(t, 2200, SessionChange{Session: self, Ended: true}.Record())
	if err := c.why(t, under(2100)); !errors.Is(err, ErrFenced) {
		t.Errorf("claim of an ended session: got %v, want ErrFenced", err)
	}
	c.mustFold(t, 2300, take("source/1", self))
	if _, held := c.state.claims["source/1"]; held {
		t.Errorf("an ended session took a claim")
	}
}

func TestHeldClaimIsNotTaken(t *testing.T) {
	c := newCommitter()
	mine := Txn{ReadTime: tailrace.MaxTime, Records: []Record{take("maintenance", self)}}
	c.mustFold(t, 2000, take("maintenance", other))
	if err := c.why(t, mine); !errors.Is(err, ErrConflict) {
		t.Errorf("take what another holds: got %v, want ErrConflict", err)
	}
	if err := c.why(t, Txn{ReadTime: tailrace.MaxTime, Records: []Record{give("maintenance", other, 1999)}}); !errors.Is(err, ErrConflict) {
		t.Errorf("give up an old epoch: got %v, want ErrConflict", err)
	}
	c.mustFold(t, 2100, give("maintenance", other, 2000))
	if err := c.why(t, mine); err != nil {
		t.Errorf("take what is free: got %v, want none", err)
	}
}

// What is done under a claim that moves in the same group waits for the next entry, where it is known who has it.
func TestGroupStopsBehindAClaimThatMoves(t *testing.T) {
	c := newCommitter()
	c.mustFold(t, 2000, take("a", self))
	w := waiting(
		Txn{ReadTime: tailrace.MaxTime, Claim: Claim{"a", 2000}},
		Txn{ReadTime: tailrace.MaxTime, Records: []Record{give("a", self, 2000)}},
		Txn{ReadTime: tailrace.MaxTime, Records: []Record{take("b", self)}},
		Txn{ReadTime: tailrace.MaxTime, Claim: Claim{"a", 2000}},
	)
	p := c.plan(w, 5000, 0)
	if len(p.members) != 3 || len(p.rest) != 1 {
		t.Fatalf("group: got %d members and %d left, want 3 and 1", len(p.members), len(p.rest))
	}
	e, by, err := decodeSlot(tailrace.Versioned{Seq: c.head + 1, Value: p.value})
	if err != nil || c.fold(e, by, 0) != nil {
		t.Fatal(err)
	}
	if p := c.plan(p.rest, 5000, 0); len(p.refused) != 1 || !errors.Is(p.refused[0].why, ErrFenced) {
		t.Errorf("after the claim was given up: got %d refused, want 1 with ErrFenced", len(p.refused))
	}
}

// A checkpoint's state may be ahead of its entry: folding the entries in between again comes to the same.
func TestStateFoldsAgainAlike(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		sessions := []string{"00000000000000a1", "00000000000000a2", "00000000000000a3"}
		names := []string{"x", "y"}
		var entries []*Entry
		s := newState()
		for i := range 40 {
			at := tailrace.Time(100 + i)
			session, name := sessions[rng.IntN(3)], names[rng.IntN(2)]
			var r Record
			switch held, isHeld := s.claims[name]; {
			case rng.IntN(12) == 0:
				r = SessionChange{Session: session, Ended: true}.Record()
			case isHeld && rng.IntN(2) == 0:
				r = give(name, held.session, held.epoch)
			case !isHeld && s.claims.fits(claimChange{name: name, session: session}):
				r = take(name, session)
			default:
				r = SessionChange{Session: session}.Record()
			}
			e := &Entry{Seq: tailrace.SeqNo(i), Time: at, Txns: []Committed{{Time: at, Records: []Record{r}}}}
			entries = append(entries, e)
			if _, err := s.fold(e); err != nil {
				t.Fatal(err)
			}
		}
		sections := map[string][]byte{}
		s.encode(sections)
		again, err := takeState(sections)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries[rng.IntN(40):] {
			if _, err := again.fold(e); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(again.claims, s.claims) || !reflect.DeepEqual(again.sessions.ended, s.sessions.ended) {
			t.Fatalf("seed %d: folded again: got %v, want %v", seed, again.claims, s.claims)
		}
	}
}
