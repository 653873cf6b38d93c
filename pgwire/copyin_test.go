package pgwire_test

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tailrace/server"
)

// copyBytes are messages with the data, cut at random: into messages of at most most bytes, and those that end it.
func copyBytes(rng *rand.Rand, data []byte, most int, end ...byte) (out []byte) {
	message := func(kind byte, body []byte) {
		out = append(binary.BigEndian.AppendUint32(append(out, kind), uint32(len(body)+4)), body...)
	}
	for len(data) > 0 {
		n := min(len(data), rng.IntN(most+1)) // empty ones too
		message('d', data[:n])
		data = data[n:]
	}
	for _, kind := range end {
		message(kind, nil)
	}
	return out
}

// writeCut writes to the connection in random pieces.
func writeCut(t *testing.T, rng *rand.Rand, nc net.Conn, raw []byte, most int) {
	t.Helper()
	for len(raw) > 0 {
		n := min(len(raw), 1+rng.IntN(most))
		if _, err := nc.Write(raw[:n]); err != nil {
			t.Fatal(err)
		}
		raw = raw[n:]
	}
}

// copyLines are n rows of two columns from row first on.
func copyLines(first, n int) []byte {
	var out []byte
	for i := first; i < first+n; i++ {
		out = fmt.Appendf(out, "%d\ttext of row %d\n", i, i)
	}
	return out
}

// TestCopyDataMayBeCutAnywhere sends rows in messages of any size, written in pieces of any size.
func TestCopyDataMayBeCutAnywhere(t *testing.T) {
	w := dial(t, startServer(t).addr)
	w.startup("user", "a")
	w.query("CREATE TABLE t (a int, b text)")
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	total := 0
	for _, x := range []struct{ rows, message, piece int }{{30_000, 70_000, 200_000}, {20_000, 40, 100_000}, {300, 5, 3}, {40_000, 3_000_000, 1_000_000}} {
		w.send(`Query "COPY t FROM STDIN"`)
		w.flush()
		w.until("CopyInResponse")
		writeCut(t, rng, w.nc, copyBytes(rng, copyLines(total, x.rows), x.message, 'H', 'c'), x.piece)
		total += x.rows
		if got, want := strings.Join(w.untilReady(), " "), fmt.Sprintf("CommandComplete COPY %d ReadyForQuery I", x.rows); got != want {
			t.Fatalf("messages of %d bytes (seed %d): got %s, want %s", x.message, seed, got, want)
		}
	}
	got := strings.Join(w.query("SELECT count(*), count(DISTINCT a), max(a) FROM t WHERE b = 'text of row ' || a"), " ")
	if want := fmt.Sprintf(`DataRow "%d" "%d" "%d"`, total, total, total-1); !strings.Contains(got, want) {
		t.Errorf("rows (seed %d): got %s, want %s", seed, got, want)
	}
}

// TestCopyErrorSkipsTheRestOfItsMessage has a bad row at the beginning of a long message: the session is in step afterwards.
func TestCopyErrorSkipsTheRestOfItsMessage(t *testing.T) {
	w := dial(t, startServer(t).addr)
	w.startup("user", "a")
	w.query("CREATE TABLE t (a int, b text)")
	rng := rand.New(rand.NewPCG(3, 3))
	data := append([]byte("bad\tx\n"), copyLines(0, 100_000)...)
	w.send(`Query "COPY t FROM STDIN"`)
	w.flush()
	w.until("CopyInResponse")
	whole := binary.BigEndian.AppendUint32([]byte{'d'}, uint32(len(data)+4))
	writeCut(t, rng, w.nc, append(append(whole, data...), copyBytes(rng, data, 9_000, 'c')...), 50_000)
	if got := strings.Join(w.untilReady(), " "); !strings.Contains(got, `ErrorResponse ERROR 22P02`) || !strings.Contains(got, "line 1, column a") {
		t.Errorf("got %s, want 22P02 in line 1", got)
	}
	if got := strings.Join(w.query("SELECT count(*) FROM t"), " "); !strings.Contains(got, `DataRow "0"`) {
		t.Errorf("afterwards: got %s, want no row", got)
	}
}

// messageEnd is where the message ends that byte at of raw, which is whole messages, is in.
func messageEnd(raw []byte, at int) int {
	end := 0
	for end <= at {
		end += 1 + int(binary.BigEndian.Uint32(raw[end+1:]))
	}
	return end
}

// TestCopyOfAClientThatEndsAnyhowLeavesNothing cancels COPYs while data streams, and kills their clients, 50 times, on a real folder: no goroutine, no memory, no
// object is left.
func TestCopyOfAClientThatEndsAnyhowLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	r := startWith(t, server.Options{Data: dir})
	setup := dial(t, r.addr)
	setup.startup("user", "a")
	setup.query("CREATE TABLE t (a int, b text)")
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	raw := copyBytes(rng, copyLines(0, 250_000), 60_000)
	objects := func() (n int) {
		err := filepath.WalkDir(filepath.Join(dir, "blob"), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	r.becomes(t, "tailrace_sessions", 1)
	goroutines, before := runtime.NumGoroutine(), objects()
	for n := range 50 {
		w := dial(t, r.addr)
		w.startup("user", "b")
		w.send(`Query "COPY t FROM STDIN"`)
		w.flush()
		w.until("CopyInResponse")
		sent := rng.IntN(len(raw))
		writeCut(t, rng, w.nc, raw[:sent], 200_000)
		if n%2 == 0 {
			w.nc.Close()
			continue
		}
		w.cancel()
		writeCut(t, rng, w.nc, raw[sent:messageEnd(raw, sent)], 70_000) // a cancel comes between two messages
		if got := strings.Join(w.until("ErrorResponse"), " "); !strings.Contains(got, "57014") && !strings.Contains(got, "08P01") && !strings.Contains(got, "22P0") && !strings.Contains(got, "22021") {
			t.Fatalf("canceled (seed %d): got %s, want 57014", seed, got)
		}
		w.nc.Close()
	}
	r.becomes(t, "tailrace_sessions", 1)
	r.becomes(t, `tailrace_memory_bytes{share="transactions"}`, 0)
	if got := objects(); got != before {
		t.Errorf("objects (seed %d): got %d, want %d", seed, got, before)
	}
	for try := 0; runtime.NumGoroutine() > goroutines+2; try++ { // the idle HTTP connection of the metrics may have two
		if try == 10_000 {
			t.Fatalf("goroutines (seed %d): got %d, want %d", seed, runtime.NumGoroutine(), goroutines)
		}
		r.metric(t, "tailrace_sessions")
	}
	if got := strings.Join(setup.query("SELECT count(*) FROM t"), " "); !strings.Contains(got, `DataRow "0"`) {
		t.Errorf("rows: got %s, want none", got)
	}
}

// TestCreateAndCopyInOneTransactionRollsBack on a real folder: no object is left, and with COMMIT the load is there.
func TestCreateAndCopyInOneTransactionRollsBack(t *testing.T) {
	dir := t.TempDir()
	r := startWith(t, server.Options{Data: dir})
	w := dial(t, r.addr)
	w.startup("user", "a")
	rng := rand.New(rand.NewPCG(4, 4))
	raw := copyBytes(rng, copyLines(0, 300_000), 60_000, 'c')
	for _, end := range []string{"ROLLBACK", "COMMIT"} {
		w.query("BEGIN")
		w.query("CREATE TABLE t (a int PRIMARY KEY, b text)")
		w.send(`Query "COPY t FROM STDIN"`)
		w.flush()
		w.until("CopyInResponse")
		writeCut(t, rng, w.nc, raw, 200_000)
		w.untilReady()
		w.query(end)
		parts, err := filepath.Glob(filepath.Join(dir, "blob", "part", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(parts) > 0 != (end == "COMMIT") {
			t.Errorf("after %s: objects %q", end, parts)
		}
	}
	if got := strings.Join(w.query("SELECT count(*), sum(a) FROM t"), " "); !strings.Contains(got, `DataRow "300000" "44999850000"`) {
		t.Errorf("rows: got %s", got)
	}
	if helped := r.metric(t, `tailrace_flush_tasks_total{by="worker"}`); helped == 0 {
		t.Error("no worker helped")
	}
}
