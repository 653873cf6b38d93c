package steps

import (
	"slices"

	"tailrace"
)

// Order puts the steps of several tables, each as Of gives them, in the order of one transaction:
//
//	deletes    of children before those of the parents that they refer to
//	upserts    of parents before children
//	deletes    that are Late: the children that referred to the rows have been moved by then
//
// Tables that refer to each other in a circle come in any order.
func Order(parts [][]tailrace.SinkStep) []tailrace.SinkStep {
	var out, late []tailrace.SinkStep
	order := parentsFirst(parts)
	for n := len(order) - 1; n >= 0; n-- {
		for _, st := range parts[order[n]] {
			switch {
			case st.Kind != tailrace.SinkDelete:
			case Late(st.Target, referred(parts, st.Target)):
				late = append(late, st)
			default:
				out = append(out, st)
			}
		}
	}
	for _, n := range order {
		for _, st := range parts[n] {
			if st.Kind != tailrace.SinkDelete {
				out = append(out, st)
			}
		}
	}
	return append(out, late...)
}

// Late tells that deletes of a table come after upserts: others of the transaction may refer to it, and it has no unique key whose values could be wanted again.
func Late(t *tailrace.SinkTarget, referred bool) bool { return referred && len(t.Unique) == 0 }

// referred tells that a part refers to t.
func referred(parts [][]tailrace.SinkStep, t *tailrace.SinkTarget) bool {
	for _, p := range parts {
		if len(p) > 0 && slices.ContainsFunc(p[0].Target.Foreign, func(f tailrace.SinkForeign) bool { return f.Parent == t.Name }) {
			return true
		}
	}
	return false
}

// parentsFirst lists the parts with steps.
func parentsFirst(parts [][]tailrace.SinkStep) []int {
	targets := make([]*tailrace.SinkTarget, len(parts))
	for i, p := range parts {
		if len(p) > 0 {
			targets[i] = p[0].Target
		}
	}
	return ParentsFirst(targets)
}

// ParentsFirst lists targets, by their places, so that each comes after those that it refers to, where there is no circle. nil ones are left out.
func ParentsFirst(targets []*tailrace.SinkTarget) []int {
	byName := map[string]int{}
	for i, t := range targets {
		if t != nil {
			byName[t.Name] = i
		}
	}
	var out []int
	visited := make([]bool, len(targets))
	var visit func(i int)
	visit = func(i int) {
		if visited[i] {
			return
		}
		visited[i] = true
		for _, f := range targets[i].Foreign {
			if parent, there := byName[f.Parent]; there {
				visit(parent)
			}
		}
		out = append(out, i)
	}
	for i, t := range targets {
		if t != nil {
			visit(i)
		}
	}
	return out
}
