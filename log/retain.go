package log

import (
	"slices"
	"time"

	"tailrace"
)

// RetainBytes and RetainAge bound what stays of the log below a checkpoint, to refill the windows of readers after a restart: what is
// within both.
const (
	RetainBytes = 64 << 20
	RetainAge   = 30 * time.Second
)

// A mark is set at most this often: enough to cut the log where RetainBytes and RetainAge say, and few.
const (
	markBytes = 1 << 20
	markAge   = time.Second
)

// mark is an entry at which the log may be cut.
type mark struct {
	seq    tailrace.SeqNo
	time   tailrace.Time
	before int64 // bytes in the log before the entry, counted from the first mark
}

// marks are where the log may be cut, oldest first.
type marks struct {
	list  []mark
	bytes int64 // applied since the first mark
}

func (m *marks) add(e *Entry) {
	if n := len(m.list); n == 0 || m.bytes-m.list[n-1].before >= markBytes || e.Time >= m.list[n-1].time+micros(markAge) {
		m.list = append(m.list, mark{e.Seq, e.Time, m.bytes})
	}
	m.bytes += int64(entryHeader)
	for i := range e.Txns {
		m.bytes += int64(recordsSize(e.Txns[i].Records))
	}
}

// cut returns the entry below which the log may go, given a checkpoint, and forgets the marks before it. 0 is none: what is older than
// the first mark is of unknown size, so it stays until marks alone reach far enough back.
func (m *marks) cut(c *Checkpoint) tailrace.SeqNo {
	last := -1
	for i := range m.list {
		if m.list[i].seq <= c.Seq {
			last = i
		}
	}
	if last < 0 {
		return 0
	}
	end := m.bytes
	if last+1 < len(m.list) {
		end = m.list[last+1].before
	}
	first := slices.IndexFunc(m.list[:last+1], func(k mark) bool {
		return end-k.before <= RetainBytes && k.time+micros(RetainAge) >= c.Time
	})
	if first < 0 {
		first = last
	}
	if first == 0 {
		return 0
	}
	m.list = slices.Delete(m.list, 0, first)
	return m.list[0].seq
}
