package postgres_test

import (
	"strings"
	"testing"

	"tailrace"
	"tailrace/format"
	"tailrace/internal/pgtest"
	"tailrace/internal/sim/conform"
	"tailrace/postgres"
)

func sinkOptions() tailrace.SinkOptions {
	settings := format.Default()
	return tailrace.SinkOptions{
		Text: func(dst []byte, t tailrace.Type, c *tailrace.Column, i int) []byte {
			return format.AppendText(dst, t, c, i, settings)
		},
		Parse: func(c *tailrace.Column, t tailrace.Type, text string) error {
			return format.ParseText(c, t, text, settings)
		},
	}
}

func openSink(t *testing.T, url string) tailrace.Sink {
	t.Helper()
	s, err := postgres.OpenSink(url, sinkOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// sinkTypes are all kinds with their extremes: what is PostgreSQL's arrives in PostgreSQL.
func sinkTypes() []conform.SinkType {
	kind := func(k tailrace.Kind, values ...string) conform.SinkType {
		return conform.SinkType{Type: tailrace.TypeOf(k), Values: values}
	}
	mod := func(k tailrace.Kind, mod int32, values ...string) conform.SinkType {
		return conform.SinkType{Type: tailrace.Type{Kind: k, Mod: mod}, Values: values}
	}
	array := func(k tailrace.Kind, values ...string) conform.SinkType {
		return conform.SinkType{Type: tailrace.ArrayOf(tailrace.TypeOf(k)), Values: values}
	}
	return []conform.SinkType{
		kind(tailrace.KindBool, "t", "f"),
		kind(tailrace.KindInt2, "-32768", "32767"),
		kind(tailrace.KindInt4, "-2147483648", "2147483647"),
		kind(tailrace.KindInt8, "-9223372036854775808", "9223372036854775807"),
		kind(tailrace.KindFloat4, "3.4028235e+38", "1e-45", "0.1", "-0", "NaN", "Infinity", "-Infinity"),
		kind(tailrace.KindFloat8, "1.7976931348623157e+308", "5e-324", "0.1", "-0", "NaN", "Infinity", "-Infinity"),
		kind(tailrace.KindNumeric, "1.0", "1.00", "0", "NaN", "Infinity", "-Infinity", strings.Repeat("9", 200)+"."+strings.Repeat("1", 300)),
		mod(tailrace.KindNumeric, 12<<16|2+4, "1234567890.12", "-0.01"),
		kind(tailrace.KindText, "", "\\N", "{}", `a"b\c'd`, "zażółć 🦊", "a\nb\tc\rd", strings.Repeat("long ", 100_000)),
		mod(tailrace.KindVarchar, 9, "", "żółty"),
		mod(tailrace.KindChar, 9, "", "ab", "abcde"),
		kind(tailrace.KindBytea, `\x`, `\x00ff5c27`),
		kind(tailrace.KindDate, "4713-01-01 BC", "5874897-12-31", "infinity", "-infinity"),
		kind(tailrace.KindTime, "00:00:00", "24:00:00", "12:34:56.789012"),
		kind(tailrace.KindTimestamp, "4713-01-01 00:00:00 BC", "294276-12-31 23:59:59.999999", "infinity", "-infinity"),
		kind(tailrace.KindTimestamptz, "4713-01-01 00:00:00+00 BC", "294276-12-31 23:59:59.999999+00", "infinity", "-infinity"),
		kind(tailrace.KindInterval, "178000000 years", "-1 mons +2 days -03:04:05.000006", "00:00:00"),
		kind(tailrace.KindUUID, "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
		kind(tailrace.KindJSON, `{"a": 1,  "a":2}`, `"x\u0000y"`),
		kind(tailrace.KindJSONB, `{"a": [1, 2.50, null]}`, `"q\"\\"`),
		kind(tailrace.KindOID, "0", "4294967295"),
		kind(tailrace.KindName, "a name"),
		{Type: tailrace.Type{Kind: tailrace.KindForeign, Mod: -1, Name: "inet"}, Values: []string{"10.0.0.1", "::1/64"}},
		{Type: tailrace.Type{Kind: tailrace.KindForeign, Mod: -1, Name: "shop.widget"}, Values: []string{"(1,2)"}},
		{Type: tailrace.Type{Kind: tailrace.KindEnum, Mod: -1, Name: "mood", ID: 9}, Values: []string{"sad", "it's"}},
		array(tailrace.KindInt4, "{}", "{1,NULL,3}", "{{1,2},{3,4}}", "[0:1]={5,6}"),
		array(tailrace.KindText, `{"a,b","NULL",NULL,"q\"\\"}`),
		array(tailrace.KindNumeric, "{1.0,1.00,NaN}"),
		array(tailrace.KindTimestamptz, `{"2020-01-01 00:00:00+00"}`),
	}
}

func TestSinkConforms(t *testing.T) {
	server := pgtest.Start(t)
	conform.Sink(t, func(t *testing.T) conform.SinkUnder {
		return conform.SinkUnder{
			Open:    func(t *testing.T) tailrace.Sink { return openSink(t, server.URL()) },
			Absent:  func(t *testing.T) tailrace.Sink { return openSink(t, server.URLOf("absent")) },
			Options: sinkOptions(),
			Exec:    func(t testing.TB, sql string) { server.Exec(t, sql) },
			Query:   server.Query,
			Kill: func(t *testing.T) {
				server.Exec(t, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
			},
			Types: sinkTypes(),
		}
	})
}
