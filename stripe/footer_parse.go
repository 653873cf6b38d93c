package stripe

import (
	"bytes"

	"tailrace"
)

// hashBytes is the length of the content hash at the end of the footer.
const hashBytes = 16

// parseFooter reads a footer of a part whose stripes end before end. The result holds views of src.
func parseFooter(src []byte, end int64) (*Footer, []section, error) {
	r := &cursor{tailrace.ByteReader{Src: src}}
	f := &Footer{Rows: int64(r.Count(1<<62 - 1)), SumDiff: r.Varint(), MinTime: tailrace.Time(r.Uvarint()), MaxTime: tailrace.Time(r.Uvarint())}
	o := &f.Settings
	o.StripeRows, o.StripeBytes, o.PageRows = r.Count(StripeRows), r.Count(StripeBytes), r.Count(PageRows)
	o.Codec = Codec(r.Byte())
	if o.PageRows == 0 {
		r.Fail("page groups of 0 rows")
	}
	f.Schema = r.schema()
	for range r.Items(1) {
		f.SortKey = append(f.SortKey, tailrace.ColumnID(r.Count(1<<32-1)))
	}
	rows, at := int64(0), int64(frameBytes)
	for range r.Items(1) {
		s := r.stripe(f, at, end)
		if r.Err != nil {
			return nil, nil, r.Err
		}
		f.Stripes = append(f.Stripes, s)
		rows += int64(s.Rows)
		at = s.Offset + s.Bytes
	}
	if rows != f.Rows {
		r.Fail("stripes of %d rows where %d belong", rows, f.Rows)
	}
	var sections []section
	for range r.Items(1) {
		s := section{kind: r.Byte(), chunk: r.Count(1 << 32), offset: int64(r.Count(1<<62 - 1)), length: int64(r.Count(1<<62 - 1)), sum: r.Uint32()}
		sections = append(sections, s)
		if r.Err != nil {
			break
		}
	}
	copy(f.Hash[:], r.Take(hashBytes))
	if r.Err == nil && len(r.Src) != 0 {
		r.Fail("%d bytes after the footer", len(r.Src))
	}
	return f, sections, r.Err
}

func (r *cursor) schema() *tailrace.Schema {
	s := &tailrace.Schema{Version: uint32(r.Count(1<<32 - 1)), NextColumn: tailrace.ColumnID(r.Count(1<<32 - 1))}
	for range r.Items(1) {
		f := tailrace.Field{ID: tailrace.ColumnID(r.Count(1<<32 - 1))}
		f.Type.Kind = tailrace.Kind(r.Byte())
		flags := r.Byte()
		f.Type.Mod = int32(r.Varint())
		if f.Type.Kind >= firstLaterKind {
			f.Type.Elem = tailrace.Kind(r.Byte())
			f.Type.ID = tailrace.CollectionID(r.Uvarint())
		}
		f.Type.Name, f.Name, f.Default = string(r.text()), string(r.text()), string(r.text())
		f.NotNull = flags&fieldNotNull != 0
		if flags&fieldMissing != 0 {
			f.Missing = bytes.Clone(r.text())
		}
		if r.Err == nil && (!f.Type.Valid() || flags > fieldNotNull|fieldMissing) {
			r.Fail("column %d of kind %d, flags %d", f.ID, f.Type.Kind, flags)
		}
		if r.Err != nil {
			return s
		}
		if w := f.Type.Kind.Width(); f.Missing != nil && w > 0 && len(f.Missing) != w {
			r.Fail("column %d whose missing value has %d bytes", f.ID, len(f.Missing))
		}
		s.Fields = append(s.Fields, f)
	}
	for range r.Items(1) {
		k := r.Count(uint64(len(s.Fields)))
		if k == len(s.Fields) {
			r.Fail("key column %d of %d", k, len(s.Fields))
			break
		}
		s.Key = append(s.Key, k)
	}
	return s
}

// stripe reads the directory entry of a stripe that lies between at and end.
func (r *cursor) stripe(f *Footer, at, end int64) StripeMeta {
	s := StripeMeta{Offset: int64(r.Count(uint64(end)))}
	s.Bytes = int64(r.Count(uint64(end - s.Offset)))
	s.Rows = r.Count(StripeRows)
	if s.Offset < at || s.Rows == 0 {
		r.Fail("stripe of %d rows at %d", s.Rows, s.Offset)
	}
	s.FirstKey, s.LastKey = r.text(), r.text()
	groups := (s.Rows + f.Settings.PageRows - 1) / max(1, f.Settings.PageRows)
	if r.Err != nil || groups-1 > len(r.Src) {
		r.Fail("stripe directory cut short")
		return s
	}
	s.Groups = make([]GroupMeta, groups)
	for i := range s.Groups[1:] {
		s.Groups[i+1] = GroupMeta{Bound: r.text(), Strict: r.Byte() != 0}
	}
	for range len(f.Schema.Fields) + 2 {
		c := ChunkMeta{Offset: int64(r.Count(uint64(s.Bytes)))}
		c.Bytes = int64(r.Count(uint64(s.Bytes - c.Offset)))
		c.Nulls, c.Distinct = r.Count(uint64(s.Rows)), int64(r.Count(uint64(s.Rows)))
		var flags byte
		c.Min, c.Max, flags = r.bounds(hasBounds | hasSum)
		if c.HasSum = flags&hasSum != 0; c.HasSum {
			c.SumLow, c.SumHigh = r.Uint64(), r.Uint64()
		}
		if s.Chunks = append(s.Chunks, c); r.Err != nil {
			break
		}
	}
	return s
}
