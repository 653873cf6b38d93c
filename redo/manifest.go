package redo

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"tailrace"
)

const (
	manifestMagic = "TRRM"
	pageMagic     = "TRRP"
	flagOpening   = 1
)

// manifest says what counts since the manifest before it; a base, whose base is itself, says it since the beginning.
//
//	frame "TRRM", flags 1 opening | number u64 | epoch u64 | nonce u64 | base u64 | frontiers | segments | pages | openings
type manifest struct {
	number  uint64
	epoch   uint64
	nonce   uint64 // of the writer
	base    uint64 // where a reader begins
	opening bool   // the writer's first
	spans   map[tailrace.CollectionID]Position
	segments
	openings []uint64 // of a base: the numbers of all openings before it
}

// segments are named one by one, or by the page, an object that describes many.
type segments struct {
	loose []segment
	pages []page // of a base
}

// page is a page as a base names it.
type page struct {
	name     string
	segments int
}

func (m *manifest) encode() []byte {
	flags := byte(0)
	if m.opening {
		flags = flagOpening
	}
	b := beginFrame(manifestMagic, flags)
	for _, v := range []uint64{m.number, m.epoch, m.nonce, m.base} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	b = appendSpans(b, m.spans)
	b = appendSegments(b, m.loose)
	b = binary.AppendUvarint(b, uint64(len(m.pages)))
	for _, p := range m.pages {
		b = binary.AppendUvarint(appendText(b, p.name), uint64(p.segments))
	}
	b = binary.AppendUvarint(b, uint64(len(m.openings)))
	for _, n := range m.openings {
		b = binary.AppendUvarint(b, n)
	}
	return endFrame(b)
}

// decodeManifest reads what encode wrote. Any error is ErrCorrupt.
func decodeManifest(raw []byte) (*manifest, error) {
	flags, d, err := openFrame(manifestMagic, raw)
	if err != nil {
		return nil, err
	}
	m := &manifest{opening: flags&flagOpening != 0, number: d.Uint64(), epoch: d.Uint64(), nonce: d.Uint64(), base: d.Uint64()}
	m.spans = readSpans(&d)
	m.loose = readSegments(&d)
	for range d.Items(2) {
		m.pages = append(m.pages, page{readText(&d), d.Count(1 << 31)})
	}
	for range d.Items(1) {
		m.openings = append(m.openings, d.Uvarint())
	}
	if flags&^flagOpening != 0 || m.base == 0 || m.base > m.number {
		d.Fail("flags %d, number %d, base %d", flags, m.number, m.base)
	}
	if err := d.End(); err != nil {
		return nil, err
	}
	return m, nil
}

// appendSpans adds how far spans are: those at one position together, since most of many are.
//
//	groups uvarint | for each: time uvarint, ordinal uvarint, spans uvarint | for each: span minus the one before it, uvarint
func appendSpans(dst []byte, all map[tailrace.CollectionID]Position) []byte {
	groups := map[Position][]tailrace.CollectionID{}
	for span, p := range all {
		groups[p] = append(groups[p], span)
	}
	order := slices.SortedFunc(maps.Keys(groups), func(a, b Position) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Ordinal, b.Ordinal))
	})
	dst = binary.AppendUvarint(dst, uint64(len(order)))
	for _, p := range order {
		spans := groups[p]
		slices.Sort(spans)
		dst = binary.AppendUvarint(dst, uint64(p.Time))
		dst = binary.AppendUvarint(dst, p.Ordinal)
		dst = binary.AppendUvarint(dst, uint64(len(spans)))
		before := tailrace.CollectionID(0)
		for _, span := range spans {
			dst = binary.AppendUvarint(dst, uint64(span-before))
			before = span
		}
	}
	return dst
}

func readSpans(d *tailrace.ByteReader) map[tailrace.CollectionID]Position {
	all := map[tailrace.CollectionID]Position{}
	for range d.Items(3) {
		p := Position{tailrace.Time(d.Uvarint()), d.Uvarint()}
		span := tailrace.CollectionID(0)
		for range d.Items(1) {
			span += tailrace.CollectionID(d.Uvarint())
			all[span] = p
		}
	}
	return all
}

// encodePage is a frame "TRRP" of descriptions of segments.
func encodePage(all []segment) []byte { return endFrame(appendSegments(beginFrame(pageMagic, 0), all)) }

// decodePage reads what encodePage wrote. Any error is ErrCorrupt.
func decodePage(raw []byte) ([]segment, error) {
	flags, d, err := openFrame(pageMagic, raw)
	if err != nil {
		return nil, err
	}
	all := readSegments(&d)
	if flags != 0 {
		d.Fail("flags %d", flags)
	}
	if err := d.End(); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return all, nil
}
