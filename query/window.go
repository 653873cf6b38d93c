package query

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

// windows notes the WINDOW clause.
func (p *planner) windows(s *scope, list []*pg_query.Node) error {
	s.windows = map[string]*pg_query.WindowDef{}
	for _, n := range list {
		w := n.GetWindowDef()
		if s.windows[w.GetName()] != nil {
			return p.fail(w.GetLocation(), codeWindowing, "window \"%s\" is already defined", w.GetName())
		}
		s.windows[w.GetName()] = w
	}
	return nil
}

// windowCall plans a call with OVER.
func (p *planner) windowCall(s *scope, name string, n *pg_query.FuncCall) (expr, error) {
	switch {
	case s.inOver:
		return expr{}, p.fail(n.GetLocation(), codeWindowing, "window function calls cannot be nested")
	case s.inAgg:
		return expr{}, p.fail(n.GetLocation(), codeGrouping, "aggregate function calls cannot contain window function calls")
	case s.clause != "":
		return expr{}, p.fail(n.GetLocation(), codeWindowing, "window functions are not allowed in %s", s.clause)
	}
	s.inOver = true
	defer func() { s.inOver = false }()
	over, err := p.over(s, n.GetOver())
	if err != nil {
		return expr{}, err
	}
	if aggregates[name] != nil {
		if n.GetAggDistinct() {
			return expr{}, p.refuse(n.GetLocation(), "DISTINCT for window functions")
		}
		sql, e, err := p.aggregateCall(s, name, n, over)
		e.sql = sql
		return e, err
	}
	candidates := windowFunctions[name]
	if candidates == nil {
		if functions[name] != nil {
			return expr{}, p.fail(n.GetLocation(), codeMismatchedWindow, "OVER specified, but %s is not a window function nor an aggregate function", name)
		}
		args, err := p.arguments(s, n)
		if err != nil {
			return expr{}, err
		}
		return expr{}, p.noFunction(name, args, n.GetLocation())
	}
	args, err := p.arguments(s, n)
	if err != nil {
		return expr{}, err
	}
	if len(args) == 3 { // lag and lead: the default has the value's type
		both, err := p.unify([]expr{args[0], args[2]}, name)
		if err != nil {
			return expr{}, err
		}
		args[0], args[2] = both[0], both[1]
	}
	f, converted, err := p.resolve(candidates, args)
	if err != nil {
		return expr{}, p.notUnique(err, name, args, n.GetLocation())
	}
	if f == nil {
		return expr{}, p.noFunction(name, args, n.GetLocation())
	}
	return p.apply(f, converted, "{d}", "", "{o}", "", "{f}", over.plain), nil
}

// window is an OVER clause. DuckDB 1.5.6 hands an aggregate that is not its own bad states when the frame is always the whole partition
// (WindowConstantAggregator passes one state where its C API reads one for each row); safe spells such a frame as one with offsets, which is
// computed another way.
type window struct{ plain, safe string }

func (w window) of(f *function) string {
	if f.ours {
		return w.safe
	}
	return w.plain
}

const wholeFrame = "ROWS BETWEEN 4611686018427387904 PRECEDING AND 4611686018427387904 FOLLOWING"

// over plans an OVER clause.
func (p *planner) over(s *scope, w *pg_query.WindowDef) (window, error) {
	partition, order, frame := w.GetPartitionClause(), w.GetOrderClause(), w
	for name := w.GetName() + w.GetRefname(); name != ""; {
		def := s.windows[name]
		if def == nil {
			return window{}, p.fail(w.GetLocation(), "42704", "window \"%s\" does not exist", name)
		}
		if len(partition) == 0 {
			partition = def.GetPartitionClause()
		}
		if len(order) == 0 {
			order = def.GetOrderClause()
		}
		if w.GetName() != "" {
			frame = def
		}
		name = def.GetRefname()
	}
	var parts []string
	if len(partition) > 0 {
		es, err := p.exprs(s, partition)
		if err != nil {
			return window{}, err
		}
		var keys []string
		for _, e := range es {
			if e, err = p.typed(e); err != nil {
				return window{}, err
			}
			if err := p.comparable(e, e.loc); err != nil {
				return window{}, err
			}
			keys = append(keys, sortKey{sql: e.sql, kind: e.typ.Kind}.key())
		}
		parts = append(parts, "PARTITION BY "+strings.Join(keys, ", "))
	}
	keys, err := p.sortKeys(s, order)
	if err != nil {
		return window{}, err
	}
	if len(keys) > 0 {
		parts = append(parts, strings.TrimSpace(orderSQL(keys)))
	}
	f, err := p.frame(s, frame, keys)
	if err != nil {
		return window{}, err
	}
	safe := append(slices.Clone(parts), f)
	if wholePartition(frame.GetFrameOptions(), len(keys) > 0) {
		safe[len(parts)] = wholeFrame
	}
	parts = append(parts, f)
	return window{" OVER (" + strings.Join(parts, " ") + ")", " OVER (" + strings.Join(safe, " ") + ")"}, nil
}

// wholePartition reports whether a frame is the whole partition for all its rows.
func wholePartition(options int32, ordered bool) bool {
	if options&(excludeCurrent|excludeGroup|excludeTies) != 0 {
		return false
	}
	peers := options&frameRows == 0 && !ordered // all rows are peers: the current row's group is the partition
	start := options&startUnbounded != 0 || peers && options&startCurrent != 0
	end := options&endUnbounded != 0 || peers && options&endCurrent != 0
	return start && end
}

// Bits of WindowDef.frameOptions, from PostgreSQL's parsenodes.h.
const (
	frameGiven        = 0x1
	frameRange        = 0x2
	frameRows         = 0x4
	startUnbounded    = 0x20
	endUnbounded      = 0x100
	startCurrent      = 0x200
	endCurrent        = 0x400
	startOffsetBefore = 0x800
	endOffsetBefore   = 0x1000
	startOffsetAfter  = 0x2000
	endOffsetAfter    = 0x4000
	excludeCurrent    = 0x8000
	excludeGroup      = 0x10000
	excludeTies       = 0x20000
	frameOffsets      = startOffsetBefore | endOffsetBefore | startOffsetAfter | endOffsetAfter
)

// frame plans ROWS, RANGE and GROUPS.
func (p *planner) frame(s *scope, w *pg_query.WindowDef, keys []sortKey) (string, error) {
	o := w.GetFrameOptions()
	if o&frameGiven == 0 {
		return "", nil
	}
	unit, offset := "GROUPS", kInt8
	switch {
	case o&frameRange != 0:
		unit = "RANGE"
		if o&frameOffsets != 0 {
			if len(keys) != 1 || category(keys[0].kind) != 'N' || keys[0].kind == kNumeric {
				return "", p.refuse(w.GetLocation(), "RANGE with offset over this ordering")
			}
			offset = keys[0].kind
		}
	case o&frameRows != 0:
		unit = "ROWS"
	}
	start, err := p.bound(s, w.GetStartOffset(), offset, o&startUnbounded != 0, o&startCurrent != 0, o&startOffsetBefore != 0, "UNBOUNDED PRECEDING")
	if err != nil {
		return "", err
	}
	end, err := p.bound(s, w.GetEndOffset(), offset, o&endUnbounded != 0, o&endCurrent != 0, o&endOffsetBefore != 0, "UNBOUNDED FOLLOWING")
	if err != nil {
		return "", err
	}
	out := unit + " BETWEEN " + start + " AND " + end
	switch {
	case o&excludeCurrent != 0:
		out += " EXCLUDE CURRENT ROW"
	case o&excludeGroup != 0:
		out += " EXCLUDE GROUP"
	case o&excludeTies != 0:
		out += " EXCLUDE TIES"
	}
	return out, nil
}

func (p *planner) bound(s *scope, n *pg_query.Node, k kind, unbounded, current, before bool, open string) (string, error) {
	switch {
	case unbounded:
		return open, nil
	case current:
		return "CURRENT ROW", nil
	}
	e, err := p.expr(s, n)
	if err != nil {
		return "", err
	}
	if e, err = p.convert(e, tailrace.TypeOf(k), false); err != nil {
		return "", err
	}
	if before {
		return e.sql + " PRECEDING", nil
	}
	return e.sql + " FOLLOWING", nil
}
