package index_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"tailrace"
	"tailrace/index"
	"tailrace/internal/sim"
	"tailrace/pebble"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("INDEX_CRASH_DIR"); dir != "" {
		writeUntilKilled(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

var quiet = index.Options{Logger: slog.New(slog.DiscardHandler)}

func open(t testing.TB, dir string, c tailrace.Consensus, head tailrace.SeqNo) (*index.Store, map[tailrace.CollectionID]index.State) {
	t.Helper()
	s, states, err := index.Open(context.Background(), dir, c, head, quiet)
	if err != nil {
		t.Fatalf("open %s: got %v, want none", dir, err)
	}
	return s, states
}

func shut(t testing.TB, s *index.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("close: got %v, want none", err)
	}
}

// put commits rows, key to value, "" for a deletion.
func put(t testing.TB, s *index.Store, id tailrace.CollectionID, st index.State, rows ...string) {
	t.Helper()
	b, err := s.NewBatch(id)
	for i := 0; i < len(rows) && err == nil; i += 2 {
		if rows[i+1] == "" {
			err = b.Delete([]byte(rows[i]))
		} else {
			err = b.Set([]byte(rows[i]), []byte(rows[i+1]))
		}
	}
	if err == nil {
		err = b.Commit(st)
	}
	if err != nil {
		t.Fatalf("put: got %v, want none", err)
	}
}

func load(t testing.TB, s *index.Store, id tailrace.CollectionID, st index.State, rows ...string) {
	t.Helper()
	l, err := s.NewLoad(id, st)
	for i := 0; i < len(rows) && err == nil; i += 2 {
		err = l.Add([]byte(rows[i]), []byte(rows[i+1]))
	}
	if err == nil {
		err = l.Finish(context.Background())
	}
	if err != nil {
		t.Fatalf("load: got %v, want none", err)
	}
}

// get is the rows of keys, joined.
func get(t testing.TB, s *index.Store, id tailrace.CollectionID, keys ...string) string {
	t.Helper()
	var raw [][]byte
	for _, k := range keys {
		raw = append(raw, []byte(k))
	}
	out := make([]string, len(keys))
	err := s.Get(context.Background(), id, raw, func(i int, v []byte) error {
		out[i] = string(v)
		return nil
	})
	if err != nil {
		t.Fatalf("get: got %v, want none", err)
	}
	return strings.Join(out, " ")
}

func TestLoadReplacesACollectionAndNoOther(t *testing.T) {
	s, _ := open(t, t.TempDir(), sim.NewConsensus(), 0)
	defer shut(t, s)
	put(t, s, 1, index.State{Low: 1, High: 1}, "a", "1", "b", "2")
	put(t, s, 2, index.State{Low: 1, High: 1}, "a", "other")
	load(t, s, 1, index.State{Low: 5, High: 5}, "b", "3", "c", "4")
	if got, want := get(t, s, 1, "a", "b", "c"), " 3 4"; got != want {
		t.Errorf("after a load: got %q, want %q", got, want)
	}
	put(t, s, 1, index.State{Low: 6, High: 6}, "b", "", "d", "5")
	if got, want := get(t, s, 1, "b", "c", "d"), " 4 5"; got != want {
		t.Errorf("after a batch: got %q, want %q", got, want)
	}
	if err := s.Drop(1); err != nil {
		t.Fatal(err)
	}
	if got, want := get(t, s, 1, "c", "d")+get(t, s, 2, "a"), " other"; got != want {
		t.Errorf("after a drop: got %q, want %q", got, want)
	}
}

func TestStatesComeBackAfterClose(t *testing.T) {
	dir, c := t.TempDir(), sim.NewConsensus()
	s, states := open(t, dir, c, 0)
	if len(states) != 0 {
		t.Errorf("states of a new store: got %v, want none", states)
	}
	load(t, s, 1, index.State{Low: 5, High: 5, Seq: 7, Shape: []byte("k")}, "b", "3")
	put(t, s, 3, index.State{Low: 8, High: 9, Seq: 10}, "a", "other")
	shut(t, s)
	s, states = open(t, dir, c, 10)
	defer shut(t, s)
	if got, want := fmt.Sprint(states), "map[1:{5 5 7 [107]} 3:{8 9 10 []}]"; got != want {
		t.Errorf("states: got %s, want %s", got, want)
	}
	if got, want := get(t, s, 1, "b"), "3"; got != want {
		t.Errorf("row: got %q, want %q", got, want)
	}
}

// past is a data folder: a log's Consensus and an index.
type past struct {
	t   *testing.T
	dir string
}

// start opens the index as a node does whose log ends at head, and says whether what it holds was adopted. With seq it writes a row of that entry.
func (p past) start(head, seq tailrace.SeqNo) (adopted bool) {
	p.t.Helper()
	c, err := pebble.Open(filepath.Join(p.dir, "log"), pebble.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	s, states := open(p.t, filepath.Join(p.dir, "index"), c, head)
	if len(states) == 0 && get(p.t, s, 1, "a") != "" {
		p.t.Errorf("rows are left of an index that was not adopted")
	}
	if seq > 0 {
		put(p.t, s, 1, index.State{Low: 1, High: 1, Seq: seq}, "a", fmt.Sprint(seq))
	}
	shut(p.t, s)
	if err := c.Close(); err != nil {
		p.t.Fatal(err)
	}
	return len(states) > 0
}

// copied copies one of the folder's two parts from another.
func (p past) copied(part string, from past) {
	p.t.Helper()
	to := filepath.Join(p.dir, part)
	if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(filepath.Join(from.dir, part)))); err != nil {
		p.t.Fatal(err)
	}
}

// TestOnlyThisEnvironmentsPastIsAdopted puts other folders in the index's place.
func TestOnlyThisEnvironmentsPastIsAdopted(t *testing.T) {
	check := func(what string, got, want bool) {
		t.Helper()
		if got != want {
			t.Errorf("%s: adopted %v, want %v", what, got, want)
		}
	}
	a, backup, stale, other := past{t, t.TempDir()}, past{t, t.TempDir()}, past{t, t.TempDir()}, past{t, t.TempDir()}
	a.start(0, 90)
	stale.copied("index", a)
	check("its own", a.start(100, 100), true)
	backup.copied("log", a)
	a2 := past{t, t.TempDir()}
	a2.copied("log", a)
	a2.copied("index", a)
	check("a whole copy", a2.start(100, 0), true)

	// The original goes on to entry 150 without a start, the backup was taken at entry 100.
	future := past{t, t.TempDir()}
	future.copied("index", a)
	backup.copied("index", a)
	check("the future of a restored backup", backup.start(99, 0), false)
	backup.copied("index", future)
	check("the same, after the backup went on", backup.start(300, 0), false)

	a.copied("index", stale)
	check("a copy of before the last start", a.start(200, 200), false)
	other.start(0, 5)
	other.copied("index", a)
	check("another environment's", other.start(1000, 0), false)
}

func TestDamageIsToldAndMended(t *testing.T) {
	ctx := context.Background()
	dir, c := t.TempDir(), sim.NewConsensus()
	s, _ := open(t, dir, c, 0)
	var rows []string
	for i := range 2000 {
		rows = append(rows, fmt.Sprintf("%06d", i), strings.Repeat("x", 100))
	}
	load(t, s, 1, index.State{}, rows...)
	tables, err := filepath.Glob(dir + "/*.rows")
	if err != nil || len(tables) == 0 {
		t.Fatalf("tables: %v, %v", tables, err)
	}
	for _, name := range tables {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		raw[len(raw)/2] ^= 1
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(raw, 0); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	bad := 0
	for i := 0; i < len(rows); i += 2 {
		if err := s.Get(ctx, 1, [][]byte{[]byte(rows[i])}, func(int, []byte) error { return nil }); err != nil {
			bad++
		}
	}
	if bad == 0 || !errors.Is(s.Damaged(), index.ErrDamaged) {
		t.Fatalf("a flipped bit: got %d errors and %v, want some and ErrDamaged", bad, s.Damaged())
	}
	if err := s.Renew(ctx); err != nil {
		t.Fatal(err)
	}
	if got := get(t, s, 1, rows[0]); got != "" || s.Damaged() != nil {
		t.Errorf("after Renew: got %q and %v, want nothing", got, s.Damaged())
	}
	shut(t, s)
	s, _ = open(t, dir, c, 0)
	shut(t, s)
}

func TestTornFolderIsMadeAnew(t *testing.T) {
	c := sim.NewConsensus()
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		dir := filepath.Join(t.TempDir(), "index")
		s, _ := open(t, dir, c, 0)
		load(t, s, 1, index.State{Low: 1, High: 1}, "a", "1")
		shut(t, s)
		var files []string
		err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files = append(files, name)
			}
			return err
		})
		name := files[rng.IntN(len(files))]
		st, err2 := os.Stat(name)
		if err := errors.Join(err, err2, os.Truncate(name, rng.Int64N(st.Size()+1))); err != nil {
			t.Fatal(err)
		}
		s, states := open(t, dir, c, 10) // damage may be found only when it is read
		value := ""
		err = s.Get(context.Background(), 1, [][]byte{[]byte("a")}, func(_ int, v []byte) error {
			value = string(v)
			return nil
		})
		if len(states) > 0 && err == nil && value != "1" {
			t.Errorf("seed %d: %s cut: adopted with row %q, want 1", seed, filepath.Base(name), value)
		}
		_ = s.Close() // what is damaged may say so
	}
}

// TestKilledStoreIsAnEarlierState kills a process that writes and checks that rows and State belong together.
func TestKilledStoreIsAnEarlierState(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 1))
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "INDEX_CRASH_DIR="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + rng.IntN(60) {
			lines.Scan()
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()

		consensus, err := pebble.Open(filepath.Join(dir, "log"), pebble.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, states := open(t, filepath.Join(dir, "index"), consensus, 1<<60)
		for id, st := range states {
			checkKilled(t, seed, s, id, st)
		}
		t.Logf("seed %d: found %v after %q", seed, states, lines.Text())
		shut(t, s)
		if err := consensus.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

const crashKeys = 500

// checkKilled checks that every row is of a time in [Low, High], or older where it was not due to be written.
func checkKilled(t *testing.T, seed uint64, s *index.Store, id tailrace.CollectionID, st index.State) {
	t.Helper()
	var keys [][]byte
	for k := range crashKeys {
		keys = append(keys, binary.BigEndian.AppendUint32(nil, uint32(k)))
	}
	n := 0
	err := s.Get(context.Background(), id, keys, func(i int, v []byte) error {
		n++
		at := tailrace.Time(binary.BigEndian.Uint64(v))
		low := writtenAt(st.Low, i)
		if at != low && (at <= st.Low || at > st.High) {
			t.Errorf("seed %d, collection %d at (%d, %d), key %d: got a row of %d, want of %d or up to the high time", seed, id, st.Low, st.High, i, at, low)
		}
		if !bytes.Equal(v[8:], bytes.Repeat([]byte("x"), 300)) {
			t.Errorf("seed %d: row of key %d is %q", seed, i, v)
		}
		return nil
	})
	if err != nil || n != crashKeys {
		t.Errorf("seed %d: got %d rows (%v), want %d", seed, n, err, crashKeys)
	}
}

// writtenAt is the newest time up to t at which writeUntilKilled writes key k: all at multiples of 20, else those that are t modulo 7.
func writtenAt(t tailrace.Time, k int) tailrace.Time {
	for ; t%20 != 0 && int(t)%7 != k%7; t-- {
		continue
	}
	return t
}

// writeUntilKilled brings two collections from time to time, by load and by several batches, as fast as it can.
func writeUntilKilled(dir string) {
	ctx := context.Background()
	check := func(err error) {
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	consensus, err := pebble.Open(filepath.Join(dir, "log"), pebble.Options{})
	check(err)
	s, _, err := index.Open(ctx, filepath.Join(dir, "index"), consensus, 0, quiet)
	check(err)
	value := func(t tailrace.Time) []byte {
		return append(binary.BigEndian.AppendUint64(nil, uint64(t)), bytes.Repeat([]byte("x"), 300)...)
	}
	for t := tailrace.Time(20); ; t++ {
		for id := range tailrace.CollectionID(2) {
			if t%20 == 0 {
				l, err := s.NewLoad(id, index.State{Low: t, High: t})
				check(err)
				for k := range crashKeys {
					check(l.Add(binary.BigEndian.AppendUint32(nil, uint32(k)), value(t)))
				}
				check(l.Finish(ctx))
				continue
			}
			for part := range 5 {
				b, err := s.NewBatch(id)
				check(err)
				for k := part * crashKeys / 5; k < (part+1)*crashKeys/5; k++ {
					if writtenAt(t, k) == t {
						check(b.Set(binary.BigEndian.AppendUint32(nil, uint32(k)), value(t)))
					}
				}
				st := index.State{Low: t - 1, High: t}
				if part == 4 {
					st.Low = t
				}
				check(b.Commit(st))
			}
		}
		if t%3 == 0 {
			check(s.Flush())
		}
		fmt.Println(t)
	}
}
