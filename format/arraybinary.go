package format

import (
	"encoding/binary"
	"errors"

	"tailrace"
)

// The binary form of an array:
//
//	dimensions i32 | flags i32 (1: there are NULLs) | OID of the elements' type u32 | for each dimension: length i32, lower bound i32
//	for each element: length i32, or -1 for NULL | the element's binary form

// arrayBinaryAppender is the function that sends arrays of elements of type t.
func arrayBinaryAppender(t tailrace.Type) binaryAppender {
	element, oid := binaryAppenderOf(t), t.OID()
	return func(dst, raw []byte) []byte {
		dims, elements, err := tailrace.ReadArray(t.Kind, raw)
		if err != nil {
			return binary.BigEndian.AppendUint32(dst, 1<<32-1) // -1 dimensions: no reader takes that for an array
		}
		start := len(dst)
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(dims)))
		dst = binary.BigEndian.AppendUint32(dst, 0)
		dst = binary.BigEndian.AppendUint32(dst, oid)
		for _, d := range dims {
			dst = binary.BigEndian.AppendUint32(dst, uint32(d.Length))
			dst = binary.BigEndian.AppendUint32(dst, uint32(d.Lower))
		}
		for elements.Left > 0 {
			at := len(dst)
			value, null := elements.Next()
			if dst = append(dst, 0xff, 0xff, 0xff, 0xff); null {
				dst[start+7] = 1
				continue
			}
			dst = element(dst, value)
			binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
		}
		return dst
	}
}

// parseArrayBinary reads as PostgreSQL's array_recv does.
func parseArrayBinary(c *tailrace.Column, t tailrace.Type, raw []byte, s *Settings) error {
	r := arrayReceiver{raw: raw}
	dims, err := r.header(t.Element())
	if err != nil {
		return err
	}
	n, err := arrayElements(dims)
	switch {
	case err != nil:
		return err
	case r.short:
		return errShortBinary()
	case n == 0:
		dims = nil
	}
	out := tailrace.AppendArray(nil, dims)
	scratch := tailrace.MakeColumn(t.Elem, 1)
	for i := range n {
		length := int(int32(r.next()))
		switch {
		case r.short:
			return errShortBinary()
		case length < -1 || length > len(r.raw):
			return badBinary("insufficient data left in message")
		case length == -1:
			out = tailrace.AppendNullElement(out)
			continue
		}
		scratch.Reset()
		if err := ParseBinary(&scratch, t.Element(), r.raw[:length], s); err != nil {
			if e := (*tailrace.Error)(nil); errors.As(err, &e) && e.Message == incorrectBinary {
				return errorf(codeBadBinary, "improper binary format in array element %d", i+1)
			}
			return err
		}
		r.raw = r.raw[length:]
		out = tailrace.AppendElement(out, scratch.Bytes(0))
	}
	if len(r.raw) > 0 {
		return badBinaryLength()
	}
	c.Append(out)
	return nil
}

// arrayReceiver takes numbers off the front of raw; short tells that there was none.
type arrayReceiver struct {
	raw   []byte
	short bool
}

func (r *arrayReceiver) next() uint32 {
	if len(r.raw) < 4 {
		r.short, r.raw = true, nil
		return 0
	}
	v := binary.BigEndian.Uint32(r.raw)
	r.raw = r.raw[4:]
	return v
}

// firstAssignedOID is where the OIDs begin that differ between servers, so that one that is not the expected one says nothing.
const firstAssignedOID = 10000

// header reads all that precedes the elements, which are of type t.
func (r *arrayReceiver) header(t tailrace.Type) ([]tailrace.Dim, error) {
	n := int32(r.next())
	switch {
	case r.short:
		return nil, errShortBinary()
	case n < 0:
		return nil, errorf(codeBadBinary, "invalid number of dimensions: %d", n)
	case n > tailrace.MaxDims:
		return nil, tooManyDims(int(n))
	}
	flags, oid := r.next(), r.next()
	switch {
	case flags > 1:
		return nil, badBinary("invalid array flags")
	case r.short:
		return nil, errShortBinary()
	case oid != t.OID() && oid < firstAssignedOID && t.OID() < firstAssignedOID:
		return nil, errorf("42804", "binary data has array element type %d (%s) instead of expected %d (%s)", oid, typeNamed(oid), t.OID(), plainName(t))
	}
	dims := make([]tailrace.Dim, n)
	for i := range dims {
		dims[i] = tailrace.Dim{Length: int(int32(r.next())), Lower: int32(r.next())}
	}
	if r.short {
		return nil, errShortBinary()
	}
	return dims, nil
}

// typeNamed is the name of the type of OID oid as errors print it.
func typeNamed(oid uint32) string {
	switch t, ok := tailrace.BuiltinOf(oid); {
	case ok:
		return plainName(t)
	case oid == 0:
		return "-"
	}
	return "???"
}

// plainName is the name of t without a modifier.
func plainName(t tailrace.Type) string {
	t.Mod = -1
	if t.Kind == tailrace.KindChar {
		return "character"
	}
	if t.Kind == tailrace.KindArray && t.Elem == tailrace.KindChar {
		return "character[]"
	}
	return t.String()
}
