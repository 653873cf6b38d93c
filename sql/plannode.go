package sql

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/query"
	"tailrace/shard"
)

// planNode is a step of a plan as EXPLAIN shows it.
//
//	Query
//	  ->  Scan on stock
//	        Range: (n > 100)
//	        Stripes Read: 1
//	        Stripes Pruned: 3
//	        Rows Read: 131072
//	        Bytes Read: 1048576
type planNode struct {
	what   string
	table  *catalog.Table  // nil where there is none
	name   string          // instead of a table
	props  []property      // in order
	nodes  []*planNode     // what it takes rows from
	ranges [][]shard.Range // of each scan, to estimate
}

// property is a line of a node. The value is a string, a number of rows or bytes, or a duration.
type property struct {
	name  string
	value any
}

func (n *planNode) add(name string, value any) { n.props = append(n.props, property{name, value}) }

// output adds the columns that come out, for VERBOSE.
func (n *planNode) output(columns []tailrace.ResultColumn, e *explaining) *planNode {
	if e.verbose {
		var names []string
		for _, c := range columns {
			names = append(names, c.Name)
		}
		n.add("Output", strings.Join(names, ", "))
	}
	return n
}

// condition adds an expression.
func (n *planNode) condition(name string, e *pg_query.Node) {
	if text, err := deparseExpr(e); err == nil { // it was parsed: only a node that the deparser does not know is left out
		n.add(name, "("+text+")")
	}
}

// lookupNode is a lookup by key.
func lookupNode(p *keyPath, where *pg_query.Node) *planNode {
	n := &planNode{what: "Key Lookup", table: p.table}
	n.add("Keys", int64(len(p.tuple)))
	n.condition("Condition", where)
	return n
}

// narrow adds the filters that page groups are left out by.
func (n *planNode) narrow(filters []query.Filter) {
	if len(filters) == 0 {
		return
	}
	var parts []string
	for _, f := range filters {
		name := quoteName(n.table.Columns.Fields[f.Field].Name)
		var values []string
		for _, v := range f.Values {
			if text, err := deparseExpr(v); err == nil {
				values = append(values, text)
			}
		}
		switch {
		case f.Op == "null":
			parts = append(parts, name+" IS NULL")
		case f.Op == "not null":
			parts = append(parts, name+" IS NOT NULL")
		case len(values) == 1:
			parts = append(parts, name+" "+f.Op+" "+values[0])
		default:
			parts = append(parts, name+" IN ("+strings.Join(values, ", ")+")")
		}
	}
	n.add("Range", "("+strings.Join(parts, " AND ")+")")
}

// eachScan calls f with each scan of a table.
func (n *planNode) eachScan(f func(*planNode)) {
	if n.what == "Scan" && n.table != nil {
		f(n)
	}
	for _, c := range n.nodes {
		c.eachScan(f)
	}
}

// read adds what a scan reads; VERBOSE tells of page groups, into which stripes are divided.
func (n *planNode) read(s *shard.ScanStats, e *explaining) {
	n.add("Stripes Read", s.StripesRead.Load())
	n.add("Stripes Pruned", s.StripesPruned.Load())
	if e.verbose {
		n.add("Page Groups Read", s.GroupsRead.Load())
		n.add("Page Groups Pruned", s.GroupsPruned.Load())
	}
	n.add("Rows Read", s.Rows.Load()+s.Memory.Load())
	n.add("Bytes Read", s.Bytes.Load())
}

// estimate adds to each scan what it will read: as many page groups as their bounds leave, and all columns.
func (s *Session) estimate(ctx context.Context, plan *planNode, e *explaining) error {
	var failed error
	plan.eachScan(func(n *planNode) {
		sum := &shard.ScanStats{}
		sh := s.engine.Shards.Shard(n.table.ID)
		if sh == nil || s.txn.isNew(n.table.ID) {
			return
		}
		if err := s.txn.hold(n.table.ID); err != nil {
			failed = err
			return
		}
		if len(n.ranges) == 0 {
			n.ranges = [][]shard.Range{nil}
		}
		for _, r := range n.ranges {
			stats, err := sh.Estimate(ctx, shard.SnapshotOptions{AsOf: s.txn.time, Schema: n.table.Columns, Ranges: r})
			if err != nil {
				failed = err
				return
			}
			sum.Add(stats)
		}
		n.read(sum, e)
	})
	return failed
}

// reading counts what the scans of one statement read, by table. A nil reading counts nothing.
type reading struct {
	mu     sync.Mutex
	tables map[catalog.ID]*shard.ScanStats
}

func (r *reading) of(id catalog.ID) *shard.ScanStats {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tables == nil {
		r.tables = map[catalog.ID]*shard.ScanStats{}
	}
	if r.tables[id] == nil {
		r.tables[id] = &shard.ScanStats{}
	}
	return r.tables[id]
}

// result is the plan as EXPLAIN sends it.
func (e *explaining) result(plan *planNode, planning, took time.Duration) *Result {
	if e.json {
		doc := [][]property{{{"Plan", plan}}}
		if e.summary {
			doc[0] = append(doc[0], property{"Planning Time", planning})
			if e.analyze {
				doc[0] = append(doc[0], property{"Execution Time", took})
			}
		}
		var text bytes.Buffer
		text.WriteString("[\n  ")
		writeJSON(&text, doc[0], "  ")
		text.WriteString("\n]")
		r := textResult("EXPLAIN", []string{"QUERY PLAN"}, []string{text.String()})
		r.Columns[0].Type = tailrace.TypeOf(tailrace.KindJSON)
		return r
	}
	lines := plan.lines(nil, 0, e)
	if e.summary {
		lines = append(lines, "Planning Time: "+shownValue(planning))
		if e.analyze {
			lines = append(lines, "Execution Time: "+shownValue(took))
		}
	}
	rows := make([][]string, len(lines))
	for i, l := range lines {
		rows[i] = []string{l}
	}
	return textResult("EXPLAIN", []string{"QUERY PLAN"}, rows...)
}

// lines appends the node as text.
func (n *planNode) lines(dst []string, depth int, e *explaining) []string {
	indent, head := "", n.what
	if depth > 0 {
		indent = strings.Repeat(" ", 6*depth-4)
		head = "->  " + head
	}
	switch {
	case n.table != nil && e.verbose:
		head += " on " + quoteName(n.table.Schema) + "." + quoteName(n.table.Name)
	case n.table != nil:
		head += " on " + quoteName(n.table.Name)
	case n.name != "":
		head += " on " + n.name
	}
	dst = append(dst, indent+head)
	for _, p := range n.props {
		dst = append(dst, strings.Repeat(" ", 6*depth+2)+p.name+": "+shownValue(p.value))
	}
	for _, c := range n.nodes {
		dst = c.lines(dst, depth+1, e)
	}
	return dst
}

func shownValue(v any) string {
	if d, ok := v.(time.Duration); ok {
		return fmt.Sprintf("%.3f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprint(v)
}
