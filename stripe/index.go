package stripe

import (
	"encoding/binary"

	"tailrace"
)

// The page index of a column is one contiguous run of entries, one for each of its pages in order, over all stripes:
//
//	bytes uvarint | rows uvarint | nulls uvarint | flags u8 (1: bounds) | [min | max, each a length uvarint and the bytes]
//
// Pages of a chunk lie one after another, so their lengths are their places. An entry of 0 rows is the page of a chunk that its other pages need, and
// is the first of the chunk.
func appendPageIndex(dst []byte, front int, pages []encodedPage) []byte {
	dst = appendFrontEntry(dst, front)
	for i := range pages {
		dst = appendPageEntry(dst, &pages[i].pageMeta)
	}
	return dst
}

// appendPages is appendPageIndex of pages that were stored already.
func appendPages(dst []byte, front int, pages []pageMeta) []byte {
	dst = appendFrontEntry(dst, front)
	for i := range pages {
		dst = appendPageEntry(dst, &pages[i])
	}
	return dst
}

func appendFrontEntry(dst []byte, front int) []byte {
	if front == 0 {
		return dst
	}
	return append(binary.AppendUvarint(dst, uint64(front)), 0, 0, 0)
}

func appendPageEntry(dst []byte, p *pageMeta) []byte {
	for _, v := range [...]int{p.bytes, p.rows, p.nulls} {
		dst = binary.AppendUvarint(dst, uint64(v))
	}
	return appendBounds(dst, p.min, p.max, 0)
}

const hasBounds = 1 // flag

func appendBounds(dst []byte, low, high []byte, flags byte) []byte {
	if low == nil {
		return append(dst, flags)
	}
	dst = append(dst, flags|hasBounds)
	return appendText(appendText(dst, low), high)
}

func appendText[T string | []byte](dst []byte, x T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(x))), x...)
}

// columnIndex is a page index as a reader holds it.
type columnIndex struct {
	pages []pageMeta
	off   []int64 // of each page in the part
	group []int32 // each page group's first page, and the number of pages at the end
	front []int   // bytes of the front page of each stripe's chunk, which it begins with; 0: it has none
}

// parsePageIndex reads the run of chunk number c. It must cover the chunk of every stripe exactly, and no page may cross a group's border.
func parsePageIndex(src []byte, f *Footer, c int) (*columnIndex, error) {
	x := &columnIndex{}
	r := &cursor{tailrace.ByteReader{Src: src}}
	for _, s := range f.Stripes {
		off := s.Offset + s.Chunks[c].Offset
		start, end := off, off+s.Chunks[c].Bytes
		x.front = append(x.front, 0)
		for row := 0; row < s.Rows; {
			left := min(s.Rows-row, f.Settings.PageRows-row%f.Settings.PageRows)
			p := pageMeta{bytes: r.Count(uint64(end - off)), rows: r.Count(uint64(left))}
			p.nulls = r.Count(uint64(p.rows))
			p.min, p.max, _ = r.bounds(hasBounds)
			front := p.rows == 0
			if front && (row > 0 || off > start || p.bytes == 0) {
				r.Fail("page without rows")
			}
			if r.Err != nil {
				return nil, r.Err
			}
			if front {
				x.front[len(x.front)-1] = p.bytes
				off += int64(p.bytes)
				continue
			}
			if row%f.Settings.PageRows == 0 {
				x.group = append(x.group, int32(len(x.pages)))
			}
			x.pages, x.off = append(x.pages, p), append(x.off, off)
			off += int64(p.bytes)
			row += p.rows
		}
		if off != end {
			return nil, corrupt("pages of %d bytes fewer than their chunk", end-off)
		}
	}
	x.group = append(x.group, int32(len(x.pages)))
	if len(r.Src) != 0 {
		return nil, corrupt("%d bytes after the page index", len(r.Src))
	}
	return x, nil
}
