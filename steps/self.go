package steps

import (
	"slices"
	"strings"

	"tailrace"
)

// selfReferences are the foreign keys of a target's table that refer to the table itself, as pairs of columns: of the row that refers, and of the one that it refers to.
func selfReferences(t *tailrace.SinkTarget) (out [][2][]int) {
	for _, f := range t.Foreign {
		if f.Parent != t.Name {
			continue
		}
		to := make([]int, len(f.To))
		for i, name := range f.To {
			to[i] = slices.IndexFunc(t.Table.Columns.Fields, func(fd tailrace.Field) bool { return strings.EqualFold(fd.Name, name) })
		}
		if !slices.Contains(to, -1) {
			out = append(out, [2][]int{f.Columns, to})
		}
	}
	return out
}

// orderSelf puts the rows of steps of a table that refers to itself in the order that its foreign keys ask for: who is referred to comes before, and goes after, those that
// refer to it. A server deletes the rows of a statement in its own order, so deletes are steps of rows that do not refer to each other.
func orderSelf(target *tailrace.SinkTarget, list []tailrace.SinkStep) []tailrace.SinkStep {
	references := selfReferences(target)
	if len(references) == 0 {
		return list
	}
	var out []tailrace.SinkStep
	for _, st := range list {
		levels := levelsOf(target.Table.Columns, references, st.Rows)
		if st.Kind != tailrace.SinkDelete {
			st.Rows = st.Rows.Gather(slices.Concat(levels...))
			out = append(out, st)
			continue
		}
		for _, rows := range slices.Backward(levels) {
			out = append(out, tailrace.SinkStep{Kind: st.Kind, Target: st.Target, Rows: st.Rows.Gather(rows)})
		}
	}
	return out
}

// levelsOf sorts rows by how many of them are above each: the first refer to none of these rows, the next to some of the first, and so on. Rows that refer to each other in a
// circle are the last level.
func levelsOf(s *tailrace.Schema, references [][2][]int, b *tailrace.Batch) [][]int32 {
	children, above := make([][]int32, b.N), make([]int, b.N)
	for _, f := range references {
		parents := map[string]int32{}
		for i := range b.N {
			if key, ok := valueOf(s, b, f[1], i); ok {
				parents[key] = int32(i)
			}
		}
		for i := range b.N {
			key, ok := valueOf(s, b, f[0], i)
			if p, there := parents[key]; ok && there && int(p) != i {
				children[p] = append(children[p], int32(i))
				above[i]++
			}
		}
	}
	var levels [][]int32
	var level []int32
	for i, n := range above {
		if n == 0 {
			level = append(level, int32(i))
		}
	}
	placed := 0
	for len(level) > 0 {
		levels, placed = append(levels, level), placed+len(level)
		var next []int32
		for _, p := range level {
			for _, c := range children[p] {
				if above[c]--; above[c] == 0 {
					next = append(next, c)
				}
			}
		}
		level = next
	}
	if placed < b.N {
		var circle []int32
		for i, n := range above {
			if n > 0 {
				circle = append(circle, int32(i))
			}
		}
		levels = append(levels, circle)
	}
	return levels
}

// valueOf is the bytes by which the values of columns are told from others; ok is false when one is NULL, which refers to nothing.
func valueOf(s *tailrace.Schema, b *tailrace.Batch, columns []int, i int) (key string, ok bool) {
	var raw []byte
	for _, c := range columns {
		if b.Cols[c].IsNull(i) {
			return "", false
		}
		raw = tailrace.AppendKey(raw, s.Fields[c].Type, &b.Cols[c], i)
	}
	return string(raw), true
}
