package stripe

import (
	"bytes"

	"tailrace"
)

// hashBytes is the length of the content hash at the end of the footer.
const hashBytes = 16

// parseFooter reads a footer of a part whose stripes end before end. The result holds views of src.
func parseFooter(src []byte, end int64) (*Footer, []section, error) {
	r := &cursor{src: src}
	f := &Footer{Rows: int64(r.count(1<<62 - 1)), SumDiff: r.varint(), MinTime: tailrace.Time(r.uvarint()), MaxTime: tailrace.Time(r.uvarint())}
	o := &f.Settings
	o.StripeRows, o.StripeBytes, o.PageRows = r.count(StripeRows), r.count(StripeBytes), r.count(PageRows)
	o.Codec = Codec(r.byte())
	if o.PageRows == 0 {
		r.fail("page groups of 0 rows")
	}
	f.Schema = r.schema()
	for range r.items() {
		f.SortKey = append(f.SortKey, tailrace.ColumnID(r.count(1<<32-1)))
	}
	rows, at := int64(0), int64(frameBytes)
	for range r.items() {
		s := r.stripe(f, at, end)
		if r.err != nil {
			return nil, nil, r.err
		}
		f.Stripes = append(f.Stripes, s)
		rows += int64(s.Rows)
		at = s.Offset + s.Bytes
	}
	if rows != f.Rows {
		r.fail("stripes of %d rows where %d belong", rows, f.Rows)
	}
	var sections []section
	for range r.items() {
		s := section{kind: r.byte(), chunk: r.count(1 << 32), offset: int64(r.count(1<<62 - 1)), length: int64(r.count(1<<62 - 1)), sum: r.u32()}
		sections = append(sections, s)
		if r.err != nil {
			break
		}
	}
	copy(f.Hash[:], r.take(hashBytes))
	if r.err == nil && len(r.src) != 0 {
		r.fail("%d bytes after the footer", len(r.src))
	}
	return f, sections, r.err
}

func (r *cursor) schema() *tailrace.Schema {
	s := &tailrace.Schema{Version: uint32(r.count(1<<32 - 1)), NextColumn: tailrace.ColumnID(r.count(1<<32 - 1))}
	for range r.items() {
		f := tailrace.Field{ID: tailrace.ColumnID(r.count(1<<32 - 1))}
		f.Type.Kind = tailrace.Kind(r.byte())
		flags := r.byte()
		f.Type.Mod = int32(r.varint())
		f.Type.Name, f.Name, f.Default = string(r.text()), string(r.text()), string(r.text())
		f.NotNull = flags&fieldNotNull != 0
		if flags&fieldMissing != 0 {
			f.Missing = bytes.Clone(r.text())
		}
		if r.err == nil && (!f.Type.Kind.Valid() || flags > fieldNotNull|fieldMissing) {
			r.fail("column %d of kind %d, flags %d", f.ID, f.Type.Kind, flags)
		}
		if r.err != nil {
			return s
		}
		if w := f.Type.Kind.Width(); f.Missing != nil && w > 0 && len(f.Missing) != w {
			r.fail("column %d whose missing value has %d bytes", f.ID, len(f.Missing))
		}
		s.Fields = append(s.Fields, f)
	}
	for range r.items() {
		k := r.count(uint64(len(s.Fields)))
		if k == len(s.Fields) {
			r.fail("key column %d of %d", k, len(s.Fields))
			break
		}
		s.Key = append(s.Key, k)
	}
	return s
}

// stripe reads the directory entry of a stripe that lies between at and end.
func (r *cursor) stripe(f *Footer, at, end int64) StripeMeta {
	s := StripeMeta{Offset: int64(r.count(uint64(end)))}
	s.Bytes = int64(r.count(uint64(end - s.Offset)))
	s.Rows = r.count(StripeRows)
	if s.Offset < at || s.Rows == 0 {
		r.fail("stripe of %d rows at %d", s.Rows, s.Offset)
	}
	s.FirstKey, s.LastKey = r.text(), r.text()
	groups := (s.Rows + f.Settings.PageRows - 1) / max(1, f.Settings.PageRows)
	if r.err != nil || groups-1 > len(r.src) {
		r.fail("stripe directory cut short")
		return s
	}
	s.Groups = make([]GroupMeta, groups)
	for i := range s.Groups[1:] {
		s.Groups[i+1] = GroupMeta{Bound: r.text(), Strict: r.byte() != 0}
	}
	for range len(f.Schema.Fields) + 2 {
		c := ChunkMeta{Offset: int64(r.count(uint64(s.Bytes)))}
		c.Bytes = int64(r.count(uint64(s.Bytes - c.Offset)))
		c.Nulls, c.Distinct = r.count(uint64(s.Rows)), int64(r.count(uint64(s.Rows)))
		var flags byte
		c.Min, c.Max, flags = r.bounds(hasBounds | hasSum)
		if c.HasSum = flags&hasSum != 0; c.HasSum {
			c.SumLow, c.SumHigh = r.u64(), r.u64()
		}
		if s.Chunks = append(s.Chunks, c); r.err != nil {
			break
		}
	}
	return s
}
