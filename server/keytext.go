package server

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"

	"tailrace"
	"tailrace/format"
)

// keyText is the value of type t whose key (tailrace.AppendKey) is key, as PostgreSQL prints it; what was cut off ends with three dots. It is "" where a key does not tell: of
// intervals, arrays and NULL.
func keyText(t tailrace.Type, key []byte) string {
	if len(key) == 0 || key[0] != 1 {
		return ""
	}
	key = key[1:]
	if t.Kind == tailrace.KindNumeric {
		return numericText(key)
	}
	c := tailrace.MakeColumn(t.Kind, 1)
	if width := t.Kind.Width(); width > 0 {
		raw := fixedOfKey(t.Kind, key)
		if len(raw) != width {
			return ""
		}
		c.Append(raw)
		return string(format.AppendText(nil, t, &c, 0, format.Default()))
	}
	if t.Kind == tailrace.KindArray {
		return ""
	}
	value, whole := bytesOfKey(key)
	if t.Kind == tailrace.KindBytea {
		c.Append(value)
		value = format.AppendText(nil, t, &c, 0, format.Default())
	}
	text := strings.ToValidUTF8(string(value), "")
	if !whole {
		text += "..."
	}
	return text
}

// fixedOfKey is the stored form of a value of fixed width, nil when the key is cut or does not tell it.
func fixedOfKey(k tailrace.Kind, key []byte) []byte {
	switch k {
	case tailrace.KindBool, tailrace.KindUUID:
		return key
	case tailrace.KindInt2:
		if len(key) == 2 {
			return []byte{key[1], key[0] ^ 0x80}
		}
	case tailrace.KindInt4, tailrace.KindDate:
		if len(key) == 4 {
			return binary.LittleEndian.AppendUint32(nil, binary.BigEndian.Uint32(key)^1<<31)
		}
	case tailrace.KindOID, tailrace.KindRegclass, tailrace.KindRegtype, tailrace.KindRegproc, tailrace.KindRegnspace, tailrace.KindRegrole:
		if len(key) == 4 {
			return binary.LittleEndian.AppendUint32(nil, binary.BigEndian.Uint32(key))
		}
	case tailrace.KindInt8, tailrace.KindTime, tailrace.KindTimestamp, tailrace.KindTimestamptz:
		if len(key) == 8 {
			return binary.LittleEndian.AppendUint64(nil, binary.BigEndian.Uint64(key)^1<<63)
		}
	case tailrace.KindFloat4, tailrace.KindFloat8:
		if len(key) == 8 {
			f := floatOfKey(binary.BigEndian.Uint64(key))
			if k == tailrace.KindFloat4 {
				return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(f)))
			}
			return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))
		}
	}
	return nil
}

// floatOfKey is the number whose order among all is u.
func floatOfKey(u uint64) float64 {
	switch {
	case u == math.MaxUint64:
		return math.NaN()
	case u>>63 != 0:
		return math.Float64frombits(u &^ (1 << 63))
	}
	return math.Float64frombits(^u)
}

// bytesOfKey is a value of variable length; whole tells that the key was not cut.
func bytesOfKey(key []byte) (value []byte, whole bool) {
	for {
		i := bytes.IndexByte(key, 0)
		switch {
		case i < 0:
			return append(value, key...), false
		case i+1 < len(key) && key[i+1] == 0:
			return append(value, key[:i]...), true
		case i+1 < len(key) && key[i+1] == 255:
			value, key = append(append(value, key[:i]...), 0), key[i+2:]
		default:
			return append(value, key[:i]...), false
		}
	}
}

// numericText is the numeric of a key without trailing zeros: its sign, the place of its first digit, and its digits, two a byte; see the root's decimal.go.
func numericText(key []byte) string {
	if len(key) == 0 {
		return ""
	}
	sign, flip := "", byte(0)
	switch key[0] {
	case 0:
		return "-Infinity"
	case 2:
		return "0"
	case 4:
		return "Infinity"
	case 5:
		return "NaN"
	case 1:
		sign, flip = "-", 0xff
	}
	if len(key) < 5 {
		return ""
	}
	place := int64(binary.BigEndian.Uint32([]byte{key[1] ^ flip, key[2] ^ flip, key[3] ^ flip, key[4] ^ flip})) - 1<<31
	var digits []byte
	whole := false
	for _, b := range key[5:] {
		b ^= flip
		if whole = b == 0; whole {
			break
		}
		if b > 100 {
			return ""
		}
		digits = append(digits, '0'+(b-1)/10, '0'+(b-1)%10)
	}
	digits = bytes.TrimRight(digits, "0")
	if !whole || len(digits) == 0 || place > maxShownPlace || place < -maxShownPlace {
		return ""
	}
	switch n := int64(len(digits)); {
	case place <= 0:
		return sign + "0." + strings.Repeat("0", int(-place)) + string(digits)
	case place >= n:
		return sign + string(digits) + strings.Repeat("0", int(place-n))
	}
	return sign + string(digits[:place]) + "." + string(digits[place:])
}

// maxShownPlace is how far from the point a numeric may begin to be shown in digits.
const maxShownPlace = 60
