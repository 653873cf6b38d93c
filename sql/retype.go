package sql

import (
	"context"
	"errors"
	"fmt"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tailrace"
	"tailrace/catalog"
	"tailrace/expr"
	"tailrace/shard"
)

// A column that gets another type becomes another column, with an ID of its own, in the same place: rows in storage keep what they are. In the same transaction each
// row is taken away as it was, and put back with the new column:
//
//	ALTER TABLE t ALTER COLUMN b TYPE int USING length(b)      -(1, b: 'abc')  +(1, b': 3)
//
// So AS OF a time before, the column is NULL; whoever follows the column by its ID is told that it is gone. Where the stored bytes stay what they are, as from
// varchar(10) to text, no row is touched.

// retyped is a column of a table that gets another type.
type retyped struct {
	column int // in both schemas
	from   tailrace.Type
	using  *pg_query.Node // nil: converted by assignment
}

// retype gives a column of out another type. What it returns is left to be done with the rows; nil when they stay.
func (s *Session) retype(st *statement, out *catalog.Table, c *pg_query.AlterTableCmd) (*retyped, error) {
	d := c.Def.GetColumnDef()
	i := out.Columns.ByName(c.Name)
	if i < 0 {
		return nil, noColumn(c.Name, out)
	}
	if d.CollClause != nil {
		return nil, at(s.unsupported("COLLATE", "text is ordered by its bytes, as COLLATE \"C\" does."), st.pos(d.CollClause.Location))
	}
	to, domain, err := s.declared(d.TypeName)
	if err != nil {
		return nil, at(err, st.pos(d.TypeName.Location))
	}
	f := &out.Columns.Fields[i]
	from := f.Type
	if to.Kind == tailrace.KindJSON && out.Columns.InKey(i) {
		return nil, &tailrace.Error{
			Code: "42704", Message: "data type json has no default operator class for access method \"btree\"",
			Hint: "You must specify an operator class for the index or define a default operator class for the data type.",
		}
	}
	if d.RawDefault == nil && !assigns(from, to) {
		return nil, &tailrace.Error{
			Code: "42804", Message: fmt.Sprintf("column \"%s\" cannot be cast automatically to type %s", f.Name, expr.Bare(to)),
			Hint: fmt.Sprintf("You might need to specify \"USING %s::%s\".", quoteName(f.Name), to),
		}
	}
	if f.Default != "" && !assigns(from, to) {
		return nil, &tailrace.Error{
			Code: "42804", Message: fmt.Sprintf("default for column \"%s\" cannot be cast automatically to type %s", f.Name, expr.Bare(to)),
			Hint: "DROP DEFAULT first, and SET DEFAULT afterwards.",
		}
	}
	f.Type, f.Domain = to, 0
	if domain != nil {
		f.Domain = domain.ID
	}
	if d.RawDefault == nil && domain == nil && sameBytes(from, to) {
		return nil, nil
	}
	f.ID, f.Missing = out.Columns.NextColumn, nil
	out.Columns.NextColumn++
	return &retyped{column: i, from: from, using: d.RawDefault}, nil
}

// assigns tells that a value of one type becomes one of another when it is assigned.
func assigns(from, to tailrace.Type) bool {
	c := expr.CastContext(from, to)
	return c != 0 && c <= expr.Assignment
}

// sameBytes tells that every value of one type is stored in a column of another as it is.
func sameBytes(from, to tailrace.Type) bool {
	if from.Same(to) && (to.Mod < 0 || to.Mod == from.Mod) {
		return true
	}
	text := func(t tailrace.Type) bool { return t.Kind == tailrace.KindText || t.Kind == tailrace.KindVarchar }
	return text(from) && text(to) && (to.Mod < 0 || from.Mod >= 0 && from.Mod <= to.Mod)
}

// rewrite makes the rows of t, which becomes out, what retypes say.
func (s *Session) rewrite(ctx context.Context, st *statement, t, out *catalog.Table, retypes []*retyped) error {
	fresh := make([]func(context.Context, *tailrace.Batch) (tailrace.Column, error), len(retypes))
	for k, r := range retypes {
		var err error
		if fresh[k], err = s.conversion(ctx, st, t, out, r); err != nil {
			return err
		}
	}
	rows, err := s.scan(ctx, t.ID, t.Columns, nil)
	if err != nil {
		return err
	}
	was := s.txn.write(t).top()
	was.removed, was.order = true, nil
	w := s.txn.write(out)
	is := w.top()
	is.removed, is.order = true, nil
	var seen *shard.KeySet
	if !sameKey(t.Columns, out.Columns) {
		keys := s.txn.newKeys()
		defer keys.Free()
		seen = &keys
	}
	return drain(ctx, rows, func(b *tailrace.Batch) error {
		if b.N == 0 {
			return nil
		}
		old := copyOf(b)
		old.Times, old.IDs = nil, tailrace.NewBatch(t.Columns, 0).IDs
		became := tailrace.NewBatch(out.Columns, 0)
		became.N, became.Diffs = old.N, old.Diffs
		for c, f := range out.Columns.Fields {
			if src := old.Col(f.ID); src != nil {
				became.Cols[c] = *src
			} else {
				became.Cols[c] = constant(&f, old.N)
			}
		}
		for k, r := range retypes {
			if became.Cols[r.column], err = fresh[k](ctx, &old); err != nil {
				return err
			}
		}
		if err := s.fitRows(ctx, out, became, seen); err != nil {
			return err
		}
		gone := old
		gone.Diffs = make([]tailrace.Diff, old.N)
		for i := range gone.Diffs {
			gone.Diffs[i] = -old.Diff(i)
		}
		if err := was.append(ctx, &gone); err != nil {
			return err
		}
		return is.append(ctx, became)
	})
}

// constant is n times the value of a column that rows written before it lack.
func constant(f *tailrace.Field, n int) tailrace.Column {
	c := tailrace.MakeColumn(f.Type.Kind, n)
	for range n {
		if f.Missing == nil {
			c.AppendNull()
		} else {
			c.Append(f.Missing)
		}
	}
	return c
}

// conversion is how the values of a column come about, for rows with t's columns.
func (s *Session) conversion(ctx context.Context, st *statement, t, out *catalog.Table, r *retyped) (func(context.Context, *tailrace.Batch) (tailrace.Column, error), error) {
	f := &out.Columns.Fields[r.column]
	if r.using == nil {
		source := t.Columns.Fields[r.column].ID
		return func(_ context.Context, b *tailrace.Batch) (tailrace.Column, error) {
			col := tailrace.MakeColumn(f.Type.Kind, b.N)
			for i := range b.N {
				if err := s.appendConverted(&col, f.Type, b.Col(source), r.from, i); err != nil {
					return col, err
				}
			}
			return col, nil
		}, nil
	}
	list := []*pg_query.Node{{Node: &pg_query.Node_ResTarget{ResTarget: &pg_query.ResTarget{Val: r.using, Location: nodeLocation(r.using)}}}}
	plan, err := s.resolveReturning(ctx, st, t, &pg_query.RangeVar{Relname: t.Name, Inh: true, Relpersistence: "p", Location: -1}, list)
	if err != nil {
		return nil, inTransform(err)
	}
	typ := plan.columns[0].Type
	if !assigns(typ, f.Type) {
		return nil, &tailrace.Error{
			Code: "42804", Message: fmt.Sprintf("result of USING clause for column \"%s\" cannot be cast automatically to type %s", f.Name, expr.Bare(f.Type)),
			Hint: "You might need to add an explicit cast.",
		}
	}
	return func(ctx context.Context, b *tailrace.Batch) (tailrace.Column, error) {
		col := tailrace.MakeColumn(f.Type.Kind, b.N)
		plain := *b
		plain.Diffs = nil
		o, err := s.returned(ctx, &statement{Statement: st.Statement, params: st.params, types: st.types}, plan)
		if err != nil {
			return col, err
		}
		defer o.drop(ctx)
		if err := o.take(ctx, &plain); err != nil {
			return col, err
		}
		return col, drain(ctx, o.result("").Rows, func(got *tailrace.Batch) error {
			for i := range got.N {
				if err := s.appendConverted(&col, f.Type, &got.Cols[0], typ, i); err != nil {
					return err
				}
			}
			return nil
		})
	}, nil
}

// inTransform names the clause that is planned as a RETURNING.
func inTransform(err error) error {
	var e *tailrace.Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Code == "42803":
		return at(failure("42803", "aggregate functions are not allowed in transform expressions"), e.Position)
	case e.Code == "0A000" && e.Message == "a subquery in RETURNING is not supported":
		return failure("0A000", "cannot use subquery in transform expression")
	}
	return err
}

// fitRows checks rows of an altered table: NOT NULL, its checks, and that no two have one key, of which seen knows those before; nil when the keys stay what they were.
func (s *Session) fitRows(ctx context.Context, out *catalog.Table, b *tailrace.Batch, seen *shard.KeySet) error {
	for c, f := range out.Columns.Fields {
		if f.NotNull && b.Cols[c].HasNulls() {
			for i := range b.N {
				if b.Cols[c].IsNull(i) {
					return containsNulls(out, &f)
				}
			}
		}
	}
	if err := s.checkRows(ctx, out, b); err != nil {
		return err
	}
	if seen == nil || len(out.Columns.Key) == 0 {
		return nil
	}
	for i, h := range hashesOfRows(out.Columns, b) {
		was, err := seen.Add(h)
		if err != nil {
			return err
		}
		if was || b.Diff(i) > 1 {
			return s.notUnique(out, b, i)
		}
	}
	return nil
}

// containsNulls is the error for a column that forbids NULL while rows have it.
func containsNulls(t *catalog.Table, f *tailrace.Field) error {
	return &tailrace.Error{
		Code: "23502", Message: fmt.Sprintf("column \"%s\" of relation \"%s\" contains null values", f.Name, t.Name), Table: t.Name, Column: f.Name,
	}
}

// notUnique is the error for row i of b, whose key another row has too, when a key is made.
func (s *Session) notUnique(t *catalog.Table, b *tailrace.Batch, i int) error {
	var e *tailrace.Error
	errors.As(duplicateKey(t, b, i, s.format), &e)
	made := *e
	made.Message = fmt.Sprintf("could not create unique index \"%s_pkey\"", t.Name)
	made.Detail = made.Detail[:len(made.Detail)-len("already exists.")] + "is duplicated."
	return &made
}
