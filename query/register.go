package query

import (
	"errors"
	"slices"

	"tailrace"
	"tailrace/duckdb"
	"tailrace/format"
)

// register makes all Go functions known to the database.
func (e *Engine) register() error {
	for _, table := range [][]entry{mathEntries, floatEntries, numericEntries, exactEntries, textEntries, timeEntries, jsonEntries, splitEntries, jsonbEntries, jsonMakers, sessionEntries, regEntries} {
		for _, it := range table {
			if it.impl == nil {
				continue
			}
			if err := e.scalar(it.engineName(), kindsOf(it.args), kindsOf(it.ret)[0], it); err != nil {
				return err
			}
		}
	}
	for _, table := range [][]entry{checkEntries, numericCasts, timeCasts, jsonCasts, oidCasts} {
		for _, it := range table {
			if err := e.scalar(it.name, kindsOf(it.args), kindsOf(it.ret)[0], it); err != nil {
				return err
			}
		}
	}
	if err := e.scalar("tr_float8_float4", []kind{kFloat8}, kFloat4, entry{impl: narrow}); err != nil {
		return err
	}
	for k := range engineTypes {
		if k == kUnknown || k == kForeign || k == kArray || k == kEnum {
			continue
		}
		if err := e.conversions(k); err != nil {
			return err
		}
	}
	for _, table := range [][]entry{arrayEntries, arrayFunctions, subscriptEntries, arrayTexts, quantifiers, domainEntries, arrayConversions(), jsonbImplementations} {
		for _, it := range table {
			if err := e.scalar(it.name, kindsOf(it.args), kindsOf(it.ret)[0], it); err != nil {
				return err
			}
		}
	}
	return e.registerAggregates()
}

// narrow is double precision to real.
func narrow(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
	r, err := compute('*', f64(a[0]), 1, func(v float64) float64 { return float64(float32(v)) })
	return putF32(dst, float32(r)), err
}

// conversions registers, for kind k:
//
//	tr_in_k(run, text, mod, position)   the input function and a cast from text
//	tr_out_k(run, value)             the output function
//	tr_mod_k(value, mod, explicit)   length, precision and scale
//	tr_key_k(value)                  bytes that compare as the values do
func (e *Engine) conversions(k kind) error {
	name, t := kindNames[k], tailrace.TypeOf(k)
	in := entry{env: true, impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		c := f.empty(k)
		want := tailrace.Type{Kind: k, Mod: i32(a[1])}
		cut := want.Mod >= 0 && (k == kVarchar || k == kChar)
		if cut {
			want.Mod = -1
		}
		if err := format.ParseText(c, want, string(a[0]), f.settings()); err != nil {
			return nil, positioned(err, i32(a[2]))
		}
		if !cut {
			return append(dst, c.Bytes(0)...), nil
		}
		return applyMod(dst, tailrace.Type{Kind: k, Mod: i32(a[1])}, c.Bytes(0), true)
	}}
	if err := e.scalar("tr_in_"+name, []kind{kText, kInt4, kInt4}, k, in); err != nil {
		return err
	}
	out := entry{env: true, impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		return format.AppendText(dst, t, f.column(k, a[0]), 0, f.settings()), nil
	}}
	if err := e.scalar("tr_out_"+name, []kind{k}, kText, out); err != nil {
		return err
	}
	switch k {
	case kVarchar, kChar, kNumeric, kTime, kStamp, kStampTZ, kInterval:
		mod := entry{impl: func(_ *frame, dst []byte, a [][]byte) ([]byte, error) {
			return applyMod(dst, tailrace.Type{Kind: k, Mod: i32(a[1])}, a[0], a[2][0] != 0)
		}}
		if err := e.scalar("tr_mod_"+name, []kind{k, kInt4, kBool}, k, mod); err != nil {
			return err
		}
	}
	if keyNames[k] == "" {
		return nil
	}
	key := entry{impl: func(f *frame, dst []byte, a [][]byte) ([]byte, error) {
		return tailrace.AppendKey(dst, t, f.column(k, a[0]), 0), nil
	}}
	if k == kJSONB {
		key.impl = jsonbKey
	}
	return e.scalar("tr_key_"+name, []kind{k}, kBytea, key)
}

// positioned says where in the statement a literal that cannot be read stands; position 0 is a value's.
func positioned(err error, position int32) error {
	var e *tailrace.Error
	if position > 0 && errors.As(err, &e) {
		c := *e
		c.Position = int(position)
		return &c
	}
	return err
}

func applyMod(dst []byte, t tailrace.Type, raw []byte, explicit bool) ([]byte, error) {
	c := tailrace.MakeColumn(t.Kind, 1)
	if err := format.ApplyMod(&c, t, raw, explicit); err != nil {
		return nil, err
	}
	return append(dst, c.Bytes(0)...), nil
}

// registerAggregates registers the Go aggregates that the catalog names.
func (e *Engine) registerAggregates() error {
	list := []*duckdb.Aggregate{
		{Name: "tr_sum_float4", Params: []duckdb.Type{duckdb.Float}, Returns: duckdb.Float, New: func() duckdb.State { return &realSum{} }},
		{Name: "tr_sum_float8", Params: []duckdb.Type{duckdb.Double}, Returns: duckdb.Double, New: func() duckdb.State { return &floatStats{want: wantSum} }},
		{Name: "tr_avg_float8", Params: []duckdb.Type{duckdb.Double}, Returns: duckdb.Double, New: func() duckdb.State { return &floatStats{want: wantAvg} }},
		{Name: "tr_sum_numeric", Params: []duckdb.Type{duckdb.Blob}, Returns: duckdb.Blob, New: func() duckdb.State { return &numericStats{want: wantSum} }},
		{Name: "tr_avg_numeric", Params: []duckdb.Type{duckdb.Blob}, Returns: duckdb.Blob, New: func() duckdb.State { return &numericStats{want: wantAvg} }},
		{Name: "tr_sum_interval", Params: []duckdb.Type{duckdb.Blob}, Returns: duckdb.Blob, New: func() duckdb.State { return &intervalSum{} }},
		{Name: "tr_avg_interval", Params: []duckdb.Type{duckdb.Blob}, Returns: duckdb.Blob, New: func() duckdb.State { return &intervalSum{avg: true} }},
	}
	for want, name := range map[statistic]string{wantVarSamp: "var_samp", wantVarPop: "var_pop", wantDevSamp: "stddev_samp", wantDevPop: "stddev_pop"} {
		list = append(
			list,
			&duckdb.Aggregate{Name: "tr_" + name + "_float8", Params: []duckdb.Type{duckdb.Double}, Returns: duckdb.Double, New: func() duckdb.State { return &floatStats{want: want} }},
			&duckdb.Aggregate{Name: "tr_" + name + "_numeric", Params: []duckdb.Type{duckdb.Blob}, Returns: duckdb.Blob, New: func() duckdb.State { return &numericStats{want: want} }},
		)
	}
	for _, k := range []kind{kNumeric, kChar, kInterval, kFloat4, kFloat8} {
		for _, max := range []bool{false, true} {
			name := "tr_min_"
			if max {
				name = "tr_max_"
			}
			t := engineType(k)
			list = append(list, &duckdb.Aggregate{
				Name: name + kindNames[k], Params: []duckdb.Type{t}, Returns: t, New: func() duckdb.State { return &extreme{kind: k, max: max} },
			})
		}
	}
	list = slices.Concat(list, pairAggregates(), modeAggregates(), distinctAggregates())
	for _, a := range list {
		if err := e.db.RegisterAggregate(a); err != nil {
			return err
		}
	}
	return nil
}
