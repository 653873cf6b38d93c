package log

import (
	"errors"
	"fmt"
	"testing"

	"tailrace"
)

func TestUnknownOutcomeIsReadFromTheSlot(t *testing.T) {
	lost := errors.New("connection reset")
	noSpace := fmt.Errorf("append: %w", tailrace.ErrFull)
	slot := func(seq tailrace.SeqNo, value string) []tailrace.Versioned {
		return []tailrace.Versioned{{Seq: seq, Value: []byte(value)}}
	}
	type answer struct {
		ok   bool
		err  error
		page []tailrace.Versioned
		want verdict
	}
	for _, c := range []struct {
		name    string
		answers []answer
	}{
		{"done", []answer{{ok: true, want: ours}}},
		{"refused at once is another's", []answer{{want: theirs}}},
		{"full at once is not done", []answer{{err: noSpace, want: full}}},
		{"done again after no answer", []answer{{err: lost, want: send}, {err: lost, want: send}, {ok: true, want: ours}}},
		{"refused after no answer, ours there", []answer{{err: lost, want: send}, {want: look}, {page: slot(8, "mine"), want: ours}}},
		{"refused after no answer, another's there", []answer{{err: lost, want: send}, {want: look}, {page: slot(8, "other"), want: theirs}}},
		{"slot cannot be read at first", []answer{{err: lost, want: send}, {want: look}, {err: lost, want: look}, {page: slot(8, "mine"), want: ours}}},
		{"slot truncated", []answer{{err: lost, want: send}, {want: look}, {page: slot(9, "later"), want: unknown}}},
		{"head went back", []answer{{err: lost, want: send}, {want: look}, {want: unknown}}},
		{"full after no answer is not known", []answer{{err: lost, want: send}, {err: noSpace, want: send}, {want: look}, {page: slot(8, "mine"), want: ours}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := attempt{expect: 7, value: []byte("mine")}
			step := send
			for i, x := range c.answers {
				if step == send {
					step = a.sent(x.ok, x.err)
				} else {
					step = a.looked(x.page, x.err)
				}
				if step != x.want {
					t.Fatalf("answer %d: got verdict %d, want %d", i, step, x.want)
				}
			}
		})
	}
}
