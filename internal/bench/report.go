package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Report is the figures of one benchmark.
type Report struct {
	Name     string
	Settings string
	figures  []*figure
}

// figure is one measure, a value a round for each target.
type figure struct {
	name    string
	more    bool // more is better
	targets []string
	values  map[string][]float64
}

func (r *Report) add(name, target string, v float64, more bool) {
	i := slices.IndexFunc(r.figures, func(f *figure) bool { return f.name == name })
	if i < 0 {
		i = len(r.figures)
		r.figures = append(r.figures, &figure{name: name, more: more, values: map[string][]float64{}})
	}
	f := r.figures[i]
	if f.values[target] == nil {
		f.targets = append(f.targets, target)
	}
	f.values[target] = append(f.values[target], v)
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

// ratio is ours divided by the peer's, by medians; 0 without a peer.
func (f *figure) ratio() float64 {
	if len(f.targets) < 2 {
		return 0
	}
	return median(f.values[f.targets[0]]) / median(f.values[f.targets[1]])
}

// Print writes the medians as a table.
func (r *Report) Print(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "%s (%s)\n", r.Name, r.Settings)
	for i, f := range r.figures {
		if i == 0 {
			fmt.Fprint(tw, "figure")
			for _, t := range f.targets {
				fmt.Fprintf(tw, "\t%s", t)
			}
			fmt.Fprintln(tw, "\tratio\tbetter")
		}
		fmt.Fprint(tw, f.name)
		for _, t := range f.targets {
			fmt.Fprintf(tw, "\t%.4g", median(f.values[t]))
		}
		better := "less"
		if f.more {
			better = "more"
		}
		if len(f.targets) > 1 {
			fmt.Fprintf(tw, "\t%.2f\t%s\n", f.ratio(), better)
		} else {
			fmt.Fprintf(tw, "\t\t%s\n", better)
		}
	}
	return tw.Flush()
}

// JSON writes the report as one object on one line: {"bench":..., "settings":..., "figure": {"tailrace": median, "postgres": median, "ratio": r}, ...}.
func (r *Report) JSON(w io.Writer) error {
	out := map[string]any{"bench": r.Name, "settings": r.Settings}
	for _, f := range r.figures {
		m := map[string]float64{}
		for _, t := range f.targets {
			m[t] = median(f.values[t])
		}
		if len(f.targets) > 1 {
			m["ratio"] = f.ratio()
		}
		out[f.name] = m
	}
	return json.NewEncoder(w).Encode(out)
}
