package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Print writes the report as tables for people: the medians of the figures, each peer's beside ours with their ratio, then the results and the goals.
func (r *Report) Print(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "%s (%s)\n", r.Name, r.Settings)
	targets := r.targets()
	if len(r.figures) > 0 {
		fmt.Fprintf(tw, "figure\t%s\tbetter\n", strings.Join(headings(targets), "\t"))
	}
	for _, f := range r.figures {
		cells := []string{f.name}
		for i, t := range targets {
			cells = append(cells, r.cell(f.name, t))
			if i > 0 {
				cells = append(cells, shown(r.vs(f.name, targets[0], t)))
			}
		}
		better := "less"
		if f.more {
			better = "more"
		}
		fmt.Fprintln(tw, strings.Join(append(cells, better), "\t"))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, v := range r.results {
		if _, table := v.value.(map[string]any); !table {
			fmt.Fprintf(tw, "%s\t%s\n", v.name, shown(v.value))
		}
	}
	for _, g := range r.goals {
		met := "met"
		if !g.Met {
			met = "NOT MET"
		}
		fmt.Fprintf(tw, "goal %s\t%s\t%s\t%s\n", g.Name, g.Want, shown(g.Value), met)
	}
	return tw.Flush()
}

// targets are those of all figures, ours first.
func (r *Report) targets() []string {
	var out []string
	for _, f := range r.figures {
		for _, t := range f.targets {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	if i := slices.Index(out, ours); i > 0 {
		out = slices.Insert(slices.Delete(out, i, i+1), 0, ours)
	}
	return out
}

func headings(targets []string) []string {
	var out []string
	for i, t := range targets {
		out = append(out, t)
		if i > 0 {
			out = append(out, "vs "+t)
		}
	}
	return out
}

func (r *Report) cell(name, target string) string {
	if v := r.median(name, target); v != 0 {
		return number(v)
	}
	return ""
}

// shown is a result for a table, nothing for one that was not measured.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return number(v)
	}
	return fmt.Sprint(v)
}

// number is v with the digits that a measurement has.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// run is one value of one round.
type run struct {
	Figure string  `json:"figure"`
	Target string  `json:"target"`
	Round  int     `json:"round"` // from 1
	Value  float64 `json:"value"`
}

// JSON writes the report as one object on one line:
//
//	bench, settings, command, machine    what was run, and on what
//	runs                                 every value of every round
//	FIGURE                               the medians: {"tailrace": 1.2, "postgres": 2.4, "vs_postgres": 0.5}
//	RESULT                               a number, a truth or a table that follows from figures; null when it was not measured
//	goals                                results that have one: {"name", "value", "want", "met"}
func (r *Report) JSON(w io.Writer) error {
	runs, goals := []run{}, append([]goal{}, r.goals...)
	out := map[string]any{"bench": r.Name, "settings": r.Settings, "command": r.Command, "machine": ThisMachine()}
	for _, f := range r.figures {
		m := map[string]float64{}
		for i, t := range f.targets {
			m[t] = median(f.values[t])
			for k, v := range f.values[t] {
				runs = append(runs, run{Figure: f.name, Target: t, Round: k + 1, Value: v})
			}
			if ratio, ok := r.vs(f.name, f.targets[0], t).(float64); ok && i > 0 {
				m["vs_"+t] = ratio
			}
		}
		out[f.name] = m
	}
	for _, v := range r.results {
		out[v.name] = v.value
	}
	out["runs"], out["goals"] = runs, goals
	return json.NewEncoder(w).Encode(out)
}
