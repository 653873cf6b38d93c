package world

import (
	"fmt"
	"strings"
	"time"

	"tailrace"
	"tailrace/internal/sim"
)

// begin notes a transaction that is going to be sent.
func (w *World) begin(in *intent) {
	in.from = w.disk.length()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.intents = append(w.intents, in)
}

// end notes how a transaction went.
func (w *World) end(in *intent, l *life, err error) {
	in.settle(err)
	in.ended = w.count64()
	w.surprising(l, err)
	w.note(in.mark, uint64(in.outcome))
	w.count("transactions "+in.outcome.String(), 1)
}

func (w *World) read(r *reading) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.readings = append(w.readings, r)
}

// expected are the SQLSTATEs that a client must be ready for.
var expected = map[string]bool{
	"": true, "40001": true, "23505": true, "08007": true, "57P01": true, "57P03": true, "42P01": true, "0A000": true, "55000": true, "42704": true,
}

// surprising looks at an error that a client got.
func (w *World) surprising(l *life, err error) {
	if err == nil {
		return
	}
	code := codeOf(err)
	w.count("error "+code, 1)
	if expected[code] {
		return
	}
	for _, cause := range []error{sim.ErrFault, sim.ErrPower, errDead} {
		if strings.Contains(err.Error(), cause.Error()) {
			return
		}
	}
	if l.slept.Load() && strings.Contains(err.Error(), tailrace.ErrNotFound.Error()) {
		w.count("read on an ended node", 1)
		return
	}
	w.fail("a client got %v", err)
}

// count64 counts an event and returns its number.
func (w *World) count64() uint64 { return w.clock.Add(1) }

// count counts what happened.
func (w *World) count(what string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[what] += n
}

// maxFailures is how many a report keeps.
const maxFailures = 20

// fail notes what must not be.
func (w *World) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.failures) < maxFailures {
		w.failures = append(w.failures, fmt.Sprintf(format, args...))
	}
}

// note puts what happened into the story.
func (w *World) note(what string, numbers ...uint64) {
	at := time.Since(w.began)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.story = append(w.story, fmt.Sprintf("%014d %s %v", at, what, numbers))
	w.log.Debug(what, "numbers", numbers)
}
