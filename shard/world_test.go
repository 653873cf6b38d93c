package shard

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"tailrace"
	"tailrace/internal/sim"
	"tailrace/log"
	"tailrace/pool"
)

// world is a Set under a log in memory, one collection in it, and a plain model of what the collection holds.
type world struct {
	t       *testing.T
	seed    uint64
	rng     *rand.Rand
	blob    tailrace.Blob
	store   *sim.Blob
	plan    *sim.Plan
	set     *Set
	session int
	seq     tailrace.SeqNo
	now     tailrace.Time

	schema *tailrace.Schema
	keyed  bool
	model  []modelUpdate
	live   []map[tailrace.ColumnID]cell // rows now
	times  []tailrace.Time              // of commits

	checkpoint []byte
	replay     []event // since the checkpoint
	limits     limits
	pool       *pool.Pool
	from, keys int  // keys of new rows
	local      bool // new rows are near place
	place      int
	near       *nearby // nil without a local index
	logger     *slog.Logger
	copied     int64 // stripes that merges of earlier sessions copied
}

// event is what the apply loop did.
type event struct {
	define *tailrace.Schema
	entry  *log.Entry
}

// cell is a stored value; nil is NULL.
type cell = *string

type modelUpdate struct {
	time tailrace.Time
	row  map[tailrace.ColumnID]cell
	diff tailrace.Diff
}

const table = tailrace.CollectionID(7)

func newWorld(t *testing.T, seed uint64, keyed bool) *world {
	w := &world{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), keyed: keyed, now: 1000, store: sim.NewBlob()}
	w.blob, w.keys = w.store, 300
	w.limits = limits{
		run: 400, merge: 3000, mergeRows: 200, mergeRuns: 3, stateRuns: 4, reuse: 600, part: 3000, piece: 30, slice: 2000, cut: 900, mergeStripe: 900, group: 8, stripe: 24, inline: 300, listen: 500, indexBehind: 60, indexBatch: 100, indexMem: 1500,
		historyRuns: 2, historyBytes: 4000, historyRows: 150,
	}
	if seed%4 >= 2 { // parts of many stripes, which are not taken over whole: merges copy some of those
		w.limits.part, w.limits.reuse = 30_000, 40_000
		w.local = true
	}
	w.schema = &tailrace.Schema{Version: 1, NextColumn: 4, Fields: []tailrace.Field{
		{ID: 1, Name: "b", Type: tailrace.TypeOf(tailrace.KindText)},
		{ID: 2, Name: "k", Type: tailrace.TypeOf(tailrace.KindInt4)},
		{ID: 3, Name: "n", Type: tailrace.TypeOf(tailrace.KindNumeric)},
	}}
	if keyed {
		w.schema.Key = []int{1}
	}
	switch seed % 3 {
	case 1:
		w.pool = pool.New(2) // that nobody runs
	case 2:
		w.pool = runningPool(t, 2)
	}
	w.open(nil)
	w.define(w.schema)
	return w
}

// open starts a new session, from the checkpoint when there is one.
func (w *world) open(checkpoint []byte) {
	if w.set != nil {
		w.copied = w.stripesCopied()
	}
	w.session++
	mine := w.session
	w.set = New(w.blob, fmt.Sprintf("%016x", mine), Options{
		Pool: w.pool, Logger: w.logger, PageCacheBytes: 20_000, Ended: func(s string) bool { return s < fmt.Sprintf("%016x", mine) },
	})
	w.set.limits = w.limits
	w.crowd()
	w.openIndex()
	if checkpoint != nil {
		if err := w.set.Restore(checkpoint); err != nil {
			w.fatal("restore: %v", err)
		}
	}
}

// stripesCopied is how many stripes merges have copied, in all sessions.
func (w *world) stripesCopied() int64 { return w.copied + w.set.WriteStats().StripesCopied }

func (w *world) fatal(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("seed %d: "+format, append([]any{w.seed}, args...)...)
}

func (w *world) define(s *tailrace.Schema) {
	w.now++
	w.schema = s
	w.set.Define(table, s, time.Hour, w.now)
	w.replay = append(w.replay, event{define: s})
	w.apply(&log.Entry{Time: w.now})
}

func (w *world) apply(e *log.Entry) {
	w.t.Helper()
	w.seq++
	e.Seq = w.seq
	w.replay = append(w.replay, event{entry: e})
	if err := w.set.Apply(e); err != nil {
		w.fatal("apply: %v", err)
	}
}

// commit is the log: it gives the next time and applies.
func (w *world) commit(_ context.Context, txn log.Txn) (tailrace.Time, error) {
	w.now += 1 + tailrace.Time(w.rng.IntN(3))
	w.apply(&log.Entry{Time: w.now, Txns: []log.Committed{{Time: w.now, Records: txn.Records}}})
	return w.now, nil
}

func (w *world) shard() *Shard { return w.set.Shard(table) }

// randomCell is a value of a field's type from a small set, so that rows repeat.
func (w *world) randomCell(f *tailrace.Field) cell {
	if w.rng.IntN(8) == 0 && !f.NotNull {
		return nil
	}
	var raw []byte
	switch f.Type.Kind {
	case tailrace.KindInt4:
		v := w.rng.IntN(200) - 100
		raw = []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}
	case tailrace.KindNumeric: // 1.0 and 1.00 are equal keys in different bytes
		scale := w.rng.IntN(3)
		raw = tailrace.AppendDecimal64(nil, []int64{1, 10, 100}[scale]*int64(w.rng.IntN(4)), scale)
	default:
		raw = []byte(strings.Repeat(string(rune('a'+w.rng.IntN(4))), w.rng.IntN(4)*w.rng.IntN(8)))
	}
	s := string(raw)
	return &s
}

func (w *world) randomRow() map[tailrace.ColumnID]cell {
	row := map[tailrace.ColumnID]cell{}
	for i := range w.schema.Fields {
		row[w.schema.Fields[i].ID] = w.randomCell(&w.schema.Fields[i])
	}
	if w.keyed {
		v := w.from + w.rng.IntN(w.keys)
		s := string([]byte{byte(v), byte(v >> 8), 0, 0})
		row[2] = &s
	}
	return row
}

// value is a row's stored value in a field of a schema.
func value(row map[tailrace.ColumnID]cell, f *tailrace.Field) cell {
	if c, ok := row[f.ID]; ok {
		return c
	}
	if f.Missing == nil {
		return nil
	}
	s := string(f.Missing)
	return &s
}

func appendRow(b *tailrace.Batch, s *tailrace.Schema, row map[tailrace.ColumnID]cell, d tailrace.Diff) {
	for i := range s.Fields {
		if c := value(row, &s.Fields[i]); c == nil {
			b.Cols[i].AppendNull()
		} else {
			b.Cols[i].AppendString(*c)
		}
	}
	b.AppendDiff(d)
}

// show prints row i of b, whose columns are fields of s.
func show(b *tailrace.Batch, i int) string {
	var out strings.Builder
	for c := range b.Cols {
		if b.Cols[c].IsNull(i) {
			out.WriteString("- ")
		} else {
			fmt.Fprintf(&out, "%q ", b.Cols[c].Bytes(i))
		}
	}
	return out.String()
}

// randomUpdates makes up to n random changes to live and returns them as updates.
func (w *world) randomUpdates(n int) *tailrace.Batch {
	b := tailrace.NewBatch(w.schema, n)
	byKey := map[string]int{}
	for i, r := range w.live {
		if w.keyed {
			byKey[*r[2]] = i
		}
	}
	remove := func(i int) {
		appendRow(b, w.schema, w.live[i], -1)
		if w.keyed {
			delete(byKey, *w.live[i][2])
		}
		last := len(w.live) - 1
		w.live[i] = w.live[last]
		w.live = w.live[:last]
		if w.keyed && i < last {
			byKey[*w.live[i][2]] = i
		}
	}
	for range n {
		if len(w.live) > 0 && w.keys == 300 && w.rng.IntN(3) == 0 {
			remove(w.rng.IntN(len(w.live)))
			continue
		}
		row := w.randomRow()
		if w.keyed {
			if i, ok := byKey[*row[2]]; ok {
				remove(i)
			}
			byKey[*row[2]] = len(w.live)
		}
		w.live = append(w.live, row)
		appendRow(b, w.schema, row, 1)
	}
	return b
}

// rowsOf reads back what randomUpdates made, for the model.
func (w *world) record(t tailrace.Time, b *tailrace.Batch) {
	for i := range b.N {
		row := map[tailrace.ColumnID]cell{}
		for c := range b.Cols {
			if b.Cols[c].IsNull(i) {
				row[b.IDs[c]] = nil
			} else {
				s := string(b.Cols[c].Bytes(i))
				row[b.IDs[c]] = &s
			}
		}
		w.model = append(w.model, modelUpdate{t, row, b.Diff(i)})
	}
}

// write commits up to n random changes.
func (w *world) write(ctx context.Context, n int) {
	before := slices.Clone(w.live)
	if w.keys == 300 && w.rng.IntN(2) == 0 { // a narrow range of keys, which meets few parts
		w.from, w.keys = w.rng.IntN(280), 20
		defer func() { w.from, w.keys = 0, 300 }()
	}
	if w.local && len(w.live) > 100 { // all in one range for a while, which meets few stripes
		if w.rng.IntN(40) == 0 {
			w.place = w.rng.IntN(280)
		}
		w.from, w.keys = w.place, 20
		defer func() { w.from, w.keys = 0, 300 }()
	}
	b := w.randomUpdates(n)
	wr := w.set.NewWriter(table, w.schema, WriteOptions{})
	err := error(nil)
	if cut := w.rng.IntN(2*b.N + 1); cut < b.N { // part and inline record at one time
		if err = wr.Append(ctx, slice(b, 0, cut)); err == nil && w.rng.IntN(2) == 0 {
			err = wr.Cut(ctx)
		}
		if err == nil {
			err = wr.Append(ctx, slice(b, cut, b.N))
		}
	} else {
		err = wr.Append(ctx, b)
	}
	var records []log.Record
	if err == nil {
		records, err = wr.Records(ctx)
	}
	if err != nil {
		if w.plan == nil {
			w.fatal("write: %v", err)
		}
		wr.Abort(ctx)
		w.live = before
		return
	}
	if len(records) == 0 {
		return
	}
	t, err := w.commit(ctx, log.Txn{Records: records})
	if err != nil {
		w.fatal("commit: %v", err)
	}
	w.record(t, b)
	w.times = append(w.times, t)
}

// alter makes a random change of schema.
func (w *world) alter() {
	s := *w.schema
	s.Version++
	s.Fields = slices.Clone(s.Fields)
	switch pick := w.rng.IntN(len(s.Fields)); w.rng.IntN(3) {
	case 0:
		f := tailrace.Field{ID: s.NextColumn, Name: fmt.Sprint("c", s.NextColumn), Type: tailrace.TypeOf(tailrace.KindText)}
		if w.rng.IntN(2) == 0 {
			f.Missing = []byte("default")
		}
		s.NextColumn++
		s.Fields = append(s.Fields, f)
	case 1:
		if len(s.Fields) < 3 || (w.keyed && s.Fields[pick].ID == 2) {
			return
		}
		s.Fields = slices.Delete(s.Fields, pick, pick+1)
		if w.keyed {
			s.Key = []int{s.Index(2)}
		}
	case 2:
		s.Fields[pick].Name = fmt.Sprint("renamed", s.Version)
	}
	w.define(&s)
}

// tick is an idle second of the log.
func (w *world) tick() {
	w.now += 5
	w.apply(&log.Entry{Time: w.now})
}

// crash loses the process. It starts again from the newest checkpoint and what the log has since, and loses what was not named.
func (w *world) crash() {
	events := w.replay
	w.crashIndex()
	w.open(w.checkpoint)
	for _, e := range events {
		if e.define != nil {
			w.set.Define(table, e.define, time.Hour, 1001)
			continue
		}
		if err := w.set.Apply(e.entry); err != nil {
			w.fatal("replay: %v", err)
		}
	}
	if err := w.set.adoptIndex(); err != nil && w.set.index.Load().Damaged() == nil {
		w.fatal("adopt index: %v", err)
	}
}

func (w *world) takeCheckpoint() {
	w.checkpoint, w.replay = w.set.Encode(), nil
}

// want is the model's rows as of t: printed row to multiplicity.
func (w *world) want(t tailrace.Time) map[string]tailrace.Diff {
	out := map[string]tailrace.Diff{}
	for _, u := range w.model {
		if u.time <= t {
			addTo(out, w.print(u.row), u.diff)
		}
	}
	return out
}

func (w *world) print(row map[tailrace.ColumnID]cell) string {
	b := tailrace.NewBatch(w.schema, 1)
	appendRow(b, w.schema, row, 1)
	return show(b, 0)
}

func addTo(m map[string]tailrace.Diff, row string, d tailrace.Diff) {
	if m[row] += d; m[row] == 0 {
		delete(m, row)
	}
}

// drain reads a cursor to its end, checks the order, and returns the rows and the positions of the pieces.
func (w *world) drain(ctx context.Context, c *Cursor) (rows []string, diffs []tailrace.Diff, ends [][]byte, cuts []int, err error) {
	l := newLayout(w.schema)
	var last *tailrace.Batch
	for {
		b, err := c.Next(ctx)
		if err == io.EOF {
			return rows, diffs, ends, cuts, nil
		}
		if err != nil {
			return nil, nil, nil, nil, err
		}
		for i := range b.N {
			if len(b.Cols) == len(w.schema.Fields) {
				if last != nil && compareRows(l, last, last.N-1, b, 0) >= 0 {
					w.fatal("pieces out of order: %s then %s", show(last, last.N-1), show(b, 0))
				}
				if i > 0 && compareRows(l, b, i-1, b, i) >= 0 {
					w.fatal("rows out of order: %s then %s", show(b, i-1), show(b, i))
				}
				if i == 0 {
					last = nil
				}
			}
			rows, diffs = append(rows, show(b, i)), append(diffs, b.Diff(i))
		}
		if len(b.Cols) == len(w.schema.Fields) {
			last = b
		}
		ends, cuts = append(ends, c.Position()), append(cuts, len(rows))
	}
}

func compareRows(l *layout, a *tailrace.Batch, i int, b *tailrace.Batch, j int) int {
	x, y := string(l.appendKey(nil, a, i)), string(l.appendKey(nil, b, j))
	if r := strings.Compare(x, y); r != 0 {
		return r
	}
	return tailrace.CompareStored(l.order, a, i, b, j)
}

func summed(rows []string, diffs []tailrace.Diff) map[string]tailrace.Diff {
	out := map[string]tailrace.Diff{}
	for i, r := range rows {
		addTo(out, r, diffs[i])
	}
	return out
}

func differs(got, want map[string]tailrace.Diff) string {
	if maps.Equal(got, want) {
		return ""
	}
	var out []string
	for r, d := range got {
		if want[r] != d {
			out = append(out, fmt.Sprintf("got %d want %d: %s", d, want[r], r))
		}
	}
	for r, d := range want {
		if _, ok := got[r]; !ok {
			out = append(out, fmt.Sprintf("got 0 want %d: %s", d, r))
		}
	}
	sort.Strings(out)
	return strings.Join(out, "\n")
}

// describe prints the manifest, for failures.
func (w *world) describe() string {
	m := w.shard().current()
	var out strings.Builder
	fmt.Fprintf(&out, "since %d flushed %d folded %d merges %d mem %d\n", m.since, m.flushed, m.folded, m.merges, len(m.mem))
	for _, r := range m.state {
		fmt.Fprintf(&out, "state %v %d rows, %d parts\n", r.order, r.rows(), len(r.parts))
	}
	for _, r := range m.history {
		fmt.Fprintf(&out, "history [%d, %d) %v %d rows, %d parts\n", r.lower, r.upper, r.order, r.rows(), len(r.parts))
	}
	s, _ := json.Marshal(m.schema)
	out.Write(s)
	return out.String()
}
