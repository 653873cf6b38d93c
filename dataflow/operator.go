package dataflow

import (
	"tailrace"
	"tailrace/expr"
)

// Operator makes updates of updates. It is immutable and keeps nothing between two calls.
type Operator interface {
	// Rows describes what comes out. Its Key, when it has one, is that of a table of which every row stays one row.
	Rows() *tailrace.Schema
	// Apply gives what comes of updates at one time. The result may share memory with them.
	Apply(in *Input) (*tailrace.Batch, error)
}

// Input is the updates of all tables at one time.
type Input struct {
	Of    func(*Scan) *tailrace.Batch // nil for none
	First bool                        // the time is that of the snapshot: constants come to be
	Row   expr.Row                    // for expressions: parameters and settings
}

// Scan is a table.
type Scan struct {
	Table  tailrace.CollectionID
	Schema *tailrace.Schema
	Name   string // for messages
}

// Rows implements Operator.
func (o *Scan) Rows() *tailrace.Schema { return o.Schema }

// Apply implements Operator.
func (o *Scan) Apply(in *Input) (*tailrace.Batch, error) {
	if b := in.Of(o); b != nil {
		return b, nil
	}
	return tailrace.NewBatch(o.Schema, 0), nil
}

// Constant is rows that are there from the beginning and stay.
type Constant struct {
	Schema *tailrace.Schema
	Batch  *tailrace.Batch
}

// Rows implements Operator.
func (o *Constant) Rows() *tailrace.Schema { return o.Schema }

// Apply implements Operator.
func (o *Constant) Apply(in *Input) (*tailrace.Batch, error) {
	if in.First {
		return o.Batch, nil
	}
	return tailrace.NewBatch(o.Schema, 0), nil
}

// Filter passes on the updates of rows that Where is true for.
type Filter struct {
	In    Operator
	Where *expr.Expr
}

// Rows implements Operator.
func (o *Filter) Rows() *tailrace.Schema { return o.In.Rows() }

// Apply implements Operator.
func (o *Filter) Apply(in *Input) (*tailrace.Batch, error) {
	b, err := o.In.Apply(in)
	if err != nil || b.N == 0 {
		return b, err
	}
	row := in.Row
	row.Batch = b
	kept := make([]int32, 0, b.N)
	for row.I = 0; row.I < b.N; row.I++ {
		v, err := o.Where.Eval(&row)
		if err != nil {
			return nil, err
		}
		if !v.Null && v.Raw[0] != 0 {
			kept = append(kept, int32(row.I))
		}
	}
	return b.Gather(kept), nil
}

// Project makes each row another one.
type Project struct {
	In     Operator
	List   []*expr.Expr
	Schema *tailrace.Schema // a field for each of List
}

// Rows implements Operator.
func (o *Project) Rows() *tailrace.Schema { return o.Schema }

// Apply implements Operator.
func (o *Project) Apply(in *Input) (*tailrace.Batch, error) {
	b, err := o.In.Apply(in)
	if err != nil {
		return nil, err
	}
	out := tailrace.NewBatch(o.Schema, b.N)
	row := in.Row
	row.Batch = b
	for i, e := range o.List {
		for row.I = 0; row.I < b.N; row.I++ {
			if err := e.Append(&out.Cols[i], &row); err != nil {
				return nil, err
			}
		}
	}
	out.N, out.Diffs = b.N, b.Diffs
	return out, nil
}

// Union is all updates of several inputs, whose rows have the same types.
type Union struct {
	In     []Operator
	Schema *tailrace.Schema
}

// Rows implements Operator.
func (o *Union) Rows() *tailrace.Schema { return o.Schema }

// Apply implements Operator.
func (o *Union) Apply(in *Input) (*tailrace.Batch, error) {
	out := tailrace.NewBatch(o.Schema, 0)
	for _, x := range o.In {
		b, err := x.Apply(in)
		if err != nil {
			return nil, err
		}
		for c := range out.Cols {
			out.Cols[c].AppendRange(&b.Cols[c], 0, b.N)
		}
		for i := range b.N {
			out.AppendDiff(b.Diff(i))
		}
	}
	return out, nil
}

// Scans lists the tables below o, each place where one is read.
func Scans(o Operator) []*Scan {
	switch o := o.(type) {
	case *Scan:
		return []*Scan{o}
	case *Filter:
		return Scans(o.In)
	case *Project:
		return Scans(o.In)
	case *Union:
		var out []*Scan
		for _, x := range o.In {
			out = append(out, Scans(x)...)
		}
		return out
	}
	return nil
}

// Words names the operators below o, and o, outside in.
func Words(o Operator) []string {
	switch o := o.(type) {
	case *Scan:
		return []string{"scan " + o.Name}
	case *Constant:
		return []string{"constants"}
	case *Filter:
		return append([]string{"filter"}, Words(o.In)...)
	case *Project:
		return append([]string{"project"}, Words(o.In)...)
	case *Union:
		out := []string{"union"}
		for _, x := range o.In {
			out = append(out, Words(x)...)
		}
		return out
	}
	return nil
}
