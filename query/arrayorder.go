package query

import (
	"strings"
)

// inOrder is the ORDER BY of an aggregate over a relation's rows in the relation's own order; names of outputs are those of alias.
func inOrder(order, alias string) string {
	if order == "" {
		return ""
	}
	return " ORDER BY " + strings.ReplaceAll(order, outputMark, alias+".")
}

// outputMark stands before the outputs that relation.order names.
const outputMark = "\x01"

// exposed makes sort keys additional outputs o1, o2, ... of a SELECT, and says the order by their names.
func exposed(keys []sortKey) (outs []string, order string) {
	var terms []string
	for i, k := range keys {
		name := "o" + itoa(i+1)
		outs = append(outs, k.key()+" AS "+name)
		terms = append(terms, outputMark+name+k.way())
	}
	return outs, strings.Join(terms, ", ")
}

// way is the direction of a sort key.
func (k sortKey) way() string {
	way := ""
	if k.desc {
		way = " DESC"
	}
	if k.first {
		return way + " NULLS FIRST"
	}
	return way + " NULLS LAST"
}

// orderOf is relation.order of sort keys that are outputs.
func orderOf(keys []sortKey) string {
	var terms []string
	for _, k := range keys {
		k.sql = outputMark + k.sql
		terms = append(terms, k.key()+k.way())
	}
	return strings.Join(terms, ", ")
}

// spread is a FROM clause whose rows have the targets and sort keys computed, with the rows that functions returning sets make: what else the
// query does, DISTINCT, ORDER BY and LIMIT, it does with those.
func (p *planner) spread(targets []target, order []sortKey, from string) string {
	d := p.alias("d")
	var list []string
	for i := range targets {
		list = append(list, targets[i].e.sql+" AS "+output(i))
		targets[i].e.sql = d + "." + output(i)
	}
	for i := range order {
		k := &order[i]
		if k.target >= 0 {
			k.sql = targets[k.target].e.sql
			continue
		}
		name := "x" + itoa(i+1)
		list = append(list, k.sql+" AS "+name)
		k.sql = d + "." + name
	}
	return " FROM (SELECT " + strings.Join(list, ", ") + from + ") AS " + d
}
