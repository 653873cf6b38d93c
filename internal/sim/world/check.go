package world

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tailrace/log"
)

// check runs the validators over all that was seen.
func (w *World) check() {
	t := w.fold()
	w.checkOutcomes(t)
	w.checkOrder(t)
	for _, r := range w.readings {
		w.checkReading(t, r)
	}
	for _, s := range w.subs {
		w.checkSubscriber(t, s)
	}
	w.count("entries", len(w.disk.entries))
	w.count("readings", len(w.readings))
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, blob := w.disk.stores(); blob != nil {
		head, err := w.disk.consensus.Scan(context.Background(), logKey, 0, 1)
		if err == nil && len(head) > 0 && head[0].Seq > 1 {
			w.counts["log truncated"]++
		}
	}
}

// checkOutcomes holds what writers were told against the log: what was acknowledged is there, what was refused or never sent is not.
func (w *World) checkOutcomes(t *truth) {
	for _, in := range w.intents {
		_, there := t.where[in.mark]
		idle := !in.block && in.ops[0].said == "UPDATE 0"
		switch {
		case in.outcome == committed && !there && idle:
			w.readings = append(w.readings, &reading{op: &op{verb: look, id: in.ops[0].id}, began: in.began, ended: in.ended, until: len(w.disk.entries)})
		case in.outcome == committed && !there:
			w.fail("complete: %s was acknowledged and is not in the log", in.mark)
		case in.outcome != committed && in.outcome != unknown && there:
			w.fail("once: %s was %v (%s) and is in the log", in.mark, in.outcome, in.why)
		}
	}
}

// checkOrder demands that what was acknowledged before another was sent is before it in the log.
func (w *World) checkOrder(t *truth) {
	var latest *intent // of those so far, the one that was sent last
	for _, c := range t.commits {
		in := t.intents[c.mark]
		if in == nil {
			continue
		}
		if latest != nil && in.outcome == committed && in.ended < latest.began {
			w.fail("order: %s was acknowledged before %s was sent, and is after it in the log", in.mark, latest.mark)
		}
		if latest == nil || in.began > latest.began {
			latest = in
		}
	}
}

// checkReading demands that a strict read shows what was so at a moment between question and answer.
func (w *World) checkReading(t *truth, r *reading) {
	first, last := -1, -1 // the newest commits that must, and that may, be seen
	for i, c := range t.commits {
		if in := t.intents[c.mark]; in != nil && in.outcome == committed && in.ended < r.began {
			first = i
		}
		if c.entry <= r.until {
			last = i
		}
	}
	values := t.keys[row(r.op.id)]
	now := ""
	var seen []string
	for i := 0; ; i++ {
		until := len(t.commits)
		if i < len(values) {
			until = values[i].commit
		}
		if first < until && now == r.op.said {
			return
		}
		if first < until {
			seen = append(seen, now)
		}
		if i == len(values) || values[i].commit > last {
			break
		}
		now = values[i].row
	}
	w.fail("strict: key %d was read as %q; between question and answer it was %q", r.op.id, r.op.said, seen)
}

// checkSubscriber sums what a subscriber was told and holds it against the model at each of its progress times.
func (w *World) checkSubscriber(t *truth, s *subscriber) {
	for _, r := range s.refusals {
		if !r.isClear() {
			w.fail("complete: %s was refused at progress %d and not told where it was: %s", s.name, r.progress, r.said)
		}
		if why := t.justifies(s.table, r, w.disk.entries); why != "" {
			w.fail("complete: %s was refused with %s at progress %d: %s", s.name, r.code, r.progress, why)
		}
	}
	f := following{world: w, truth: t, s: s, rows: map[string]int{}}
	for i, seg := range s.segments {
		if seg.fresh {
			w.count("snapshots", 1)
		} else if len(seg.events) > 1 {
			w.count("resumed", 1)
		}
		if !f.segment(i, seg) {
			return
		}
	}
}

// isClear tells whether a refusal says what was asked for and what is gone: who begins anew then knows what it missed.
func (r refusal) isClear() bool {
	var asOf, since uint64
	_, rest, _ := strings.Cut(r.said, "AS OF ")
	switch r.code {
	case "22023": // it was not begun
		_, err := fmt.Sscanf(rest, "%d is below %d, the oldest readable time", &asOf, &since)
		return err == nil && asOf == r.progress-1 && since > asOf
	case "53200": // it was going on: it may have been further than its last progress
		_, err := fmt.Sscanf(rest, "%d is no longer readable", &asOf)
		return err == nil && asOf+1 >= r.progress
	}
	return true
}

// justifies says why a subscriber of table should not have been refused: history that it may rely on is kept, and so is a table that nobody drops.
func (t *truth) justifies(table string, r refusal, entries []log.Entry) string {
	switch {
	case table == dropped && r.code != "53200":
		for _, c := range t.commits {
			if c.entry <= r.until && c.time >= max(r.progress, 1)-1 && t.replaces(c) {
				return ""
			}
		}
		return "nobody dropped the table after that"
	case table == brief && r.code != "42704":
		if newest := entries[r.until-1].Time; r.progress > uint64(newest)-uint64(briefly.Microseconds()) {
			return fmt.Sprintf("the newest time is %d, and history is kept for %s", newest, briefly)
		}
		return ""
	}
	return "history is kept for an hour and nobody drops the table"
}

// replaces tells whether a commit drops the table that is dropped now and then.
func (t *truth) replaces(c commit) bool {
	in := t.intents[c.mark]
	return in != nil && slices.ContainsFunc(in.ops, func(o *op) bool { return o.verb == replace })
}

// following is the sum of what a subscriber was told.
type following struct {
	world    *World
	truth    *truth
	s        *subscriber
	rows     map[string]int
	sum      uint64
	progress uint64
	pending  []told // above the progress
}

// segment goes through one. false: it is wrong, and what follows would be too.
func (f *following) segment(n int, seg *segment) bool {
	w, name := f.world, f.s.name
	f.pending = nil
	newest, isOpen := uint64(0), false
	if seg.fresh { // what was told before counts no more, once a snapshot is there
		saved := *f
		saved.rows = maps.Clone(f.rows)
		f.rows, f.sum, f.progress = map[string]int{}, 0, 0
		defer func() {
			if f.progress == 0 {
				f.rows, f.sum, f.progress = saved.rows, saved.sum, saved.progress
			}
		}()
	}
	for i, e := range seg.events {
		switch {
		case e.time < newest:
			w.fail("order: %s, subscription %d: time goes back from %d to %d", name, n, newest, e.time)
			return false
		case e.progress && i == 0: // it says where the subscription begins
			isOpen = true
			if !seg.fresh && e.time != seg.asOf {
				w.fail("order: %s, subscription %d: begins at %d, want %d", name, n, e.time, seg.asOf)
				return false
			}
			newest = e.time
			continue
		case !e.progress && e.time < f.progress:
			w.fail("order: %s, subscription %d: a row at %d after progress %d", name, n, e.time, f.progress)
			return false
		case e.progress && (e.time < f.progress || i > 1 && e.time == f.progress): // a resumed one may tell again what was told before
			w.fail("order: %s, subscription %d: progress %d after %d", name, n, e.time, f.progress)
			return false
		}
		newest = e.time
		if !e.progress {
			f.pending = append(f.pending, e)
			continue
		}
		if !f.reach(n, e) {
			return false
		}
	}
	if len(seg.events) > 0 && !isOpen {
		w.fail("order: %s, subscription %d: no opening progress", name, n)
	}
	return true
}

// reach takes in what is below a progress time and compares.
func (f *following) reach(n int, e told) bool {
	w, t := f.world, f.truth
	w.count("progress compared", 1)
	rest := f.pending[:0]
	for _, p := range f.pending {
		if p.time >= e.time {
			rest = append(rest, p)
			continue
		}
		if f.rows[p.row] += p.diff; f.rows[p.row] == 0 {
			delete(f.rows, p.row)
		}
		f.sum += uint64(p.diff) * hashOf(p.row)
	}
	f.pending, f.progress = rest, e.time
	if e.until > 0 && e.time > uint64(w.disk.entries[e.until-1].Time)+1 {
		w.fail("order: %s, subscription %d: progress %d is promised when the log ends at %d", f.s.name, n, e.time, w.disk.entries[e.until-1].Time)
		return false
	}
	if want := t.sumBefore(f.s.table, e.time); f.sum != want {
		w.fail("complete, once: %s, subscription %d of %d (fresh %v): the rows below %d:\n%s", f.s.name, n, len(f.s.segments), f.s.segments[n].fresh, e.time,
			t.tableBefore(f.s.table, e.time).text(f.rows))
		return false
	}
	return true
}
