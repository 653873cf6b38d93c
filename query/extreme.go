package query

import (
	"bytes"

	"tailrace"
	"tailrace/duckdb"
)

// extreme is the state of min and max over values that may be equal and still print differently: 1.0 and 1.00, '1 mon' and '30 days', 0
// and -0. Of those PostgreSQL keeps the last one seen, of character(n) the first.
type extreme struct {
	kind    kind
	max     bool
	any     bool
	raw     []byte
	key     []byte
	spare   []byte
	scratch tailrace.Column
}

func (s *extreme) Add(args []*duckdb.Vector, i int) error {
	if args[0].IsNull(i) {
		return nil
	}
	if w := width(s.kind); w > 0 {
		s.take(args[0].Fixed(w, i+1)[i*w:])
		return nil
	}
	s.take(args[0].Bytes(i))
	return nil
}

func (s *extreme) take(raw []byte) {
	if s.scratch.Data == nil {
		s.scratch = tailrace.MakeColumn(s.kind, 1)
	}
	s.scratch.Reset()
	s.scratch.Append(raw)
	s.spare = tailrace.AppendKey(s.spare[:0], tailrace.TypeOf(s.kind), &s.scratch, 0)
	c := bytes.Compare(s.spare, s.key)
	if s.max {
		c = -c
	}
	if s.any && (c > 0 || c == 0 && s.kind == kChar) {
		return
	}
	s.any = true
	s.raw = append(s.raw[:0], raw...)
	s.key, s.spare = s.spare, s.key
}

func (s *extreme) Merge(other duckdb.State) error {
	if o := other.(*extreme); o.any {
		s.take(o.raw)
	}
	return nil
}

func (s *extreme) Result(out *duckdb.Vector, i int) error {
	switch w := width(s.kind); {
	case !s.any:
		out.SetNull(i)
	case w > 0:
		copy(out.Fixed(w, i+1)[i*w:], s.raw)
	default:
		out.SetBytes(i, s.raw)
	}
	return nil
}
