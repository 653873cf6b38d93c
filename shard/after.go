package shard

import (
	"slices"

	"tailrace"
)

// cutKey cuts a row key after the columns of the primary key. Bytes that are no key are returned as they are: they compare like any.
func cutKey(l *layout, key []byte) []byte {
	rest := key
	for _, c := range l.order[:l.head] {
		n := keyLength(l.schema.Fields[c].Type, rest)
		if n < 0 {
			return key
		}
		rest = rest[n:]
	}
	return slices.Clip(key[:len(key)-len(rest)])
}

// keyLength is the length of the tailrace.AppendKey of a value of type t that key begins with, -1 when it begins with none.
func keyLength(t tailrace.Type, key []byte) int {
	if len(key) == 0 {
		return -1
	}
	if key[0] != 1 { // NULL
		return 1
	}
	if t.Kind == tailrace.KindArray {
		return arrayKeyLength(t.Elem, key)
	}
	return valueKeyLength(t.Kind, key)
}

// arrayKeyLength is keyLength of an array: its elements, each as a column's value is, then 0, the number of dimensions and 8 bytes for each.
func arrayKeyLength(element tailrace.Kind, key []byte) int {
	n := 1
	for n < len(key) && key[n] != 0 {
		l := keyLength(tailrace.TypeOf(element), key[n:])
		if l < 0 {
			return -1
		}
		n += l
	}
	if n+1 >= len(key) || int(key[n+1]) > tailrace.MaxDims || n+2+8*int(key[n+1]) > len(key) {
		return -1
	}
	return n + 2 + 8*int(key[n+1])
}

// valueKeyLength is keyLength of a value that is not NULL and no array.
func valueKeyLength(k tailrace.Kind, key []byte) int {
	n := 1
	switch k {
	case tailrace.KindBool:
		n++
	case tailrace.KindInt2:
		n += 2
	case tailrace.KindInt4, tailrace.KindDate, tailrace.KindOID, tailrace.KindRegclass, tailrace.KindRegtype, tailrace.KindRegproc,
		tailrace.KindRegnspace, tailrace.KindRegrole:
		n += 4
	case tailrace.KindInt8, tailrace.KindTime, tailrace.KindTimestamp, tailrace.KindTimestamptz, tailrace.KindFloat4, tailrace.KindFloat8:
		n += 8
	case tailrace.KindInterval:
		n += 12
	case tailrace.KindUUID:
		n += 16
	case tailrace.KindNumeric:
		return decimalKeyLength(key)
	default:
		for ; n+1 < len(key); n++ {
			if key[n] != 0 {
				continue
			}
			if key[n+1] == 0 {
				return n + 2
			}
			n++
		}
		return -1
	}
	if n > len(key) {
		return -1
	}
	return n
}

// decimalKeyLength is keyLength of a numeric: a sign, and for finite values but 0 a place of 4 bytes and digits up to their end.
func decimalKeyLength(key []byte) int {
	if len(key) < 2 {
		return -1
	}
	end := byte(0)
	switch key[1] {
	case 1:
		end = 0xff
	case 3:
	default:
		return 2
	}
	for n := 6; n < len(key); n++ {
		if key[n] == end {
			return n + 1
		}
	}
	return -1
}
