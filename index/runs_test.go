package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tailrace"
	"tailrace/internal/sim"
)

// small makes few rows many runs of many tables.
var small = Options{MemtableBytes: 2 << 10, TableBytes: 12 << 10, MinFree: 1, Logger: slog.New(slog.DiscardHandler)}

func opened(t testing.TB, dir string, c tailrace.Consensus, opts Options) (*Store, map[tailrace.CollectionID]State) {
	t.Helper()
	s, states, err := Open(context.Background(), dir, c, 1<<60, opts)
	if err != nil {
		t.Fatalf("open %s: got %v, want none", dir, err)
	}
	return s, states
}

// model is a Store of one collection and what must be in it.
type model struct {
	t    *testing.T
	rng  *rand.Rand
	s    *Store
	rows map[string]string
	low  tailrace.Time
	runs int // the most there were
}

func (m *model) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// key is one of a few thousand, some with a long beginning in common, some the beginning of another.
func (m *model) key() string {
	n := m.rng.IntN(1500)
	switch n % 3 {
	case 0:
		return fmt.Sprintf("%06d", n)
	case 1:
		return "a long beginning that many keys share " + strings.Repeat("x", n%40)
	}
	return string(binary.BigEndian.AppendUint32([]byte{1}, uint32(n)))
}

func (m *model) value() string {
	if m.rng.IntN(100) == 0 {
		return strings.Repeat("long ", m.rng.IntN(3000))
	}
	return strings.Repeat("v", m.rng.IntN(40))
}

func (m *model) batch() {
	b, err := m.s.NewBatch(1)
	m.must(err)
	for range 1 + m.rng.IntN(30) {
		k, v := m.key(), m.value()
		if m.rng.IntN(4) == 0 {
			delete(m.rows, k)
			m.must(b.Delete([]byte(k)))
			continue
		}
		m.rows[k] = v
		m.must(b.Set([]byte(k), []byte(v)))
	}
	m.low++
	m.must(b.Commit(State{Low: m.low, High: m.low}))
	m.runs = max(m.runs, m.s.Runs(1))
}

func (m *model) load() {
	l, err := m.s.NewLoad(1, State{Low: m.low, High: m.low})
	m.must(err)
	m.rows = map[string]string{}
	for range m.rng.IntN(1000) {
		m.rows[m.key()] = m.value()
	}
	keys := make([]string, 0, len(m.rows))
	for k := range m.rows {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		m.must(l.Add([]byte(k), []byte(m.rows[k])))
	}
	m.must(l.Finish(context.Background()))
}

// check looks up keys, alone and together.
func (m *model) check(n int) {
	m.t.Helper()
	var keys [][]byte
	for range n {
		keys = append(keys, []byte(m.key()))
	}
	slices.SortFunc(keys, bytes.Compare)
	got := map[string]string{}
	m.must(m.s.Get(context.Background(), 1, keys, func(i int, v []byte) error {
		got[string(keys[i])] = string(v)
		return nil
	}))
	for _, k := range keys {
		want, is := m.rows[string(k)]
		if have, ok := got[string(k)]; ok != is || have != want {
			m.t.Fatalf("key %q: got %.40q (%v), want %.40q (%v)", k, have, ok, want, is)
		}
	}
}

// TestRunsEqualAMap does everything to a store and compares it with a map.
func TestRunsEqualAMap(t *testing.T) {
	ctx := context.Background()
	seeds := uint64(3)
	if os.Getenv("TAILRACE_LONG") != "" {
		seeds = 200
	}
	runs, merges := 0, 0
	for seed := range seeds {
		dir, consensus := t.TempDir(), sim.NewConsensus()
		m := &model{t: t, rng: rand.New(rand.NewPCG(seed, 1)), rows: map[string]string{}}
		m.s, _ = opened(t, dir, consensus, small)
		for range 150 {
			switch m.rng.IntN(24) {
			case 0:
				m.load()
			case 1:
				m.must(m.s.Flush())
			case 2, 3, 4:
				did, err := m.s.Merge(ctx)
				m.must(err)
				if did {
					merges++
				}
			case 5:
				m.must(m.s.Close())
				var states map[tailrace.CollectionID]State
				m.s, states = opened(t, dir, consensus, small)
				if got := states[1].Low; got != m.low {
					t.Fatalf("seed %d: the state after a start is of %d, want %d", seed, got, m.low)
				}
			case 6:
				if m.rng.IntN(4) == 0 {
					m.must(m.s.Drop(1))
					m.rows = map[string]string{}
					m.batch()
				}
			default:
				m.batch()
			}
			m.check(1)
			m.check(20)
		}
		m.must(m.s.Close())
		left, err := filepath.Glob(dir + "/*.rows")
		m.must(err)
		named := 0
		m.s, _ = opened(t, dir, consensus, small)
		for range m.s.now.tables {
			named++
		}
		if len(left) != named {
			t.Errorf("seed %d: %d files of tables, want the %d that are named", seed, len(left), named)
		}
		m.must(m.s.Close())
		runs = max(runs, m.runs)
	}
	if runs < 4 || merges < 15 {
		t.Errorf("%d runs at most and %d merges: too few to tell anything", runs, merges)
	}
}

// TestReadersSeeTheNewestRow looks up keys whose numbers only grow while they are written, merged and loaded.
func TestReadersSeeTheNewestRow(t *testing.T) {
	const keys, rounds = 200, 50
	ctx := context.Background()
	s, _ := opened(t, t.TempDir(), sim.NewConsensus(), small)
	var written [keys]atomic.Uint64
	var done atomic.Bool
	var wg sync.WaitGroup
	key := func(k int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(k)) }
	number := func(n uint64) []byte {
		return append(binary.BigEndian.AppendUint64(nil, n), "a row that takes its place"...)
	}
	for i := range 3 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			for !done.Load() {
				k := rng.IntN(keys)
				least, got := written[k].Load(), uint64(0)
				err := s.Get(ctx, 1, [][]byte{key(k)}, func(_ int, v []byte) error {
					got = binary.BigEndian.Uint64(v)
					return nil
				})
				if err != nil || got < least {
					t.Errorf("key %d: got %d (%v), want %d or more", k, got, err, least)
					return
				}
			}
		})
	}
	wg.Go(func() {
		for !done.Load() {
			if _, err := s.Merge(ctx); err != nil {
				t.Error(err)
				return
			}
		}
	})
	rng := rand.New(rand.NewPCG(7, 7))
	for n := uint64(1); n <= rounds; n++ {
		var err error
		if n%20 == 0 {
			err = loadAll(s, keys, key, func(int) []byte { return number(n) })
			for k := range written {
				written[k].Store(n)
			}
		} else {
			some := rng.Perm(keys)[:20]
			b, _ := s.NewBatch(1)
			for _, k := range some {
				err = errors.Join(err, b.Set(key(k), number(n)))
			}
			err = errors.Join(err, b.Commit(State{Low: tailrace.Time(n), High: tailrace.Time(n)}))
			for _, k := range some {
				written[k].Store(n)
			}
		}
		if err != nil {
			t.Error(err)
			break
		}
	}
	done.Store(true)
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func loadAll(s *Store, n int, key, value func(k int) []byte) error {
	l, err := s.NewLoad(1, State{})
	if err != nil {
		return err
	}
	defer l.Close()
	for k := range n {
		if err := l.Add(key(k), value(k)); err != nil {
			return err
		}
	}
	return l.Finish(context.Background())
}

// TestAnyFlippedBitIsDamageOrNothing flips bits of files that are closed and looks up everything.
func TestAnyFlippedBitIsDamageOrNothing(t *testing.T) {
	const rows = 300
	key := func(k int) []byte { return fmt.Appendf(nil, "key %06d", k) }
	value := func(k int) []byte { return fmt.Appendf(nil, "the value of %d", k*k) }
	dir, consensus := t.TempDir(), sim.NewConsensus()
	s, _ := opened(t, dir, consensus, small)
	if err := errors.Join(loadAll(s, rows, key, value), s.Close()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(dir + "/*")
	if err != nil || len(files) < 2 {
		t.Fatalf("files: %v, %v", files, err)
	}
	caught := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		torn := t.TempDir()
		if err := os.CopyFS(torn, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(torn, filepath.Base(files[rng.IntN(len(files))]))
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		raw[rng.IntN(len(raw))] ^= 1 << rng.IntN(8)
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		s := &Store{dir: torn, consensus: consensus, opts: small, writing: make(chan struct{}, 1), directories: directories{limit: 1 << 20}}
		_, cs, err := s.found()
		if err != nil {
			caught++
			continue
		}
		s.install(cs)
		for k := range rows {
			got := ""
			err := s.Get(context.Background(), 1, [][]byte{key(k)}, func(_ int, v []byte) error {
				got = string(v)
				return nil
			})
			if err != nil {
				caught++
				break
			}
			if got != string(value(k)) {
				t.Fatalf("seed %d, %s: key %d has %q", seed, name, k, got)
			}
		}
		s.shut()
	}
	if caught < 60 {
		t.Errorf("%d of 60 flipped bits were found", caught)
	}
}

// TestBlockIsTheOneThatCouldHaveTheKey compares a directory's search with a look at every block.
func TestBlockIsTheOneThatCouldHaveTheKey(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		keys := map[string]bool{}
		common := strings.Repeat("c", rng.IntN(12))
		for range 2 + rng.IntN(60) {
			keys[common+strings.Repeat("ab", rng.IntN(8))+strings.Repeat("\x00", rng.IntN(3))+fmt.Sprint(rng.IntN(20))] = true
		}
		var sorted []string
		for k := range keys {
			sorted = append(sorted, k)
		}
		slices.Sort(sorted)
		d := &directory{common: commonPrefix([]byte(sorted[0]), []byte(sorted[len(sorted)-1]))}
		var firsts []string
		for i := 0; i < len(sorted); i += 1 + rng.IntN(4) {
			firsts = append(firsts, sorted[i])
			d.keys = append(d.keys, sorted[i][d.common:]...)
			d.starts, d.ends = append(d.starts, uint32(len(d.keys))), append(d.ends, uint32(i))
			d.prefixes = append(d.prefixes, prefixOf([]byte(sorted[i][d.common:])))
		}
		for _, k := range sorted {
			want := sort.SearchStrings(firsts, k+"\x00") - 1
			if got := d.block([]byte(k)); got != want {
				t.Fatalf("seed %d: key %q: got block %d of %q, want %d", seed, k, got, firsts, want)
			}
		}
	}
}

func TestFilterHasItsKeysAndFewOthers(t *testing.T) {
	for _, n := range []int{1, 7, 1000, 50_000} {
		var hashes []uint64
		for k := range n {
			hashes = append(hashes, hashOf(fmt.Appendf(nil, "key %d", k)))
		}
		f := newFilter(hashes)
		for k, h := range hashes {
			if !f.mayHold(h) {
				t.Fatalf("%d keys: key %d is missing", n, k)
			}
		}
		others, most := 0, 10_000/60
		for k := range 10_000 {
			if f.mayHold(hashOf(fmt.Appendf(nil, "other %d", k))) {
				others++
			}
		}
		if others > most {
			t.Errorf("%d keys: %d of 10,000 others pass, want %d at most", n, others, most)
		}
	}
}

func TestMergePlan(t *testing.T) {
	for _, c := range []struct {
		sizes []int64
		want  int
	}{
		{nil, 0},
		{[]int64{10}, 0},
		{[]int64{10, 100}, 0},
		{[]int64{25, 100}, 2},
		{[]int64{10, 10, 10, 1000}, 0},
		{[]int64{10, 10, 10, 10, 1000}, 4},
		{[]int64{10, 10, 10, 40, 1000}, 0},
		{[]int64{10, 10, 10, 10, 40, 40, 40, 2000}, 4},
		{[]int64{40, 40, 40, 40, 2000}, 4},
		{[]int64{1, 40, 40, 40, 40, 2000}, 5},
		{[]int64{300, 10, 100}, 3},
	} {
		if got := mergePlan(c.sizes); got != c.want {
			t.Errorf("runs of %v: got %d to be merged, want %d", c.sizes, got, c.want)
		}
	}
}

// TestMergesLeaveFewRuns writes as a busy table does and counts how often a byte is written.
func TestMergesLeaveFewRuns(t *testing.T) {
	sizes, written, flushed := []int64{1000}, int64(0), int64(0)
	most := 0
	for range 2000 {
		sizes, written, flushed = append([]int64{16}, sizes...), written+16, flushed+16
		most = max(most, len(sizes))
		for {
			n := mergePlan(sizes)
			if n == 0 {
				break
			}
			sum := int64(0)
			for _, v := range sizes[:n] {
				sum += v
			}
			if n == len(sizes) {
				sum = 1000 // what is newer is in the place of what was there
			}
			written += sum
			sizes = append([]int64{sum}, sizes[n:]...)
		}
	}
	t.Logf("%d runs at most, each byte written %.1f times", most, float64(written)/float64(flushed))
	if most > 10 || written > 8*flushed {
		t.Errorf("got %d runs at most and each byte written %.1f times, want 10 and 8 at most", most, float64(written)/float64(flushed))
	}
}

func TestGetAllocs(t *testing.T) {
	key := func(k int) []byte { return fmt.Appendf(nil, "key %06d", k) }
	s, _ := opened(t, t.TempDir(), sim.NewConsensus(), Options{MinFree: 1, Logger: small.Logger})
	defer s.Close()
	if err := loadAll(s, 5000, key, key); err != nil {
		t.Fatal(err)
	}
	var keys [][]byte
	for k := 0; k < 5000; k += 50 {
		keys = append(keys, key(k))
	}
	ctx, n := context.Background(), 0
	allocs := testing.AllocsPerRun(100, func() {
		if err := s.Get(ctx, 1, keys, func(int, []byte) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 1 || n != 101*len(keys) { // the pool may be emptied
		t.Errorf("%d keys: got %v allocations, want none", len(keys), allocs)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add(encodeManifest("0123456789abcdef", collections{}))
	f.Add(encodeManifest("0123456789abcdef", collections{7: {saved: State{Low: 1, High: 2, Shape: []byte("s")}, runs: []run{{
		{number: 3, size: 400, rows: 5, first: []byte("a"), last: []byte("b")}, {number: 4, size: 9, rows: 1, first: []byte("c"), last: []byte("c")},
	}, {{number: 1, size: 8, rows: 2}}}}}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		token, cs, err := decodeManifest(appendSum(slices.Clone(raw))) // so that fuzzing is not about the checksum
		if err != nil {
			if !errors.Is(err, tailrace.ErrCorrupt) {
				t.Errorf("got %v, want ErrCorrupt", err)
			}
			return
		}
		again, cs2, err := decodeManifest(encodeManifest(token, cs))
		if err != nil || again != token || fmt.Sprint(len(cs)) != fmt.Sprint(len(cs2)) {
			t.Errorf("got %v and %d collections, want none and %d", err, len(cs2), len(cs))
		}
	})
}

// TestFullDiskChangesNothing fills the disk, as far as a store can tell, and then gives way.
func TestFullDiskChangesNothing(t *testing.T) {
	ctx := context.Background()
	opts := small
	m := &model{t: t, rng: rand.New(rand.NewPCG(1, 1)), rows: map[string]string{}}
	m.s, _ = opened(t, t.TempDir(), sim.NewConsensus(), opts)
	defer m.s.Close()
	for range 20 {
		m.batch()
	}
	runs := m.s.Runs(1)
	m.s.opts.MinFree = 1 << 62
	b, err := m.s.NewBatch(1)
	m.must(err)
	m.must(b.Set([]byte("a"), []byte("b")))
	l, err := m.s.NewLoad(1, State{})
	m.must(err)
	_, mergeErr := m.s.Merge(ctx)
	for what, err := range map[string]error{"commit": b.Commit(State{}), "load": l.Add([]byte("a"), nil), "merge": mergeErr} {
		if !errors.Is(err, tailrace.ErrFull) {
			t.Errorf("%s on a full disk: got %v, want ErrFull", what, err)
		}
	}
	l.Close()
	if err := m.s.Damaged(); err != nil || m.s.Runs(1) != runs {
		t.Errorf("after that: got %v and %d runs, want none and %d", err, m.s.Runs(1), runs)
	}
	m.check(100)
	m.s.opts.MinFree = 1
	m.batch()
	if did, err := m.s.Merge(ctx); !did || err != nil {
		t.Errorf("merge when there is space again: got %v %v, want it done", did, err)
	}
	m.check(100)
}

// appendSum ends a block.
func appendSum(block []byte) []byte {
	return binary.LittleEndian.AppendUint32(block, crc32.Checksum(block, castagnoli))
}
