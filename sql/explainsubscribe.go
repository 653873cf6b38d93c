package sql

import (
	"strings"

	"tailrace/dataflow"
	"tailrace/parse"
	"tailrace/tail"
)

// explainFollowed says how a SUBSCRIBE is served: what it follows, on which path, and whether rows of one time wait for each other.
func (s *Session) explainFollowed(f *followed, p *parse.Subscribe) ([]string, error) {
	var names []string
	for _, t := range f.tables {
		names = append(names, t.Schema+"."+t.Name)
	}
	r := tail.Request{Envelope: tail.Envelope(p.Envelope), Progress: p.Progress}
	for _, k := range p.Key {
		r.Key = append(r.Key, k.Name)
	}
	for _, o := range p.OrderBy {
		r.OrderBy = append(r.OrderBy, tail.Order{Column: o.Column, Position: o.Number})
	}
	what := "a query of " + strings.Join(names, ", ")
	switch {
	case len(names) == 0:
		what = "constants"
	case f.table != nil:
		what = names[0]
	}
	lines := []string{"Subscribe to " + what + ", path: " + f.path()}
	if f.filters != nil {
		for _, text := range f.filters.shown {
			lines = append(lines, "  Filter: "+text)
		}
	}
	if f.table == nil {
		if _, err := r.Layout(f.columns, "the query"); err != nil {
			return nil, err
		}
		return append(lines, "  Operators: "+strings.Join(dataflow.Words(f.root), ", "), "  Rows of one time: held together, as always on this path"), nil
	}
	if f.selection != nil {
		var columns []string
		for i, c := range f.selection.Columns {
			name := f.table.Columns.Fields[c].Name
			if as := f.selection.Names[i]; as != name {
				name += " AS " + as
			}
			columns = append(columns, name)
		}
		lines = append(lines, "  Columns: "+strings.Join(columns, ", "))
		if e := f.selection.Equal; e != nil {
			lines = append(lines, "  Routed by: "+f.table.Columns.Fields[e.Field].Name)
		}
	}
	r.Table, r.Selection = f.table, f.selection
	why, err := r.Held()
	if err != nil {
		return nil, err
	}
	if why == "" {
		return append(lines, "  Rows of one time: given out as they come"), nil
	}
	return append(lines, "  Rows of one time: held together, "+why), nil
}
