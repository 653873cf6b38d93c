package world

import (
	"context"
	"time"

	"tailrace/internal/sim"
	"tailrace/log"
)

// trouble is what befalls a world at a moment.
type trouble int

const (
	kill   trouble = iota // a node dies from one moment to the next, and is started again
	ambush                // a node dies right after it has named a checkpoint
	stop                  // a node is stopped and wakes up later, often after its lease
	dark                  // the power of the stores fails: what was not synced is lost, every node dies
	storm                 // for a while store calls are lost, late, slow, or done and not answered
	crawl                 // for a while the stores take their time, and the upstream's connections break
	jump                  // a node's wall clock jumps
	hangUp                // a node's clients lose their connections
	nap                   // writers pause for so long that windows and the log's rest have gone
	leave                 // a node leaves in order and comes back
	sorts
)

// plan is what a seed decides about its world.
type plan struct {
	shared bool
	nodes  int
	events []event
}

type event struct {
	after time.Duration // since the event before
	what  trouble
	node  int
	long  time.Duration
	jump  time.Duration
}

// draw makes the plan of a seed.
func (w *World) draw() plan {
	rng := w.rand("plan")
	p := plan{nodes: 1}
	if rng.IntN(5) < 3 {
		p.shared, p.nodes = true, 2
	}
	for range 2 + rng.IntN(5) {
		e := event{after: 1500*time.Millisecond + upTo(rng, 9*time.Second), what: trouble(rng.IntN(int(sorts))), node: rng.IntN(p.nodes)}
		e.long = 200*time.Millisecond + upTo(rng, 5*time.Second)
		if rng.IntN(3) == 0 {
			e.long += 11 * time.Second // longer than a lease
		}
		e.jump = time.Duration(rng.Int64N(int64(40*time.Minute))) - 20*time.Minute // history reaches back further
		if rng.IntN(2) == 0 {
			e.jump /= 3600
		}
		p.events = append(p.events, e)
	}
	return p
}

// bad is the faults of a storm.
func (w *World) bad() sim.Faults {
	f := good
	f.Lost, f.Unknown, f.Slow, f.Torn = 0.05, 0.08, 0.02, 0.1
	f.Late = 0.05
	return f
}

// good is a calm world: calls take their time.
var good = sim.Faults{Latency: 400 * time.Microsecond}

// sluggish is a store far away.
var sluggish = sim.Faults{Latency: 1500 * time.Millisecond}

// direct lets the plan happen, and returns after it.
func (w *World) direct(ctx context.Context) {
	for _, e := range w.plan.events {
		sleep(ctx, e.after)
		w.note("trouble", uint64(e.what))
		w.count(e.what.String(), 1)
		m := w.machines[e.node]
		switch e.what {
		case kill:
			m.kill(e.long)
		case ambush:
			for _, m := range w.machines {
				if l := m.now(); l != nil {
					l.ambushed.Store(true)
				}
			}
		case stop:
			if l := m.now(); l != nil {
				l.gate.Shut()
				l.slept.Store(e.long > log.LeaseTime)
				sleep(ctx, e.long)
				l.gate.Open()
			}
		case dark:
			for _, m := range w.machines {
				m.kill(e.long)
			}
			w.disk.powerCut(w.rand("power"))
		case storm:
			w.blow(w.bad())
			sleep(ctx, e.long)
			w.blow(good)
		case crawl:
			w.blow(sluggish)
			sleep(ctx, e.long)
			w.blow(good)
		case jump:
			m.ahead.Store(int64(e.jump))
		case hangUp:
			if l := m.now(); l != nil {
				l.door.hangUp()
			}
		case nap:
			w.resting.Store(true)
			sleep(ctx, 40*time.Second+e.long)
			w.resting.Store(false)
		case leave:
			m.leave(e.long)
		}
	}
	sleep(ctx, 3*time.Second)
}

func (t trouble) String() string {
	return [...]string{"kill", "ambush", "stop", "power cut", "storm", "crawl", "clock jump", "hang up", "nap", "leave"}[t]
}
