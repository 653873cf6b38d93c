package stripe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"tailrace"
)

// Writer makes one part of updates that come in sort order: by row (tailrace.AppendRowKey of all columns, ties by tailrace.CompareStored), then time. Its
// bytes are a function of the schema, the options and the updates; how these are cut into batches does not show. One goroutine uses it.
type Writer struct {
	schema *tailrace.Schema
	order  []int
	opts   Options
	enc    *encoder // until Finish
	out    []byte
	footer Footer
	// pages has the page index of each chunk number so far.
	pages [][]byte
	// chunks has the memory of each chunk number's bytes, for the next stripe.
	chunks [][]byte
	// pending are the updates of the stripe that is not full yet and raw their size, see Writer.rawSize.
	pending  *tailrace.Batch
	raw      int64
	rawDone  int64 // of the stripes written
	fixedRow int64
	last     []byte // row key of the last update written
}

// encoders keeps the buffers of encoders between parts.
var encoders = sync.Pool{New: func() any { return new(encoder) }}

// NewWriter returns a Writer of updates of rows of schema s, which it keeps.
func NewWriter(s *tailrace.Schema, opts Options) *Writer {
	w := &Writer{schema: s, order: s.SortOrder(), opts: opts.filled(), fixedRow: 16, pages: make([][]byte, len(s.Fields)+2)}
	w.chunks = make([][]byte, len(w.pages))
	w.enc = encoders.Get().(*encoder)
	w.enc.codec = w.opts.Codec
	w.footer = Footer{Schema: s, Settings: w.opts, MinTime: tailrace.MaxTime}
	for _, i := range w.order {
		w.footer.SortKey = append(w.footer.SortKey, s.Fields[i].ID)
	}
	for _, f := range s.Fields {
		if w.fixedRow += int64(f.Type.Kind.Width()); f.Type.Kind.Width() == 0 {
			w.fixedRow += 4
		}
	}
	w.pending = tailrace.NewBatch(s, 0)
	w.out = appendHeader(nil, s)
	return w
}

// Append adds the updates of b, which has the columns of the schema in its order. Times that are nil are stored as 0, "the base time that the
// log entry gives", diffs that are nil as +1. b is not kept. After an error the Writer is of no more use; a *tailrace.Error with code
// 54000 says that a value is larger than MaxValueBytes.
func (w *Writer) Append(b *tailrace.Batch) error {
	if err := w.check(b); err != nil {
		return err
	}
	for from := 0; from < b.N; {
		n, full := w.room(b, from)
		switch {
		case full && w.pending.N == 0:
			if err := w.writeStripe(b, from, n); err != nil {
				return err
			}
		default:
			w.raw += w.rawSize(b, from, n)
			appendUpdates(w.pending, b, from, n)
			if full {
				if err := w.flush(); err != nil {
					return err
				}
			}
		}
		from += n
	}
	return nil
}

// flush writes the pending updates as a stripe.
func (w *Writer) flush() error {
	if err := w.writeStripe(w.pending, 0, w.pending.N); err != nil {
		return err
	}
	p := w.pending
	for i := range p.Cols {
		p.Cols[i].Reset()
	}
	p.N, p.Times, p.Diffs, w.raw = 0, nil, nil, 0
	return nil
}

// writeStripe encodes updates [from, from+n) of b. Each chunk is a task of its own: it shares nothing with the others.
func (w *Writer) writeStripe(b *tailrace.Batch, from, n int) error {
	s, err := w.directory(b, from, n)
	if err != nil {
		return err
	}
	chunks := make([]chunk, len(w.pages))
	for i := range chunks {
		chunks[i] = w.enc.encodeChunk(w.chunks[i], w.source(b, i, from, n), w.opts.PageRows)
		w.chunks[i] = chunks[i].data
	}
	w.count(b, from, n)
	size := frameBytes
	for _, c := range chunks {
		size += len(c.data) + frameBytes
	}
	w.out = pad(slices.Grow(w.out, size))
	s.Offset = int64(len(w.out))
	for i, c := range chunks {
		w.out = pad(w.out)
		c.meta.Offset = int64(len(w.out)) - s.Offset
		w.out = append(w.out, c.data...)
		w.pages[i] = appendPageIndex(w.pages[i], c.pages)
		s.Chunks = append(s.Chunks, c.meta)
	}
	s.Bytes = int64(len(w.out)) - s.Offset
	w.footer.Stripes = append(w.footer.Stripes, s)
	w.rawDone += w.rawSize(b, from, n)
	return nil
}

// source is what chunk number i of a stripe is made of.
func (w *Writer) source(b *tailrace.Batch, i, from, n int) chunkSource {
	src := chunkSource{typ: tailrace.TypeOf(tailrace.KindNone), from: from, rows: n}
	var words []byte
	switch {
	case i >= 2:
		src.typ, src.col = w.schema.Fields[i-2].Type, &b.Cols[i-2]
		return src
	case i == 0 && b.Times != nil:
		words = bytesOf(b.Times)
	case i == 1 && b.Diffs != nil:
		words = bytesOf(b.Diffs)
	}
	src.typ, src.fixed = numberType, int64(i)
	if words != nil {
		src.col = &tailrace.Column{Width: 8, N: b.N, Data: words}
	}
	return src
}

// numberType is the type that times and diffs are stored as.
var numberType = tailrace.TypeOf(tailrace.KindInt8)

// count adds updates to what the footer says of all.
func (w *Writer) count(b *tailrace.Batch, from, n int) {
	f := &w.footer
	f.Rows += int64(n)
	if b.Diffs == nil {
		f.SumDiff += int64(n)
	} else {
		for _, d := range b.Diffs[from : from+n] {
			f.SumDiff += int64(d)
		}
	}
	if b.Times == nil {
		f.MinTime = 0
		return
	}
	for _, t := range b.Times[from : from+n] {
		f.MinTime, f.MaxTime = min(f.MinTime, t), max(f.MaxTime, t)
	}
}

// pad fills dst up with zeros to the next section.
func pad(dst []byte) []byte {
	var zeros [frameBytes]byte
	return append(dst, zeros[:-len(dst)&(frameBytes-1)]...)
}

// Size estimates the bytes of the part if it were finished now. Updates of the stripe under way count as the stripes before them, a third of
// their size for the first.
func (w *Writer) Size() int {
	done, raw := int64(len(w.out)), w.raw
	if w.rawDone > 0 {
		return int(done + int64(float64(raw)*float64(done)/float64(w.rawDone)))
	}
	return int(done + raw/3)
}

// Finish returns the part, which the caller owns, and its footer. The Writer is then of no more use.
func (w *Writer) Finish() ([]byte, Footer, error) {
	if w.pending.N > 0 {
		if err := w.flush(); err != nil {
			return nil, Footer{}, err
		}
	}
	w.enc.texts.data = nil
	encoders.Put(w.enc)
	w.enc = nil
	f := &w.footer
	f.MinTime = min(f.MinTime, f.MaxTime)
	w.out = pad(w.out)
	t := tail{index: int64(len(w.out)), needs: needs(w.schema)}
	sections := make([]section, len(w.pages))
	for i, run := range w.pages {
		sections[i] = section{sectionPageIndex, i, int64(len(w.out)), int64(len(run)), crc32.Checksum(run, castagnoli)}
		w.out = append(w.out, run...)
	}
	w.out = pad(w.out)
	t.footer = int64(len(w.out))
	w.out = appendFooter(w.out, f, sections)
	f.Hash = contentHash(w.out)
	w.out = append(w.out, f.Hash[:]...)
	t.footerBytes = int64(len(w.out)) - t.footer
	t.sum = crc32.Checksum(w.out[t.footer:], castagnoli)
	if len(w.out)+frameBytes-int(t.index) > MaxFooterBytes {
		return nil, Footer{}, fmt.Errorf("finish part of %d rows: page indexes and footer of %d bytes, more than %d", f.Rows, len(w.out)-int(t.index), MaxFooterBytes)
	}
	return t.append(w.out), *f, nil
}

// contentHash is the identity of a part whose bytes up to the hash are b.
func contentHash(b []byte) (h [hashBytes]byte) {
	sum := xxh3.Hash128(b)
	binary.LittleEndian.PutUint64(h[:], sum.Lo)
	binary.LittleEndian.PutUint64(h[8:], sum.Hi)
	return h
}

// directory makes the entry of the stripe directory for updates [from, from+n) of b, all but the chunks. It refuses updates whose order is wrong
// at the border of page groups.
func (w *Writer) directory(b *tailrace.Batch, from, n int) (StripeMeta, error) {
	s := StripeMeta{Rows: n}
	for group := 0; group < n; group += w.opts.PageRows {
		first := tailrace.AppendRowKey(nil, w.schema, w.order, b, from+group)
		if bytes.Compare(w.last, first) > 0 {
			return s, fmt.Errorf("write stripe: update %d orders before the one that precedes it", w.footer.Rows+int64(group))
		}
		if group == 0 {
			s.FirstKey = cutLow(first, MaxKeyBytes)
			s.Groups = append(s.Groups, GroupMeta{})
		} else {
			s.Groups = append(s.Groups, separate(w.last, first))
		}
		end := min(group+w.opts.PageRows, n)
		w.last = tailrace.AppendRowKey(w.last[:0], w.schema, w.order, b, from+end-1)
	}
	s.LastKey = bytes.Clone(cutHigh(w.last, MaxKeyBytes))
	return s, nil
}
