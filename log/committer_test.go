package log

import (
	"bytes"
	"testing"
	"time"

	"tailrace"
)

// newCommitter is one at entry 7 and time 1000.
func newCommitter() *committer {
	return &committer{session: "0123456789abcdef", head: 7, clock: clock{last: 1000}, recent: newRecent(1000), state: newState()}
}

func waiting(txns ...Txn) []*commit {
	var out []*commit
	for i := range txns {
		c, err := newCommit(&txns[i])
		if err != nil {
			panic(err)
		}
		out = append(out, c)
	}
	return out
}

func decoded(t *testing.T, p plan) Entry {
	t.Helper()
	e, _, session, err := DecodeEntry(p.value)
	if err != nil || session != "0123456789abcdef" || e.Seq != 8 {
		t.Fatalf("planned entry: got %d of session %s, error %v; want 8 of 0123456789abcdef", e.Seq, session, err)
	}
	return e
}

func TestGroupIsValidatedAgainstItself(t *testing.T) {
	c := newCommitter()
	w := waiting(
		Txn{ReadTime: 1000, Reads: reads(1, 5), Records: []Record{data(1, 5)}},
		Txn{ReadTime: 1000, Reads: reads(1, 5), Records: []Record{data(1, 5)}}, // reads what the first changes
		Txn{ReadTime: 1000, Reads: reads(1, 6), Records: []Record{data(1, 6)}},
		Txn{ReadTime: 999, Reads: reads(1, 7), Records: []Record{data(1, 7)}}, // before what is remembered
		Txn{ReadTime: 1000, Records: []Record{data(1, 6)}},
	)
	p := c.plan(w, 5000, 0)
	e := decoded(t, p)
	if len(p.members) != 3 || p.members[0] != w[0] || p.members[1] != w[2] || p.members[2] != w[4] {
		t.Errorf("members: got %d, want the first, third and fifth", len(p.members))
	}
	if len(p.refused) != 2 || p.refused[0].commit != w[1] || p.refused[1].commit != w[3] {
		t.Errorf("refused: got %d, want the second and fourth", len(p.refused))
	}
	if e.Time != 5002 || len(e.Txns) != 3 || e.Txns[0].Time != 5000 || e.Txns[2].Time != 5002 {
		t.Errorf("times: got %d in %d transactions, want 5000 to 5002", e.Time, len(e.Txns))
	}
}

// An entry that was planned and not appended leaves no trace but a gap in time: its members are valid in the next plan.
func TestPlanThatIsNotAppendedChangesNothing(t *testing.T) {
	c := newCommitter()
	w := waiting(Txn{ReadTime: 1000, Reads: reads(1, 5), Records: []Record{data(1, 5)}})
	first := c.plan(w, 5000, 0)
	if err := c.fold(&Entry{Seq: 8, Time: 6000, Txns: []Committed{{Time: 6000, Records: []Record{data(1, 6)}}}}, "", 0); err != nil {
		t.Fatal(err)
	}
	second := c.plan(first.members, 5000, 0)
	e, _, _, err := DecodeEntry(second.value)
	if err != nil || len(second.members) != 1 || e.Seq != 9 || e.Time != 6001 {
		t.Errorf("second plan: got entry %d at %d with %d members, %v; want 9 at 6001 with 1", e.Seq, e.Time, len(second.members), err)
	}
	if err := c.fold(&e, "", 0); err != nil {
		t.Fatal(err)
	}
	late := waiting(Txn{ReadTime: 6000, Reads: reads(1, 5)})
	if p := c.plan(late, 7000, 0); len(p.refused) != 1 {
		t.Errorf("a read of the appended change: got %d refused, want 1", len(p.refused))
	}
}

func TestEntryIsFilledInOrder(t *testing.T) {
	big := Record{Kind: KindData, Collection: 1, Payload: bytes.Repeat([]byte("x"), 300_000)}
	var txns []Txn
	for range 8 {
		txns = append(txns, Txn{ReadTime: 1000, Records: []Record{big}})
	}
	w := waiting(txns...)
	p := newCommitter().plan(w, 5000, 0)
	if len(p.members) != 3 || len(p.rest) != 5 || p.rest[0] != w[3] || len(p.value) > MaxEntry {
		t.Errorf("eight of 300 kB: got %d in, %d left, %d bytes; want 3, 5, at most %d", len(p.members), len(p.rest), len(p.value), MaxEntry)
	}
}

func TestLargestTransactionFitsAnEntry(t *testing.T) {
	r := Record{Kind: KindData, Collection: 1, Payload: make([]byte, maxTxn)}
	r.Payload = r.Payload[:2*maxTxn-len(appendRecords(nil, []Record{r}))]
	w := waiting(Txn{ReadTime: 1000, Records: []Record{r}})
	if len(w[0].body) != maxTxn {
		t.Fatalf("body: got %d bytes, want %d", len(w[0].body), maxTxn)
	}
	if e := decoded(t, newCommitter().plan(w, tailrace.MaxTime/2, time.Hour)); len(e.Txns) != 1 {
		t.Errorf("transactions: got %d, want 1", len(e.Txns))
	}
}

func TestWithdrawnTransactionIsLeftOut(t *testing.T) {
	w := waiting(Txn{ReadTime: 1000, Records: []Record{data(1, 5)}}, Txn{ReadTime: 1000, Records: []Record{data(1, 6)}})
	w[0].withdrawn.Store(true)
	if e := decoded(t, newCommitter().plan(w, 5000, 0)); len(e.Txns) != 1 || e.Txns[0].Records[0].Keys[0] != 6 {
		t.Errorf("transactions: got %d, want that of key 6", len(e.Txns))
	}
}

func TestTickHasATimeAndNothingElse(t *testing.T) {
	c := newCommitter()
	if e := decoded(t, c.plan(nil, 5000, 0)); e.Time != 5000 || len(e.Txns) != 0 {
		t.Errorf("tick: got time %d and %d transactions, want 5000 and 0", e.Time, len(e.Txns))
	}
	if e := decoded(t, c.plan(nil, 10, 0)); e.Time != 5001 {
		t.Errorf("tick with the clock back: got time %d, want 5001", e.Time)
	}
}

func TestEndOfOwnSessionIsNoticed(t *testing.T) {
	for _, x := range []struct {
		session string
		want    bool
	}{{"0123456789abcdef", true}, {"00000000000000aa", false}} {
		c := newCommitter()
		err := c.fold(&Entry{Seq: 8, Txns: []Committed{{Records: []Record{SessionChange{Session: x.session, Ended: true}.Record()}}}}, "", 0)
		if err != nil || c.ended() != x.want {
			t.Errorf("end of %s: got ended %v %v, want %v", x.session, c.ended(), err, x.want)
		}
	}
}
