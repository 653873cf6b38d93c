package world

import (
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

var (
	seedFlag  = flag.Int64("seed", -1, "the only seed that TestWorld runs")
	seedsFlag = flag.Int("seeds", 0, "how many seeds TestWorld runs")
	firstFlag = flag.Int("first", 0, "the first seed that TestWorld runs")
	logFlag   = flag.Bool("trace", false, "print what happens")
	aloneFlag = flag.Bool("alone", false, "TestWorld runs its seeds in this process")
)

func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1) // so that goroutines take turns in one order
	goleak.VerifyTestMain(m)
}

// worldBytes is where garbage is collected in a world after all, and worldTime how long one may take in real time, so that one that never ends hurts nobody. A
// world takes about 20 MB and a tenth of a second.
const (
	worldBytes = 1 << 30
	worldTime  = 2 * time.Minute
)

// simulate runs the world of seed.
func simulate(t *testing.T, seed uint64, bug Bug) (r *Report) {
	var logger *slog.Logger
	if *logFlag {
		logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection in the middle would change who runs next
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(worldBytes))
	stuck := time.AfterFunc(worldTime, func() { panic(fmt.Sprintf("seed %d: the world's clock stands still or it does not end", seed)) })
	defer stuck.Stop()
	for range 2 {
		runtime.GC() // the second empties pools, whose values belong to the bubble they were made in
	}
	synctest.Test(t, func(*testing.T) { r = Run(seed, bug, logger) })
	return r
}

// tell fails the test with what a world's validators found.
func tell(t *testing.T, r *Report) {
	for _, f := range r.Failures {
		t.Errorf("seed %d: %s", r.Seed, f)
	}
	if len(r.Failures) > 0 {
		t.Logf("replay: go test ./internal/sim/world -run TestWorld -seed %d", r.Seed)
	}
}

// plannedSeeds is which worlds TestWorld runs.
func plannedSeeds() (first uint64, seeds int) {
	switch {
	case *seedFlag >= 0:
		return uint64(*seedFlag), 1
	case *seedsFlag > 0:
		seeds = *seedsFlag
	case os.Getenv("TAILRACE_LONG") != "":
		seeds = 3000
	case raced: // which takes ten times as long
		seeds = 40
	default:
		seeds = 200
	}
	return uint64(*firstFlag), seeds
}

// Whatever befalls the nodes, what clients see is what was committed, in order, whole, once.
//
// A world has one processor (TestMain), so many worlds are spread over processes, one for each.
func TestWorld(t *testing.T) {
	first, seeds := plannedSeeds()
	processes := min(runtime.NumCPU(), seeds/20)
	if *aloneFlag || *logFlag || processes < 2 {
		runWorlds(t, first, seeds)
		return
	}
	var group sync.WaitGroup
	defer group.Wait()
	for i := range processes {
		from, to := seeds*i/processes, seeds*(i+1)/processes
		group.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWorld$", "-test.v", "-alone", "-test.timeout=6h", fmt.Sprint("-first=", first+uint64(from)), fmt.Sprint("-seeds=", to-from))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%d seeds from %d on: %v", to-from, first+uint64(from), err)
			}
			t.Logf("%s", out)
		})
	}
}

// runWorlds runs them in this process.
func runWorlds(t *testing.T, first uint64, seeds int) {
	counts := map[string]int{}
	failed, began := 0, time.Now()
	for seed := first; seed < first+uint64(seeds) && failed < 5; seed++ {
		r := simulate(t, seed, NoBug)
		tell(t, r)
		if len(r.Failures) > 0 {
			failed++
		}
		for what, n := range r.Counts {
			counts[what] += n
		}
		counts["seconds of fake time"] += int(r.Fake.Seconds())
	}
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%8d %s", counts[what], what)
	}
	t.Logf("%d seeds in %s", seeds, time.Since(began))
}

// A seed that failed can be looked at: it does the same again, to the nanosecond. The machine has a say only where it stops the process for ten milliseconds and
// more: then Go's runtime lets another goroutine go on, and where several could at one moment, the story may part. So each seed has a third try.
//
// The race detector lets goroutines that are ready go on in an order by chance, which nothing seeds: there it is only told how many parted.
func TestSeedReplays(t *testing.T) {
	seeds := uint64(15)
	switch {
	case raced:
		seeds = 4
	case os.Getenv("TAILRACE_LONG") != "":
		seeds = 100
	}
	parted := 0
	for seed := range seeds {
		a, b := simulate(t, seed, NoBug), simulate(t, seed, NoBug)
		if slices.Equal(a.Story, b.Story) {
			continue
		}
		parted++
		at, one, other := parting(a.Story, b.Story)
		t.Logf("seed %d: the stories part at %d of %d:\n%s\n%s", seed, at, len(a.Story), one, other)
		if c := simulate(t, seed, NoBug); !raced && !slices.Equal(c.Story, a.Story) && !slices.Equal(c.Story, b.Story) {
			t.Errorf("seed %d: got three stories in three runs, want the same twice", seed)
		}
	}
	t.Logf("of %d seeds %d parted once", seeds, parted)
	if parted > int(seeds+19)/20+1 && !raced {
		t.Errorf("got %d of %d seeds that did not do the same at once, want one in twenty at most", parted, seeds)
	}
}

// parting is where two stories part, and what comes next in each.
func parting(a, b []string) (at int, one, other string) {
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return at, strings.Join(a[at:min(at+1, len(a))], ""), strings.Join(b[at:min(at+1, len(b))], "")
}

// TestSeedsThatFailedOnce runs worlds that found something in the product.
func TestSeedsThatFailedOnce(t *testing.T) {
	for _, seed := range []uint64{
		1235, // a commit that was appended, on a node whose apply loop had ended, never returned
	} {
		tell(t, simulate(t, seed, NoBug))
	}
}
