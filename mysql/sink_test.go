package mysql_test

import (
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"tailrace"
	"tailrace/format"
	"tailrace/internal/mytest"
	"tailrace/internal/sim/conform"
	"tailrace/mysql"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

func openURL(url string) (tailrace.Sink, error) { return mysql.OpenSink(url, sinkOptions()) }

func openSink(t *testing.T, url string) tailrace.Sink {
	t.Helper()
	s, err := openURL(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// sinkTypes are all kinds with their extremes, and what the target cannot hold.
func sinkTypes() []conform.SinkType {
	values := func(v ...string) []string { return v }
	kind := func(k tailrace.Kind, held []string, refused ...string) conform.SinkType {
		return conform.SinkType{Type: tailrace.TypeOf(k), Values: held, Refused: refused}
	}
	mod := func(k tailrace.Kind, mod int32, held []string, refused ...string) conform.SinkType {
		return conform.SinkType{Type: tailrace.Type{Kind: k, Mod: mod}, Values: held, Refused: refused}
	}
	array := func(k tailrace.Kind, held ...string) conform.SinkType {
		return conform.SinkType{Type: tailrace.ArrayOf(tailrace.TypeOf(k)), Values: held}
	}
	return []conform.SinkType{
		kind(tailrace.KindBool, values("t", "f")),
		kind(tailrace.KindInt2, values("-32768", "32767")),
		kind(tailrace.KindInt4, values("-2147483648", "2147483647")),
		kind(tailrace.KindInt8, values("-9223372036854775808", "9223372036854775807")),
		kind(tailrace.KindFloat4, values("3.4028235e+38", "1.1754944e-38", "0.1", "16777217", "-2.5", "1e-45"), "NaN", "Infinity", "-Infinity"),
		kind(tailrace.KindFloat8, values("1.7976931348623157e+308", "2.2250738585072014e-308", "0.1", "-2.5", "5e-324"), "NaN", "Infinity", "-Infinity"),
		kind(tailrace.KindNumeric, values("1.0", "1.00", "0", "NaN", "Infinity", strings.Repeat("9", 200)+"."+strings.Repeat("1", 300))),
		mod(tailrace.KindNumeric, 12<<16|2+4, values("1234567890.12", "-0.01"), "NaN"),
		mod(tailrace.KindNumeric, 65<<16|30+4, values(strings.Repeat("9", 35)+"."+strings.Repeat("9", 30))),
		mod(tailrace.KindNumeric, 100<<16|50+4, values(strings.Repeat("9", 50)+"."+strings.Repeat("9", 50))),
		kind(tailrace.KindText, values("", "\\N", "NULL", `a"b\c'd`, "zażółć 🦊", "a\nb\tc\rd\x1a", "trailing  ", strings.Repeat("long ", 100_000))),
		mod(tailrace.KindVarchar, 9, values("", "żółty", "a    ")),
		mod(tailrace.KindVarchar, 50_004, values("", strings.Repeat("ż", 50_000))),
		mod(tailrace.KindChar, 9, values("", "ab", "abcde")),
		kind(tailrace.KindBytea, values(`\x`, `\x00ff5c27`)),
		kind(tailrace.KindDate, values("0001-01-01", "9999-12-31"), "0001-01-01 BC", "10000-01-01", "infinity", "-infinity"),
		kind(tailrace.KindTime, values("00:00:00", "24:00:00", "12:34:56.789012")),
		kind(tailrace.KindTimestamp, values("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"), "4713-01-01 00:00:00 BC", "294276-12-31 23:59:59", "infinity"),
		kind(tailrace.KindTimestamptz, values("0001-01-01 00:00:00+00", "9999-12-31 23:59:59.999999+00", "1960-02-03 04:05:06+00"), "0044-03-15 00:00:00+00 BC", "infinity", "-infinity"),
		kind(tailrace.KindInterval, values("178000000 years", "-1 mons +2 days -03:04:05.000006", "00:00:00")),
		kind(tailrace.KindUUID, values("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff")),
		kind(tailrace.KindJSON, values(`{"a": 1,  "a":2}`, `"x\u0000y"`)),
		kind(tailrace.KindJSONB, values(`{"a": [1, 2.50, null]}`, `"q\"\\"`)),
		kind(tailrace.KindOID, values("0", "4294967295")),
		kind(tailrace.KindName, values("a name")),
		{Type: tailrace.Type{Kind: tailrace.KindForeign, Mod: -1, Name: "inet"}, Values: values("10.0.0.1", "::1/64")},
		{Type: tailrace.Type{Kind: tailrace.KindEnum, Mod: -1, Name: "mood", ID: 9}, Values: values("sad", "it's")},
		array(tailrace.KindInt4, "{}", "{1,NULL,3}", "{{1,2},{3,4}}", "[0:1]={5,6}"),
		array(tailrace.KindText, `{"a,b","NULL",NULL,"q\"\\"}`),
	}
}

func TestSinkConforms(t *testing.T) {
	server := mytest.Start(t)
	conform.Sink(t, func(t *testing.T) conform.SinkUnder {
		return conform.SinkUnder{
			Open: func(t *testing.T) tailrace.Sink { return openSink(t, server.URL()) },
			Absent: func(t *testing.T) tailrace.Sink {
				return openSink(t, strings.Replace(server.URL(), "/shop", "/absent", 1))
			},
			Options: sinkOptions(),
			Exec:    func(t testing.TB, sql string) { server.Exec(t, sql) },
			Query:   server.Query,
			Kill: func(t *testing.T) {
				for _, r := range server.Query(t, "SELECT id FROM information_schema.processlist WHERE user = 'feed' AND id <> CONNECTION_ID()") {
					server.Exec(t, "KILL "+r[0])
				}
			},
			Types: sinkTypes(),
		}
	})
}

func faultOf(t *testing.T, what string, err error, want tailrace.SinkFault) *tailrace.SinkError {
	t.Helper()
	se := (*tailrace.SinkError)(nil)
	if !errors.As(err, &se) || se.Fault != want || se.Err.Hint == "" {
		t.Fatalf("%s: got %#v (%v), want a SinkError of fault %d with a hint", what, err, err, want)
	}
	return se
}

func TestWrongPasswordIsNotTold(t *testing.T) {
	url := strings.Replace(mytest.Shared(t).URL(), mytest.Password, "hunter2", 1)
	_, err := openSink(t, url).Prepare(t.Context(), "f", 1)
	se := faultOf(t, "wrong password", err, tailrace.SinkDown)
	if strings.Contains(se.Error()+se.Err.Hint+se.Err.Detail, "hunter2") {
		t.Errorf("the error tells the password: %v", se)
	}
	if _, err := mysql.OpenSink("mysql://u:hunter2@host:port/x", tailrace.SinkOptions{}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("an address that cannot be read: got %v, want an error without the password", err)
	}
	options := sinkOptions()
	options.Password = mytest.Password
	s, err := mysql.OpenSink(url, options)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Prepare(t.Context(), "f", 1); err != nil {
		t.Errorf("the password apart from the address: got %v, want it used", err)
	}
}
