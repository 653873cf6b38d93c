package bench

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// sample is a report of three rounds.
func sample() *Report {
	r := &Report{Name: "sample", Settings: "3 rounds", Command: "tailrace bench sample"}
	for i, v := range []float64{4, 2, 3} {
		r.add("copy_s", ours, v, false)
		r.add("copy_s", postgres, 2*v, false)
		r.add("rows_per_s", ours, float64(i), true)
	}
	r.set("ratio", r.vs("copy_s", ours, postgres))
	r.set("absent", r.vs("copy_s", ours, duckdb))
	r.set("identical", false)
	r.atMost("ratio", 0.7)
	r.atLeast("ratio", 0.7)
	r.atMost("absent", 1)
	r.isTrue("identical")
	return r
}

func TestReportIsOneObjectOnOneLine(t *testing.T) {
	var out bytes.Buffer
	if err := sample().JSON(&out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 1 || !strings.HasSuffix(out.String(), "}\n") {
		t.Fatalf("got %d lines, want one: %s", n, out.String())
	}
	var got struct {
		Bench, Settings, Command string
		Machine                  Machine
		CopyS                    map[string]float64 `json:"copy_s"`
		Ratio                    float64
		Absent                   *float64
		Runs                     []run
		Goals                    []goal
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Bench != "sample" || got.Command != "tailrace bench sample" || got.Machine.Cores < 1 || got.Machine.Go == "" {
		t.Errorf("got bench %q, command %q, machine %+v", got.Bench, got.Command, got.Machine)
	}
	if c := got.CopyS; c[ours] != 3 || c[postgres] != 6 || c["vs_postgres"] != 0.5 || got.Ratio != 0.5 || got.Absent != nil {
		t.Errorf("got copy_s %v, ratio %v, absent %v; want 3, 6, 0.5 and nothing", c, got.Ratio, got.Absent)
	}
	if len(got.Runs) != 9 || got.Runs[1] != (run{"copy_s", ours, 2, 2}) {
		t.Errorf("got %d runs, the second %+v; want 9 and round 2 of ours", len(got.Runs), got.Runs[1])
	}
	var met []bool
	for _, g := range got.Goals {
		met = append(met, g.Met)
	}
	if want := []bool{true, false, false}; len(met) != 3 || met[0] != want[0] || met[1] != want[1] || met[2] != want[2] {
		t.Errorf("got goals %+v, want met %v: what was not measured has none", got.Goals, want)
	}
}

func TestReportPrintsWhatPeopleRead(t *testing.T) {
	var out bytes.Buffer
	if err := sample().Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"copy_s      3         6         0.5          less", "ratio           0.5", "NOT MET"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got\n%s\nwant %q in it", out.String(), want)
		}
	}
}

func TestMedianOfAnEvenCountIsTheMeanOfTheMiddleTwo(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want float64
	}{{[]float64{7}, 7}, {[]float64{4, 2}, 3}, {[]float64{9, 1, 4}, 4}, {[]float64{8, 1, 3, 2}, 2.5}} {
		if got := median(c.of); got != c.want {
			t.Errorf("median of %v: got %v, want %v", c.of, got, c.want)
		}
	}
}

func TestPercentileCountsFromTheSmallest(t *testing.T) {
	v := make([]float64, 200)
	for i := range v {
		v[i] = float64(200 - i)
	}
	for percent, want := range map[int]float64{0: 1, 50: 100, 95: 190, 99: 198, 100: 200} {
		if got := percentile(v, percent); got != want {
			t.Errorf("percentile %d of 1 to 200: got %v, want %v", percent, got, want)
		}
	}
}
