package format

import (
	"encoding/binary"

	"tailrace"
)

// binaryLoop is the loop for binary values of type t, nil when there is none.
func binaryLoop(t tailrace.Type) columnLoop {
	switch t.Kind {
	case tailrace.KindInt4, tailrace.KindFloat4, tailrace.KindOID:
		return binary4Loop
	case tailrace.KindInt8, tailrace.KindFloat8:
		return binary8Loop
	case tailrace.KindTimestamp, tailrace.KindTimestamptz:
		if t.Mod < 0 {
			return binaryTimestampLoop
		}
	case tailrace.KindText, tailrace.KindVarchar:
		return binaryTextLoop
	case tailrace.KindBytea:
		return bytesLoop
	}
	return nil
}

// field is where the field of row r begins, behind its length n, and moves the row past it. Rows are whole: the splitter walked over them.
func (b *block) field(k, r int) (from, n int) {
	from = int(b.at[r]) + 4
	if k == 0 {
		from += 2 // the number of fields
	}
	n = int(int32(beUint32(b.data[from-4:])))
	b.at[r] = int32(from + max(n, 0))
	return from, n
}

func plainBinaryLoop(b *block, k int) {
	for r := 0; r < b.n; r++ {
		from, n := b.field(k, r)
		if n < 0 {
			b.setNull(k, b.base+r)
		} else if !b.leaveBinary(k, r, b.data[from:from+n]) {
			return
		}
	}
}

// leaveBinary reads a field the plain way. It is false when the row is bad; then the block ends before it.
func (b *block) leaveBinary(k, r int, raw []byte) bool {
	v := &b.value
	*v = tailrace.Column{Width: b.types[k].Kind.Width(), Offsets: append(v.Offsets[:0], 0), Data: v.Data[:0]}
	if err := ParseBinary(v, b.types[k], raw, b.s); err != nil {
		b.n = r
		return false
	}
	b.set(k, b.base+r, v.Bytes(0))
	return true
}

func binary4Loop(b *block, k int) {
	if b.n == 0 {
		return
	}
	out := values[int32](b, k)
	for r := range out {
		switch from, n := b.field(k, r); n {
		case 4:
			out[r] = int32(beUint32(b.data[from:]))
		case -1:
			b.setNull(k, b.base+r)
		default:
			b.n = r
			return
		}
	}
}

// binaryTimestampLoop is binary8Loop for moments, which have a range.
func binaryTimestampLoop(b *block, k int) {
	binary8Loop(b, k)
	for r, micros := range values[int64](b, k) {
		if (micros < minTimestamp || micros >= endTimestamp) && micros != negInfinity64 && micros != infinity64 {
			b.n = r
			return
		}
	}
}

func binary8Loop(b *block, k int) {
	if b.n == 0 {
		return
	}
	out := values[int64](b, k)
	for r := range out {
		switch from, n := b.field(k, r); n {
		case 8:
			out[r] = int64(binary.BigEndian.Uint64(b.data[from:]))
		case -1:
			b.setNull(k, b.base+r)
		default:
			b.n = r
			return
		}
	}
}

// binaryTextLoop reads texts that fit whatever they are.
func binaryTextLoop(b *block, k int) {
	limit := b.types[k].Length()
	for r := 0; r < b.n; r++ {
		from, n := b.field(k, r)
		if n < 0 {
			b.setNull(k, b.base+r)
			continue
		}
		raw := b.data[from : from+n]
		switch {
		case limit < 0 || n <= limit:
			if checkText(viewString(raw)) != nil {
				b.n = r
				return
			}
			b.set(k, b.base+r, raw)
		case !b.leaveBinary(k, r, raw):
			return
		}
	}
}

func bytesLoop(b *block, k int) {
	for r := 0; r < b.n; r++ {
		from, n := b.field(k, r)
		if n < 0 {
			b.setNull(k, b.base+r)
			continue
		}
		b.set(k, b.base+r, b.data[from:from+n])
	}
}
