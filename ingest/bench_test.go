package ingest_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestRates prints how fast snapshot and stream are, beside PostgreSQL's own readers in the same run. TAILRACE_RATES gives the number of rows.
func TestRates(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("TAILRACE_RATES"))
	if err != nil {
		t.Skip("set TAILRACE_RATES=1000000 to measure")
	}
	w := newWorldAlone(t)
	const columns = "(id int PRIMARY KEY, name text, amount bigint, note text)"
	fill := func(from, to int) string {
		return "INSERT INTO r SELECT g, 'name-' || g, g * 7, 'some text of moderate size' FROM generate_series(" + strconv.Itoa(from) + ", " + strconv.Itoa(to) + ") g"
	}
	rate := func(what string, began time.Time) float64 {
		r := float64(n) / time.Since(began).Seconds()
		t.Logf("%-28s %9.0f rows/s", what, r)
		return r
	}
	w.exec("CREATE TABLE r" + columns)
	w.exec(fill(1, n))
	w.query("ANALYZE r; SELECT 1")

	began := time.Now()
	psql := exec.Command(filepath.Join(w.srv.Bin(), "psql"), "-q", "-c", "COPY r TO STDOUT", w.srv.URLOf(w.db))
	if out, err := psql.Output(); err != nil || len(out) == 0 {
		t.Fatalf("psql: %v", err)
	}
	copied := rate("COPY TO STDOUT by psql", began)
	began = time.Now()
	source := w.attach()
	w.live(source)
	t.Logf("snapshot: %.2f of COPY", rate("snapshot", began)/copied)

	// The same changes wait in two slots: ours and one for pg_recvlogical.
	paused := *w.cat.Current().Sources[source]
	paused.Paused = true
	w.putSource(&paused)
	w.until("the slot to be let go", func() bool { return w.query("SELECT count(*) FROM pg_replication_slots WHERE active")[0][0] == "0" })
	w.query("SELECT pg_create_logical_replication_slot('other', 'pgoutput')")
	for from := n + 1; from <= 2*n; from += 1000 {
		w.exec(fill(from, from+999))
	}
	w.exec("UPDATE r SET amount = 0 WHERE id % 10 = 0")
	end := w.query("SELECT pg_current_wal_flush_lsn()")[0][0]
	began = time.Now()
	var stderr bytes.Buffer
	recv := exec.Command(filepath.Join(w.srv.Bin(), "pg_recvlogical"), "-d", w.srv.URLOf(w.db), "-S", "other", "--start", "-f", "/dev/null", "-o", "proto_version=1",
		"-o", "publication_names=tailrace", "--endpos", end)
	recv.Stderr = &stderr
	if err := recv.Run(); err != nil {
		t.Fatalf("pg_recvlogical: %v\n%s", err, &stderr)
	}
	drained := rate("pg_recvlogical", began)
	began = time.Now()
	paused.Paused = false
	w.putSource(&paused)
	w.caughtUp(source)
	t.Logf("stream: %.2f of pg_recvlogical", rate("stream", began)/drained)
	w.same("r")
}
