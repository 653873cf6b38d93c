package bench

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func names(list [][2]string) (names []string) {
	for _, s := range list {
		names = append(names, s[0])
	}
	return names
}

func TestLiveRunsWhatItLists(t *testing.T) {
	b := Live{Clients: []int{2000, 8000}, Rates: []int{10, 100, 1000}, Seconds: 10 * time.Second}
	all := []string{"live_2000_10", "live_2000_100", "live_2000_1000", "live_8000_10", "live_8000_100", "live_8000_1000", "stall"}
	if got := names(b.List()); !slices.Equal(got, all) {
		t.Errorf("got the list %v, want %v", got, all)
	}
	with := func(change func(*Live)) Live {
		c := b
		change(&c)
		return c
	}
	for what, c := range map[string]struct {
		b    Live
		want []string
	}{
		"nothing named": {b, all[:6]},
		"a stall":       {with(func(b *Live) { b.Stall = time.Second }), all},
		"one named":     {with(func(b *Live) { b.Scenarios = all[5:6] }), all[5:6]},
		"stall named":   {with(func(b *Live) { b.Scenarios = all[6:] }), all[6:]},
	} {
		var got []string
		for _, s := range c.b.chosen() {
			got = append(got, s.name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", what, got, c.want)
		}
	}
	if got, want := with(func(b *Live) { b.Scenarios = all[5:] }).settings(), "3 x live_8000_1000 of 10s, 5 x stall of 1m10s"; got != want {
		t.Errorf("got the settings %q, want %q", got, want)
	}
}

func TestStormTellsOfWhatIsNotRun(t *testing.T) {
	s := &storming{r: &Report{}}
	s.conclude("dataflow", 2*dataflowClients)
	if why, ok := s.r.result("dataflow_2048_not_run").(string); !ok || !strings.Contains(why, "1024 clients") || len(s.r.goals) != 0 {
		t.Errorf("got %q and goals %v, want the reason and none", why, s.r.goals)
	}
}

func TestAFailedClientMissesTheGoalWhateverTheMedianIs(t *testing.T) {
	s := &storming{r: &Report{}}
	for _, n := range []float64{0, 1, 0} {
		s.r.add("x_errors", ours, n, false)
	}
	s.noErrors("x_")
	if g := s.r.goals; len(g) != 1 || g[0].Met || g[0].Value != 1.0 {
		t.Errorf("got goals %+v, want one that is not met", g)
	}
}
