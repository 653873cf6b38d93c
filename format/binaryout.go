package format

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"tailrace"
)

// binaryAppenders has a function for every kind but arrays.
var binaryAppenders = [...]binaryAppender{
	tailrace.KindBool: appendReversed1, tailrace.KindInt2: appendReversed2, tailrace.KindInt4: appendReversed4, tailrace.KindInt8: appendReversed8,
	tailrace.KindFloat4: appendReversed4, tailrace.KindFloat8: appendReversed8, tailrace.KindNumeric: appendNumericBinary,
	tailrace.KindText: appendSame, tailrace.KindVarchar: appendSame, tailrace.KindChar: appendSame, tailrace.KindBytea: appendSame,
	tailrace.KindDate: appendReversed4, tailrace.KindTime: appendReversed8, tailrace.KindTimestamp: appendReversed8,
	tailrace.KindTimestamptz: appendReversed8, tailrace.KindInterval: appendIntervalBinary, tailrace.KindUUID: appendSame,
	tailrace.KindJSON: appendSame, tailrace.KindJSONB: appendJSONBBinary, tailrace.KindForeign: appendSame, tailrace.KindEnum: appendSame,
	tailrace.KindOID: appendReversed4, tailrace.KindName: appendSame, tailrace.KindLetter: appendLetterBinary, tailrace.KindRegclass: appendReversed4,
	tailrace.KindRegtype: appendReversed4, tailrace.KindRegproc: appendReversed4, tailrace.KindRegnspace: appendReversed4, tailrace.KindRegrole: appendReversed4,
}

func binaryAppenderOf(t tailrace.Type) binaryAppender {
	if !t.Valid() {
		panic(fmt.Sprintf("send a value of kind %d (elements of %d), which does not exist", t.Kind, t.Elem))
	}
	if t.Kind == tailrace.KindArray {
		return arrayBinaryAppender(t.Element())
	}
	return binaryAppenders[t.Kind]
}

// AppendBinary adds row i of c, which is not NULL, as PostgreSQL's send function for t writes it.
func AppendBinary(dst []byte, t tailrace.Type, c *tailrace.Column, i int) []byte {
	return binaryAppenderOf(t)(dst, c.Bytes(i))
}

func appendSame(dst, raw []byte) []byte { return append(dst, raw...) }

func appendReversed1(dst, raw []byte) []byte { return append(dst, raw[0]) }

func appendReversed2(dst, raw []byte) []byte { return binary.BigEndian.AppendUint16(dst, le16(raw)) }

func appendReversed4(dst, raw []byte) []byte { return binary.BigEndian.AppendUint32(dst, le32(raw)) }

func appendReversed8(dst, raw []byte) []byte { return binary.BigEndian.AppendUint64(dst, le64(raw)) }

func appendIntervalBinary(dst, raw []byte) []byte {
	v := intervalOf(raw)
	dst = binary.BigEndian.AppendUint64(dst, uint64(v.micros))
	dst = binary.BigEndian.AppendUint32(dst, uint32(v.days))
	return binary.BigEndian.AppendUint32(dst, uint32(v.months))
}

// jsonbVersion is the first byte of a binary jsonb, before its text.
const jsonbVersion = 1

func appendJSONBBinary(dst, raw []byte) []byte { return append(append(dst, jsonbVersion), raw...) }

// The signs of a binary numeric.
const (
	numericPositive = 0x0000
	numericNegative = 0x4000
	numericNaN      = 0xc000
	numericInf      = 0xd000
	numericNegInf   = 0xf000
	numericInfScale = 0x20 // the display scale that PostgreSQL sends with infinities; it means nothing

	numericBase       = 10_000
	numericBaseDigits = 4 // decimal digits in one of base 10,000
)

// appendNumericBinary writes number of digits, weight of the first, sign, display scale, and digits of base 10,000, all 16 bits. Hot for values
// that fit 64 bits.
func appendNumericBinary(dst, raw []byte) []byte {
	form, v, scale, ok := tailrace.DecimalParts(raw)
	header := func(n, weight, sign, scale int) {
		for _, x := range [...]int{n, weight, sign, scale} {
			dst = binary.BigEndian.AppendUint16(dst, uint16(x))
		}
	}
	switch {
	case form == tailrace.DecimalNaN:
		header(0, 0, numericNaN, 0)
		return dst
	case form == tailrace.DecimalInf:
		header(0, 0, numericInf, numericInfScale)
		return dst
	case form == tailrace.DecimalNegInf:
		header(0, 0, numericNegInf, numericInfScale)
		return dst
	case ok && v == 0:
		header(0, 0, numericPositive, scale)
		return dst
	}
	var buf [20]byte
	var digits []byte
	neg := v < 0
	if ok {
		digits = strconv.AppendUint(buf[:0], magnitude(v), 10)
	} else {
		d := decimalOf(raw)
		digits, neg = d.digits, d.neg
	}
	sign := numericPositive
	if neg {
		sign = numericNegative
	}
	whole := len(digits) - scale // decimal digits before the point; negative below 0.1
	weight := int(floorDiv(int64(whole-1), numericBaseDigits))
	first := whole - numericBaseDigits*(weight+1) // where the first group begins, 0 to -3
	for last := len(digits) - 1; digits[last] == '0'; last-- {
		digits = digits[:last]
	}
	n := (len(digits) - first + numericBaseDigits - 1) / numericBaseDigits
	header(n, weight, sign, scale)
	for at := first; at < len(digits); at += numericBaseDigits {
		group := 0
		for j := at; j < at+numericBaseDigits; j++ {
			group *= 10
			if j >= 0 && j < len(digits) {
				group += int(digits[j] - '0')
			}
		}
		dst = binary.BigEndian.AppendUint16(dst, uint16(group))
	}
	return dst
}
