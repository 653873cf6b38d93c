package query

import (
	"strconv"
	"strings"

	"tailrace"
)

// Enums pass through DuckDB as their labels and compare by where these stand among the labels: that list is written into the plan.

// writeLabels writes the labels of enums where their marks stand.
func (p *planner) writeLabels(sql string) string {
	if !strings.Contains(sql, "\x00"+string(rune(markNames))) && !strings.Contains(sql, "\x00"+string(rune(markLabels))) {
		return sql
	}
	pieces := cutMarks(sql)
	var out strings.Builder
	for i, piece := range pieces {
		if i%2 == 0 {
			out.WriteString(piece)
			continue
		}
		id, _ := strconv.ParseInt(piece[1:], 10, 64) // we wrote it
		switch piece[0] {
		case markNames:
			out.WriteString(p.labelList(tailrace.CollectionID(id)))
		case markLabels:
			out.WriteString(blob(p.labelArray(tailrace.CollectionID(id))))
		default:
			out.WriteString("\x00" + piece + "\x00")
		}
	}
	return out.String()
}

func (p *planner) labelList(enum tailrace.CollectionID) string {
	var list []string
	for _, l := range p.resolver.Labels(enum) {
		list = append(list, quote(l))
	}
	return "CAST([" + strings.Join(list, ", ") + "] AS VARCHAR[])"
}

func (p *planner) labelArray(enum tailrace.CollectionID) []byte {
	var rows [][]byte
	for _, l := range p.resolver.Labels(enum) {
		rows = append(rows, []byte(l))
	}
	return flat(rows).put(nil)
}

// enumFunctions take an enum, mostly a NULL that only says which.
var enumFunctions = map[string]bool{"enum_first": true, "enum_last": true, "enum_range": true}

// enumFunction plans one of them.
func (p *planner) enumFunction(name string, args []expr, loc int32) (expr, error) {
	enum := unknown
	for _, a := range args {
		if a.typ.Kind == kEnum {
			enum = a.typ
		}
	}
	if enum.Kind == kUnknown || len(args) > 2 || len(args) == 2 && name != "enum_range" {
		return expr{}, p.noFunction(name, args, loc)
	}
	for i, a := range args {
		if !becomesType(a.typ, enum) {
			return expr{}, p.noFunction(name, args, loc)
		}
		var err error
		if args[i], err = p.convert(a, enum, false); err != nil {
			return expr{}, err
		}
	}
	labels := p.resolver.Labels(enum.ID)
	switch {
	case name == "enum_range" && len(args) == 1:
		return expr{sql: mark(markLabels, int(enum.ID)), typ: tailrace.ArrayOf(enum)}, nil
	case name == "enum_range":
		return expr{sql: "tr_enum_range(" + mark(markLabels, int(enum.ID)) + ", " + joinSQL(args) + ")", typ: tailrace.ArrayOf(enum)}, nil
	case len(labels) == 0:
		return expr{}, p.fail(-1, "55000", "enum %s contains no values", enum.Name)
	case name == "enum_first":
		return expr{sql: quote(labels[0]), typ: enum}, nil
	}
	return expr{sql: quote(labels[len(labels)-1]), typ: enum}, nil
}
