package feedsim

import (
	"time"

	"tailrace"
	"tailrace/schedule"
)

// origin is added to times, which begin before 0.
const origin = 1_000_000_000

// ours is C: package schedule.
type ours struct {
	f       *feed
	s       *schedule.Scheduler
	idle    int
	held    [][]piece // by table: rows read for the target that wait for the redo log
	queued  bool
	scans   int64
	refused int64
	decoded int64
	inside  int64        // bytes in memory, whatever the scheduler thinks
	alone   map[int]bool // ends of slices that the redo log read alone
}

type piece struct{ from, to int }

func newOurs(f *feed) *ours {
	o := &ours{f: f, idle: scanners, held: make([][]piece, len(f.states)), alone: map[int]bool{}}
	o.s = schedule.New(schedule.Config{Pool: int64(f.PoolMiB) << 20, Redo: true, Batch: 256 << 10})
	for n := range f.states {
		at := schedule.Position{Time: tailrace.Time(origin - (backlog + time.Second).Microseconds())}
		o.s.Add(0, span(n), [2]schedule.Position{at, at})
	}
	return o
}

func span(table int) schedule.SpanID { return schedule.SpanID(table + 1) }

func (o *ours) resolve() {
	for n, s := range o.f.states {
		had := s.redoSent
		if s.sent < had {
			had = s.sent
		}
		o.s.Readable(o.f.now, span(n), tailrace.Time(origin+s.resolved), s.received > had)
	}
	o.dispatch()
}

// dispatch gives slices to idle workers.
func (o *ours) dispatch() {
	for o.idle > 0 {
		o.s.Unflushed(o.f.now, schedule.Redo, o.f.redo.bytes)
		sl, ok := o.s.Next(o.f.now)
		if !ok {
			break
		}
		o.scan(sl)
	}
	if o.f.Broken == "refused" { // who is refused is in line no more
		for n := range o.f.states {
			if st, ok := o.s.Span(span(n)); ok && st.Why == schedule.NoCredit {
				o.s.Pause(o.f.now, span(n), true)
			}
		}
	}
	if _, redo := o.s.Flush(o.f.now); redo && o.f.Broken != "flush" {
		o.refused++
		o.f.redo.flush()
	}
	if at, ok := o.s.Wake(o.f.now); ok && !o.queued {
		o.queued = true
		o.f.after(at-o.f.now, func() { o.queued = false; o.dispatch() })
	}
}

// scan reads a slice.
func (o *ours) scan(sl schedule.Slice) {
	o.idle--
	o.scans++
	table := int(sl.Span) - 1
	r := o.f.w.tables[table]
	from, end := r.upTo(int64(sl.From.Time)-origin), r.upTo(int64(sl.End)-origin)
	if sl.Bytes < r.size && !sl.Large && end > from {
		o.f.after(scanCall, func() {
			o.idle++
			o.s.TooLarge(o.f.now, sl)
			o.dispatch()
		})
		return
	}
	n := min(end-from, max(1, int(sl.Bytes/r.size)), sl.Rows)
	to, more := schedule.Position{Time: sl.End}, n < end-from
	if more {
		to = schedule.Position{Time: tailrace.Time(origin + r.at[from+n-1])}
	}
	used := int64(n) * r.size
	o.decoded += used
	o.f.after(scanCall+time.Duration(n)*scanRow, func() {
		o.idle++
		o.s.Finish(o.f.now, sl, used, to, more)
		s := o.f.states[table]
		if sl.Redo && n > 0 {
			s.redoSent = from + n
			if !sl.Normal {
				o.alone[table<<32|s.redoSent] = true
				o.inside += used
			}
			o.f.redo.add(redoPiece{table: table, bytes: used, end: from + n, to: int64(to.Time)})
		}
		if sl.Normal && n > 0 {
			o.inside += used
			o.held[table] = append(o.held[table], piece{from, from + n})
			o.release(table)
		}
		o.dispatch()
	})
}

// release sends what the redo log has.
func (o *ours) release(table int) {
	s := o.f.states[table]
	for len(o.held[table]) > 0 && o.held[table][0].to <= s.redone {
		p := o.held[table][0]
		o.held[table] = o.held[table][1:]
		s.sent = p.to
		if o.f.Broken == "credit" { // memory comes back when rows are handed on
			o.s.Acked(o.f.now, span(table), schedule.Normal, int64(p.to-p.from)*o.f.w.tables[table].size, schedule.Position{})
		}
		s.flying = append(s.flying, o.f.target.deliver(table, p.from, p.to))
	}
}

func (o *ours) redone(p redoPiece) {
	if key := p.table<<32 | p.end; o.alone[key] {
		delete(o.alone, key)
		o.inside -= p.bytes
	}
	o.s.Acked(o.f.now, span(p.table), schedule.Redo, p.bytes, schedule.Position{Time: tailrace.Time(p.to)})
	o.release(p.table)
	o.dispatch()
}

func (o *ours) applied(d *delivery, rows int) {
	bytes := int64(rows) * o.f.w.tables[d.table].size
	o.inside -= bytes
	if o.f.Broken != "credit" {
		o.s.Acked(o.f.now, span(d.table), schedule.Normal, bytes, schedule.Position{})
	}
	o.dispatch()
}

func (o *ours) resident() int64 {
	resident, granted, _ := o.s.Pool()
	return max(o.inside, resident+granted)
}

func (o *ours) counts() (scans, refused, decoded int64) { return o.scans, o.refused, o.decoded }
