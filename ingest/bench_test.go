package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tailrace/catalog"
)

// rateRounds is how often each measure is taken, ours and the peer's in turn.
const rateRounds = 5

// rates prepares a node for measuring, or skips. n is TAILRACE_RATES, the number of rows.
func rates(t *testing.T) (w *world, n int) {
	n, err := strconv.Atoi(os.Getenv("TAILRACE_RATES"))
	if err != nil {
		t.Skip("set TAILRACE_RATES=1000000 to measure")
	}
	w = newWorldAlone(t)
	w.exec("CREATE TABLE r(id int PRIMARY KEY, name text, amount bigint, note text)")
	return w, n
}

// fill is a transaction that inserts rows from to to.
func fill(from, to int) string {
	return fmt.Sprintf("INSERT INTO r SELECT g, 'name-' || g, g * 7, 'some text of moderate size' FROM generate_series(%d, %d) g;", from, to)
}

// compare takes a measure of the peer and one of ours in turn, and prints the median of the ratios of their rates.
func compare(t *testing.T, what string, rows int, peer, ours func() time.Duration) {
	t.Helper()
	var ratios []float64
	for range rateRounds {
		a := peer()
		cpu := ownCPU()
		b := ours()
		cpu = ownCPU() - cpu
		ratios = append(ratios, a.Seconds()/b.Seconds())
		t.Logf("%s: peer %9.0f rows/s, ours %9.0f rows/s and %.2f µs of processor a row, %.2f",
			what, float64(rows)/a.Seconds(), float64(rows)/b.Seconds(), float64(cpu.Microseconds())/float64(rows), ratios[len(ratios)-1])
	}
	slices.Sort(ratios)
	t.Logf("%s: median %.2f of the peer's rate, %d rows, %d rounds", what, ratios[len(ratios)/2], rows, rateRounds)
}

// ownCPU is the processor time that this process has used.
func ownCPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// timed is how long f takes.
func timed(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

// TestRatesOfSnapshot prints how fast a table is copied, beside psql that reads it to /dev/null.
func TestRatesOfSnapshot(t *testing.T) {
	w, n := rates(t)
	w.exec(fill(1, n))
	w.query("VACUUM ANALYZE r")
	compare(t, "snapshot beside COPY by psql", n, func() time.Duration {
		return timed(func() {
			if err := exec.Command(filepath.Join(w.srv.Bin(), "psql"), "-q", "-c", "COPY r TO STDOUT", w.srv.URLOf(w.db)).Run(); err != nil {
				t.Fatalf("psql: %v", err)
			}
		})
	}, func() time.Duration {
		var source catalog.ID
		took := timed(func() {
			source = w.attach()
			w.live(source)
		})
		w.drop(source)
		return took
	})
	w.live(w.attach())
	w.same("r")
}

// drop does what DROP SOURCE and DROP CONNECTION do.
func (w *world) drop(source catalog.ID) {
	w.t.Helper()
	cat := w.cat.Current()
	if err := w.ingest.DropUpstream(context.Background(), cat, source); err != nil {
		w.t.Fatal(err)
	}
	var changes []*catalog.Change
	for _, t := range cat.TablesOf(source) {
		changes = append(changes, &catalog.Change{Drop: t.ID})
	}
	w.commit(append(changes, &catalog.Change{Drop: source}, &catalog.Change{Drop: cat.Sources[source].Connection})...)
}

// TestRatesOfStream prints how fast changes are taken over, beside pg_recvlogical that reads the same ones from a slot of its own to /dev/null.
func TestRatesOfStream(t *testing.T) {
	w, n := rates(t)
	source := w.attach()
	w.live(source)
	next := 1
	for _, load := range []struct {
		name string
		rows int
		make func(rows int)
	}{
		{"stream of 1,000 inserts a transaction", n / rateRounds, func(rows int) {
			for end := next + rows; next < end; next += 1000 {
				w.exec(fill(next, next+999))
			}
		}},
		{"stream of 1,000 updates a transaction", n / rateRounds, func(rows int) {
			for from := 1; from <= rows; from += 1000 {
				w.exec(fmt.Sprintf("UPDATE r SET amount = amount + 1 WHERE id >= %d AND id < %d", from, from+1000))
			}
		}},
		{"stream of one update a transaction", n / rateRounds / 4, func(rows int) {
			w.exec(fmt.Sprintf("DO $$ BEGIN FOR i IN 1..%d LOOP UPDATE r SET amount = amount + 1 WHERE id = i * 7 %% %d + 1; COMMIT; END LOOP; END $$", rows, n))
		}},
	} {
		compare(t, load.name, load.rows, func() time.Duration {
			w.pause(source)
			w.query("SELECT pg_create_logical_replication_slot('other', 'pgoutput')")
			load.make(load.rows)
			end := w.query("SELECT pg_current_wal_flush_lsn()")[0][0]
			defer w.exec("SELECT pg_drop_replication_slot('other')")
			return timed(func() { receive(t, w, end) })
		}, func() time.Duration {
			return timed(func() {
				w.resume(source)
				w.caughtUp(source)
			})
		})
	}
	w.same("r")
}

// receive drains slot other up to end.
func receive(t *testing.T, w *world, end string) {
	var stderr bytes.Buffer
	recv := exec.Command(filepath.Join(w.srv.Bin(), "pg_recvlogical"), "-d", w.srv.URLOf(w.db), "-S", "other", "--start", "-f", "/dev/null", "-o", "proto_version=1",
		"-o", "publication_names=tailrace", "--endpos", end)
	recv.Stderr = &stderr
	if err := recv.Run(); err != nil {
		t.Fatalf("pg_recvlogical: %v\n%s", err, &stderr)
	}
}

// pause pauses the source and waits until its slot is free. Before, it has the slot begin where it is, so that the source does not decode old
// changes again when it goes on.
func (w *world) pause(source catalog.ID) {
	w.caughtUp(source)
	here := w.query("SELECT pg_current_wal_insert_lsn()")[0][0]
	w.until("the slot to begin at "+here, func() bool {
		w.exec("CHECKPOINT") // it writes the record that a slot may begin at
		return lsn(w.query("SELECT restart_lsn FROM pg_replication_slots")[0][0]) >= lsn(here)
	})
	paused := *w.cat.Current().Sources[source]
	paused.Paused = true
	w.putSource(&paused)
	w.until("the slot to be let go", func() bool { return w.query("SELECT count(*) FROM pg_replication_slots WHERE active")[0][0] == "0" })
}

func (w *world) resume(source catalog.ID) {
	resumed := *w.cat.Current().Sources[source]
	resumed.Paused = false
	w.putSource(&resumed)
}
