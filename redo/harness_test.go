package redo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"tailrace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tableOf describes a table of integers and texts, "id:int code:text", whose first keys columns are its key.
func tableOf(id tailrace.CollectionID, name string, keys int, columns string) *tailrace.SinkTable {
	schema := &tailrace.Schema{Version: 1}
	for i, c := range strings.Fields(columns) {
		column, kind, _ := strings.Cut(c, ":")
		typ := tailrace.TypeOf(map[string]tailrace.Kind{"int": tailrace.KindInt4, "text": tailrace.KindText}[kind])
		if kind == "code" {
			typ = tailrace.Type{Kind: tailrace.KindVarchar, Mod: 54}
		}
		schema.Fields = append(schema.Fields, tailrace.Field{ID: tailrace.ColumnID(i + 1), Name: column, Type: typ, NotNull: i < keys})
		if i < keys {
			schema.Key = append(schema.Key, i)
		}
	}
	return &tailrace.SinkTable{Collection: id, Schema: "public", Name: name, Columns: schema}
}

// update is one update as text: "5 -1 (1|ann)" is at time 5.
type update struct {
	time tailrace.Time
	diff tailrace.Diff
	row  string
}

func (u update) String() string { return fmt.Sprintf("%d %+d (%s)", u.time, u.diff, u.row) }

// batchOf is updates as a batch of the table.
func batchOf(table *tailrace.SinkTable, updates []update) *tailrace.Batch {
	b := tailrace.NewBatch(table.Columns, len(updates))
	for _, u := range updates {
		for i, v := range strings.Split(u.row, "|") {
			var n int32
			switch c := &b.Cols[i]; {
			case v == "NULL":
				c.AppendNull()
			case c.Width == 0:
				c.AppendString(v)
			default:
				if _, err := fmt.Sscan(v, &n); err != nil {
					panic(fmt.Sprintf("%s: %v", u.row, err))
				}
				c.AppendInt32(n)
			}
		}
		b.Times, b.Diffs, b.N = append(b.Times, u.time), append(b.Diffs, u.diff), b.N+1
	}
	return b
}

// rowText is row i of a batch as update has it.
func rowText(b *tailrace.Batch, i int) string {
	var out []string
	for c := range b.Cols {
		switch col := &b.Cols[c]; {
		case col.IsNull(i):
			out = append(out, "NULL")
		case col.Width == 0:
			out = append(out, string(col.Bytes(i)))
		default:
			out = append(out, fmt.Sprint(col.Int32s()[i]))
		}
	}
	return strings.Join(out, "|")
}

// changes is a piece of updates that ends with the whole last time.
func changes(table *tailrace.SinkTable, updates ...update) Piece {
	return Piece{Kind: Changes, Table: table, Rows: batchOf(table, updates), To: Position{Time: updates[len(updates)-1].time}}
}

// contents are a feed's updates of each span in order, as text, up to any time.
func contents(t testing.TB, blob tailrace.Blob, feed string) map[tailrace.CollectionID][]string {
	t.Helper()
	ctx := context.Background()
	l, err := readLog(ctx, blob, feed)
	if err != nil {
		t.Fatalf("read the log: %v", err)
	}
	out := map[tailrace.CollectionID][]string{}
	for span, places := range l.places {
		c := &cursor{blob: blob, span: span, places: places, window: 100}
		for err = c.start(ctx, Position{}); err == nil && c.kind != 0; {
			if err = c.open(ctx); err == nil {
				out[span] = append(out[span], headText(c))
				err = c.take(ctx, min(1, c.left()))
			}
		}
		if err != nil {
			t.Fatalf("read span %d: %v", span, err)
		}
	}
	return out
}

func headText(c *cursor) string {
	switch {
	case c.kind == Alter:
		return fmt.Sprintf("%d alter %d", c.time, c.alter.Kind)
	case c.rows.N == 0:
		return fmt.Sprintf("%d empty %s", c.time, c.table.Name)
	}
	text := update{c.time, c.rows.Diff(c.row), rowText(c.rows, c.row)}.String()
	if c.kind == Snapshot {
		text = "snapshot " + text
	}
	return text
}

// texts are updates as contents has them.
func texts(updates []update) (out []string) {
	for _, u := range updates {
		out = append(out, u.String())
	}
	return out
}

// open opens a writer that runs until the test ends; stop ends it as a crash does.
func open(t testing.TB, blob tailrace.Blob, o Options) (w *Writer, stop func() error) {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	if o.Feed == "" {
		o.Feed = "f"
	}
	w, err := Open(context.Background(), blob, o)
	if err != nil {
		t.Fatal(err)
	}
	return w, start(t, w)
}

func start(t testing.TB, w *Writer) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	var once sync.Once
	var err error
	stop = func() error {
		once.Do(func() {
			cancel()
			err = <-ended
		})
		return err
	}
	t.Cleanup(func() { _ = stop() })
	return stop
}

func add(t testing.TB, w *Writer, span tailrace.CollectionID, p Piece) {
	t.Helper()
	if err := w.Add(context.Background(), span, p); err != nil {
		t.Fatal(err)
	}
}

// settled waits until everything that was added is durable.
func settled(t testing.TB, w *Writer) {
	t.Helper()
	for {
		w.Flush()
		w.mu.Lock()
		changed, ended, rest := w.changed, w.err, false
		for id, s := range w.spans {
			p, ok := w.durable[id]
			rest = rest || !ok || p.Before(s.to)
		}
		w.mu.Unlock()
		if ended != nil {
			t.Fatalf("the writer ended: %v", ended)
		}
		if !rest {
			return
		}
		<-changed
	}
}

// errDied is what every call of a store that died answers.
var errDied = errors.New("the store died")

// dyingBlob dies at its at-th call that changes something: half of the time after it was done. Then alive is false.
type dyingBlob struct {
	tailrace.Blob
	at   int
	done bool // the call is done that it dies at

	mu    sync.Mutex
	calls int
	dead  chan struct{}
}

func newDyingBlob(under tailrace.Blob, at int, done bool) *dyingBlob {
	return &dyingBlob{Blob: under, at: at, done: done, dead: make(chan struct{})}
}

func (b *dyingBlob) change(call func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	switch {
	case b.calls < b.at:
		return call()
	case b.calls == b.at:
		close(b.dead)
		if b.done {
			_ = call()
		}
	}
	return errDied
}

func (b *dyingBlob) Put(ctx context.Context, key string, value []byte) error {
	return b.change(func() error { return b.Blob.Put(ctx, key, value) })
}

func (b *dyingBlob) Delete(ctx context.Context, key string) error {
	return b.change(func() error { return b.Blob.Delete(ctx, key) })
}

// keys lists what blob has.
func keys(t testing.TB, blob tailrace.Blob) (all []string) {
	t.Helper()
	for key, err := range blob.List(context.Background(), "") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, key)
	}
	return all
}

// randomUpdates are a span's updates at times first, first+1, ... : of each time up to most.
func randomUpdates(r *rand.Rand, first, times, most int) (out []update) {
	for at := first; at < first+times; at++ {
		for range 1 + r.IntN(most) {
			out = append(out, update{tailrace.Time(at), tailrace.Diff(1 - 2*r.IntN(2)), fmt.Sprintf("%d|%s", r.IntN(100), strings.Repeat("x", r.IntN(30)))})
		}
	}
	return out
}

// pieces cuts updates at random: each piece leads to a place within a time or to its end.
func pieces(r *rand.Rand, table *tailrace.SinkTable, updates []update, from Position) iter.Seq[Piece] {
	return func(yield func(Piece) bool) {
		i := 0
		for i < len(updates) && !from.Before(positionOf(updates, i)) {
			i++
		}
		for i < len(updates) {
			end := min(len(updates), i+1+r.IntN(5))
			if !yield(Piece{Kind: Changes, Table: table, Rows: batchOf(table, updates[i:end]), To: positionOf(updates, end-1)}) {
				return
			}
			i = end
		}
	}
}

// positionOf is the position of a span that has updates up to the i-th.
func positionOf(updates []update, i int) Position {
	at := updates[i].time
	if i+1 == len(updates) || updates[i+1].time != at {
		return Position{Time: at}
	}
	first := slices.IndexFunc(updates, func(u update) bool { return u.time == at })
	return Position{at, uint64(i - first + 1)}
}
