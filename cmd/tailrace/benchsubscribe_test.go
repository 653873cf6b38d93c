package main

import (
	"slices"
	"strings"
	"testing"
)

// TestBenchLiveListsItsScenarios: those that are run when nothing is said, and stall.
func TestBenchLiveListsItsScenarios(t *testing.T) {
	var c cli
	parser, err := newParser(&c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"bench", "live"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range c.Bench.Live.live().List() {
		got = append(got, s[0])
	}
	want := []string{"live_2000_10", "live_2000_100", "live_2000_1000", "live_8000_10", "live_8000_100", "live_8000_1000", "stall"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestUnknownScenarioIsToldOf(t *testing.T) {
	all := [][2]string{{"storage", "the whole table"}, {"kill", "after a kill"}}
	if err := knownScenarios("storm", all, []string{"kill", "storage"}); err != nil {
		t.Error(err)
	}
	if err := knownScenarios("storm", all, []string{"calm"}); err == nil || !strings.Contains(err.Error(), "tailrace bench storm --list shows them") {
		t.Errorf("got %v, want what to type next", err)
	}
}
