package stripe

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tailrace"
)

// smallPart is a part with every kind of column, several groups and stripes.
func smallPart(t testing.TB, rows int) (*tailrace.Schema, *tailrace.Batch, []byte) {
	return partOf(t, rows, allKinds)
}

func partOf(t testing.TB, rows int, kinds []tailrace.Kind) (*tailrace.Schema, *tailrace.Batch, []byte) {
	rng := rand.New(rand.NewPCG(11, 12))
	s := &tailrace.Schema{Version: 4, NextColumn: 40, Key: []int{2}}
	for i, k := range kinds {
		f := tailrace.Field{ID: tailrace.ColumnID(i + 1), Name: tailrace.TypeOf(k).String(), Type: tailrace.TypeOf(k)}
		if k >= firstLaterKind {
			f.Type = typeOf(k, tailrace.KindText)
		}
		s.Fields = append(s.Fields, f)
	}
	b := genBatch(rng, s, rows)
	if b.Times == nil {
		b.Times = make([]tailrace.Time, rows)
		for i := range b.Times {
			b.Times[i] = tailrace.Time(5_000_000 + i%7)
		}
	}
	return s, b, write(t, s, b, Options{PageRows: 64, StripeRows: 100}, whole)
}

// namesPlace matches errors that say what is damaged.
var namesPlace = regexp.MustCompile(`^(open part: |part \S+: (time|diff|column ".*"): page index: |part \S+: (time|diff|column ".*"), (page \d+|front page): )`)

func TestFlippedByteIsFoundOrDoesNoHarm(t *testing.T) {
	s, b, part := smallPart(t, 150)
	harmless := 0
	for at := 0; at < len(part); at += 1 + at%7 {
		bad := slices.Clone(part)
		bad[at] ^= 1 << (at % 8)
		if err := readAll(t, bad, s, b); err == nil {
			harmless++ // the header, padding and the hash, which reads do not need
		} else if !namesPlace.MatchString(err.Error()) {
			t.Fatalf("byte %d of %d flipped: got %q, which does not name part, column and page", at, len(part), err)
		}
		if err := Verify(context.Background(), bad); !errors.Is(err, tailrace.ErrCorrupt) {
			t.Fatalf("byte %d of %d flipped: verify: got %v, want ErrCorrupt", at, len(part), err)
		}
	}
	if harmless > len(part)/3 {
		t.Errorf("%d flips of %d bytes were not noticed by reads", harmless, len(part))
	}
}

func TestTruncatedPartIsRefused(t *testing.T) {
	s, b, part := smallPart(t, 150)
	for n := 0; n < len(part); n += 1 + n%5 {
		if err := readAll(t, part[:n], s, b); err == nil {
			t.Fatalf("a part cut to %d of %d bytes was read", n, len(part))
		}
	}
	short := func(ctx context.Context, off, n int64) ([]byte, error) { return fetchOf(part)(ctx, off, n-1) }
	if _, err := Open(t.Context(), short, int64(len(part))); !errors.Is(err, tailrace.ErrCorrupt) {
		t.Errorf("a store that gives too few bytes: got %v, want ErrCorrupt", err)
	}
}

func TestDamagedPageFailsOnlyReadsThatNeedIt(t *testing.T) {
	s, b, part := smallPart(t, 150)
	r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
	if err != nil {
		t.Fatal(err)
	}
	const column, group = 9, 1
	x, err := r.index(column + 2)
	if err != nil {
		t.Fatal(err)
	}
	bad := slices.Clone(part)
	bad[x.off[x.group[group]]+pageHeaderBytes] ^= 4
	if r, err = Open(t.Context(), fetchOf(bad), int64(len(bad))); err != nil {
		t.Fatal(err)
	}
	r.Name = "shard/7/part-3"
	for g := range r.Groups() {
		first, _ := r.GroupRows(g)
		for i := range s.Fields {
			got, err := r.Read(t.Context(), g, []tailrace.ColumnID{s.Fields[i].ID})
			if i == column && g == group {
				if !errors.Is(err, tailrace.ErrCorrupt) || !strings.Contains(err.Error(), `part shard/7/part-3: column "`+s.Fields[i].Name+`", page 1: `) {
					t.Errorf("damaged page: got error %v", err)
				}
				continue
			}
			if err != nil {
				t.Errorf("column %d of group %d: %v", i, g, err)
				continue
			}
			want := &tailrace.Batch{N: b.N, Cols: b.Cols[i : i+1], Times: b.Times, Diffs: b.Diffs}
			if diff := compare(got, want, int(first)); diff != "" {
				t.Errorf("column %d of group %d: %s", i, g, diff)
			}
		}
	}
}

func TestLaterFormatIsRefused(t *testing.T) {
	_, _, part := smallPart(t, 3)
	end := len(part) - frameBytes
	for name, change := range map[string]func(tail []byte){
		"format version 2":    func(tail []byte) { tail[36] = 2 },
		"features 0x4, which": func(tail []byte) { tail[24] = 4 },
	} {
		bad := slices.Clone(part)
		change(bad[end:])
		binary.LittleEndian.PutUint32(bad[end+52:], crc32.Checksum(bad[end:end+52], castagnoli))
		_, err := Open(t.Context(), fetchOf(bad), int64(len(bad)))
		if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want an error that names %s", err, name)
		}
	}
}

// FuzzPart reads any bytes as a part, and as one whose footer checksums are right.
func FuzzPart(f *testing.F) {
	_, _, part := smallPart(f, 70)
	f.Add(part, false)
	f.Add(part, true)
	f.Add([]byte(magic), false)
	f.Fuzz(func(t *testing.T, part []byte, mend bool) {
		if mend {
			part = mendChecksums(slices.Clone(part))
		}
		r, err := Open(t.Context(), fetchOf(part), int64(len(part)))
		if errors.Is(err, ErrVersion) {
			return
		}
		if err != nil {
			mustBeCorrupt(t, err)
			return
		}
		r.SeekGroup([]byte{1, 2, 3})
		for g := range min(r.Groups(), 4) {
			for _, id := range ids(r.footer.Schema) {
				if _, err := r.Read(t.Context(), g, []tailrace.ColumnID{id}); err != nil {
					mustBeCorrupt(t, err)
				}
			}
		}
	})
}

// mendChecksums makes the checksums of tail, footer and sections hold, where there are any.
func mendChecksums(part []byte) []byte {
	if len(part) < 2*frameBytes {
		return part
	}
	end := part[len(part)-frameBytes:]
	footer, index := binary.LittleEndian.Uint64(end), binary.LittleEndian.Uint64(end[16:])
	if footer < uint64(len(part)-frameBytes) && index <= footer {
		body := part[footer : len(part)-frameBytes]
		if _, sections, err := parseFooter(body, int64(index)); err == nil {
			for _, s := range sections {
				if s.offset >= 0 && s.length <= int64(len(part)) && s.offset <= int64(len(part))-s.length {
					sum := crc32.Checksum(part[s.offset:s.offset+s.length], castagnoli)
					replaceSum(body, s.sum, sum)
				}
			}
		}
		binary.LittleEndian.PutUint32(end[32:], crc32.Checksum(body, castagnoli))
	}
	binary.LittleEndian.PutUint32(end[52:], crc32.Checksum(end[:52], castagnoli))
	return part
}

func replaceSum(body []byte, old, sum uint32) {
	raw := binary.LittleEndian.AppendUint32(nil, old)
	if i := strings.LastIndex(string(body), string(raw)); i >= 0 {
		binary.LittleEndian.PutUint32(body[i:], sum)
	}
}

// FuzzPageBody decodes any bytes as the body of a page of any column.
func FuzzPageBody(f *testing.F) {
	s, b, _ := smallPart(f, 200)
	e := &encoder{opts: Options{Codec: CodecNone}.filled()}
	for i, field := range s.Fields {
		data, front, _ := encodeColumn(e, nil, chunkOf(field.Type, &b.Cols[i], PageRows))
		if h, body, err := openPage(data[front:]); err != nil {
			f.Fatal(err)
		} else {
			f.Add(body, uint8(field.Type.Kind.Width()), uint8(h.enc), h.bitmap, uint16(h.rows), uint16(h.nulls), uint32(h.valueBytes), false)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, width, enc uint8, bitmap bool, rows, nulls uint16, valueBytes uint32, zstd bool) {
		switch width {
		case 0, 1, 2, 4, 8, 16:
		default:
			return
		}
		h := pageHeader{kind: pageData, enc: encoding(enc), bitmap: bitmap, rows: int(rows), nulls: int(nulls), raw: len(body), valueBytes: int(valueBytes)}
		if zstd {
			h.codec, body = CodecZstd, appendZstd(nil, body)
		}
		c := roomFor(int(width), PageRows)
		d := new(decoder)
		page, err := []byte(nil), error(nil)
		if h, body, err = openPage(appendPage(page, h, body)); err == nil {
			err = d.addBody(&c, h, body, PageRows)
		}
		if err != nil {
			mustBeCorrupt(t, err)
			return
		}
		if c.N != h.rows || c.Width == 0 && int(c.Offsets[c.N]) != len(c.Data) {
			t.Fatalf("got %d rows, %d bytes, want %d rows", c.N, len(c.Data), h.rows)
		}
	})
}

func TestLyingLengthsAllocateLittle(t *testing.T) {
	lengths := appendConst(nil, 16_000, PageRows)
	body, at := openStream(nil, encStr, 0, PageRows)
	body = append(body, lengths...)
	closeStream(body, at)
	pages := map[string][]byte{
		"lengths without bytes": appendPage(nil, pageHeader{kind: pageData, enc: encStr, rows: PageRows, raw: len(body), valueBytes: 16_000 * PageRows}, body),
		"a zstd frame":          appendPage(nil, pageHeader{kind: pageData, enc: encStr, codec: CodecZstd, rows: PageRows, raw: maxPageBytes}, appendZstd(nil, body)),
		"many values":           appendPage(nil, pageHeader{kind: pageData, enc: encStr, rows: 1 << 30, raw: len(body)}, body),
	}
	d := new(decoder)
	for name, page := range pages {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c := roomFor(0, PageRows)
		err := d.addPage(&c, page, PageRows)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, tailrace.ErrCorrupt) {
			t.Errorf("%s: got %v, want ErrCorrupt", name, err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%s: %d bytes allocated for a page of %d", name, got, len(page))
		}
	}
}
