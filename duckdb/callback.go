package duckdb

/*
#include <stdlib.h>
#include <stdint.h>

void tr_free(void *);
void tr_bind(void *);
void tr_init(void *);
void tr_fill(void *, void *);
void tr_scalar(void *, void *, void *);
uint64_t tr_state_size(void *);
void tr_state_init(void *, void *);
void tr_state_update(void *, void *, void **);
void tr_state_combine(void *, void **, void **, uint64_t);
void tr_state_finalize(void *, void **, void *, uint64_t, uint64_t);
void tr_state_destroy(void **, uint64_t);

extern void duckdb_aggregate_function_set_functions(void *, void *, void *, void *, void *, void *);
extern void duckdb_aggregate_function_set_destructor(void *, void *);

static void tr_aggregate_callbacks(void *f) {
	duckdb_aggregate_function_set_functions(f, (void *)tr_state_size, (void *)tr_state_init, (void *)tr_state_update,
		(void *)tr_state_combine, (void *)tr_state_finalize);
	duckdb_aggregate_function_set_destructor(f, (void *)tr_state_destroy);
}
typedef void (*tr_callback1)(void *);
typedef void (*tr_callback2)(void *, void *);
typedef void (*tr_callback3)(void *, void *, void *);
*/
import "C"

import (
	"fmt"
	"io"
	"runtime/cgo"
	"unsafe"

	capi "github.com/duckdb/duckdb-go-bindings"
)

// handle makes v reachable from C. The memory it returns is freed, and v let go, by tr_free.
func handle(v any) unsafe.Pointer {
	p := C.malloc(C.size_t(unsafe.Sizeof(uintptr(0))))
	*(*uintptr)(p) = uintptr(cgo.NewHandle(v))
	return p
}

func setAggregateCallbacks(f unsafe.Pointer) { C.tr_aggregate_callbacks(f) }

func valueOf(p unsafe.Pointer) any { return cgo.Handle(*(*uintptr)(p)).Value() }

var (
	freeCallback   = unsafe.Pointer(C.tr_callback1(C.tr_free))
	bindCallback   = unsafe.Pointer(C.tr_callback1(C.tr_bind))
	initCallback   = unsafe.Pointer(C.tr_callback1(C.tr_init))
	fillCallback   = unsafe.Pointer(C.tr_callback2(C.tr_fill))
	scalarCallback = unsafe.Pointer(C.tr_callback3(C.tr_scalar))
)

// report turns a panic in a callback into an error of the query.
func report(set func(message string)) {
	if r := recover(); r != nil {
		set(fmt.Sprint("panic: ", r))
	}
}

//export tr_free
func tr_free(p unsafe.Pointer) {
	defer report(func(string) {}) // nobody is left to tell
	h := cgo.Handle(*(*uintptr)(p))
	v := h.Value()
	h.Delete()
	C.free(p)
	if c, ok := v.(io.Closer); ok {
		_ = c.Close()
	}
}

//export tr_bind
func tr_bind(p unsafe.Pointer) {
	info := capi.BindInfo{Ptr: p}
	defer report(func(m string) { capi.BindSetError(info, m) })
	e := valueOf(capi.BindGetExtraInfo(info)).(*Engine)
	v := capi.BindGetParameter(info, 0)
	id := capi.GetInt64(v)
	capi.DestroyValue(&v)
	s, ok := e.sources.Load(id)
	if !ok {
		capi.BindSetError(info, fmt.Sprintf("there is no source %d", id))
		return
	}
	for i, t := range s.(Source).Columns() {
		lt := logicalType(t)
		capi.BindAddResultColumn(info, fmt.Sprintf("c%d", i), lt)
		capi.DestroyLogicalType(&lt)
	}
	capi.BindSetBindData(info, handle(s), freeCallback)
}

// opened is one scan under way.
type opened struct {
	scan    Scan
	columns int // projected; DuckDB asks for at least one vector
	vectors []*Vector
}

func (o *opened) Close() error { return o.scan.Close() }

//export tr_init
func tr_init(p unsafe.Pointer) {
	info := capi.InitInfo{Ptr: p}
	defer report(func(m string) { capi.InitSetError(info, m) })
	s := valueOf(capi.InitGetBindData(info)).(Source)
	n := int(capi.InitGetColumnCount(info))
	projection := make([]int, n)
	for i := range projection {
		projection[i] = -1
		if c := capi.InitGetColumnIndex(info, capi.IdxT(i)); c < capi.IdxT(len(s.Columns())) {
			projection[i] = int(c)
		}
	}
	scan, err := s.Open(projection)
	if err != nil {
		capi.InitSetError(info, err.Error())
		return
	}
	capi.InitSetMaxThreads(info, 1) // a scan is one ordered stream
	capi.InitSetInitData(info, handle(&opened{scan: scan, columns: n}), freeCallback)
}

//export tr_fill
func tr_fill(p, out unsafe.Pointer) {
	info := capi.FunctionInfo{Ptr: p}
	chunk := capi.DataChunk{Ptr: out}
	defer report(func(m string) { capi.FunctionSetError(info, m) })
	o := valueOf(capi.FunctionGetInitData(info)).(*opened)
	o.vectors = o.vectors[:0]
	for i := range o.columns {
		o.vectors = append(o.vectors, vectorOf(capi.DataChunkGetVector(chunk, capi.IdxT(i))))
	}
	n, err := o.scan.Fill(o.vectors)
	if err != nil {
		capi.FunctionSetError(info, err.Error())
		return
	}
	capi.DataChunkSetSize(chunk, capi.IdxT(n))
}

//export tr_scalar
func tr_scalar(p, in, out unsafe.Pointer) {
	info := capi.FunctionInfo{Ptr: p}
	chunk := capi.DataChunk{Ptr: in}
	defer report(func(m string) { capi.ScalarFunctionSetError(info, m) })
	f := valueOf(capi.ScalarFunctionGetExtraInfo(info)).(*Scalar)
	n := int(capi.DataChunkGetSize(chunk))
	if err := f.Eval(arguments(chunk), vectorOf(capi.Vector{Ptr: out}), n); err != nil {
		capi.ScalarFunctionSetError(info, err.Error())
	}
}

func arguments(chunk capi.DataChunk) []*Vector {
	args := make([]*Vector, capi.DataChunkGetColumnCount(chunk))
	for i := range args {
		args[i] = vectorOf(capi.DataChunkGetVector(chunk, capi.IdxT(i)))
	}
	return args
}
