package query

import (
	"strings"

	"tailrace"
	"tailrace/duckdb"
)

// byValue is an aggregate's state that takes values one by one, as stored bytes.
type byValue interface {
	duckdb.State
	take(raw []byte) error
}

// distinctValues hands each value on once: DuckDB's own DISTINCT compares bytes, and equal numerics and intervals may have different ones.
type distinctValues struct {
	kind    kind
	inner   byValue
	seen    map[string]bool
	order   [][]byte // the first of equal ones, as they came
	scratch tailrace.Column
	key     []byte
}

func (d *distinctValues) Add(args []*duckdb.Vector, i int) error {
	if !args[0].IsNull(i) {
		d.note(args[0].Bytes(i))
	}
	return nil
}

func (d *distinctValues) note(raw []byte) {
	if d.seen == nil {
		d.seen, d.scratch = map[string]bool{}, tailrace.MakeColumn(d.kind, 1)
	}
	d.scratch.Reset()
	d.scratch.Append(raw)
	d.key = tailrace.AppendKey(d.key[:0], tailrace.TypeOf(d.kind), &d.scratch, 0)
	if !d.seen[string(d.key)] {
		d.seen[string(d.key)] = true
		d.order = append(d.order, append([]byte(nil), raw...))
	}
}

func (d *distinctValues) Merge(other duckdb.State) error {
	for _, raw := range other.(*distinctValues).order {
		d.note(raw)
	}
	return nil
}

func (d *distinctValues) Result(out *duckdb.Vector, i int) error {
	for _, raw := range d.order {
		if err := d.inner.take(raw); err != nil {
			return err
		}
	}
	return d.inner.Result(out, i)
}

// distinctly is an aggregate's SQL that counts equal values once; ok is false when there is none.
func distinctly(sql string, k kind) (string, bool) {
	old := "_" + kindNames[k] + "("
	if k != kNumeric && k != kInterval || strings.Count(sql, old) != 1 {
		return "", false
	}
	return strings.Replace(sql, old, "_distinct"+old, 1), true
}

// distinctAggregates are the Go aggregates of numerics and intervals, over distinct values.
func distinctAggregates() []*duckdb.Aggregate {
	var out []*duckdb.Aggregate
	add := func(name string, k kind, inner func() byValue) {
		out = append(out, &duckdb.Aggregate{
			Name: name + "_distinct_" + kindNames[k], Params: []duckdb.Type{duckdb.Blob}, Returns: duckdb.Blob,
			New: func() duckdb.State { return &distinctValues{kind: k, inner: inner()} },
		})
	}
	for want, name := range map[statistic]string{
		wantSum: "tr_sum", wantAvg: "tr_avg", wantVarSamp: "tr_var_samp", wantVarPop: "tr_var_pop", wantDevSamp: "tr_stddev_samp", wantDevPop: "tr_stddev_pop",
	} {
		add(name, kNumeric, func() byValue { return &numericStats{want: want} })
	}
	add("tr_sum", kInterval, func() byValue { return &intervalSum{} })
	add("tr_avg", kInterval, func() byValue { return &intervalSum{avg: true} })
	return out
}
