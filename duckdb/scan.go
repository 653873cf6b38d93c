package duckdb

import (
	"strconv"

	capi "github.com/duckdb/duckdb-go-bindings"
)

// Source is something that queries can read, by name of tr_scan(id). A query may open it more than once, also at the same time.
type Source interface {
	// Columns are the types of the columns, which SQL calls c0, c1 and so on.
	Columns() []Type
	// Open begins a scan of the columns that projection lists; -1 stands for a column whose values nobody reads (count(*)).
	Open(projection []int) (Scan, error)
}

// Scan is one reading of a Source. It is used by one thread at a time, and closed also when the query fails.
type Scan interface {
	// Fill writes up to MaxRows rows, one vector for each projected column, and returns how many; 0 is the end.
	Fill(out []*Vector) (int, error)
	Close() error
}

// ScanFunction is the SQL name of the table function that reads a Source.
const ScanFunction = "tr_scan"

// Serve makes s readable as tr_scan(id) until free is called. Queries under way keep it.
func (e *Engine) Serve(s Source) (id string, free func()) {
	n := e.next.Add(1)
	e.sources.Store(n, s)
	return strconv.FormatInt(n, 10), func() { e.sources.Delete(n) }
}

func (e *Engine) registerScan() error {
	f := capi.CreateTableFunction()
	defer capi.DestroyTableFunction(&f)
	capi.TableFunctionSetName(f, ScanFunction)
	lt := capi.CreateLogicalType(capi.TypeBigInt)
	capi.TableFunctionAddParameter(f, lt)
	capi.DestroyLogicalType(&lt)
	capi.TableFunctionSetExtraInfo(f, handle(e), freeCallback)
	capi.TableFunctionSupportsProjectionPushdown(f, true)
	capi.TableFunctionSetBind(f, bindCallback)
	capi.TableFunctionSetInit(f, initCallback)
	capi.TableFunctionSetFunction(f, fillCallback)
	return e.register("table function", func(c capi.Connection) capi.State { return capi.RegisterTableFunction(c, f) })
}
