package pgwire_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/pool"
	"tailrace/server"
)

// long says that the long forms are asked for.
var long = os.Getenv("TAILRACE_LONG") != ""

// logBuffer keeps a server's log.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// runPool runs a pool until the test ends, after the server that it is given to.
func runPool(t *testing.T, workers int) *pool.Pool {
	t.Helper()
	p := pool.New(workers)
	ctx, stop := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { _ = p.Run(ctx) }) // it says that ctx ended
	t.Cleanup(func() { stop(); wait.Wait() })
	return p
}

// partSums are the SHA-256 of the parts below a data folder.
func partSums(t *testing.T, dir string) (sums []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "blob", "part", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, fmt.Sprintf("%x", sha256.Sum256(raw)))
	}
	slices.Sort(sums)
	return sums
}

// loaded are the rows of the COPYs below: a stripe's worth in no order, so that it is sorted, then some in order.
const loaded = 140_000

const loadedTable = "CREATE TABLE t (a int PRIMARY KEY, n bigint, s text, m numeric(8,2), d date, f float8, u uuid)"

func loadedRows() (csv, text []byte) {
	rng := rand.New(rand.NewPCG(6, 6))
	order := make([]int, loaded)
	for i := range order {
		order[i] = i
	}
	rng.Shuffle(131_072, func(i, k int) { order[i], order[k] = order[k], order[i] })
	for _, i := range order {
		row := fmt.Sprintf("%d,%d,text %d of many,%d.%02d,2024-01-%02d,%g,%08x-0000-4000-8000-%012x", i, rng.Int64N(1e12)>>rng.IntN(40), rng.IntN(5000),
			rng.IntN(900_000), rng.IntN(100), 1+rng.IntN(28), float64(rng.IntN(1e6))/8, rng.Uint32(), rng.Uint64()>>16)
		csv = append(append(csv, row...), '\n')
		text = append(append(text, strings.ReplaceAll(row, ",", "\t")...), '\n')
	}
	return csv, text
}

// copyIn runs a COPY with data and returns what came back.
func (w *wire) copyIn(sql string, data []byte) string {
	w.t.Helper()
	w.front.Send(&pgproto3.Query{String: sql})
	w.flush()
	w.until("CopyInResponse")
	writeCut(w.t, rand.New(rand.NewPCG(1, 1)), w.nc, copyBytes(rand.New(rand.NewPCG(1, 2)), data, 100_000, 'c'), 300_000)
	return strings.Join(w.untilReady(), " ")
}

// copyOut returns the data of a COPY TO STDOUT.
func (w *wire) copyOut(sql string) (data []byte) {
	w.t.Helper()
	w.front.Send(&pgproto3.Query{String: sql})
	w.flush()
	for {
		m, err := w.front.Receive()
		if err != nil {
			w.t.Fatal(err)
		}
		switch m := m.(type) {
		case *pgproto3.CopyData:
			data = append(data, m.Data...)
		case *pgproto3.ErrorResponse:
			w.t.Fatal(show(m))
		case *pgproto3.ReadyForQuery:
			return data
		}
	}
}

// each returns a fault of every nth task, before or after its work.
func each(n int64, after, panics bool) func(done bool) error {
	var tasks atomic.Int64
	return func(done bool) error {
		if done != after || tasks.Add(1)%n != 0 {
			return nil
		}
		if panics {
			panic("of the test")
		}
		return errors.New("a failure of the test")
	}
}

// TestCopyThroughAServerIsTheSameHoweverItsTasksFare loads the same rows with every number of workers, starved, with tasks that panic and that fail, before and after
// their work, and in each format: the parts are equal byte by byte, the rows are right, and the metrics and the log tell how it was.
func TestCopyThroughAServerIsTheSameHoweverItsTasksFare(t *testing.T) {
	csv, text := loadedRows()
	var binary []byte // made by the first
	var want []string
	for i, x := range []struct {
		name    string
		workers int // 0: nobody runs the pool
		setting int
		fault   func(done bool) error
		panics  bool
		format  string
		long    bool
	}{
		{name: "2 workers", workers: 2, format: "csv"},
		{name: "1 worker", workers: 1, format: "csv", long: true},
		{name: "8 workers", workers: 8, format: "csv"},
		{name: "flush_workers 1", workers: 8, setting: 1, format: "csv"},
		{name: "flush_workers 2", workers: 8, setting: 2, format: "csv", long: true},
		{name: "starved", format: "csv"},
		{name: "panics before", workers: 2, format: "csv", fault: each(3, false, true), panics: true},
		{name: "panics after", workers: 2, format: "csv", fault: each(3, true, true), panics: true, long: true},
		{name: "fails before", workers: 2, format: "csv", fault: each(4, false, false), long: true},
		{name: "text, fails after, starved", format: "text", fault: each(4, true, false)},
		{name: "binary, panics", workers: 2, format: "binary", fault: each(5, false, true), panics: true},
	} {
		if x.long && !long {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			p, dir, log := pool.New(2), t.TempDir(), &logBuffer{}
			if x.workers > 0 {
				p = runPool(t, x.workers)
			}
			p.Fault = x.fault
			r := startWith(t, server.Options{Data: dir, Pool: p, Logger: slog.New(slog.NewTextHandler(log, nil))})
			w := dial(t, r.addr)
			w.startup("user", "a")
			w.query(loadedTable)
			w.query(fmt.Sprintf("SET flush_workers = %d", x.setting))
			w.query("BEGIN")
			data := map[string][]byte{"csv": csv, "text": text, "binary": binary}[x.format]
			if got, want := w.copyIn(fmt.Sprintf("COPY t FROM STDIN (FORMAT %s)", x.format), data), fmt.Sprintf("CommandComplete COPY %d ReadyForQuery T", loaded); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
			// Reading them within the transaction puts all of them into parts, and no merge makes others of these.
			got := append(w.query("SELECT count(*), count(DISTINCT a), sum(n), min(s), sum(m), max(d), sum(f), min(u::text) FROM t"), partSums(t, dir)...)
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) || len(got) < 4 {
				t.Errorf("rows and parts: got %q, want %q", got, want)
			}
			helped, failed, panicked := r.metric(t, `tailrace_flush_tasks_total{by="worker"}`), r.metric(t, "tailrace_flush_tasks_failed_total"), r.metric(t, "tailrace_flush_tasks_panicked_total")
			if alone := x.workers == 0 || x.setting == 1; alone != (helped == 0) {
				t.Errorf("workers did %g tasks", helped)
			}
			if (failed > 0) != (x.fault != nil && !x.panics) || (panicked > 0) != x.panics {
				t.Errorf("%g tasks failed, %g panicked", failed, panicked)
			}
			for _, says := range []string{"a task of a COPY failed and is done again", "encode a column again: a task failed", "a task of a sort failed and is done again"} {
				due := x.fault != nil && (x.format != "binary" || !strings.Contains(says, "sort")) // the binary rows come in order
				if warned := strings.Contains(log.String(), `level=WARN msg="`+says); warned != due {
					t.Errorf("warned that %s: %v", says, warned)
				}
			}
			w.query("COMMIT")
			if got := strings.Join(w.query("SELECT count(*), sum(a) FROM t"), " "); !strings.Contains(got, fmt.Sprintf(`DataRow "%d" "%d"`, loaded, loaded*(loaded-1)/2)) {
				t.Errorf("after COMMIT: got %s", got)
			}
			if i == 0 {
				binary = w.copyOut("COPY t TO STDOUT (FORMAT binary)")
			}
		})
	}
}

// fullBlob is a Blob whose disk is full after so many Puts of parts; below 0 it is not.
type fullBlob struct {
	tailrace.Blob
	left atomic.Int64
}

func (b *fullBlob) Put(ctx context.Context, key string, raw []byte) error {
	if strings.HasPrefix(key, "part/") && b.left.Load() >= 0 && b.left.Add(-1) < 0 {
		b.left.Store(0)
		return fmt.Errorf("put %s: %w", key, tailrace.ErrFull)
	}
	return b.Blob.Put(ctx, key, raw)
}

// TestFullDiskInMidCopyIsACleanError at each of its parts: 53100 with a way on, no row, no object, no memory, and the next COPY works.
func TestFullDiskInMidCopyIsACleanError(t *testing.T) {
	_, text := loadedRows()
	blob := &fullBlob{Blob: sim.NewBlob()}
	blob.left.Store(-1)
	r := startWith(t, server.Options{Stores: &server.Stores{Consensus: sim.NewConsensus(), Blob: blob}})
	w := dial(t, r.addr)
	w.startup("user", "a")
	w.query(strings.Replace(loadedTable, " PRIMARY KEY", "", 1))
	lines := bytes.SplitAfter(text, []byte("\n"))
	rand.New(rand.NewPCG(2, 2)).Shuffle(loaded, func(i, k int) { lines[i], lines[k] = lines[k], lines[i] }) // two runs, and so two parts
	text = bytes.Join(lines, nil)
	parts := func() (n int) {
		for _, err := range blob.List(t.Context(), "part/") {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	for _, sql := range []string{"COPY t FROM STDIN", "BEGIN"} {
		for room := range int64(2) {
			blob.left.Store(room)
			if sql == "BEGIN" {
				w.query("BEGIN")
			}
			got := w.copyIn("COPY t FROM STDIN", text)
			if sql == "BEGIN" && !strings.Contains(got, "ErrorResponse") { // all rows wait in the transaction
				got = strings.Join(w.query("COMMIT"), " ")
			}
			if !strings.Contains(got, "ErrorResponse ERROR 53100 ") {
				t.Fatalf("%s, room for %d parts: got %s, want 53100", sql, room, got)
			}
			w.query("ROLLBACK")
			if n := parts(); n != 0 {
				t.Errorf("%s, room for %d parts: %d objects are left", sql, room, n)
			}
			r.becomes(t, `tailrace_memory_bytes{share="transactions"}`, 0)
			if got := strings.Join(w.query("SELECT count(*) FROM t"), " "); !strings.Contains(got, `DataRow "0"`) {
				t.Errorf("%s, room for %d parts: got %s, want no row", sql, room, got)
			}
		}
	}
	blob.left.Store(-1)
	if got, want := w.copyIn("COPY t FROM STDIN", text), fmt.Sprintf("CommandComplete COPY %d ReadyForQuery I", loaded); got != want {
		t.Errorf("with space again: got %s, want %s", got, want)
	}
}
