package pgwire_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// metric reads one value from /metrics.
func (r running) metric(t *testing.T, name string) float64 {
	t.Helper()
	resp, err := http.Get("http://" + r.http + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?m)^" + regexp.QuoteMeta(name) + " (.*)$").FindSubmatch(body)
	if m == nil {
		t.Fatalf("no metric %s in\n%s", name, body)
	}
	v, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// becomes waits until a metric has a value; the server tells nothing of its own when it does.
func (r running) becomes(t *testing.T, name string, want float64) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		got := r.metric(t, name)
		if got == want {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s: got %g, want %g", name, got, want)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (w *wire) query(text string) []string {
	w.t.Helper()
	w.front.Send(&pgproto3.Query{String: text})
	w.flush()
	return w.untilReady()
}

func TestStartupTellsWhatDriversNeed(t *testing.T) {
	r := startServer(t)
	w := dial(t, r.addr)
	got := strings.Join(w.startup("user", "anybody", "application_name", "test"), "\n")
	for _, want := range []string{
		`ParameterStatus server_version "15`, `ParameterStatus client_encoding "UTF8"`, `ParameterStatus DateStyle "ISO, MDY"`,
		`ParameterStatus integer_datetimes "on"`, `ParameterStatus standard_conforming_strings "on"`, `ParameterStatus TimeZone "`, "BackendKeyData",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("startup: got\n%s\nwant it to contain %s", got, want)
		}
	}
}

func TestEncryptionIsDeclinedAndTheConnectionGoesOn(t *testing.T) {
	r := startServer(t)
	w := dial(t, r.addr)
	for _, code := range []uint32{80877103, 80877104} { // SSL, GSS
		if _, err := w.nc.Write(packet(code, "")); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 1)
		if _, err := io.ReadFull(w.nc, answer); err != nil || answer[0] != 'N' {
			t.Fatalf("request %d: got %q, %v, want N", code, answer, err)
		}
	}
	w.startup("user", "anybody")
	if got := w.query("SELECT 1 AS a"); got[1] != `DataRow "1"` {
		t.Errorf("after the requests: got %q", got)
	}
}

func TestUnknownDatabaseIsRefused(t *testing.T) {
	r := startServer(t)
	w := dial(t, r.addr)
	w.front.Send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "u", "database": "nosuch"}})
	w.flush()
	got := w.until("ErrorResponse")
	if want := `ErrorResponse FATAL 3D000 "database \"nosuch\" does not exist"`; got[len(got)-1] != want {
		t.Errorf("got %q, want %q", got[len(got)-1], want)
	}
}

func TestInvalidUTF8IsReported(t *testing.T) {
	r := startServer(t)
	w := dial(t, r.addr)
	w.startup("user", "u")
	if got, want := w.query("SELECT 'a\xff'")[0], `ErrorResponse ERROR 22021 "invalid byte sequence for encoding \"UTF8\": 0xff"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHundredsOfIdleConnections(t *testing.T) {
	r := startServer(t)
	const n = 300
	conns := make([]*wire, n)
	for i := range conns {
		conns[i] = dial(t, r.addr)
		conns[i].startup("user", "u"+strconv.Itoa(i))
	}
	r.becomes(t, "tailrace_sessions", n)
	for i, w := range conns {
		if got := w.query(fmt.Sprintf("SELECT %d AS a", i)); got[1] != fmt.Sprintf(`DataRow "%d"`, i) {
			t.Fatalf("connection %d: got %q", i, got)
		}
	}
	for _, w := range conns {
		w.nc.Close()
	}
	r.becomes(t, "tailrace_sessions", 0)
}

func TestSubscriberThatLeavesIsNoticed(t *testing.T) {
	r := startServer(t)
	admin := dial(t, r.addr)
	admin.startup("user", "u")
	admin.query("CREATE TABLE t (a int)")
	w := dial(t, r.addr)
	w.startup("user", "u")
	w.front.Send(&pgproto3.Query{String: "COPY (SUBSCRIBE t) TO STDOUT"})
	w.flush()
	w.until("CopyOutResponse")
	r.becomes(t, `tailrace_subscriptions{state="live"}`, 1)
	w.nc.Close()
	r.becomes(t, `tailrace_subscriptions{state="live"}`, 0)
	r.becomes(t, "tailrace_sessions", 1)
}

func TestClientThatDoesNotReadStopsNobody(t *testing.T) {
	r := startServer(t)
	w := dial(t, r.addr)
	w.startup("user", "u")
	w.query("CREATE TABLE wide (a int, b text); INSERT INTO wide SELECT g, repeat('x', 1000) FROM generate_series(1, 20000) g")
	stalled := dial(t, r.addr)
	stalled.startup("user", "u")
	stalled.front.Send(&pgproto3.Query{String: "SELECT * FROM wide"})
	stalled.flush()
	for i := range 20 {
		if got := w.query(fmt.Sprintf("INSERT INTO wide VALUES (%d, 'y')", i)); got[0] != "CommandComplete INSERT 0 1" {
			t.Fatalf("insert %d: got %q", i, got)
		}
	}
	if got := stalled.untilReady(); len(got) != 20003 {
		t.Errorf("the stalled client: got %d messages, want its 20000 rows and 3 more", len(got))
	}
}

func TestSendAndLeaveStillRuns(t *testing.T) {
	r := startServer(t)
	w := dial(t, r.addr)
	w.startup("user", "u")
	w.query("CREATE TABLE t (a int)")
	w.front.Send(&pgproto3.Query{String: "INSERT INTO t VALUES (1)"})
	w.front.Send(&pgproto3.Terminate{})
	w.flush()
	w.nc.Close()
	r.becomes(t, "tailrace_sessions", 0)
	again := dial(t, r.addr)
	again.startup("user", "u")
	if got := again.query("SELECT a FROM t"); got[1] != `DataRow "1"` {
		t.Errorf("got %q, want the row of the client that left", got)
	}
}
