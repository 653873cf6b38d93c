package bench

import "slices"

// Report is the figures of one benchmark, what follows from them, and whether that is what was hoped for.
type Report struct {
	Name     string
	Settings string
	Command  string // as it was typed
	figures  []*figure
	results  []result
	goals    []goal
}

// figure is one measure, a value a round for each target.
type figure struct {
	name    string
	more    bool // more is better
	targets []string
	values  map[string][]float64
}

// result is a number, a truth or a table that follows from figures; nil when it was not measured.
type result struct {
	name  string
	value any
}

// goal is what a result should be.
type goal struct {
	Name  string `json:"name"`
	Value any    `json:"value"` // nil: not measured
	Want  string `json:"want"`
	Met   bool   `json:"met"`
}

// add files one more value of a figure, that of the next round.
func (r *Report) add(name, target string, v float64, more bool) {
	f := r.figure(name)
	if f == nil {
		f = &figure{name: name, more: more, values: map[string][]float64{}}
		r.figures = append(r.figures, f)
	}
	if f.values[target] == nil {
		f.targets = append(f.targets, target)
	}
	f.values[target] = append(f.values[target], v)
}

// figure is the one of that name, nil when there is none.
func (r *Report) figure(name string) *figure {
	i := slices.IndexFunc(r.figures, func(f *figure) bool { return f.name == name })
	if i < 0 {
		return nil
	}
	return r.figures[i]
}

// median is the median of a figure's values at a target, 0 when it was not measured.
func (r *Report) median(name, target string) float64 {
	f := r.figure(name)
	if f == nil || len(f.values[target]) == 0 {
		return 0
	}
	return median(f.values[target])
}

// last is a figure's newest value at a target, 0 when it was not measured.
func (r *Report) last(name, target string) float64 {
	f := r.figure(name)
	if f == nil || len(f.values[target]) == 0 {
		return 0
	}
	return f.values[target][len(f.values[target])-1]
}

// sum is the sum of a figure's values at a target.
func (r *Report) sum(name, target string) (sum float64) {
	if f := r.figure(name); f != nil {
		for _, v := range f.values[target] {
			sum += v
		}
	}
	return sum
}

// set files a result.
func (r *Report) set(name string, value any) { r.results = append(r.results, result{name, value}) }

// result is the value of that name, nil when there is none.
func (r *Report) result(name string) any {
	for _, v := range r.results {
		if v.name == name {
			return v.value
		}
	}
	return nil
}

// median is the middle value, of an even count the mean of the middle two.
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// percentile is the smallest value that so many percent of v are no larger than. It sorts v.
func percentile(v []float64, percent int) float64 {
	slices.Sort(v)
	return v[max(0, (len(v)*percent+99)/100-1)]
}

// over is a divided by b, nil when either was not measured.
func over(a, b float64) any {
	if a == 0 || b == 0 {
		return nil
	}
	return a / b
}

// vs is the target's median divided by the peer's, nil when either was not measured.
func (r *Report) vs(name, target, peer string) any {
	return over(r.median(name, target), r.median(name, peer))
}

// atMost sets the goal that a result is no larger than limit. A result that was not measured has no goal.
func (r *Report) atMost(name string, limit float64) {
	r.goal(name, "<= "+number(limit), func(v float64) bool { return v <= limit })
}

// atLeast sets the goal that a result is no smaller than limit.
func (r *Report) atLeast(name string, limit float64) {
	r.goal(name, ">= "+number(limit), func(v float64) bool { return v >= limit })
}

func (r *Report) goal(name, want string, met func(float64) bool) {
	if v, ok := r.result(name).(float64); ok {
		r.goals = append(r.goals, goal{Name: name, Value: v, Want: want, Met: met(v)})
	}
}

// isTrue sets the goal that a result is true.
func (r *Report) isTrue(name string) {
	if v, ok := r.result(name).(bool); ok {
		r.goals = append(r.goals, goal{Name: name, Value: v, Want: "true", Met: v})
	}
}
