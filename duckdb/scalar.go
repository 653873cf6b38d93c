package duckdb

import (
	"fmt"

	capi "github.com/duckdb/duckdb-go-bindings"
)

// Scalar is a scalar function written in Go.
type Scalar struct {
	Name    string
	Params  []Type
	Returns Type
	// Volatile: calls with equal arguments may differ, so that a call with constants is not computed while planning.
	Volatile bool
	// Eval computes rows [0, n) of out. It sees NULLs, and writes them with out.SetNull. It may run on several threads at once.
	Eval func(args []*Vector, out *Vector, n int) error
}

// RegisterScalar makes s known to all queries.
func (e *Engine) RegisterScalar(s *Scalar) error {
	f := capi.CreateScalarFunction()
	defer capi.DestroyScalarFunction(&f)
	capi.ScalarFunctionSetName(f, s.Name)
	for _, t := range s.Params {
		lt := logicalType(t)
		capi.ScalarFunctionAddParameter(f, lt)
		capi.DestroyLogicalType(&lt)
	}
	lt := logicalType(s.Returns)
	capi.ScalarFunctionSetReturnType(f, lt)
	capi.DestroyLogicalType(&lt)
	capi.ScalarFunctionSetSpecialHandling(f)
	if s.Volatile {
		capi.ScalarFunctionSetVolatile(f)
	}
	capi.ScalarFunctionSetExtraInfo(f, handle(s), freeCallback)
	capi.ScalarFunctionSetFunction(f, scalarCallback)
	return e.register("function "+s.Name, func(c capi.Connection) capi.State {
		return capi.RegisterScalarFunction(c, f)
	})
}

// register runs a registration on a connection of its own; what it registers is known to the whole database.
func (e *Engine) register(what string, f func(capi.Connection) capi.State) error {
	c, err := e.connect()
	if err != nil {
		return err
	}
	defer capi.Disconnect(&c)
	if f(c) == capi.StateError {
		return fmt.Errorf("registering %s: DuckDB refused it", what)
	}
	return nil
}
