package stripe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// Chunk is how the pages of one column of one stripe are stored.
type Chunk struct {
	Column     string   `json:"column"`    // its name; "time" and "diff" are the first two
	Encodings  []string `json:"encodings"` // of its pages at the root of the encoding tree, the most frequent first
	Pages      int      `json:"pages"`
	Compressed int      `json:"compressed"` // pages with a codec around them
	Raw        int64    `json:"raw"`        // bytes of the pages' bodies without the codec
	Stored     int64    `json:"stored"`     // and with it
	Bytes      int64    `json:"bytes"`      // of the chunk
	Nulls      int      `json:"nulls"`
	Distinct   int64    `json:"distinct"` // about how many different values; 0: not known
	Min        string   `json:"min"`      // hex of keys that bound the values; "": not known
	Max        string   `json:"max"`
}

// Describe reads the chunks of stripe i, whose pages' checksums it checks, and tells how they are stored. Values are not decoded; Verify does that.
func (r *Reader) Describe(ctx context.Context, i int) ([]Chunk, error) {
	s := &r.footer.Stripes[i]
	out := make([]Chunk, len(s.Chunks))
	for c := range s.Chunks {
		var err error
		if out[c], err = r.describe(ctx, i, c); err != nil {
			return nil, fmt.Errorf("part %s: %s: %w", r.Name, r.columnName(c), err)
		}
	}
	return out, nil
}

func (r *Reader) describe(ctx context.Context, i, c int) (Chunk, error) {
	s := &r.footer.Stripes[i]
	m := &s.Chunks[c]
	out := Chunk{
		Column: r.chunkName(c), Bytes: m.Bytes, Nulls: m.Nulls, Distinct: m.Distinct, Min: hex.EncodeToString(m.Min), Max: hex.EncodeToString(m.Max),
	}
	x, err := r.index(c)
	if err != nil {
		return out, fmt.Errorf("page index: %w", err)
	}
	counts := map[encoding]int{}
	for p := x.group[r.firstGroup[i]]; p < x.group[r.firstGroup[i+1]]; p++ {
		raw, err := fetchExact(ctx, r.fetch, x.off[p], int64(x.pages[p].bytes))
		if err != nil {
			return out, err
		}
		h, _, err := openPage(raw)
		if err != nil {
			return out, fmt.Errorf("page at %d: %w", x.off[p], err)
		}
		out.Pages++
		out.Raw += int64(h.raw)
		out.Stored += int64(h.stored)
		if h.codec != 0 {
			out.Compressed++
		}
		counts[h.enc]++
	}
	most := slices.SortedFunc(maps.Keys(counts), func(a, b encoding) int { return cmp.Or(counts[b]-counts[a], int(a)-int(b)) })
	for _, enc := range most {
		out.Encodings = append(out.Encodings, enc.String())
	}
	return out, nil
}

// chunkName is the name of chunk number c.
func (r *Reader) chunkName(c int) string {
	if c < 2 {
		return r.columnName(c)
	}
	return r.footer.Schema.Fields[c-2].Name
}

// IsPart tells whether a value that begins with head is meant to be a part. Only Open tells whether it is one.
func IsPart(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

// encodingNames are the names of docs/format/part.md, by number.
var encodingNames = [...]string{
	encNone: "NONE", encConst: "CONST", encRaw: "RAW", encFOR: "FOR", encDelta: "DELTA", encDelta2: "DELTA-OF-DELTA", encRLE: "RLE", encDict: "DICT",
	encSparse: "SPARSE", encALP: "ALP", encStr: "STR", encFSST: "FSST", encFixed16: "FIXED16", encBits: "BITS", encDecimal: "DECIMAL",
}

// String is the encoding's name.
func (e encoding) String() string {
	if int(e) < len(encodingNames) {
		return encodingNames[e]
	}
	return fmt.Sprintf("encoding %d", uint8(e))
}
