package world

import (
	"fmt"
	"slices"
	"strings"

	"tailrace"
	"tailrace/log"
)

// commit is a transaction of the log as it is seen from outside: whose it is, by the marks in its rows and by its source position, and nothing else.
type commit struct {
	time  uint64
	entry int
	mark  string // of a writer; "" of the source
	place int    // the source's position, -1 when it is not the source's
	rows  bool   // it has rows
}

// history is the transactions of the log that writers and the source sent, in its order. What has rows and is nobody's is a failure.
func (w *World) history() []commit {
	known := map[string]bool{}
	for _, in := range w.intents {
		known[in.mark] = true
	}
	var out []commit
	for _, e := range w.disk.entries {
		for _, t := range e.Txns {
			c := commit{time: uint64(t.Time), entry: int(e.Seq), place: -1}
			marks, strays := map[string]bool{}, 0
			for _, r := range t.Records {
				w.counts[kindNames[r.Kind]]++
				switch r.Kind {
				case log.KindPosition:
					c.place, _ = placeOf(r.Payload)
				case log.KindRef:
					c.rows = true
				case log.KindData:
					c.rows = true
					strays += w.marksIn(r.Payload, known, marks)
				}
			}
			for m := range marks {
				c.mark = m
			}
			switch {
			case len(marks) > 1:
				w.fail("log: the transaction at %d has rows of %d writers' transactions", c.time, len(marks))
			case c.mark == "" && c.place < 0 && c.rows && strays == 0:
				w.fail("log: the transaction at %d has rows and is nobody's", c.time)
			}
			if c.mark != "" || c.place >= 0 {
				out = append(out, c)
			}
		}
	}
	return out
}

var kindNames = map[log.Kind]string{
	log.KindData: "inline data", log.KindRef: "data in parts", log.KindCatalog: "catalog", log.KindFlush: "flush", log.KindMerge: "merge", log.KindSince: "since",
	log.KindHold: "hold", log.KindPosition: "position", log.KindSession: "session", log.KindClaim: "claim",
}

// marksIn adds the marks of writers in rows that a batch adds, and returns how many values are the upstream's marks.
func (w *World) marksIn(raw []byte, known, into map[string]bool) (ups int) {
	b, _, err := tailrace.DecodeBatch(raw)
	if err != nil {
		w.fail("log: %v", err)
		return 0
	}
	for c := range b.Cols {
		if b.Cols[c].Width > 0 {
			continue
		}
		for i := range b.N {
			v := string(b.Cols[c].Bytes(i))
			if b.Diff(i) > 0 && known[v] {
				into[v] = true
			}
			if strings.HasPrefix(v, "u.") {
				ups++
			}
		}
	}
	return ups
}

// truth is what the log's transactions make of the tables, at every time.
type truth struct {
	commits []commit
	intents map[string]*intent
	ups     []upTxn
	where   map[string]int     // a mark's commit
	sums    map[string][]point // of each table
	keys    map[string][]value // of table k
}

// point is a table's sum of hashes from a time on.
type point struct {
	time uint64
	sum  uint64
}

// value is a key's row from a commit on.
type value struct {
	commit int
	row    string
}

// fold folds the history into the model. What contradicts it is a failure.
func (w *World) fold() *truth {
	t := &truth{commits: w.history(), intents: map[string]*intent{}, ups: w.upstream.txns, where: map[string]int{}, sums: map[string][]point{}, keys: map[string][]value{}}
	for _, in := range w.intents {
		t.intents[in.mark] = in
	}
	f := folding{truth: t, model: newModel(), place: -1}
	for i, c := range t.commits {
		if c.mark != "" {
			if at, twice := t.where[c.mark]; twice {
				w.fail("once: %s is in the log twice, at %d and %d", c.mark, t.commits[at].time, c.time)
			}
			t.where[c.mark] = i
		}
		if err := f.step(c); err != nil {
			w.fail("model: at %d: %v", c.time, err)
		}
		for name, table := range f.model {
			if s := t.sums[name]; len(s) == 0 || s[len(s)-1].sum != table.sum {
				t.sums[name] = append(s, point{c.time, table.sum})
			}
		}
		for id := range keys {
			key := fmt.Sprint(id)
			if v := t.keys[key]; len(v) == 0 || v[len(v)-1].row != f.model[keyed].byKey[key] {
				t.keys[key] = append(v, value{i, f.model[keyed].byKey[key]})
			}
		}
	}
	return t
}

// folding is the model on its way through the history.
type folding struct {
	*truth
	model model
	place int // in the upstream; -1 before the snapshot
}

// step folds one transaction.
func (f *folding) step(c commit) error {
	if c.place >= 0 {
		return f.source(c)
	}
	in := f.intents[c.mark]
	for _, o := range in.ops {
		if err := o.fold(f.model); err != nil {
			return fmt.Errorf("%s (%v): %s: %w", in.mark, in.outcome, o.sql(), err)
		}
	}
	return nil
}

// source folds a transaction of the source: the snapshot, or one of the upstream's, or none.
func (f *folding) source(c commit) error {
	if c.place < f.place || c.place > len(f.ups) {
		return fmt.Errorf("source: position %d after %d", c.place, f.place)
	}
	isSnapshot, some := f.place < 0, 0
	for n := max(f.place, 0); n < c.place; n++ {
		if len(f.ups[n]) == 0 {
			continue
		}
		some++
		if err := f.ups[n].fold(f.model); err != nil {
			return fmt.Errorf("source: %w", err)
		}
	}
	f.place = c.place
	switch {
	case some > 1 && !isSnapshot:
		return fmt.Errorf("source: %d transactions of the upstream at one time, up to %d", some, c.place)
	case some == 0 && c.rows && !isSnapshot:
		return fmt.Errorf("source: rows at position %d, where the upstream has none or they are here already", c.place)
	}
	return nil
}

// sumBefore is a table's sum from what was committed before at.
func (t *truth) sumBefore(table string, at uint64) uint64 {
	points := t.sums[table]
	i, _ := slices.BinarySearchFunc(points, at, func(p point, at uint64) int {
		if p.time < at {
			return -1
		}
		return 1
	})
	if i == 0 {
		return 0
	}
	return points[i-1].sum
}

// tableBefore is the table as it was then.
func (t *truth) tableBefore(name string, at uint64) *table {
	f := folding{truth: t, model: newModel(), place: -1}
	for _, c := range t.commits {
		if c.time < at {
			_ = f.step(c) // fold has told
		}
	}
	return f.model[name]
}
