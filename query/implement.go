package query

import (
	"encoding/binary"
	"errors"
	"math"

	"tailrace"
	"tailrace/duckdb"
	"tailrace/format"
)

// kHuge is DuckDB's HUGEINT, 16 bytes, which sums of integers come as. It is in no user's reach.
const kHuge = tailrace.Kind(254)

// implementation computes one row of a function: a holds the stored bytes of the arguments, nil for NULL; the result's are appended to
// dst. errNull as the error makes it NULL.
type implementation func(f *frame, dst []byte, a [][]byte) ([]byte, error)

var errNull = errors.New("the result is NULL")

// frame is what an implementation may use besides its arguments: one belongs to one call from DuckDB, for up to 2,048 rows.
type frame struct {
	run *run // the run that the call belongs to, if the function asks about its session
	// scratch holds values that the package format wants in a column.
	scratch tailrace.Column
	cache   struct { // the last pattern and what it was compiled to: patterns are mostly constants
		pattern string
		value   any
	}
}

func (f *frame) settings() *format.Settings { return f.run.settings }

// column is a column that holds the one value raw.
func (f *frame) column(k kind, raw []byte) *tailrace.Column {
	if f.scratch.Width != k.Width() || f.scratch.Data == nil {
		f.scratch = tailrace.MakeColumn(k, 1)
	}
	f.scratch.Reset()
	f.scratch.Append(raw)
	return &f.scratch
}

// empty is a column of kind k without rows.
func (f *frame) empty(k kind) *tailrace.Column {
	if f.scratch.Width != k.Width() || f.scratch.Data == nil {
		f.scratch = tailrace.MakeColumn(k, 1)
	}
	f.scratch.Reset()
	return &f.scratch
}

// width is the number of bytes that a value of kind k takes in DuckDB's memory, 0 when it is a string there.
func width(k kind) int {
	switch {
	case k == kHuge:
		return 16
	case k == kInterval || k == kUUID || k >= kArrays:
		return 0
	}
	return k.Width()
}

func engineType(k kind) duckdb.Type {
	if k == kHuge {
		return duckdb.HugeInt
	}
	if k == kList {
		return duckdb.ListOf(duckdb.Blob)
	}
	if isArray(k) {
		return duckdb.Blob
	}
	return engineTypes[k].typ
}

// register makes an implementation a DuckDB function.
func (e *Engine) scalar(name string, args []kind, ret kind, it entry) error {
	s := &duckdb.Scalar{Name: name, Returns: engineType(ret), Volatile: it.volatile}
	if it.env {
		s.Params = append(s.Params, duckdb.BigInt)
	}
	for _, k := range args {
		s.Params = append(s.Params, engineType(k))
	}
	s.Eval = func(in []*duckdb.Vector, out *duckdb.Vector, n int) error {
		f := &frame{}
		if it.env {
			if n == 0 {
				return nil
			}
			r, ok := e.runs.Load(duckdb.Values[int64](in[0], n)[0])
			if !ok {
				return carry(raise(codeInternal, "the statement has ended"))
			}
			f.run = r.(*run)
			in = in[1:]
		}
		return evaluate(f, it, args, ret, in, out, n)
	}
	return e.db.RegisterScalar(s)
}

// evaluate runs an implementation over n rows.
func evaluate(f *frame, it entry, args []kind, ret kind, in []*duckdb.Vector, out *duckdb.Vector, n int) error {
	w := width(ret)
	a := make([][]byte, len(args))
	fixed := make([][]byte, len(args))
	lists, elements := make([][]byte, len(args)), make([]*duckdb.Vector, len(args))
	for k, kd := range args {
		if aw := width(kd); aw > 0 {
			fixed[k] = in[k].Fixed(aw, n)
		}
		if kd == kList {
			elements[k] = in[k].Elements()
		}
	}
	var slots, data []byte
	var offsets []int32
	if w > 0 {
		slots = out.Fixed(w, n)
	} else {
		offsets = append(make([]int32, 0, n+1), 0)
	}
	for i := range n {
		missing := false
		for k, kd := range args {
			switch aw := width(kd); {
			case in[k].IsNull(i):
				a[k], missing = nil, true
			case aw > 0:
				a[k] = fixed[k][i*aw : (i+1)*aw]
			case kd == kList:
				lists[k] = packList(lists[k][:0], in[k], elements[k], i)
				a[k] = lists[k]
			default:
				a[k] = in[k].Bytes(i)
			}
		}
		var err error
		switch {
		case missing && !it.nulls:
			err = errNull
		case w > 0:
			_, err = it.impl(f, slots[i*w:i*w:(i+1)*w], a)
		default:
			var more []byte
			if more, err = it.impl(f, data, a); err == nil {
				data = more
			}
		}
		if err == errNull { //nolint:errorlint // a mark, never wrapped, on the hot path
			out.SetNull(i)
		} else if err != nil {
			return carry(err)
		}
		if w == 0 {
			if len(data) > math.MaxInt32 {
				return carry(raise("54000", "the values of one column are longer than 2 GiB"))
			}
			offsets = append(offsets, int32(len(data)))
		}
	}
	if ret == kList {
		return unpackLists(out, data, offsets)
	}
	if w == 0 {
		out.SetTexts(data, offsets)
	}
	return nil
}

// Stored bytes to Go values and back.

func i16(b []byte) int16   { return int16(binary.LittleEndian.Uint16(b)) }
func i32(b []byte) int32   { return int32(binary.LittleEndian.Uint32(b)) }
func i64(b []byte) int64   { return int64(binary.LittleEndian.Uint64(b)) }
func f32(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
func f64(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

func put16(dst []byte, v int16) []byte { return binary.LittleEndian.AppendUint16(dst, uint16(v)) }
func put32(dst []byte, v int32) []byte { return binary.LittleEndian.AppendUint32(dst, uint32(v)) }
func put64(dst []byte, v int64) []byte { return binary.LittleEndian.AppendUint64(dst, uint64(v)) }
func putF32(dst []byte, v float32) []byte {
	return binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
}

func putF64(dst []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
}

func putBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}
