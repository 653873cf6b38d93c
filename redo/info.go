package redo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"time"

	"tailrace"
)

// Report is what a redo log has, and whether it is whole.
type Report struct {
	Feed     string   `json:"feed"`
	Epoch    uint64   `json:"epoch"`    // of the newest writer
	Manifest uint64   `json:"manifest"` // the newest
	Frontier Moment   `json:"redo_frontier"`
	Segments int      `json:"segments"`
	Rows     uint64   `json:"rows"`
	Bytes    int64    `json:"bytes"`
	Spans    []Extent `json:"spans"`  // by ID
	Damage   []Damage `json:"damage"` // empty: every byte was read and is as it was written
}

// Extent is what there is of one span.
type Extent struct {
	Span     tailrace.CollectionID `json:"span"`
	Table    string                `json:"table"` // its newest name; empty: nothing of it is there
	Frontier Moment                `json:"frontier"`
	Ordinal  uint64                `json:"ordinal"` // of the frontier: that many updates at its time are there, 0 all
	Segments int                   `json:"segments"`
	Rows     uint64                `json:"rows"`
	Bytes    int64                 `json:"bytes"`
	First    Moment                `json:"first"` // update
	Last     Moment                `json:"last"`
}

// Moment is a time in both forms that people use.
type Moment struct {
	Micros tailrace.Time `json:"micros"`
	Text   string        `json:"time"` // ISO 8601 in UTC, "-" for none, "end" for the frontier of what will not change again
}

func momentOf(t tailrace.Time) Moment {
	m := Moment{Micros: t}
	switch t {
	case 0:
		m.Text = "-"
	case tailrace.MaxTime:
		m.Text = "end"
	default:
		m.Text = time.UnixMicro(int64(t)).UTC().Format("2006-01-02T15:04:05.000000Z")
	}
	return m
}

// Damage is an object that is missing or not as it was written.
type Damage struct {
	Object string `json:"object"` // its key
	Error  string `json:"error"`
}

// Info reads a feed's whole redo log and reports what it has. Damaged segments are in the report; manifests and pages that cannot be read are an error, which wraps
// tailrace.ErrCorrupt and names the object.
func Info(ctx context.Context, blob tailrace.Blob, feed string) (*Report, error) {
	at := folder(feed)
	s, err := readState(ctx, blob, at)
	if err == nil && s.number == 0 {
		err = fmt.Errorf("the store has no redo log of it: %w", tailrace.ErrNotFound)
	}
	var all []segment
	if err == nil {
		all, err = s.all(ctx, blob, at)
	}
	if err != nil {
		return nil, fmt.Errorf("redo info of feed %s: %w", feed, err)
	}
	e := &examiner{spans: map[tailrace.CollectionID]*examined{}}
	for span, p := range s.spans {
		e.span(span).Frontier, e.span(span).Ordinal = momentOf(p.Time), p.Ordinal
	}
	r := &Report{Feed: feed, Epoch: s.epoch, Manifest: s.number, Segments: len(all), Damage: []Damage{}}
	if len(s.spans) > 0 {
		r.Frontier = momentOf(frontier(s.spans))
	} else {
		r.Frontier = momentOf(0)
	}
	for i := range all {
		key := at + segmentRoom + all[i].name
		err := e.read(ctx, blob, key, &all[i])
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			r.Damage = append(r.Damage, Damage{key, err.Error()})
		}
	}
	e.report(r)
	return r, nil
}

// examiner reads segments in order and adds up what they have.
type examiner struct {
	spans map[tailrace.CollectionID]*examined
}

// examined is what was found of a span; its cursor checks the order of its records.
type examined struct {
	Extent
	cursor      cursor
	first, last tailrace.Time
}

func (e *examiner) span(id tailrace.CollectionID) *examined {
	x := e.spans[id]
	if x == nil {
		x = &examined{Extent: Extent{Span: id}, cursor: cursor{span: id}}
		e.spans[id] = x
	}
	return x
}

// read checks one segment.
func (e *examiner) read(ctx context.Context, blob tailrace.Blob, key string, s *segment) error {
	for _, r := range s.regions {
		e.span(r.span).add(r)
	}
	raw, err := blob.Get(ctx, key, 0, -1)
	switch {
	case errors.Is(err, tailrace.ErrNotFound):
		return errors.New("the segment is missing")
	case err != nil:
		return err
	case int64(len(raw)) != s.size:
		return fmt.Errorf("the segment has %d bytes, not %d", len(raw), s.size)
	}
	if err := checkHead(raw); err != nil {
		return err
	}
	rest := raw[segmentHead:]
	for _, r := range s.regions {
		if err := e.span(r.span).read(r, rest[:r.length]); err != nil {
			return err
		}
		rest = rest[r.length:]
	}
	if crc32.Checksum(raw, castagnoli) != s.crc {
		return errors.New("checksum of the segment")
	}
	return nil
}

// add counts a region by what the manifest says of it.
func (x *examined) add(r region) {
	if x.Segments == 0 {
		x.first = r.first
	}
	x.last = r.last
	x.Segments++
	x.Rows += r.rows
	x.Bytes += int64(r.length)
}

// read checks a region record by record.
func (x *examined) read(r region, raw []byte) error {
	c := &x.cursor
	c.table, c.raw = nil, nil // each region tells the table anew
	rows := uint64(0)
	for len(raw) > 0 {
		var rec record
		var err error
		if rec, raw, err = readRecord(raw); err == nil {
			err = c.read(&rec)
		}
		if err != nil {
			return err
		}
		switch rec.kind {
		case Alter:
			c.setTable(c.alter.After, nil)
			c.last = c.time
		case Snapshot:
			rows, c.last = rows+uint64(c.rows.N), c.time
		case Changes:
			rows, c.last = rows+uint64(c.rows.N), c.rows.Times[c.rows.N-1]
		}
		if c.table != nil {
			x.Table = c.table.Schema + "." + c.table.Name
		}
	}
	if rows != r.rows {
		return fmt.Errorf("%d rows of span %d, the manifest says %d", rows, r.span, r.rows)
	}
	return nil
}

// report adds up the spans.
func (e *examiner) report(r *Report) {
	r.Spans = []Extent{}
	for _, x := range slices.SortedFunc(maps.Values(e.spans), func(a, b *examined) int { return cmp.Compare(a.Span, b.Span) }) {
		x.First, x.Last = momentOf(x.first), momentOf(x.last)
		r.Rows += x.Rows
		r.Bytes += x.Bytes
		r.Spans = append(r.Spans, x.Extent)
	}
}
