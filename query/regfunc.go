package query

import (
	"encoding/binary"
	"errors"
	"strconv"

	"tailrace"
)

// Objects is what the functions of the system catalog know of its objects, by their OIDs. It is called by several goroutines. It has as many methods as
// there are kinds of questions; one value, a system.World, answers them all, and this package cannot import it.
type Objects interface {
	// Visible tells whether a name without a schema leads to a relation, type or function: kind is KindRegclass, KindRegtype or KindRegproc.
	Visible(kind tailrace.Kind, oid uint32) (visible, exists bool)
	// FormatType is a type as SQL writes it; mod is its modifier, -1 for none.
	FormatType(oid uint32, mod int32) string
	// Definition is the SQL of an object in the catalog relation of: pg_index (column 0: all of it), pg_constraint, or pg_rewrite for views. pretty
	// leaves out parentheses that need not be.
	Definition(of string, oid uint32, column int, pretty bool) (text string, ok bool)
	// Comment is what COMMENT says, "" for nothing.
	Comment(oid uint32, of string, column int) string
	RoleName(oid uint32) (name string, ok bool)
	// RelationBytes is what a relation takes in the store.
	RelationBytes(oid uint32) (bytes int64, ok bool)
	DatabaseBytes() int64
	// Schemas are those of the search path that exist; implicit adds those that are searched without being named.
	Schemas(implicit bool) []string
}

// objects is Objects of the run, errNull when there are none.
func (f *frame) objects() (Objects, error) {
	if o := f.run.env.Objects; o != nil {
		return o, nil
	}
	return nil, errNull
}

// about is a function of an object, or nothing when there is no such object.
func about(answer func(o Objects, a [][]byte) (text string, ok bool)) implementation {
	return func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		o, err := f.objects()
		if err != nil {
			return nil, err
		}
		text, ok := answer(o, a)
		if !ok {
			return nil, errNull
		}
		return append(dst, text...), nil
	}
}

// commented is a function that answers with a comment, NULL for none.
func commented(answer func(o Objects, a [][]byte) string) implementation {
	return about(func(o Objects, a [][]byte) (string, bool) {
		text := answer(o, a)
		return text, text != ""
	})
}

func oidOf(raw []byte) uint32 { return binary.LittleEndian.Uint32(raw) }

// visible is pg_table_is_visible and its like.
func visible(kind tailrace.Kind) implementation {
	return func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		o, err := f.objects()
		if err != nil {
			return nil, err
		}
		is, exists := o.Visible(kind, oidOf(a[0]))
		if !exists {
			return nil, errNull
		}
		return putBool(dst, is), nil
	}
}

// definition is pg_get_indexdef and its like, of an object in the catalog relation of.
func definition(of string) implementation {
	return about(func(o Objects, a [][]byte) (string, bool) {
		column := 0
		if len(a) == 3 {
			column = int(i32(a[1]))
		}
		last := a[len(a)-1]
		return o.Definition(of, oidOf(a[0]), column, len(last) == 1 && last[0] != 0)
	})
}

// viewNamed is pg_get_viewdef of a name.
func viewNamed(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	o, err := f.objects()
	if err != nil || f.settings().Names == nil {
		return nil, errNull
	}
	oid, err := f.settings().Names.OID(kRegclass, string(a[0]))
	if err != nil {
		return nil, err
	}
	text, ok := o.Definition("pg_rewrite", oid, 0, false)
	if !ok {
		return nil, errNull
	}
	return append(dst, text...), nil
}

// lookedUp is to_regclass and its like: the OID of a name, NULL when there is no such object.
func lookedUp(kind tailrace.Kind) implementation {
	return func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		if f.settings().Names == nil {
			return nil, errNull
		}
		if _, err := strconv.ParseUint(string(a[0]), 10, 32); err == nil {
			return nil, errNull // to_regclass takes names only
		}
		oid, err := f.settings().Names.OID(kind, string(a[0]))
		var e *tailrace.Error
		if errors.As(err, &e) && e.Code != codeSyntax && e.Code != codeUnsupported {
			return nil, errNull
		}
		return binary.LittleEndian.AppendUint32(dst, oid), err
	}
}

// sized is what a relation takes in the store.
func sized(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	o, err := f.objects()
	if err != nil {
		return nil, err
	}
	bytes, ok := o.RelationBytes(oidOf(a[0]))
	if !ok {
		return nil, errNull
	}
	return put64(dst, bytes), nil
}

func databaseSized(f *frame, dst []byte, _ [][]byte) ([]byte, error) {
	o, err := f.objects()
	if err != nil {
		return nil, err
	}
	return put64(dst, o.DatabaseBytes()), nil
}

// pretty is pg_size_pretty: the largest unit of which there are at least ten, rounded half away from zero.
func pretty(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	size := i64(a[0])
	units := []struct {
		name  string
		limit int64 // in this unit: beyond it the next one is taken
		round bool  // the value counts halves of this unit
		bits  uint  // of the step to this unit from the one before
	}{{"bytes", 10 * 1024, false, 0}, {"kB", 20*1024 - 1, true, 10}, {"MB", 20*1024 - 1, true, 20}, {"GB", 20*1024 - 1, true, 30}, {"TB", 20*1024 - 1, true, 40}, {"PB", 20*1024 - 1, true, 50}}
	for i, u := range units {
		if last := i == len(units)-1; last || size > -u.limit && size < u.limit {
			if u.round {
				size = halfRounded(size)
			}
			return append(strconv.AppendInt(dst, size, 10), " "+u.name...), nil
		}
		next := units[i+1]
		shift := next.bits - u.bits
		if next.round {
			shift--
		}
		if u.round {
			shift++
		}
		size /= 1 << shift
	}
	return dst, nil
}

// halfRounded halves a count of halves, rounding away from zero.
func halfRounded(n int64) int64 {
	if n < 0 {
		return (n - 1) / 2
	}
	return (n + 1) / 2
}

// schemas is current_schemas.
func schemas(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	o, err := f.objects()
	if err != nil {
		return nil, err
	}
	list := o.Schemas(a[0][0] != 0)
	if len(list) == 0 {
		return tailrace.AppendArray(dst, nil), nil
	}
	dst = tailrace.AppendArray(dst, []tailrace.Dim{{Length: len(list), Lower: 1}})
	for _, s := range list {
		dst = tailrace.AppendElement(dst, []byte(s))
	}
	return dst, nil
}

// schema is current_schema: the first of the search path that exists.
func schema(f *frame, dst []byte, _ [][]byte) ([]byte, error) {
	o, err := f.objects()
	if err != nil {
		return append(dst, "public"...), nil // what there is without a catalog
	}
	list := o.Schemas(false)
	if len(list) == 0 {
		return nil, errNull
	}
	return append(dst, list[0]...), nil
}

// cancel is pg_cancel_backend and pg_terminate_backend.
func cancel(terminate bool) implementation {
	return func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		if f.run.env.Cancel == nil {
			return putBool(dst, false), nil
		}
		ok, err := f.run.env.Cancel(i32(a[0]), terminate)
		return putBool(dst, ok), err
	}
}
