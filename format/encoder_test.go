package format

import (
	"fmt"
	"io"
	"testing"
	"time"

	"tailrace"
)

// hotColumns are the kinds of an ordinary table.
func hotColumns(binary bool) []Col {
	var cols []Col
	for _, t := range []tailrace.Type{
		typ(tailrace.KindInt8), typ(tailrace.KindInt4), typ(tailrace.KindText), numericMod(12, 2), typ(tailrace.KindTimestamptz), typ(tailrace.KindBool), typ(tailrace.KindFloat8), typ(tailrace.KindUUID),
		typ(tailrace.KindDate), typ(tailrace.KindInterval), typ(tailrace.KindBytea),
	} {
		cols = append(cols, Col{Name: "c", Type: t, Binary: binary})
	}
	return cols
}

func hotBatch(rows int) *tailrace.Batch {
	cols := hotColumns(false)
	b := &tailrace.Batch{N: rows, Cols: make([]tailrace.Column, len(cols))}
	for i, c := range cols {
		b.Cols[i] = tailrace.MakeColumn(c.Type.Kind, rows)
	}
	for n := range rows {
		for i, text := range []string{
			fmt.Sprint(n * 1_000_003), fmt.Sprint(n), fmt.Sprintf("customer number %d", n), fmt.Sprintf("%d.%02d", n%1000, n%100), fmt.Sprintf("2024-%02d-%02d 10:11:12.%06d+00", n%12+1, n%28+1, n%1_000_000), "t", fmt.Sprint(float64(n) / 3),
			"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "2024-01-01", "1 day 02:03:04", `\x0102`,
		} {
			if n%50 == 7 && i == 2 {
				b.Cols[i].AppendNull()
				continue
			}
			if err := ParseText(&b.Cols[i], cols[i].Type, text, Default()); err != nil {
				panic(err)
			}
		}
	}
	return b
}

func TestEncoderAllocates(t *testing.T) {
	b := hotBatch(1000)
	s := Default()
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for _, style := range []string{StyleISO, StyleSQL, StylePostgres, StyleGerman} {
		s.DateStyle, s.Location = style, loc
		for _, e := range []*Encoder{
			{Layout: DataRow, Columns: hotColumns(false), Settings: s},
			{Layout: DataRow, Columns: hotColumns(true), Settings: s},
			{Layout: CopyText, Columns: hotColumns(false), Settings: s},
			{Layout: CopyCSV, Columns: hotColumns(false), Settings: s},
			{Layout: CopyBinary, Columns: hotColumns(false), Settings: s},
		} {
			dst := e.AppendBatch(nil, b, 0, b.N)
			if got := testing.AllocsPerRun(5, func() { dst = e.AppendBatch(dst[:0], b, 0, b.N) }); got != 0 {
				t.Errorf("layout %d, %s: got %v allocations for %d rows, want 0", e.Layout, style, got, b.N)
			}
		}
	}
}

func TestDataRowsHaveTheWireForm(t *testing.T) {
	b := &tailrace.Batch{N: 1, Cols: []tailrace.Column{tailrace.MakeColumn(tailrace.KindInt4, 1), tailrace.MakeColumn(tailrace.KindText, 1), tailrace.MakeColumn(tailrace.KindInt4, 1)}}
	b.Cols[0].AppendInt32(-7)
	b.Cols[1].AppendNull()
	b.Cols[2].AppendInt32(258)
	e := Encoder{Layout: DataRow, Columns: []Col{{Type: typ(tailrace.KindInt4)}, {Type: typ(tailrace.KindText)}, {Type: typ(tailrace.KindInt4), Binary: true}}}
	got := string(e.AppendRow(nil, b, 0))
	if want := "D\x00\x00\x00\x18\x00\x03\x00\x00\x00\x02-7\xff\xff\xff\xff\x00\x00\x00\x04\x00\x00\x01\x02"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func BenchmarkEncode(b *testing.B) {
	simple := func(kinds ...tailrace.Kind) []Col {
		var cols []Col
		for _, c := range hotColumns(false) {
			for _, k := range kinds {
				if c.Type.Kind == k {
					cols = append(cols, c)
				}
			}
		}
		return cols
	}
	all := hotBatch(8192)
	for _, x := range []struct {
		name   string
		layout Layout
		cols   []Col
	}{
		{"DataRow/int8+int4+text+numeric+timestamptz", DataRow, simple(tailrace.KindInt8, tailrace.KindInt4, tailrace.KindText, tailrace.KindNumeric, tailrace.KindTimestamptz)},
		{"CopyText/int8+int4+text+numeric+timestamptz", CopyText, simple(tailrace.KindInt8, tailrace.KindInt4, tailrace.KindText, tailrace.KindNumeric, tailrace.KindTimestamptz)},
		{"DataRow/int8", DataRow, simple(tailrace.KindInt8)},
		{"DataRow/text", DataRow, simple(tailrace.KindText)},
		{"DataRow/numeric", DataRow, simple(tailrace.KindNumeric)},
		{"DataRow/timestamptz", DataRow, simple(tailrace.KindTimestamptz)},
		{"DataRow/float8", DataRow, simple(tailrace.KindFloat8)},
	} {
		b.Run(x.name, func(b *testing.B) {
			batch := &tailrace.Batch{N: all.N}
			for _, c := range x.cols {
				for i, h := range hotColumns(false) {
					if h.Type.Kind == c.Type.Kind {
						batch.Cols = append(batch.Cols, all.Cols[i])
					}
				}
			}
			e := Encoder{Layout: x.layout, Columns: x.cols}
			dst := e.AppendBatch(nil, batch, 0, batch.N)
			b.SetBytes(int64(len(dst)))
			b.ReportAllocs()
			for b.Loop() {
				dst = e.AppendBatch(dst[:0], batch, 0, batch.N)
			}
			b.ReportMetric(float64(batch.N)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkCopyRead(b *testing.B) {
	for _, layout := range []Layout{CopyText, CopyCSV} {
		b.Run(map[Layout]string{CopyText: "text", CopyCSV: "csv"}[layout], func(b *testing.B) {
			cols := hotColumns(false)[:5]
			batch := hotBatch(8192)
			batch.Cols = batch.Cols[:5]
			e := Encoder{Layout: layout, Columns: cols}
			var data []byte
			rows := 0
			for i := range batch.N {
				data = append(data, e.AppendRow(nil, batch, i)[5:]...)
				rows++
			}
			var types []tailrace.Type
			for _, c := range cols {
				types = append(types, c.Type)
			}
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				r := newCopyReader(CopyOptions{Layout: layout}, types, nil)
				for at := 0; at < len(data); at += 64 << 10 {
					r.Feed(data[at:min(len(data), at+64<<10)])
					if _, err := r.Next(); err != nil {
						b.Fatal(err)
					}
				}
				r.Finish()
				for {
					if _, err := r.Next(); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
