package query

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
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
	case s.inDef:
		return expr{}, p.fail(n.GetLocation(), codeWindowing, "window functions are not allowed in window definitions")
	case s.inOver:
		return expr{}, p.fail(n.GetLocation(), codeWindowing, "window function calls cannot be nested")
	case s.inAgg:
		return expr{}, p.fail(n.GetLocation(), codeGrouping, "aggregate function calls cannot contain window function calls")
	case s.clause != "":
		return expr{}, p.fail(n.GetLocation(), codeWindowing, "window functions are not allowed in %s", s.clause)
	}
	s.inOver = true
	defer func() { s.inOver = false }()
	s.inDef = true
	over, err := p.over(s, n.GetOver())
	s.inDef = false
	if err != nil {
		return expr{}, err
	}
	if aggregates[name] != nil {
		if n.GetAggDistinct() {
			return expr{}, p.fail(n.GetLocation(), codeUnsupported, "DISTINCT is not implemented for window functions")
		}
		if len(n.GetAggOrder()) > 0 {
			return expr{}, p.fail(n.GetLocation(), codeUnsupported, "aggregate ORDER BY is not implemented for window functions")
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
	if n.GetAggFilter() != nil {
		return expr{}, p.fail(n.GetLocation(), codeUnsupported, "FILTER is not implemented for non-aggregate window functions")
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
		if err := p.overrides(w, def, name); err != nil {
			return window{}, err
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
			keys = append(keys, sortKey{sql: e.sql, typ: e.typ}.key())
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

// overrides refuses a window that builds on another one and changes what that says.
func (p *planner) overrides(w, def *pg_query.WindowDef, name string) error {
	if w.GetRefname() == "" {
		return nil // OVER name, which is the window itself
	}
	var what string
	switch {
	case len(w.GetPartitionClause()) > 0:
		what = "cannot override PARTITION BY clause of window \"%s\""
	case len(w.GetOrderClause()) > 0 && len(def.GetOrderClause()) > 0:
		what = "cannot override ORDER BY clause of window \"%s\""
	case def.GetFrameOptions()&frameGiven != 0:
		what = "cannot copy window \"%s\" because it has a frame clause"
	default:
		return nil
	}
	return p.fail(w.GetLocation(), codeWindowing, what, name)
}
