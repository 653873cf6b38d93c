package query

import (
	"strings"

	"tailrace"
	"tailrace/duckdb"
)

// modeKinds are the kinds that mode() takes.
var modeKinds = []kind{
	kBool, kInt2, kInt4, kInt8, kFloat4, kFloat8, kNumeric, kText, kVarchar, kChar, kBytea, kDate, kTime, kStamp, kStampTZ, kInterval, kUUID,
}

// mode is the state of mode(): how often each value came.
type mode struct {
	kind    kind
	desc    bool
	seen    map[string]*modeValue // by key
	scratch tailrace.Column
	key     []byte
}

type modeValue struct {
	n   int64
	raw []byte // the first of equal ones
}

func (m *mode) Add(args []*duckdb.Vector, i int) error {
	if args[0].IsNull(i) {
		return nil
	}
	raw := rawOf(args[0], m.kind, i)
	if m.scratch.Data == nil {
		m.scratch = tailrace.MakeColumn(m.kind, 1)
	}
	m.scratch.Reset()
	m.scratch.Append(raw)
	m.key = tailrace.AppendKey(m.key[:0], tailrace.TypeOf(m.kind), &m.scratch, 0)
	m.count(string(m.key), raw, 1)
	return nil
}

// rawOf are the stored bytes of row i of a vector.
func rawOf(v *duckdb.Vector, k kind, i int) []byte {
	if w := width(k); w > 0 {
		return v.Fixed(w, i+1)[i*w:]
	}
	return v.Bytes(i)
}

func (m *mode) count(key string, raw []byte, n int64) {
	if m.seen == nil {
		m.seen = map[string]*modeValue{}
	}
	v := m.seen[key]
	if v == nil {
		v = &modeValue{raw: append([]byte(nil), raw...)}
		m.seen[key] = v
	}
	v.n += n
}

func (m *mode) Merge(other duckdb.State) error {
	for key, v := range other.(*mode).seen {
		m.count(key, v.raw, v.n)
	}
	return nil
}

func (m *mode) Result(out *duckdb.Vector, i int) error {
	best := ""
	for key, v := range m.seen {
		order := strings.Compare(key, best)
		if m.desc {
			order = -order
		}
		if b := m.seen[best]; b == nil || v.n > b.n || v.n == b.n && order < 0 {
			best = key
		}
	}
	b := m.seen[best]
	if b == nil {
		out.SetNull(i)
		return nil
	}
	if w := width(m.kind); w > 0 {
		copy(out.Fixed(w, i+1)[i*w:], b.raw)
	} else {
		out.SetBytes(i, b.raw)
	}
	return nil
}

// modeAggregates are mode() for each kind, with the smallest or the largest of equally frequent values.
func modeAggregates() []*duckdb.Aggregate {
	var out []*duckdb.Aggregate
	for _, k := range modeKinds {
		for _, desc := range []bool{false, true} {
			name := "tr_mode_"
			if desc {
				name = "tr_mode_desc_"
			}
			t := engineType(k)
			out = append(out, &duckdb.Aggregate{
				Name: name + kindNames[k], Params: []duckdb.Type{t}, Returns: t, New: func() duckdb.State { return &mode{kind: k, desc: desc} },
			})
		}
	}
	return out
}
