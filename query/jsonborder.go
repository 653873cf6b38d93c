package query

import (
	"encoding/binary"

	"tailrace"
	"tailrace/format"
)

// The ranks of jsonb types: null before strings, numbers, booleans, arrays and objects.
const (
	rankNull = iota + 1
	rankString
	rankNumber
	rankBool
	rankArray
	rankObject
)

// appendJSONKey makes bytes that order as PostgreSQL orders jsonb values: by type, containers by how many members they have and then by these,
// an object's by name and value. Equal values have equal bytes: 1.0 and 1.00. At the top a scalar counts as an array of one, and comes before
// arrays that have one, as in PostgreSQL.
func appendJSONKey(dst, text []byte) []byte {
	n, err := parseNode(text)
	switch {
	case err != nil:
		return append(dst, text...) // damaged bytes order somewhere; who prints them shows it
	case n.kind == '{':
		return n.key(dst)
	case n.kind == '[':
		return n.arrayKey(dst, 1)
	}
	return n.key(binary.BigEndian.AppendUint32(append(dst, rankArray), 1<<1))
}

// arrayKey is the key of an array: its length, and a bit that tells it from a scalar at the top.
func (n node) arrayKey(dst []byte, bit uint32) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, rankArray), uint32(len(n.items))<<1|bit)
	for _, item := range n.items {
		dst = item.key(dst)
	}
	return dst
}

func (n node) key(dst []byte) []byte {
	switch n.kind {
	case '{':
		dst = binary.BigEndian.AppendUint32(append(dst, rankObject), uint32(len(n.items)))
		for i, item := range n.items {
			dst = appendTextKey(append(dst, rankString), n.names[i])
			dst = item.key(dst)
		}
		return dst
	case '[':
		return n.arrayKey(dst, 1)
	case '"':
		return appendTextKey(append(dst, rankString), unquote(n.text))
	case 't':
		return append(dst, rankBool, 1)
	case 'f':
		return append(dst, rankBool, 0)
	case 'n':
		return append(dst, rankNull)
	}
	c := tailrace.MakeColumn(kNumeric, 1)
	if format.ParseText(&c, tailrace.TypeOf(kNumeric), string(n.text), format.Default()) != nil {
		return append(append(dst, rankNumber), n.text...)
	}
	return tailrace.AppendKey(append(dst, rankNumber), tailrace.TypeOf(kNumeric), &c, 0)
}

func appendTextKey(dst []byte, s string) []byte {
	c := tailrace.MakeColumn(kText, 1)
	c.AppendString(s)
	return tailrace.AppendKey(dst, textType, &c, 0)
}

// jsonbKey is tr_key_jsonb.
func jsonbKey(_ *frame, dst []byte, a [][]byte) ([]byte, error) { return appendJSONKey(dst, a[0]), nil }
