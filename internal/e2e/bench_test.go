package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"tailrace/internal/pgtest"
)

// benchmark runs `tailrace bench` and returns the object that it prints, by key.
func benchmark(t *testing.T, args ...string) map[string]json.RawMessage {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"bench"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("bench %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	got := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil {
		t.Fatalf("bench %s: its last line is no object: %v\n%s", strings.Join(args, " "), err, out)
	}
	return got
}

// field reads one value of the object.
func field[T any](t *testing.T, from map[string]json.RawMessage, name string) (v T) {
	t.Helper()
	if err := json.Unmarshal(from[name], &v); err != nil {
		t.Errorf("%s is %s: %v", name, from[name], err)
	}
	return v
}

// measured is one value of one round.
type measured struct {
	Figure, Target string
	Round          int
	Value          float64
}

// checkShared checks what every benchmark's object has.
func checkShared(t *testing.T, got map[string]json.RawMessage, name string) {
	t.Helper()
	for _, key := range []string{"bench", "command", "goals", "machine", "runs", "settings"} {
		if len(got[key]) == 0 {
			t.Errorf("the object has no %q", key)
		}
	}
	if b := field[string](t, got, "bench"); b != name {
		t.Errorf("bench: got %q, want %q", b, name)
	}
	machine := field[struct {
		Cores  int
		Memory int64 `json:"memory_bytes"`
		Go     string
	}](t, got, "machine")
	if machine.Cores < 1 || machine.Memory < 1<<20 || !strings.HasPrefix(machine.Go, "go") {
		t.Errorf("machine: got %+v", machine)
	}
	runs := field[[]measured](t, got, "runs")
	if len(runs) == 0 {
		t.Error("there are no runs")
	}
	for _, r := range runs {
		medians := field[map[string]float64](t, got, r.Figure)
		if _, ok := medians[r.Target]; !ok || r.Round < 1 {
			t.Errorf("round %d of %s: got medians %v, want one of %s", r.Round, r.Figure, medians, r.Target)
		}
	}
}

func TestBenchBase(t *testing.T) {
	src := pgtest.Start(t)
	got := benchmark(t, "base", "--postgres", src.URL(), "--json", "--rows", "2000", "--rounds", "1", "--seconds", "100ms", "--writers", "1,4")
	checkShared(t, got, "base")
	for _, name := range []string{"copy_rows_per_s", "snapshot_rows_per_s", "commit_1_per_s", "commit_4_p99_ms", "update_1_p50_ms", "update_4_per_s"} {
		f := field[map[string]float64](t, got, name)
		if f["tailrace"] == 0 || f["postgres"] == 0 || f["vs_postgres"] != f["tailrace"]/f["postgres"] {
			t.Errorf("figure %s: got %v, want both and their ratio", name, f)
		}
	}
}

func TestBenchStart(t *testing.T) {
	got := benchmark(t, "start", "--json", "--commits", "200", "--writers", "4", "--rounds", "1")
	checkShared(t, got, "start")
}

// loadKeys are what the object of `bench load` has beside the figures.
var loadKeys = []string{
	"speedup", "identical", "off_overhead", "vs_duckdb", "vs_postgres", "size_vs_parquet", "size_vs_duckdb", "decode_gb_s", "helped", "starved_helped", "small_flush", "shapes",
}

func TestBenchLoad(t *testing.T) {
	got := benchmark(t, "load", "--json", "--rows-scale", "0.04", "--runs", "1", "--shape", "wide,shuffled")
	checkShared(t, got, "load")
	for _, key := range loadKeys {
		if _, ok := got[key]; !ok {
			t.Errorf("the object has no %q", key)
		}
	}
	if !field[bool](t, got, "identical") {
		t.Errorf("the parts' bytes depend on who encodes them: %s", got["differ"])
	}
	if starved := field[float64](t, got, "starved_helped"); starved != 0 {
		t.Errorf("a pool that nobody runs did %v tasks", starved)
	}
	if field[struct{ Cores int }](t, got, "machine").Cores > 1 && field[float64](t, got, "helped") == 0 {
		t.Error("no worker did a task")
	}
	for _, key := range []string{"off_overhead", "vs_duckdb", "size_vs_parquet", "size_vs_duckdb", "decode_gb_s", "small_flush"} {
		if v := field[*float64](t, got, key); v == nil || *v <= 0 {
			t.Errorf("%s: got %s, want a number above 0", key, got[key])
		}
	}
	if string(got["vs_postgres"]) != "null" {
		t.Errorf("vs_postgres: got %s without a PostgreSQL, want null", got["vs_postgres"])
	}
	ratio := func(a, b string) float64 {
		t.Helper()
		values := map[string]float64{}
		for _, r := range field[[]measured](t, got, "runs") {
			values[r.Figure+" "+r.Target] = r.Value
		}
		return values[a] / values[b]
	}
	worst := max(ratio("copy_wide_wall_s tailrace", "copy_wide_wall_s duckdb"), ratio("copy_shuffled_wall_s tailrace", "copy_shuffled_wall_s duckdb"))
	if v := field[float64](t, got, "vs_duckdb"); v != worst {
		t.Errorf("vs_duckdb: got %v, want %v, which follows from the runs", v, worst)
	}
	for _, g := range field[[]struct {
		Name, Want string
		Met        *bool
	}](t, got, "goals") {
		if g.Want == "" || g.Met == nil {
			t.Errorf("goal %s: got %+v, want what is wanted and whether it is met", g.Name, g)
		}
	}
}

// TestBenchStorm: every scenario with a few clients; the list of scenarios is what people are told of.
func TestBenchStorm(t *testing.T) {
	out, err := exec.Command(binary, "bench", "storm", "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for line := range strings.Lines(string(out)) {
		names = append(names, strings.Fields(line)[0])
	}
	wantRows(t, "scenarios", names, "storage", "dataflow", "writes", "kill", "tenants")
	got := benchmark(t, "storm", "--clients", "12", "--rows", "300", "--rounds", "1", "--json")
	checkShared(t, got, "storm")
	runs := map[string]float64{}
	for _, r := range field[[]measured](t, got, "runs") {
		runs[r.Figure+" "+r.Target] = r.Value
	}
	for _, name := range names {
		for _, figure := range []string{"p50_ms", "p95_ms", "whole_s"} {
			for _, side := range []string{"tailrace", "bare"} {
				if runs[name+"_12_"+figure+" "+side] <= 0 {
					t.Errorf("%s: no %s of %s", name, figure, side)
				}
			}
		}
	}
	if whole, one := runs["storage_12_bytes_a_client tailrace"], runs["tenants_12_bytes_a_client tailrace"]; whole < 300*60 || one > whole/4 {
		t.Errorf("a client got %v bytes of the whole table and %v of one tenant of 12", whole, one)
	}
	if out, err := exec.Command(binary, "bench", "storm", "--scenario", "calm").CombinedOutput(); err == nil || !strings.Contains(string(out), "--list shows them") {
		t.Errorf("an unknown scenario: %v, %s", err, out)
	}
}

// TestBenchSnapshotAndLive: both with a few rows and clients.
func TestBenchSnapshotAndLive(t *testing.T) {
	got := benchmark(t, "snapshot", "--rows", "5000", "--rounds", "1", "--json")
	checkShared(t, got, "snapshot")
	for _, name := range []string{"fetch_warm_ms_median", "fetch_cold_ms_median", "copy_warm_ms_median", "copy_cold_ms_median"} {
		if v := field[float64](t, got, name); v <= 0 {
			t.Errorf("%s: %v", name, v)
		}
	}
	got = benchmark(t, "live", "--clients", "9", "--rate", "50", "--seconds", "1s", "--rounds", "1", "--json")
	checkShared(t, got, "live")
	runs := map[string]float64{}
	for _, r := range field[[]measured](t, got, "runs") {
		runs[r.Figure+" "+r.Target] = r.Value
	}
	for _, name := range []string{"p50_ms", "p99_ms", "rows_per_s", "writes_per_s"} {
		if runs["live_9_50_"+name+" tailrace"] <= 0 {
			t.Errorf("live: no %s", name)
		}
	}
}
