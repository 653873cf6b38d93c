package tailrace

import (
	"encoding/binary"
	"fmt"
)

// MaxDims is the number of dimensions an array may have, as in PostgreSQL.
const MaxDims = 6

// Dim is one dimension of an array: its length, and the subscript of its first element (1 unless the value says otherwise).
type Dim struct {
	Length int
	Lower  int32
}

// AppendArray adds the start of a stored array value: its dimensions, none for the empty array. Then AppendElement follows once for each
// element, the last subscript running fastest. Equal arrays have equal bytes: an array of which a dimension has no length is the empty one.
//
//	array:   dimensions uvarint (0..6) | for each: length uvarint, lower varint | elements
//	element: 0 for NULL, else its length + 1 as uvarint, then its stored bytes
func AppendArray(dst []byte, dims []Dim) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(dims)))
	for _, d := range dims {
		dst = binary.AppendUvarint(dst, uint64(d.Length))
		dst = binary.AppendVarint(dst, int64(d.Lower))
	}
	return dst
}

// AppendElement adds one element by its stored bytes.
func AppendElement(dst, value []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(value))+1), value...)
}

// AppendNullElement adds one element that is NULL.
func AppendNullElement(dst []byte) []byte { return append(dst, 0) }

// Elements reads the elements of a stored array in order.
type Elements struct {
	Left int // elements not read yet
	rest []byte
}

// ReadArray takes a stored array of elements of kind element apart. dims is empty for the empty array. The error is ErrCorrupt; it covers
// the elements too, so that reading them cannot fail.
func ReadArray(element Kind, raw []byte) (dims []Dim, elements Elements, err error) {
	d := ByteReader{Src: raw}
	n := d.Count(MaxDims)
	total := 1
	for range n {
		length, lower := d.Count(uint64(len(raw))), d.Varint()
		dim := Dim{Length: length, Lower: int32(lower)}
		if total *= length; length == 0 || total > len(raw) || int64(dim.Lower) != lower {
			d.Fail("dimension")
			break
		}
		dims = append(dims, dim)
	}
	if n == 0 {
		total = 0
	}
	elements = Elements{Left: total, rest: d.Src}
	width := element.Width()
	for range total {
		l := d.Count(uint64(len(raw)) + 1)
		if l > 0 {
			d.Take(l - 1)
		}
		if l > 0 && width > 0 && l-1 != width {
			d.Fail("element of %d bytes", l-1)
		}
		if d.Err != nil {
			break
		}
	}
	if d.Err == nil && len(d.Src) > 0 {
		d.Fail("rest")
	}
	if d.Err != nil {
		return nil, Elements{}, fmt.Errorf("read array: %w", d.Err)
	}
	return dims, elements, nil
}

// Next is the next element, a view; null tells that it is NULL. It is called Left times.
func (e *Elements) Next() (value []byte, null bool) {
	l, n := binary.Uvarint(e.rest)
	e.rest = e.rest[n:]
	e.Left--
	if l == 0 {
		return nil, true
	}
	value, e.rest = e.rest[:l-1:l-1], e.rest[l-1:]
	return value, false
}

// appendArrayKey orders arrays as PostgreSQL does: by their elements, NULL last, then by how many there are, then by shape.
func appendArrayKey(dst []byte, element Kind, raw []byte) []byte {
	dims, elements, err := ReadArray(element, raw)
	if err != nil {
		return appendBytesKey(dst, raw) // damaged bytes order somewhere; who prints them reports it
	}
	for elements.Left > 0 {
		value, null := elements.Next()
		if null {
			dst = append(dst, keyNull)
			continue
		}
		dst = appendValueKey(append(dst, keyValue), element, value)
	}
	dst = append(dst, 0, byte(len(dims)))
	for _, d := range dims {
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.Length))
	}
	for _, d := range dims {
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.Lower)^1<<31)
	}
	return dst
}
