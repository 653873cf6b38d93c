package sql

import (
	"maps"
	"strconv"
	"strings"

	"tailrace/format"
	"tailrace/shard"
)

// values are a session's settings. A SET LOCAL lasts until the transaction ends; any other lasts unless the transaction is rolled back.
type values struct {
	initial map[string]string // what RESET goes back to, where it differs from the setting's own value
	session map[string]string
	local   map[string]string
	undo    map[string]string // session as it was when the transaction began, nil while it changed nothing
	dirty   bool              // something changed since the session last looked
}

func newValues() *values {
	return &values{initial: map[string]string{}, session: map[string]string{}, local: map[string]string{}}
}

// get is the value of the setting whose lower-case name is key; ok false when there is none.
func (v *values) get(key string) (string, bool) {
	for _, m := range []map[string]string{v.local, v.session, v.initial} {
		if x, ok := m[key]; ok {
			return x, true
		}
	}
	if st := settingsByName[key]; st != nil {
		return st.value, true
	}
	return "", false
}

// set changes a setting whose value was checked.
func (v *values) set(key, value string, local bool) {
	v.dirty = true
	if local {
		v.local[key] = value
		return
	}
	v.save()
	delete(v.local, key)
	v.session[key] = value
}

func (v *values) reset(key string) {
	v.dirty = true
	v.save()
	delete(v.local, key)
	delete(v.session, key)
}

func (v *values) save() {
	if v.undo == nil {
		v.undo = maps.Clone(v.session)
	}
}

// end is called when a transaction ends.
func (v *values) end(committed bool) {
	v.dirty = v.dirty || len(v.local) > 0
	if !committed && v.undo != nil {
		v.session, v.dirty = v.undo, true
	}
	v.undo = nil
	clear(v.local)
}

// restore goes back to what the settings were at a savepoint.
func (v *values) restore(session, local map[string]string) {
	if maps.Equal(v.session, session) && maps.Equal(v.local, local) {
		return
	}
	v.session, v.local, v.dirty = maps.Clone(session), maps.Clone(local), true
}

// format is how the settings make values print.
func (v *values) format() *format.Settings {
	f := *format.Default()
	get := func(key string) string { x, _ := v.get(key); return x }
	if loc, err := format.ParseTimeZone(get("timezone")); err == nil { // it was checked when it was set
		f.Location = loc
	}
	style, order, _ := strings.Cut(get("datestyle"), ", ")
	f.DateStyle, f.DateOrder = style, order
	f.IntervalStyle = get("intervalstyle")
	f.ByteaHex = get("bytea_output") == "hex"
	f.ExtraFloatDigits, _ = strconv.Atoi(get("extra_float_digits"))
	return &f
}

// writing is how the settings make rows be written: flush_workers, fsst_min_gain_percent, encoding_sample_values.
func (v *values) writing() shard.WriteOptions {
	get := func(key string) int {
		x, _ := v.get(key)
		n, _ := strconv.Atoi(x) // it was checked when it was set
		return n
	}
	o := shard.WriteOptions{Workers: get("flush_workers")}
	o.Stripe.SampleValues = get("encoding_sample_values")
	if o.Stripe.FSSTMinGainPercent = get("fsst_min_gain_percent"); o.Stripe.FSSTMinGainPercent == 0 {
		o.Stripe.FSSTMinGainPercent = -1 // any gain; 0 is the default
	}
	return o
}
