package changefeed

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"tailrace"
	"tailrace/catalog"
	"tailrace/schedule"
)

// TestASliceKeepsToItsBytes: a scan takes what is within them, and what is larger by itself only when it may. So it does where all updates of a time belong together.
func TestASliceKeepsToItsBytes(t *testing.T) {
	for _, tied := range []bool{false, true} {
		s, tb := people(16)
		if !tied {
			tb.target.Unique = nil
		}
		b := tailrace.NewBatch(tb.reader.schema, 0)
		const rows, perTime = 1000, 5
		for i := range rows {
			b.Cols[0].AppendInt32(int32(i))
			b.Cols[1].AppendString(strings.Repeat("m", 1000))
			b.Times, b.Diffs = append(b.Times, tailrace.Time(10+i/perTime)), append(b.Diffs, 1)
			b.N++
		}
		tb.reader.batch, tb.reader.until = b, 1000
		tb.reader.next = func() (*tailrace.Batch, error, bool) { return nil, nil, false }
		tb.reader.stop = func() {}
		scan := func(bytes int64, large bool) (*slice, error) {
			sl := schedule.Slice{End: 1000, Bytes: bytes, Large: large, Rows: 4096, Time: time.Hour}
			out, _, _, err := s.scan(context.Background(), sl, &catalog.Catalog{}, time.Now)
			if err == nil {
				s.read = out.to
			}
			return out, err
		}
		item := tb.reader.rowSize()
		if tied {
			item *= perTime
		}
		if out, err := scan(10*item+item/2, false); err != nil || out.bytes > 10*item+item/2 || len(out.items) < 9 {
			t.Fatalf("tied %v: %v; want 10 items or one less in %d bytes", tied, err, 10*item+item/2)
		}
		before := s.read
		if _, err := scan(item/2, false); !errors.Is(err, errTooLarge) || s.read != before {
			t.Fatalf("tied %v: half an item fits: %v", tied, err)
		}
		if out, err := scan(item/2, true); err != nil || out.to == before || out.bytes > item+itemBytes*perTime {
			t.Fatalf("tied %v: %v; want one item, from where the scan that took nothing began", tied, err)
		}
		got := 0
		for {
			out, err := scan(1<<30, true)
			if err != nil {
				t.Fatal(err)
			}
			if got = len(out.items); got > 0 {
				break
			}
		}
		if got < rows-12*perTime {
			t.Fatalf("tied %v: the rest is %d items of %d", tied, got, rows)
		}
	}
}
