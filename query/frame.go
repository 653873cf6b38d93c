package query

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
)

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
			if len(keys) != 1 {
				return "", p.fail(w.GetLocation(), codeWindowing, "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
			}
			if category(keys[0].typ.Kind) != 'N' || keys[0].typ.Kind == kNumeric {
				return "", p.fail(offsetOf(w), codeUnsupported, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s", typeName(keys[0].typ))
			}
			offset = keys[0].typ.Kind
		}
	case o&frameRows != 0:
		unit = "ROWS"
	case len(keys) == 0:
		return "", p.fail(w.GetLocation(), codeWindowing, "GROUPS mode requires an ORDER BY clause")
	}
	start, err := p.bound(s, w.GetStartOffset(), offset, true, o&startUnbounded != 0, o&startCurrent != 0, o&startOffsetBefore != 0, "UNBOUNDED PRECEDING")
	if err != nil {
		return "", err
	}
	end, err := p.bound(s, w.GetEndOffset(), offset, false, o&endUnbounded != 0, o&endCurrent != 0, o&endOffsetBefore != 0, "UNBOUNDED FOLLOWING")
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

// offsetOf is where a frame's first offset stands.
func offsetOf(w *pg_query.WindowDef) int32 {
	if w.GetFrameOptions()&(startOffsetBefore|startOffsetAfter) != 0 {
		return location(w.GetStartOffset())
	}
	return location(w.GetEndOffset())
}

func (p *planner) bound(s *scope, n *pg_query.Node, k kind, starting, unbounded, current, before bool, open string) (string, error) {
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
	if k == kInt8 {
		e.sql = "tr_frame_" + map[bool]string{true: "starting", false: "ending"}[starting] + "(" + e.sql + ")"
	}
	if before {
		return e.sql + " PRECEDING", nil
	}
	return e.sql + " FOLLOWING", nil
}
