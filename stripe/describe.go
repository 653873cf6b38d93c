package stripe

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// Chunk is how the pages of one column of one stripe are stored. The names in JSON stay.
type Chunk struct {
	Column string `json:"column"` // its name; "time" and "diff" are the first two
	SHA256 string `json:"sha256"` // hex, of the chunk's bytes as they are stored
	// Encodings are the trees of its pages' encodings, DELTA>FOR or DICT>(STR>FOR,FOR), the most frequent first, and EncodingPages how many
	// pages have each.
	Encodings     []string `json:"encodings"`
	EncodingPages []int    `json:"encoding_pages"`
	Front         string   `json:"front,omitempty"` // the tree of the page that the others need: a dictionary or symbol table
	FrontBytes    int      `json:"front_bytes"`     // of it, with its header
	Pages         int      `json:"pages"`           // besides that one
	Codec         string   `json:"codec"`           // around the bodies of some: zstd, lz4 or none
	Compressed    int      `json:"compressed"`      // pages with a codec around them
	Raw           int64    `json:"raw"`             // bytes of the pages' bodies without the codec
	Stored        int64    `json:"stored"`          // and with it
	Bytes         int64    `json:"bytes"`           // of the chunk
	FilterBytes   int64    `json:"filter_bytes"`    // of its filter, which is not in the chunk
	Nulls         int      `json:"nulls"`
	Distinct      int64    `json:"distinct"` // about how many different values; 0: not known
	Min           string   `json:"min"`      // hex of keys that bound the values; "": not known
	Max           string   `json:"max"`
	Sum           string   `json:"sum,omitempty"` // of integers, decimal
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
		Column: plainName(r.footer.Schema, c), Codec: CodecNone.String(), Bytes: m.Bytes, Nulls: m.Nulls, Distinct: m.Distinct,
		FilterBytes: r.filters[i*len(r.indexes)+c].length, Min: hex.EncodeToString(m.Min), Max: hex.EncodeToString(m.Max),
	}
	if m.HasSum {
		sum := new(big.Int).Lsh(big.NewInt(int64(m.SumHigh)), 64)
		out.Sum = sum.Add(sum, new(big.Int).SetUint64(m.SumLow)).String()
	}
	x, err := r.index(c)
	if err != nil {
		return out, fmt.Errorf("page index: %w", err)
	}
	raw, err := fetchExact(ctx, r.fetch, s.Offset+m.Offset, m.Bytes)
	if err != nil {
		return out, err
	}
	sum := sha256.Sum256(raw)
	out.SHA256 = hex.EncodeToString(sum[:])
	if out.FrontBytes = x.front[i]; out.FrontBytes > 0 {
		if out.Front, _, err = pageTree(raw[:out.FrontBytes]); err != nil {
			return out, fmt.Errorf("front page: %w", err)
		}
		raw = raw[out.FrontBytes:]
	}
	counts := map[string]int{}
	for p := x.group[r.firstGroup[i]]; p < x.group[r.firstGroup[i+1]]; p++ {
		tree, h, err := pageTree(raw[:x.pages[p].bytes])
		if err != nil {
			return out, fmt.Errorf("page %d: %w", p, err)
		}
		raw = raw[x.pages[p].bytes:]
		counts[tree]++
		out.add(h)
	}
	for _, tree := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) }) {
		out.Encodings, out.EncodingPages = append(out.Encodings, tree), append(out.EncodingPages, counts[tree])
	}
	return out, nil
}

// add counts a page.
func (c *Chunk) add(h pageHeader) {
	c.Pages++
	c.Raw += int64(h.raw)
	c.Stored += int64(h.stored)
	if h.codec != 0 {
		c.Compressed++
		c.Codec = h.codec.String()
	}
}

// pageTree is the encoding tree of a page: of its root stream, or streams if it is a front page.
func pageTree(page []byte) (string, pageHeader, error) {
	h, body, err := openPage(page)
	if err != nil {
		return "", h, err
	}
	d := decoders.Get().(*decoder)
	defer d.release()
	if body, err = d.unpack(h.codec, body, h.raw); err != nil {
		return "", h, err
	}
	if h.nulls == h.rows {
		return encNone.String(), h, nil
	}
	if len(body) < bitmapBytes(h) {
		return "", h, corrupt("body of %d bytes", len(body))
	}
	var trees []string
	for body = body[bitmapBytes(h):]; len(body) > 0; {
		var s stream
		if s, body, err = cutStream(body); err != nil {
			return "", h, err
		}
		tree, err := s.tree()
		if err != nil {
			return "", h, err
		}
		trees = append(trees, tree)
	}
	return strings.Join(trees, ","), h, nil
}

// String is the codec's name.
func (c Codec) String() string {
	switch c {
	case CodecLZ4:
		return "lz4"
	case CodecZstd:
		return "zstd"
	}
	return "none"
}

// IsPart tells whether a value that begins with head is meant to be a part. Only Open tells whether it is one.
func IsPart(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

// encodingNames are the names of docs/format/part.md, by number.
var encodingNames = [...]string{
	encNone: "NONE", encConst: "CONST", encRaw: "RAW", encFOR: "FOR", encDelta: "DELTA", encDelta2: "DELTA-OF-DELTA", encRLE: "RLE", encDict: "DICT",
	encSparse: "SPARSE", encALP: "ALP", encStr: "STR", encFSST: "FSST", encFixed16: "FIXED16", encBits: "BITS", encDecimal: "DECIMAL", encSplit: "SPLIT", encWords: "WORDS",
	encSymbols: "SYMBOLS",
}

// String is the encoding's name.
func (e encoding) String() string {
	if int(e) < len(encodingNames) && encodingNames[e] != "" {
		return encodingNames[e]
	}
	return fmt.Sprintf("encoding %d", uint8(e))
}
