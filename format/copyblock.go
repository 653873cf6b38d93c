package format

import "tailrace"

// last tells that column k is the row's last: its fields end where the row does.
func (b *block) last(k int) bool { return k == len(b.types)-1 }

// end is the byte that a field of column k ends before, when it is one that cannot hold that byte.
func (b *block) end(k int) byte {
	if b.last(k) {
		return b.lineEnd
	}
	return b.opts.Copy.Delimiter
}

// set puts a value into row (of the morsel) of column k.
func (b *block) set(k, row int, raw []byte) {
	c := &b.out.Cols[k]
	if c.Width > 0 {
		copy(c.Data[row*c.Width:(row+1)*c.Width], raw)
		return
	}
	b.reserve(k, len(raw))
	b.used[k] += copy(c.Data[b.used[k]:], raw)
	c.Offsets[row+1] = int32(b.used[k])
}

// setNull makes row of column k NULL.
func (b *block) setNull(k, row int) {
	c := &b.out.Cols[k]
	if c.Valid == nil {
		c.Valid = make([]byte, (c.N+7)/8)
		for i := range c.Valid {
			c.Valid[i] = 0xff
		}
	}
	c.Valid[row>>3] &^= 1 << (row & 7)
	if c.Width > 0 {
		clear(c.Data[row*c.Width : (row+1)*c.Width])
	} else {
		c.Offsets[row+1] = int32(b.used[k])
	}
}

// reserve makes room for a value of n bytes in variable-width column k, and for slack behind it.
func (b *block) reserve(k, n int) {
	c := &b.out.Cols[k]
	used := b.used[k]
	need := used + n + slack
	if need <= len(c.Data) {
		return
	}
	size := max(need, len(c.Data)+len(c.Data)/4)
	if b.base == 0 {
		size = max(size, 2*len(c.Data))
	} else { // what the whole morsel takes if it goes on like this, and a little more
		size = max(size, used*c.N/b.base*17/16+n+slack)
	}
	grown := append(make([]byte, 0, size), c.Data[:used]...)
	c.Data = grown[:cap(grown)]
}

// leave reads the field of row r in column k the plain way. It is false when the row is bad; then the block ends before it.
func (b *block) leave(k, r int) bool {
	from, end := int(b.at[r]), int(b.ends[r])
	if from > end { // the row has fewer fields
		b.n = r
		return false
	}
	if e, ok := b.nullAt(k, from, end); ok {
		b.setNull(k, b.base+r)
		b.at[r] = int32(e + 1)
		return true
	}
	b.reader.scratch = b.reader.scratch[:0]
	f, rest, last, err := b.reader.next(b.data[from:end])
	if err != nil || last != b.last(k) {
		b.n = r
		return false
	}
	if f = b.forced(f, k); f.null {
		b.setNull(k, b.base+r)
	} else {
		v := &b.value
		*v = tailrace.Column{Width: b.types[k].Kind.Width(), Offsets: append(v.Offsets[:0], 0), Data: v.Data[:0]}
		if err := parseValue(v, b.types[k], f.text, b.s); err != nil {
			b.n = r
			return false
		}
		b.set(k, b.base+r, v.Bytes(0))
	}
	b.at[r] = int32(end + 1)
	if !last {
		b.at[r] = int32(end - len(rest))
	}
	return true
}

// nullAt reports whether the field of column k at byte from, in a row that ends at end, is the null string as it is, and where it ends.
func (b *block) nullAt(k, from, end int) (e int, ok bool) {
	null := b.opts.Copy.Null
	if e = from + len(null); e > end || string(b.data[from:e]) != null || k < len(b.opts.ForceNotNull) && b.opts.ForceNotNull[k] {
		return 0, false
	}
	if b.last(k) {
		return e, e == end
	}
	return e, e < end && b.data[e] == b.opts.Copy.Delimiter
}

// plainLoop leaves every field.
func plainLoop(b *block, k int) {
	for r := 0; r < b.n; r++ {
		if !b.leave(k, r) {
			return
		}
	}
}

// textLoop is the loop for texts of type t, nil when there is none.
func textLoop(t tailrace.Type) columnLoop {
	switch t.Kind {
	case tailrace.KindInt2:
		return int2Loop
	case tailrace.KindInt4:
		return int4Loop
	case tailrace.KindInt8:
		return int8Loop
	case tailrace.KindNumeric:
		if t.Mod >= 4 && t.Scale() < 0 {
			return nil
		}
		return numericLoop
	case tailrace.KindFloat8:
		return float8Loop
	case tailrace.KindBool:
		return boolLoop
	case tailrace.KindDate:
		return dateLoop
	case tailrace.KindTimestamp, tailrace.KindTimestamptz:
		return timestampLoop
	case tailrace.KindText, tailrace.KindVarchar, tailrace.KindChar:
		return stringLoop
	}
	return nil
}
