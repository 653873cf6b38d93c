package tail

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"tailrace"
	"tailrace/catalog"
	"tailrace/internal/sim"
	"tailrace/log"
	"tailrace/shard"
)

// world is a shard set and a tail fed with literal times.
type world struct {
	t      *testing.T
	shards *shard.Set
	tail   *Tail
	table  *catalog.Table
	subs   map[string]*Subscription
	seq    tailrace.SeqNo
}

// TestStories runs the scripts in testdata. Columns are bigint, but text when the name begins with "t".
//
//	table a b primary=a     a table with these columns; pieces=2 cuts its snapshots into pieces of two rows
//	at 10                   a transaction at time 10: lines "+ 1 2" and "- 1 2" ("_" is NULL, "+3 1 2" is diff 3)
//	frontier 12             everything below 12 is known
//	subscribe s asof=10 [upto=12] [nosnapshot] [progress] [upsert=a] [debezium=a] [order=b,a]
//	fetch s [n]             what is there now
//	resume s                the resume point
//	evict                   the window forgets everything
//	since 20                times below 20 are no longer readable
//	cancel s                a FETCH is cancelled while it waits
//	drop | dropcolumn b | addcolumn c     at the next time
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var w *world
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "table" {
				w = newWorld(t, d)
				return "ok"
			}
			return w.run(d)
		})
	})
}

func newWorld(t *testing.T, d *datadriven.TestData) *world {
	set := shard.New(sim.NewBlob(), "0000000000000001", shard.Options{})
	w := &world{t: t, shards: set, tail: New(Options{Shards: set}), subs: map[string]*Subscription{}}
	s := &tailrace.Schema{Version: 1, NextColumn: 1}
	for _, arg := range d.CmdArgs {
		if arg.Key == "pieces" {
			w.tail.pieces = int(number(t, arg.Vals[0]))
			continue
		}
		if arg.Key == "primary" {
			for _, k := range arg.Vals {
				s.Key = append(s.Key, s.ByName(k))
			}
			continue
		}
		s.Fields = append(s.Fields, field(s.NextColumn, arg.Key))
		s.NextColumn++
	}
	w.table = &catalog.Table{ID: 7, Schema: "public", Name: "t", Columns: s, Retain: time.Hour}
	set.Define(7, s, time.Hour, 1)
	w.apply(1, nil, nil)
	return w
}

func field(id tailrace.ColumnID, name string) tailrace.Field {
	kind := tailrace.KindInt8
	if strings.HasPrefix(name, "t") {
		kind = tailrace.KindText
	}
	return tailrace.Field{ID: id, Name: name, Type: tailrace.TypeOf(kind)}
}

func (w *world) apply(at tailrace.Time, records []log.Record, changes []catalog.TableChange) {
	w.t.Helper()
	w.seq++
	e := &log.Entry{Seq: w.seq, Time: at}
	if records != nil {
		e.Txns = []log.Committed{{Time: at, Records: records}}
	}
	if err := w.shards.Apply(e); err != nil {
		w.t.Fatal(err)
	}
	w.tail.Apply(e, changes)
}

func (w *world) change(after *catalog.Table) {
	at := w.tail.Newest() + 1
	if after == nil {
		w.shards.Drop(w.table.ID, at)
	} else {
		w.shards.Define(after.ID, after.Columns, time.Hour, at)
	}
	w.apply(at, []log.Record{{Kind: log.KindCatalog, Collection: w.table.ID}}, []catalog.TableChange{{Time: at, Before: w.table, After: after}})
	if after != nil {
		w.table = after
	}
}

func (w *world) run(d *datadriven.TestData) string {
	name := ""
	if len(d.CmdArgs) > 0 {
		name = d.CmdArgs[0].Key
	}
	switch d.Cmd {
	case "at":
		w.apply(number(w.t, name), []log.Record{{Kind: log.KindData, Collection: 7, Payload: tailrace.AppendBatch(nil, w.batch(d.Input))}}, nil)
	case "frontier":
		w.apply(number(w.t, name)-1, nil, nil)
	case "evict":
		w.tail.mu.Lock()
		win := w.tail.window(7)
		win.items, win.lower, win.bytes = nil, w.tail.newest, 0
		w.tail.mu.Unlock()
	case "since":
		w.apply(w.tail.Newest()+1, []log.Record{shard.SinceRecord(7, number(w.t, name))}, nil)
	case "cancel":
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, _, err := w.subs[name].Fetch(ctx, -1, -1)
		return "error: " + err.Error()
	case "drop":
		w.change(nil)
	case "dropcolumn", "addcolumn":
		s := *w.table.Columns
		s.Version++
		s.Fields = append([]tailrace.Field(nil), s.Fields...)
		if d.Cmd == "addcolumn" {
			s.Fields = append(s.Fields, field(s.NextColumn, name))
			s.NextColumn++
		} else {
			i := s.ByName(name)
			s.Fields = append(s.Fields[:i], s.Fields[i+1:]...)
		}
		next := *w.table
		next.Columns = &s
		w.change(&next)
	case "subscribe":
		return w.subscribe(d, name)
	case "fetch":
		limit := -1
		if len(d.CmdArgs) > 1 {
			limit = int(number(w.t, d.CmdArgs[1].Key))
		}
		rows, ended, err := w.subs[name].Fetch(context.Background(), limit, 0)
		return printed(rows, ended, err)
	case "resume":
		at, snapshot := w.subs[name].Resume()
		return fmt.Sprintf("%d snapshot=%v", at, snapshot)
	default:
		w.t.Fatalf("no verb %q", d.Cmd)
	}
	return "ok"
}

func (w *world) subscribe(d *datadriven.TestData, name string) string {
	r := Request{Table: w.table, Snapshot: true, Now: w.tail.Newest()}
	var notice string
	r.Notice = func(e *tailrace.Error) { notice = "notice: " + e.Message + "\n" }
	for _, arg := range d.CmdArgs[1:] {
		switch arg.Key {
		case "asof":
			t := number(w.t, arg.Vals[0])
			r.AsOf = &t
		case "upto":
			t := number(w.t, arg.Vals[0])
			r.UpTo = &t
		case "nosnapshot":
			r.Snapshot = false
		case "atleast":
			r.AtLeast = true
		case "progress":
			r.Progress = true
		case "upsert":
			r.Envelope, r.Key = EnvelopeUpsert, arg.Vals
		case "debezium":
			r.Envelope, r.Key = EnvelopeDebezium, arg.Vals
		case "order":
			for _, v := range arg.Vals {
				o := Order{Column: strings.TrimPrefix(v, "-"), Desc: strings.HasPrefix(v, "-")}
				if n, err := strconv.Atoi(v); err == nil {
					o = Order{Position: n}
				}
				r.OrderBy = append(r.OrderBy, o)
			}
		}
	}
	s, err := w.tail.Subscribe(context.Background(), r)
	if err != nil {
		return notice + printed(nil, false, err)
	}
	w.t.Cleanup(func() { s.Close() })
	w.subs[name] = s
	var names []string
	for _, c := range s.Columns() {
		names = append(names, c.Name)
	}
	return notice + strings.Join(names, " ")
}

// batch reads lines of "+ 1 2", "-2 1 2".
func (w *world) batch(input string) *tailrace.Batch {
	b := tailrace.NewBatch(w.table.Columns, 0)
	for line := range strings.Lines(input) {
		words := strings.Fields(line)
		diff := map[string]tailrace.Diff{"+": 1, "-": -1}[words[0]]
		if diff == 0 {
			n, err := strconv.Atoi(words[0])
			if err != nil {
				w.t.Fatal(err)
			}
			diff = tailrace.Diff(n)
		}
		for i, v := range words[1:] {
			switch {
			case v == "_":
				b.Cols[i].AppendNull()
			case b.Cols[i].Width == 8:
				n, err := strconv.ParseInt(v, 10, 64)
				if err != nil {
					w.t.Fatal(err)
				}
				b.Cols[i].AppendInt64(n)
			default:
				b.Cols[i].AppendString(v)
			}
		}
		b.AppendDiff(diff)
	}
	return b
}

func number(t *testing.T, s string) tailrace.Time {
	t.Helper()
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return tailrace.Time(n)
}

// printed is a row a line, NULL as _.
func printed(b *tailrace.Batch, ended bool, err error) string {
	var out strings.Builder
	if err != nil {
		var e *tailrace.Error
		if errors.As(err, &e) {
			return fmt.Sprintf("error %s: %s\ndetail: %s", e.Code, e.Message, e.Detail)
		}
		return "error: " + err.Error()
	}
	for i := range b.N {
		for c := range b.Cols {
			if c > 0 {
				out.WriteByte(' ')
			}
			col := &b.Cols[c]
			switch {
			case col.IsNull(i):
				out.WriteByte('_')
			case c == 0:
				out.WriteString(tailrace.DecimalBig(col.Bytes(i)).String())
			case col.Width == 8:
				fmt.Fprint(&out, col.Int64s()[i])
			case col.Width == 1:
				fmt.Fprint(&out, col.Bytes(i)[0] == 1)
			default:
				out.Write(col.Bytes(i))
			}
		}
		out.WriteByte('\n')
	}
	if ended {
		out.WriteString("end\n")
	}
	if out.Len() == 0 {
		return "nothing"
	}
	return out.String()
}
