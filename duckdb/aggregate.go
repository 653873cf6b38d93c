package duckdb

/*
#include <stdlib.h>
#include <stdint.h>

// DuckDB's C API for aggregates, which the Go bindings leave out. Opaque pointers are void * here.
extern void *duckdb_create_aggregate_function(void);
extern void duckdb_destroy_aggregate_function(void **);
extern void duckdb_aggregate_function_set_name(void *, const char *);
extern void duckdb_aggregate_function_add_parameter(void *, void *);
extern void duckdb_aggregate_function_set_return_type(void *, void *);
extern int duckdb_register_aggregate_function(void *, void *);
extern void duckdb_aggregate_function_set_special_handling(void *);
extern void duckdb_aggregate_function_set_extra_info(void *, void *, void *);
extern void *duckdb_aggregate_function_get_extra_info(void *);
extern void duckdb_aggregate_function_set_error(void *, const char *);
*/
import "C"

import (
	"runtime/cgo"
	"unsafe"

	capi "github.com/duckdb/duckdb-go-bindings"
)

// State is an aggregate's state for one group. States are used by one thread at a time.
type State interface {
	// Add takes in row i of the arguments.
	Add(args []*Vector, i int) error
	// Merge takes in all that other has seen; other is not used again, except to be merged once more (windows do that) or read.
	Merge(other State) error
	// Result writes the answer as row i of out.
	Result(out *Vector, i int) error
}

// Aggregate is an aggregate function written in Go. It sees NULLs.
type Aggregate struct {
	Name    string
	Params  []Type
	Returns Type
	New     func() State
}

// RegisterAggregate makes a known to all queries.
func (e *Engine) RegisterAggregate(a *Aggregate) error {
	f := C.duckdb_create_aggregate_function()
	defer C.duckdb_destroy_aggregate_function(&f)
	name := C.CString(a.Name)
	defer C.free(unsafe.Pointer(name))
	C.duckdb_aggregate_function_set_name(f, name)
	for _, t := range a.Params {
		lt := capi.CreateLogicalType(t)
		C.duckdb_aggregate_function_add_parameter(f, lt.Ptr)
		capi.DestroyLogicalType(&lt)
	}
	lt := capi.CreateLogicalType(a.Returns)
	C.duckdb_aggregate_function_set_return_type(f, lt.Ptr)
	capi.DestroyLogicalType(&lt)
	C.duckdb_aggregate_function_set_special_handling(f)
	C.duckdb_aggregate_function_set_extra_info(f, handle(a), freeCallback)
	setAggregateCallbacks(f)
	return e.register("aggregate "+a.Name, func(c capi.Connection) capi.State {
		return capi.State(C.duckdb_register_aggregate_function(c.Ptr, f))
	})
}

func aggregateError(info unsafe.Pointer, message string) {
	m := C.CString(message)
	C.duckdb_aggregate_function_set_error(info, m)
	C.free(unsafe.Pointer(m))
}

// A state in DuckDB's memory is a cgo handle of a State, 0 before the first row: most groups of a window are made and thrown away empty.

//export tr_state_size
func tr_state_size(unsafe.Pointer) C.uint64_t { return C.uint64_t(unsafe.Sizeof(uintptr(0))) }

//export tr_state_init
func tr_state_init(_, state unsafe.Pointer) { *(*uintptr)(state) = 0 }

func stateOf(info, state unsafe.Pointer) State {
	h := (*uintptr)(state)
	if *h == 0 {
		a := valueOf(C.duckdb_aggregate_function_get_extra_info(info)).(*Aggregate)
		*h = uintptr(cgo.NewHandle(a.New()))
	}
	return cgo.Handle(*h).Value().(State)
}

//export tr_state_update
func tr_state_update(info, in unsafe.Pointer, states *unsafe.Pointer) {
	defer report(func(m string) { aggregateError(info, m) })
	chunk := capi.DataChunk{Ptr: in}
	n := int(capi.DataChunkGetSize(chunk))
	args := arguments(chunk)
	var last State
	var at unsafe.Pointer
	for i, s := range unsafe.Slice(states, n) {
		if last == nil || s != at {
			last, at = stateOf(info, s), s
		}
		if err := last.Add(args, i); err != nil {
			aggregateError(info, err.Error())
			return
		}
	}
}

//export tr_state_combine
func tr_state_combine(info unsafe.Pointer, from, to *unsafe.Pointer, n C.uint64_t) {
	defer report(func(m string) { aggregateError(info, m) })
	sources := unsafe.Slice(from, int(n))
	for i, t := range unsafe.Slice(to, int(n)) {
		if *(*uintptr)(sources[i]) == 0 {
			continue
		}
		if err := stateOf(info, t).Merge(stateOf(info, sources[i])); err != nil {
			aggregateError(info, err.Error())
			return
		}
	}
}

//export tr_state_finalize
func tr_state_finalize(info unsafe.Pointer, states *unsafe.Pointer, out unsafe.Pointer, n, offset C.uint64_t) {
	defer report(func(m string) { aggregateError(info, m) })
	v := vectorOf(capi.Vector{Ptr: out})
	for i, s := range unsafe.Slice(states, int(n)) {
		if err := stateOf(info, s).Result(v, int(offset)+i); err != nil {
			aggregateError(info, err.Error())
			return
		}
	}
}

//export tr_state_destroy
func tr_state_destroy(states *unsafe.Pointer, n C.uint64_t) {
	defer report(func(string) {}) // nobody is left to tell
	for _, s := range unsafe.Slice(states, int(n)) {
		if h := (*uintptr)(s); *h != 0 {
			cgo.Handle(*h).Delete()
			*h = 0
		}
	}
}
