package query

import (
	"bytes"
	"encoding/binary"
	"slices"

	"tailrace"
)

// elementKeys makes keys that compare as values of kind k do.
type elementKeys struct {
	f      *frame
	k      kind
	elem   kind     // of an array's elements
	labels [][]byte // of an enum
}

func (e elementKeys) of(dst, raw []byte) []byte {
	switch e.k {
	case kEnum:
		if len(e.labels) == 0 { // only whether they are equal is asked
			return append(append(dst, raw...), 0)
		}
		return binary.BigEndian.AppendUint32(dst, uint32(slices.IndexFunc(e.labels, func(l []byte) bool { return bytes.Equal(l, raw) })))
	case kJSONB:
		return appendJSONKey(dst, raw)
	}
	return tailrace.AppendKey(dst, tailrace.Type{Kind: e.k, Mod: -1, Elem: e.elem}, e.f.column(e.k, raw), 0)
}

// equal reports whether two elements are equal; NULL is equal to NULL here.
func (e elementKeys) equal(a, b []byte) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return bytes.Equal(a, b) || bytes.Equal(e.of(nil, a), e.of(nil, b))
}

// enumsKey is the key of an array of enums: labels a[0] are counted, and the array of their numbers ordered.
func enumsKey(f *frame, dst []byte, a [][]byte) ([]byte, error) {
	labels, err := readArray(a[0])
	if err != nil {
		return nil, err
	}
	of, err := readArray(a[1])
	if err != nil {
		return nil, err
	}
	for i, r := range of.rows {
		if r == nil {
			continue
		}
		n := slices.IndexFunc(labels.rows, func(l []byte) bool { return bytes.Equal(l, r) })
		of.rows[i] = put32(nil, int32(n))
	}
	t := tailrace.ArrayOf(tailrace.TypeOf(kInt4))
	return tailrace.AppendKey(dst, t, f.column(kArray, of.put(nil)), 0), nil
}

// jsonsKey is the key of an array of jsonb: that of the array of its elements' keys.
func jsonsKey(f *frame, dst, raw []byte) ([]byte, error) {
	of, err := readArray(raw)
	if err != nil {
		return nil, err
	}
	for i, r := range of.rows {
		if r != nil {
			of.rows[i] = appendJSONKey(nil, r)
		}
	}
	t := tailrace.ArrayOf(tailrace.TypeOf(kBytea))
	return tailrace.AppendKey(dst, t, f.column(kArray, of.put(nil)), 0), nil
}
