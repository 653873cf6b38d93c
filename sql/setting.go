package sql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tailrace"
	"tailrace/format"
	"tailrace/query"
)

// setting is a variable that SET knows.
type setting struct {
	name     string // as SHOW prints it
	value    string // at the start
	reported bool   // told to the client whenever it changes
	fixed    bool   // cannot be changed
	// check returns the value as it is kept, or an error.
	check func(value string) (string, error)
}

// settingList is every variable that SET knows, by name.
var settingList = allSettings()

// ownSettings are the variables that are more than a name to us, or that clients set as a matter of course.
var ownSettings = []setting{
	{name: "application_name", reported: true},
	{name: "block_size", value: "8192", fixed: true},
	{name: "bytea_output", value: "hex", check: oneOf("hex", "escape")},
	{name: "client_encoding", value: "UTF8", reported: true, check: encoding},
	{name: "client_min_messages", value: "notice", check: oneOf("debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error")},
	{name: "DateStyle", value: "ISO, MDY", reported: true},
	{name: "default_transaction_deferrable", value: "off", check: boolSetting},
	{name: "default_transaction_isolation", value: "strict serializable", check: isolation},
	{name: "default_transaction_read_only", value: "off", reported: true, check: boolSetting},
	{name: "encoding_sample_values", value: "64", check: number("encoding_sample_values", 8, 1024)},
	{name: "extra_float_digits", value: "1", check: number("extra_float_digits", -15, 3)},
	{name: "flush_workers", value: "0", check: number("flush_workers", 0, mostWorkers)},
	{name: "fsst_min_gain_percent", value: "5", check: number("fsst_min_gain_percent", 0, 100)},
	{name: "idle_in_transaction_session_timeout", value: "0", check: milliseconds},
	{name: "in_hot_standby", value: "off", reported: true, fixed: true},
	{name: "integer_datetimes", value: "on", reported: true, fixed: true},
	{name: "IntervalStyle", value: "postgres", reported: true, check: oneOf("postgres", "postgres_verbose", "sql_standard", "iso_8601")},
	{name: "is_superuser", value: "on", reported: true, fixed: true},
	{name: "lc_messages", value: "C"},
	{name: "lc_monetary", value: "C"},
	{name: "lc_numeric", value: "C"},
	{name: "lc_time", value: "C"},
	{name: "lock_timeout", value: "0", check: milliseconds},
	{name: "max_function_args", value: "100", fixed: true},
	{name: "max_identifier_length", value: "63", fixed: true},
	{name: "max_index_keys", value: "32", fixed: true},
	{name: "role", value: "none"},
	{name: "row_security", value: "on", check: boolSetting},
	{name: "search_path", value: `"$user", public`, check: pathSetting},
	{name: "server_encoding", value: "UTF8", reported: true, fixed: true},
	{name: "server_version", value: query.ServerVersion, reported: true, fixed: true},
	{name: "server_version_num", value: "150012", fixed: true},
	{name: "session_authorization", reported: true},
	{name: "standard_conforming_strings", value: "on", reported: true, check: mustBe("on")},
	{name: "statement_timeout", value: "0", check: milliseconds},
	{name: "subscribe_memory_bytes", fixed: true},
	{name: "subscribe_path", value: "auto", check: oneOf("auto", "storage", "dataflow")},
	{name: "subscribe_spill_bytes", fixed: true},
	{name: "synchronous_commit", value: "on", check: mustBe("on")},
	{name: "TimeZone", value: "UTC", reported: true, check: zone},
	{name: "transaction_isolation", value: "strict serializable", check: isolation},
	{name: "transaction_read_only", value: "off", check: boolSetting},
}

// mostWorkers is the highest flush_workers: more than any machine has cores.
const mostWorkers = 1024

var settingsByName = func() map[string]*setting {
	m := map[string]*setting{}
	for i := range settingList {
		m[strings.ToLower(settingList[i].name)] = &settingList[i]
	}
	return m
}()

func invalid(name, value string, hint string) error {
	return &tailrace.Error{Code: "22023", Message: fmt.Sprintf("invalid value for parameter \"%s\": \"%s\"", name, value), Hint: hint}
}

// errNoBool is boolSetting's answer to what is no Boolean.
const errNoBool = hint("Set it to on or off.")

// hint is the error of a setting's check: what may be given instead.
type hint string

func (h hint) Error() string { return string(h) }

func oneOf(values ...string) func(string) (string, error) {
	return func(v string) (string, error) {
		if slices.Contains(values, strings.ToLower(v)) {
			return strings.ToLower(v), nil
		}
		return "", hint(fmt.Sprintf("Available values: %s.", strings.Join(values, ", ")))
	}
}

func mustBe(value string) func(string) (string, error) {
	return func(v string) (string, error) {
		if b, ok := parseBool(v); ok && b == (value == "on") {
			return value, nil
		}
		return "", hint(fmt.Sprintf("The only value here is %s.", value))
	}
}

func parseBool(v string) (b, ok bool) {
	switch strings.ToLower(v) {
	case "on", "true", "yes", "1", "t", "y":
		return true, true
	case "off", "false", "no", "0", "f", "n":
		return false, true
	}
	return false, false
}

func boolSetting(v string) (string, error) {
	b, ok := parseBool(v)
	switch {
	case !ok:
		return "", errNoBool
	case b:
		return "on", nil
	}
	return "off", nil
}

func encoding(v string) (string, error) {
	switch strings.ToUpper(strings.NewReplacer("-", "", "_", "", "'", "").Replace(v)) {
	case "UTF8", "UNICODE", "AUTO":
		return "UTF8", nil
	}
	return "", hint("Only UTF8 is supported.")
}

func isolation(v string) (string, error) {
	switch v = strings.ToLower(v); v {
	case "serializable", "strict serializable":
		return v, nil
	case "repeatable read", "read committed", "read uncommitted":
		return "strict serializable", nil // stronger than what was asked for
	}
	return "", hint("Available values: serializable, strict serializable.")
}

func number(name string, lowest, highest int) func(string) (string, error) {
	return func(v string) (string, error) {
		n, err := strconv.Atoi(strings.TrimSpace(v))
		if err != nil {
			return "", hint(fmt.Sprintf("The value is a whole number from %d to %d.", lowest, highest))
		}
		if n < lowest || n > highest {
			return "", failure("22023", "%d is outside the valid range for parameter \"%s\" (%d .. %d)", n, name, lowest, highest)
		}
		return strconv.Itoa(n), nil
	}
}

// milliseconds keeps a duration as PostgreSQL prints it: with the largest unit that divides it.
func milliseconds(v string) (string, error) {
	d, err := parseDuration(v)
	if err != nil || d < 0 || d > 1<<31*time.Millisecond {
		return "", hint("Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".")
	}
	return printDuration(d), nil
}

func parseDuration(v string) (time.Duration, error) {
	v = strings.TrimSpace(v)
	n := 0
	for n < len(v) && (v[n] >= '0' && v[n] <= '9' || v[n] == '.' || v[n] == '-') {
		n++
	}
	f, err := strconv.ParseFloat(v[:n], 64)
	if err != nil {
		return 0, err
	}
	unit, ok := map[string]time.Duration{
		"": time.Millisecond, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}[strings.TrimSpace(v[n:])]
	if !ok {
		return 0, fmt.Errorf("unknown unit %q", v[n:])
	}
	return time.Duration(f * float64(unit)).Round(time.Millisecond), nil
}

func printDuration(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}} {
		if d%u.size == 0 {
			return fmt.Sprintf("%d%s", d/u.size, u.name)
		}
	}
	return fmt.Sprintf("%dms", d/time.Millisecond)
}

func zone(v string) (string, error) {
	loc, err := format.ParseTimeZone(v)
	if err != nil {
		return "", err
	}
	return loc.String(), nil
}

// dateStyle merges what SET DateStyle names into what was set: it may give the style, the order, or both.
func dateStyle(was, v string) (string, error) {
	style, order, _ := strings.Cut(was, ", ")
	if strings.EqualFold(v, "default") {
		return "ISO, MDY", nil
	}
	style, order, err := format.ParseDateStyle(v, style, order)
	if err != nil {
		return "", err
	}
	return style + ", " + order, nil
}
