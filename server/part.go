package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tailrace"
	"tailrace/stripe"
)

// PartExtent is what a part says about itself, and what of it is damaged. It marshals to JSON, whose names stay (docs/operation.md).
type PartExtent struct {
	Name     string              `json:"name"`
	Bytes    int64               `json:"bytes"`
	Rows     int64               `json:"rows"`
	SumDiff  int64               `json:"sum_diff"`
	MinTime  tailrace.Time       `json:"min_time"` // plus the base time of the reference
	MaxTime  tailrace.Time       `json:"max_time"`
	SortKey  []tailrace.ColumnID `json:"sort_key"`
	Hash     string              `json:"xxh3_128"`
	Columns  []PartColumn        `json:"columns"`
	Stripes  []StripeExtent      `json:"stripes"`
	Settings PartSettings        `json:"settings"`
	Checked  bool                `json:"checked"` // every checksum, by decoding every page
	Damage   []string            `json:"damage"`
}

// PartColumn is a column of a part, over all of its stripes. The first two are the times and the diffs.
type PartColumn struct {
	Role    string            `json:"role"` // "time", "diff" or "user"
	ID      tailrace.ColumnID `json:"id"`
	Name    string            `json:"name"`
	Type    string            `json:"type"`
	NotNull bool              `json:"not_null"`
	Key     bool              `json:"key"`
	// SHA256 is that of the bytes of its chunks as they are stored, one after the other, in hex.
	SHA256      string   `json:"sha256"`
	Bytes       int64    `json:"bytes"` // of its chunks
	Raw         int64    `json:"raw"`   // of its pages' bodies without a codec
	Stored      int64    `json:"stored"`
	FilterBytes int64    `json:"filter_bytes"`
	Nulls       int64    `json:"nulls"`
	Encodings   []string `json:"encodings"` // each tree that a page has, in order

	hash hash.Hash
}

// StripeExtent is a stripe of a part.
type StripeExtent struct {
	Rows       int           `json:"rows"`
	Offset     int64         `json:"offset"`
	Bytes      int64         `json:"bytes"`
	PageGroups int           `json:"page_groups"`
	Chunks     []ChunkExtent `json:"chunks"` // of the columns, in their order
}

// ChunkExtent is a column of a stripe.
type ChunkExtent struct {
	stripe.Chunk
	MinValue string `json:"min_value"` // the bounds as values, where their keys tell these; "" otherwise
	MaxValue string `json:"max_value"`
}

// PartSettings are those that the part was written with.
type PartSettings struct {
	StripeRows         int                 `json:"stripe_rows"`
	StripeBytes        int                 `json:"stripe_bytes"`
	PageRows           int                 `json:"page_rows"`
	FSSTMinGainPercent int                 `json:"fsst_min_gain_percent"`
	SampleValues       int                 `json:"sample_values"`
	Filters            []tailrace.ColumnID `json:"filters"`
}

// InspectPart reads the part in a file and, unless fast, checks every byte of it. An error says that nothing could be read; damage is in the result.
func InspectPart(ctx context.Context, path string, fast bool) (*PartExtent, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return inspectPart(ctx, filepath.Base(path), raw, fast)
}

// inspectPart is InspectPart for the bytes of a part.
func inspectPart(ctx context.Context, name string, raw []byte, fast bool) (*PartExtent, error) {
	short := strings.TrimPrefix(name, partFolder)
	r, err := openPart(ctx, short, raw)
	if err != nil {
		return nil, err
	}
	f := r.Footer()
	out := &PartExtent{
		Name: name, Bytes: int64(len(raw)), Rows: f.Rows, SumDiff: f.SumDiff, MinTime: f.MinTime, MaxTime: f.MaxTime, SortKey: f.SortKey, Hash: hex.EncodeToString(f.Hash[:]),
		Settings: PartSettings{f.Settings.StripeRows, f.Settings.StripeBytes, f.Settings.PageRows, f.Settings.FSSTMinGainPercent, f.Settings.SampleValues, f.Settings.Filters},
		Columns:  partColumns(f.Schema), Damage: []string{}, Checked: !fast,
	}
	var unseen []error
	for i := range f.Stripes {
		if err := out.stripe(ctx, r, raw, i); err != nil {
			unseen = append(unseen, err)
		}
	}
	for i := range out.Columns {
		out.Columns[i].SHA256 = hex.EncodeToString(out.Columns[i].hash.Sum(nil))
	}
	if !fast {
		out.check(ctx, r, raw)
	}
	for _, err := range unseen {
		out.note(err)
	}
	return out, ctx.Err()
}

func openPart(ctx context.Context, name string, raw []byte) (*stripe.Reader, error) {
	r, err := stripe.Open(ctx, func(_ context.Context, off, n int64) ([]byte, error) { return raw[off : off+n], nil }, int64(len(raw)))
	if err != nil {
		return nil, fmt.Errorf("part %s: %w", name, err)
	}
	r.Name = name
	return r, nil
}

// partColumns are the columns of a part whose rows have schema s.
func partColumns(s *tailrace.Schema) []PartColumn {
	bigint := tailrace.TypeOf(tailrace.KindInt8).String()
	out := []PartColumn{{Role: "time", Name: "time", Type: bigint, NotNull: true}, {Role: "diff", Name: "diff", Type: bigint, NotNull: true}}
	for i := range s.Fields {
		x := &s.Fields[i]
		out = append(out, PartColumn{Role: "user", ID: x.ID, Name: x.Name, Type: x.Type.String(), NotNull: x.NotNull, Key: slices.Contains(s.Key, i)})
	}
	for i := range out {
		out[i].Encodings, out[i].hash = []string{}, sha256.New()
	}
	return out
}

// stripe describes stripe i.
func (p *PartExtent) stripe(ctx context.Context, r *stripe.Reader, raw []byte, i int) error {
	f := r.Footer()
	meta := &f.Stripes[i]
	s := StripeExtent{Rows: meta.Rows, Offset: meta.Offset, Bytes: meta.Bytes, PageGroups: len(meta.Groups), Chunks: []ChunkExtent{}}
	chunks, err := r.Describe(ctx, i)
	for c := range meta.Chunks {
		col, m := &p.Columns[c], &meta.Chunks[c]
		col.hash.Write(raw[meta.Offset+m.Offset : meta.Offset+m.Offset+m.Bytes])
		col.Bytes, col.Nulls = col.Bytes+m.Bytes, col.Nulls+int64(m.Nulls)
		if err != nil {
			continue
		}
		k := &chunks[c]
		col.Raw, col.Stored, col.FilterBytes = col.Raw+k.Raw, col.Stored+k.Stored, col.FilterBytes+k.FilterBytes
		for _, tree := range k.Encodings {
			if !slices.Contains(col.Encodings, tree) {
				col.Encodings = append(col.Encodings, tree)
			}
		}
		t := tailrace.TypeOf(tailrace.KindInt8)
		if c >= 2 {
			t = f.Schema.Fields[c-2].Type
		}
		s.Chunks = append(s.Chunks, ChunkExtent{Chunk: *k, MinValue: keyText(t, m.Min), MaxValue: keyText(t, m.Max)})
	}
	p.Stripes = append(p.Stripes, s)
	return err
}

// maxDamage is how much damage of one part is listed.
const maxDamage = 100

// note lists damage, once for each page and in the words of who came first.
func (p *PartExtent) note(err error) {
	if err == nil || len(p.Damage) == maxDamage {
		return
	}
	page := strings.ReplaceAll(err.Error(), ", page", ": page")
	for _, known := range p.Damage {
		if strings.ReplaceAll(known, ", page", ": page") == page {
			return
		}
	}
	p.Damage = append(p.Damage, err.Error())
}

// check decodes every page and checks every checksum. When something is wrong it looks at each column of each page group by itself, so that all that is damaged is named.
func (p *PartExtent) check(ctx context.Context, r *stripe.Reader, raw []byte) {
	whole := stripe.Verify(ctx, raw)
	if whole == nil || ctx.Err() != nil {
		return
	}
	fields := r.Footer().Schema.Fields
	for g := range r.Groups() {
		for i := range fields {
			_, err := r.Read(ctx, g, []tailrace.ColumnID{fields[i].ID})
			p.note(err)
		}
	}
	for i := range r.Footer().Stripes {
		for c := range fields {
			_, err := r.MayHold(ctx, i, fields[c].ID, nil)
			p.note(err)
		}
	}
	if len(p.Damage) == 0 { // only the content hash, or what no column needs, shows it
		p.note(fmt.Errorf("part %s: %w", r.Name, whole))
	}
}

// IsPart says whether the file at path begins like a part.
func IsPart(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 8)
	n, _ := f.ReadAt(head, 0) // a shorter file is no part
	return stripe.IsPart(head[:n])
}
