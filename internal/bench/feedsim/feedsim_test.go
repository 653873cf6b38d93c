package feedsim

import (
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
)

// quick runs some of the cases with all durations divided by five, or as they are in the long run.
func quick(broken string, only ...string) *Result {
	b := &Bench{Quick: 5, Seed: 1, Broken: broken}
	if os.Getenv("TAILRACE_LONG") != "" {
		b.Quick, b.Full = 1, broken == ""
		only = nil
	}
	if len(only) > 0 {
		b.Only = func(c Case) bool {
			for _, o := range only {
				if c.Scheduler+" "+c.Scenario == o {
					return true
				}
			}
			return false
		}
	}
	return b.Run(io.Discard)
}

func TestCriteriaHold(t *testing.T) {
	r := quick("", "A S3", "B H", "B S3", "C H", "C S3", "C B1")
	for _, failed := range r.Failed() {
		t.Error(failed)
	}
	if len(r.Criteria) < 10 {
		t.Errorf("only %d criteria were judged", len(r.Criteria))
	}
}

// TestCriteriaNoticeWhatIsBroken is a test of the criteria: each breaks C in one way.
func TestCriteriaNoticeWhatIsBroken(t *testing.T) {
	for _, c := range []struct{ broken, notices string }{
		{"credit", "peak resident"},       // memory comes back when rows are handed on, not when they are durable
		{"refused", "lost"},               // who is refused credit is in line no more
		{"flush", "H, 12 MiB: sink rows"}, // the redo log is not asked to flush
	} {
		failed := strings.Join(quick(c.broken, "C H", "C S3", "C B1").Failed(), "; ")
		if !strings.Contains(failed, c.notices) {
			t.Errorf("%s broken: criteria that fail are %q, want %q among them", c.broken, failed, c.notices)
		}
	}
}

func TestSameSeedGivesTheSameFigures(t *testing.T) {
	a, b := quick("", "C S3"), quick("", "C S3")
	if !reflect.DeepEqual(a.Runs, b.Runs) {
		t.Error("two runs of one seed differ")
	}
}

func TestWorkloadIsThatOfAnOrderSystem(t *testing.T) {
	w := newWorkload(5, 1)
	total := float64(w.total - coldTables*len(w.tables[len(hotTables)].at))
	for table, percent := range map[int][2]float64{orderLine: {45, 53}, stock: {23, 29}, customer: {4, 7}} {
		if got := 100 * float64(len(w.tables[table].at)) / total; got < percent[0] || got > percent[1] {
			t.Errorf("%s has %.1f %% of the rows, want %g to %g", w.tables[table].name, got, percent[0], percent[1])
		}
	}
	for _, r := range w.tables {
		for i := 1; i < len(r.at); i++ {
			if r.at[i] <= r.at[i-1] {
				t.Fatalf("%s: row %d is at %d, after one at %d", r.name, i, r.at[i], r.at[i-1])
			}
		}
	}
	first := 0 // rows a second in the first phase
	for _, r := range w.tables[:len(hotTables)] {
		first += r.upTo(plan(5)[0].until.Microseconds()) - r.upTo(0)
	}
	if got := float64(first) / plan(5)[0].until.Seconds(); got < 15000 || got > 16000 {
		t.Errorf("%.0f rows a second in the first phase, want about 15,500", got)
	}
}
