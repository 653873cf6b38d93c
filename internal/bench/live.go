package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// The goals of live rows: what a client that follows and gets nothing takes, in KiB, CPU against the bare loop, and of the asked rate what was written.
const (
	goalLiveIdle = 16.0
	goalLiveCPU  = 1.3
	goalLiveRate = 0.98
)

// Live is `tailrace bench live`: many clients that follow a table while rows are written to it. Every round has a server process of its own.
type Live struct {
	Clients   []int
	Rates     []int    // rows a second, one a transaction; each is measured with each number of clients
	Scenarios []string // names; none: those that List has from Clients and Rates
	Seconds   time.Duration
	Rounds    int           // interleaved; medians are reported. 0: 3, and 5 of stall
	Stall     time.Duration // how long a client is stopped in the scenario stall; 0: defaultStall if that is named, and else it is not run
	NATS      string        // URL of a server that is measured in turns, "" for none
}

// liveScenario is one of them: so many clients, so many rows a second.
type liveScenario struct {
	name, what    string
	clients, rate int
	length        time.Duration // how long rows are written
}

// stallName is the scenario with slow clients.
const stallName = "stall"

func (b Live) scenarios() (all []liveScenario) {
	for _, n := range b.Clients {
		for _, rate := range b.Rates {
			what := fmt.Sprintf("%d clients follow a table to which %d rows a second are written", n, rate)
			all = append(all, liveScenario{fmt.Sprintf("live_%d_%d", n, rate), what, n, rate, b.Seconds})
		}
	}
	what := fmt.Sprintf("%d clients beside one that reads a row a second, one that stops for a while, one that stops for ever; if named, or with --stall", stallClients)
	return append(all, liveScenario{stallName, what, stallClients, stallRate, b.stallFor() + b.Seconds})
}

// List is the names of all scenarios, and what each is.
func (b Live) List() (list [][2]string) {
	for _, s := range b.scenarios() {
		list = append(list, [2]string{s.name, s.what})
	}
	return list
}

// chosen are the scenarios to run.
func (b Live) chosen() []liveScenario {
	return slices.DeleteFunc(b.scenarios(), func(s liveScenario) bool {
		named := slices.Contains(b.Scenarios, s.name)
		if s.name == stallName {
			return !named && b.Stall == 0
		}
		return !named && len(b.Scenarios) > 0
	})
}

// Run measures servers that it starts, and tells progress to log.
func (b Live) Run(ctx context.Context, log io.Writer) (*Report, error) {
	s, err := newStorming(&Report{Name: "live", Settings: b.settings()}, log)
	if err != nil {
		return nil, err
	}
	for _, scenario := range b.chosen() {
		run := b.follow
		if scenario.name == stallName {
			run = b.stall
		}
		if err := run(ctx, s, scenario); err != nil {
			return nil, fmt.Errorf("%s: %w", scenario.name, err)
		}
	}
	return s.r, nil
}

// settings is what is run, in a report.
func (b Live) settings() string {
	var runs []string
	for _, s := range b.chosen() {
		rounds := followRounds
		if s.name == stallName {
			rounds = stallRounds
		}
		runs = append(runs, fmt.Sprintf("%d x %s of %v", b.rounds(rounds), s.name, s.length))
	}
	return strings.Join(runs, ", ")
}

// How many rounds there are unless it is said: odd, so that one of them is the median.
const (
	followRounds = 3
	stallRounds  = 5
)

func (b Live) rounds(otherwise int) int {
	if b.Rounds > 0 {
		return b.Rounds
	}
	return otherwise
}

// follow runs a scenario, each round beside the bare loop, and a NATS server if there is one.
func (b Live) follow(ctx context.Context, s *storming, scenario liveScenario) error {
	prefix := scenario.name + "_"
	for range b.rounds(followRounds) {
		if err := b.round(ctx, s, prefix, scenario); err != nil {
			return err
		}
	}
	s.r.set(prefix+"cpu", s.r.vs(prefix+"cpu_s", ours, bareName))
	s.r.set(prefix+"idle_kib", s.r.median(prefix+"idle_kib_a_client", ours))
	s.r.atMost(prefix+"cpu", goalLiveCPU)
	s.r.atMost(prefix+"idle_kib", goalLiveIdle)
	s.concludeLive(prefix, scenario.rate)
	return nil
}

// concludeLive sets what any live scenario must come to.
func (s *storming) concludeLive(prefix string, rate int) {
	s.r.set(prefix+"rate", s.r.median(prefix+"written_per_s", ours)/float64(rate))
	s.r.atLeast(prefix+"rate", goalLiveRate)
	s.noErrors(prefix)
}

// round lets clients follow while rows are written, then runs the bare loop with the bytes and the writes that it took, and NATS.
func (b Live) round(ctx context.Context, s *storming, prefix string, scenario liveScenario) error {
	m, err := s.measureLive(ctx, scenario, nil)
	if err != nil {
		return err
	}
	s.fileLive(prefix, ours, m)
	s.r.add(prefix+"idle_kib_a_client", ours, m.idleKiB, false)
	s.r.add(prefix+"writes_per_s", ours, m.used.writes/m.whole.Seconds(), true)
	s.r.add(prefix+"cpu_s", ours, m.used.cpu.Seconds(), false)
	bytes, writes := int(m.used.bytes)/scenario.clients, max(1, int(m.used.writes)/scenario.clients)
	_, bare, err := s.bareLoop(ctx, bareJob{scenario.clients, bytes, writes, m.whole.Seconds()})
	if err != nil {
		return fmt.Errorf("the bare loop: %w", err)
	}
	s.r.add(prefix+"cpu_s", bareName, bare, false)
	s.tellLive(prefix, ours, scenario, m)
	fmt.Fprintf(s.log, "%s: %.0f writes/s, CPU %.2f s (bare loop %.2f s), %.1f KiB a client\n", scenario.name,
		s.r.last(prefix+"writes_per_s", ours), m.used.cpu.Seconds(), bare, m.idleKiB)
	if b.NATS == "" {
		return nil
	}
	if m, err = s.measureNATS(ctx, b.NATS, scenario); err != nil {
		return fmt.Errorf("NATS: %w", err)
	}
	s.fileLive(prefix, natsName, m)
	s.tellLive(prefix, natsName, scenario, m)
	return nil
}
