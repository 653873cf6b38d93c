package tail

import "tailrace"

// Layout is the output columns of a SUBSCRIBE, and what names in its clauses mean.
type Layout struct {
	Columns   []tailrace.ResultColumn // prefix columns, then data columns in the order of the envelope
	Key, Rest []int                   // the envelope's KEY columns, in KEY order, and the others, as places among the columns followed
	Terms     []Term                  // of WITHIN TIMESTAMP ORDER BY
}

// Term is one resolved term of WITHIN TIMESTAMP ORDER BY: a column by its place, or mz_diff for -1.
type Term struct {
	Column           int
	Desc, NullsFirst bool
	Labels           func() []string // of an enum, in order; nil for other columns
}

// Layout resolves the request's clauses for the columns that it follows, of the relation called of. It fails with 42703, 42702, 42701 and 42P10.
func (r *Request) Layout(follows []tailrace.ResultColumn, of string) (*Layout, error) {
	l := &Layout{}
	if err := l.resolveKey(r, follows, of); err != nil {
		return nil, err
	}
	if err := l.resolveTerms(r, follows, of); err != nil {
		return nil, err
	}
	add := func(name string, t tailrace.Type) {
		l.Columns = append(l.Columns, tailrace.ResultColumn{Name: name, Type: t})
	}
	add("mz_timestamp", tailrace.Type{Kind: tailrace.KindNumeric, Mod: 39<<16 + 4})
	if r.Progress {
		add("mz_progressed", tailrace.TypeOf(tailrace.KindBool))
	}
	if r.Envelope == EnvelopeNone {
		add("mz_diff", tailrace.TypeOf(tailrace.KindInt8))
	} else {
		add("mz_state", tailrace.TypeOf(tailrace.KindText))
	}
	for _, c := range l.Key {
		l.Columns = append(l.Columns, follows[c])
	}
	if r.Envelope == EnvelopeDebezium {
		for _, c := range l.Rest {
			add("before_"+follows[c].Name, follows[c].Type)
		}
	}
	for _, c := range l.Rest {
		col := follows[c]
		if r.Envelope == EnvelopeDebezium {
			col.Name = "after_" + col.Name
		}
		l.Columns = append(l.Columns, col)
	}
	return l, nil
}

func (l *Layout) resolveKey(r *Request, follows []tailrace.ResultColumn, of string) error {
	taken := make([]bool, len(follows))
	for _, name := range r.Key {
		c, err := placeOf(name, follows, of)
		if err != nil {
			return err
		}
		if taken[c] {
			return &tailrace.Error{Code: "42701", Message: `column "` + name + `" specified more than once`}
		}
		taken[c] = true
		l.Key = append(l.Key, c)
	}
	for c := range follows {
		if !taken[c] {
			l.Rest = append(l.Rest, c)
		}
	}
	return nil
}

func (l *Layout) resolveTerms(r *Request, follows []tailrace.ResultColumn, of string) error {
	for _, o := range r.OrderBy {
		t := Term{Desc: o.Desc, NullsFirst: o.NullsFirst}
		switch {
		case o.Column == "" && o.Position == 1, o.Column == "mz_diff":
			t.Column = -1
		case o.Column == "" && (o.Position < 1 || o.Position > len(follows)+1):
			return &tailrace.Error{
				Code: "42P10", Position: o.At, Message: "ORDER BY position is not in select list",
				Hint: "1 is mz_diff, 2 the first column of the collection.",
			}
		case o.Column == "":
			t.Column = o.Position - 2
		default:
			c, err := placeOf(o.Column, follows, of)
			if err != nil {
				err.Position = o.At
				return err
			}
			t.Column = c
		}
		if t.Column >= 0 && r.Labels != nil {
			if typ := follows[t.Column].Type; typ.Kind == tailrace.KindEnum {
				t.Labels = func() []string { return r.Labels(typ.ID) }
			}
		}
		l.Terms = append(l.Terms, t)
	}
	return nil
}

// placeOf finds the column called name: 42703 when there is none, 42702 when there are several.
func placeOf(name string, follows []tailrace.ResultColumn, of string) (int, *tailrace.Error) {
	found := -1
	for i := range follows {
		switch {
		case follows[i].Name != name:
		case found >= 0:
			return 0, &tailrace.Error{Code: "42702", Message: `column reference "` + name + `" is ambiguous`, Hint: "Give the columns of the query different names: SELECT a AS x, ..."}
		default:
			found = i
		}
	}
	if found < 0 {
		return 0, &tailrace.Error{
			Code: "42703", Message: `column "` + name + `" does not exist`, Hint: `See the columns of "` + of + `" in information_schema.columns.`,
		}
	}
	return found, nil
}
