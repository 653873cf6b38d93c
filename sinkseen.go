package tailrace

import (
	"strings"
	"sync"
)

// SinkOptions are what an adapter of Sink is given besides the target's address.
type SinkOptions struct {
	// Password, if not empty, is used in place of the address's.
	Password string
	// Text appends row i of c, which is not NULL, as PostgreSQL prints it. It is format.AppendText with format.Default().
	Text func(dst []byte, t Type, c *Column, i int) []byte
	// Parse appends the value that text is in type t to c. It is format.ParseText with format.Default().
	Parse func(c *Column, t Type, text string) error
}

// KeyText is the key of a step's row as people read it: id=7; of a table without a key all its columns. It is cut to 200 bytes.
func (o *SinkOptions) KeyText(step *SinkStep, row int) string {
	schema := step.Target.Table.Columns
	var parts []string
	for _, i := range schema.SortOrder() {
		if len(schema.Key) > 0 && !schema.InKey(i) {
			break
		}
		text := "NULL"
		if col := &step.Rows.Cols[i]; !col.IsNull(row) {
			text = string(o.Text(nil, schema.Fields[i].Type, col, row))
		}
		parts = append(parts, schema.Fields[i].Name+"="+text)
	}
	out := strings.Join(parts, ", ")
	return strings.ToValidUTF8(out[:min(len(out), 200)], "")
}

// SinkSeen is what an adapter last knew of the target's progress. A transaction moves the progress of a lane from what was seen, and from nothing else; so one
// that is sent again, because its outcome was unknown, cannot be applied a second time. All methods may be called by any goroutine.
type SinkSeen struct {
	mu    sync.Mutex
	lanes map[sinkLane]SinkProgress
}

type sinkLane struct {
	span CollectionID
	lane int
}

// Reset replaces what was seen with all that the target has.
func (s *SinkSeen) Reset(all []SinkProgress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lanes = map[sinkLane]SinkProgress{}
	for _, p := range all {
		s.lanes[sinkLane{p.Span, p.Lane}] = p
	}
}

// Last is what was seen of the lane that p moves; ok is false when the target has no progress of it.
func (s *SinkSeen) Last(p SinkProgress) (last SinkProgress, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok = s.lanes[sinkLane{p.Span, p.Lane}]
	return last, ok
}

// Moved records progress that the target has committed.
func (s *SinkSeen) Moved(progress []SinkProgress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lanes == nil {
		s.lanes = map[sinkLane]SinkProgress{}
	}
	for _, p := range progress {
		s.lanes[sinkLane{p.Span, p.Lane}] = p
	}
}
