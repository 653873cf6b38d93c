package stripe

import (
	"encoding/binary"

	"tailrace"
)

// The settings that came with format 1.1 are a section of their own, so that a part without other news is readable by programs of before:
//
//	least gain of a symbol table in percent varint | values of a sample's window uvarint | filtered columns uvarint | column id uvarint ...

func appendSettings(dst []byte, o Options) []byte {
	dst = binary.AppendVarint(dst, int64(o.FSSTMinGainPercent))
	dst = binary.AppendUvarint(dst, uint64(o.SampleValues))
	dst = binary.AppendUvarint(dst, uint64(len(o.Filters)))
	for _, id := range o.Filters {
		dst = binary.AppendUvarint(dst, uint64(id))
	}
	return dst
}

// parseSettings reads the section src into o.
func parseSettings(o *Options, src []byte) error {
	r := &cursor{tailrace.ByteReader{Src: src}}
	o.FSSTMinGainPercent, o.SampleValues = int(r.Varint()), r.Count(MaxSampleValues)
	for range r.Items(1) {
		o.Filters = append(o.Filters, tailrace.ColumnID(r.Count(1<<32-1)))
	}
	if r.Err == nil && (len(r.Src) != 0 || o.FSSTMinGainPercent < -1 || o.FSSTMinGainPercent > 100) {
		r.Fail("settings: least gain of %d percent, %d bytes more", o.FSSTMinGainPercent, len(r.Src))
	}
	return r.Err
}
