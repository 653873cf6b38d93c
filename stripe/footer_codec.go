package stripe

import (
	"encoding/binary"

	"tailrace"
)

// section is a run of bytes between the stripes and the footer.
type section struct {
	kind   byte
	chunk  int // page index: number of the column's chunk in a stripe, 0 time, 1 diff, 2 the first column; filter: counted over all stripes
	offset int64
	length int64
	sum    uint32 // crc32c
}

const (
	sectionPageIndex = 1 // readers pass over kinds that they do not know
	sectionFilter    = 2
	sectionSettings  = 3
	hasSum           = 2 // flag of a chunk's statistics
	fieldNotNull     = 1 // flags of a field
	fieldMissing     = 2
)

// appendFooter adds the footer without its hash. directory has the entries of its stripes. docs/format/part.md gives it byte by byte.
func appendFooter(dst []byte, f *Footer, directory []byte, sections []section) []byte {
	dst = binary.AppendUvarint(dst, uint64(f.Rows))
	dst = binary.AppendVarint(dst, f.SumDiff)
	dst = binary.AppendUvarint(dst, uint64(f.MinTime))
	dst = binary.AppendUvarint(dst, uint64(f.MaxTime))
	for _, v := range [...]int{f.Settings.StripeRows, f.Settings.StripeBytes, f.Settings.PageRows} {
		dst = binary.AppendUvarint(dst, uint64(v))
	}
	dst = append(dst, byte(f.Settings.Codec))
	dst = appendSchema(dst, f.Schema)
	dst = binary.AppendUvarint(dst, uint64(len(f.SortKey)))
	for _, id := range f.SortKey {
		dst = binary.AppendUvarint(dst, uint64(id))
	}
	dst = binary.AppendUvarint(dst, uint64(len(f.Stripes)))
	dst = append(dst, directory...)
	dst = binary.AppendUvarint(dst, uint64(len(sections)))
	for _, s := range sections {
		dst = append(dst, s.kind)
		for _, v := range [...]uint64{uint64(s.chunk), uint64(s.offset), uint64(s.length)} {
			dst = binary.AppendUvarint(dst, v)
		}
		dst = binary.LittleEndian.AppendUint32(dst, s.sum)
	}
	return dst
}

func appendSchema(dst []byte, s *tailrace.Schema) []byte {
	dst = binary.AppendUvarint(dst, uint64(s.Version))
	dst = binary.AppendUvarint(dst, uint64(s.NextColumn))
	dst = binary.AppendUvarint(dst, uint64(len(s.Fields)))
	for _, f := range s.Fields {
		flags := byte(0)
		if f.NotNull {
			flags |= fieldNotNull
		}
		if f.Missing != nil {
			flags |= fieldMissing
		}
		dst = binary.AppendUvarint(dst, uint64(f.ID))
		dst = append(dst, byte(f.Type.Kind), flags)
		dst = binary.AppendVarint(dst, int64(f.Type.Mod))
		if f.Type.Kind >= firstLaterKind {
			dst = append(dst, byte(f.Type.Elem))
			dst = binary.AppendUvarint(dst, uint64(f.Type.ID))
		}
		dst = appendText(appendText(appendText(dst, f.Type.Name), f.Name), f.Default)
		if f.Missing != nil {
			dst = appendText(dst, f.Missing)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.Key)))
	for _, k := range s.Key {
		dst = binary.AppendUvarint(dst, uint64(k))
	}
	return dst
}

func appendStripe(dst []byte, s *StripeMeta) []byte {
	for _, v := range [...]uint64{uint64(s.Offset), uint64(s.Bytes), uint64(s.Rows)} {
		dst = binary.AppendUvarint(dst, v)
	}
	dst = appendText(appendText(dst, s.FirstKey), s.LastKey)
	for _, g := range s.Groups[1:] {
		dst = appendText(dst, g.Bound)
		dst = append(dst, byte(boolInt(g.Strict)))
	}
	for _, c := range s.Chunks {
		for _, v := range [...]uint64{uint64(c.Offset), uint64(c.Bytes), uint64(c.Nulls), uint64(c.Distinct)} {
			dst = binary.AppendUvarint(dst, v)
		}
		flags := byte(0)
		if c.HasSum {
			flags = hasSum
		}
		dst = appendBounds(dst, c.Min, c.Max, flags)
		if c.HasSum {
			dst = binary.LittleEndian.AppendUint64(dst, c.SumLow)
			dst = binary.LittleEndian.AppendUint64(dst, c.SumHigh)
		}
	}
	return dst
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
