package tailrace

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
)

// AppendKey adds row i of c as bytes that order (bytes.Compare) as PostgreSQL orders values of type t, NULL last, and are equal exactly
// when the values are equal in SQL: 1.0 and 1.00 are, so are -0 and 0, '1 mon' and '30 days'. No value's key is a prefix of another's,
// so keys of several columns can be joined. text orders by bytes (collation "C"); json, jsonb, enums and foreign types too. Users see an
// enum in the order of its labels, which a type does not hold: expr, query and tail, who are told the labels, do that.
func AppendKey(dst []byte, t Type, c *Column, i int) []byte {
	if c.IsNull(i) {
		return append(dst, keyNull)
	}
	dst = append(dst, keyValue)
	if t.Kind == KindArray {
		return appendArrayKey(dst, t.Elem, c.Bytes(i))
	}
	return appendValueKey(dst, t.Kind, c.Bytes(i))
}

// appendValueKey is the key of one value that is not NULL and no array.
func appendValueKey(dst []byte, k Kind, raw []byte) []byte {
	switch k {
	case KindBool:
		return append(dst, raw[0])
	case KindInt2:
		return append(dst, raw[1]^0x80, raw[0])
	case KindInt4, KindDate:
		return binary.BigEndian.AppendUint32(dst, binary.LittleEndian.Uint32(raw)^1<<31)
	case KindInt8, KindTime, KindTimestamp, KindTimestamptz:
		return binary.BigEndian.AppendUint64(dst, binary.LittleEndian.Uint64(raw)^1<<63)
	case KindFloat4:
		return binary.BigEndian.AppendUint64(dst, floatKey(float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))))
	case KindFloat8:
		return binary.BigEndian.AppendUint64(dst, floatKey(math.Float64frombits(binary.LittleEndian.Uint64(raw))))
	case KindNumeric:
		return appendDecimalKey(dst, raw)
	case KindInterval:
		return appendIntervalKey(dst, raw)
	case KindOID, KindRegclass, KindRegtype, KindRegproc, KindRegnspace, KindRegrole:
		return binary.BigEndian.AppendUint32(dst, binary.LittleEndian.Uint32(raw))
	case KindUUID:
		return append(dst, raw...)
	case KindChar:
		return appendBytesKey(dst, bytes.TrimRight(raw, " "))
	}
	return appendBytesKey(dst, raw)
}

// The first byte of a key: NULL orders after every value.
const (
	keyValue = 1
	keyNull  = 2
)

// appendBytesKey writes 0 as 0 255 and ends with 0 0, so that a shorter value orders before a longer one that begins with it.
func appendBytesKey(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, 0)
		if i < 0 {
			break
		}
		dst = append(append(dst, raw[:i]...), 0, 255)
		raw = raw[i+1:]
	}
	return append(append(dst, raw...), 0, 0)
}

// appendIntervalKey orders by length with months of 30 days and days of 24 hours, as PostgreSQL does. The length needs up to 88 bits.
func appendIntervalKey(dst, raw []byte) []byte {
	months := int64(int32(binary.LittleEndian.Uint32(raw)))
	days := int64(int32(binary.LittleEndian.Uint32(raw[4:]))) + 30*months
	total := big.NewInt(days)
	total.Mul(total, big.NewInt(86_400_000_000)).Add(total, big.NewInt(int64(binary.LittleEndian.Uint64(raw[8:]))))
	total.Add(total, new(big.Int).Lsh(big.NewInt(1), 95)) // bias, so that it is positive
	var out [12]byte
	return append(dst, total.FillBytes(out[:])...)
}

// AppendRowKey adds the keys of the columns that order lists (indexes into b.Cols, as Schema.SortOrder gives them) of update i.
// b has the columns of s.
func AppendRowKey(dst []byte, s *Schema, order []int, b *Batch, i int) []byte {
	for _, c := range order {
		dst = AppendKey(dst, s.Fields[c].Type, &b.Cols[c], i)
	}
	return dst
}

// CompareStored orders two rows that are equal as SQL values by their stored bytes, column by column of order: the tie of the sort
// order. 0 means that the rows are the same row.
func CompareStored(order []int, a *Batch, i int, b *Batch, j int) int {
	for _, c := range order {
		x, y := &a.Cols[c], &b.Cols[c]
		if x.IsNull(i) != y.IsNull(j) {
			if x.IsNull(i) {
				return 1
			}
			return -1
		}
		if x.IsNull(i) {
			continue
		}
		if r := bytes.Compare(x.Bytes(i), y.Bytes(j)); r != 0 {
			return r
		}
	}
	return 0
}
