package tail

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"tailrace"
	"tailrace/budget"
	"tailrace/format"
	"tailrace/log"
	"tailrace/shard"
)

// encoderOf encodes what s gives, as DataRow or COPY.
func encoderOf(s *Subscription, layout format.Layout) *format.Encoder {
	e := &format.Encoder{Layout: layout}
	for _, c := range s.Columns() {
		e.Columns = append(e.Columns, format.Col{Name: c.Name, Type: c.Type})
	}
	return e
}

// sharer is a subscriber that sends frames where it can.
type sharer struct {
	s       *Subscription
	r       Request
	encoder *format.Encoder
	sent    []byte
	frames  int
}

func newSharer(t *testing.T, tl *Tail, r Request, layout format.Layout) *sharer {
	t.Helper()
	s, err := tl.Subscribe(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	sh := &sharer{s: s, r: r, encoder: encoderOf(s, layout)}
	if !s.Encode(sh.encoder) {
		t.Fatal("the subscription's rows can not be shared")
	}
	return sh
}

// read sends up to n deliveries, all that is there for n < 0.
func (sh *sharer) read(t *testing.T, n int) {
	t.Helper()
	for ; n != 0; n-- {
		out, more, err := sh.s.step(t.Context(), sh.s.wire)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if out == nil {
			select {
			case <-more:
				continue
			default:
			}
			return
		}
		for _, f := range out.frames {
			sh.sent = append(sh.sent, f.bytes...)
			sh.frames++
		}
		sh.sent = sh.encoder.AppendBatch(sh.sent, out.Batch, 0, out.N)
	}
}

// alone is what a subscriber of an undisturbed tail sends by itself for the same SUBSCRIBE.
func (sh *sharer) alone(t *testing.T, calm *Tail) []byte {
	t.Helper()
	r := sh.r
	r.AsOf = &sh.s.asOf
	s, err := calm.Subscribe(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows, _, err := s.Fetch(t.Context(), -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	return encoderOf(s, sh.encoder.Layout).AppendBatch(nil, rows, 0, rows.N)
}

// dataIn leaves out progress rows of messages: how many there are depends on when one looks.
func dataIn(messages []byte, progress bool) []byte {
	if !progress {
		return messages
	}
	var out []byte
	for len(messages) > 0 {
		n := 1 + int(binary.BigEndian.Uint32(messages[1:]))
		m := messages[:n]
		messages = messages[n:]
		if !bytes.Contains(m[:min(n, 48)], []byte("\tt\t")) && !bytes.Contains(m[:min(n, 48)], []byte(",t,,")) && !bytes.Contains(m[:min(n, 48)], []byte("\x00\x00\x00\x01t\xff")) {
			out = append(out, m...)
		}
	}
	return out
}

// TestFramesAreWhatASubscriberAloneSends: subscribers of a few shapes read frames at random moments, from the window, from history and from snapshots on
// their way, while transactions commit, memtables are flushed, the window is evicted, and frames are let go. Each must send byte for byte what it
// would send alone.
func TestFramesAreWhatASubscriberAloneSends(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { randomSharing(t, seed) })
	}
}

func randomSharing(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 11))
	w := newWorld(t, &datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "a"}, {Key: "b"}, {Key: "tc"}, {Key: "pieces", Vals: []string{"3"}}}})
	if seed%2 == 0 {
		s := *w.table.Columns
		s.Key = []int{0}
		w.table.Columns = &s
		w.shards.Define(7, &s, w.table.Retain, 1)
	}
	w.tail.blocks = 4
	var history []*log.Entry
	commit := func(_ context.Context, txn log.Txn) (tailrace.Time, error) {
		at := w.tail.Newest() + 1
		w.apply(at, txn.Records, nil)
		history = append(history, &log.Entry{Seq: w.seq, Time: at, Txns: []log.Committed{{Time: at, Records: txn.Records}}})
		return at, nil
	}
	model := map[int64]string{}
	var sharers []*sharer
	for range 200 {
		switch op := rng.IntN(12); {
		case op < 4:
			w.randomCommit(rng, model, commit)
		case op == 4:
			w.tail.cache.clear()
		case op == 5:
			w.tail.cache.most = []int64{400, 3000, framesBytes}[rng.IntN(3)]
		case op == 6 && rng.IntN(2) == 0:
			if err := w.shards.Flush(t.Context(), commit); err != nil {
				t.Fatal(err)
			}
		case op == 7 && rng.IntN(4) == 0:
			w.run(&datadriven.TestData{Cmd: "evict"})
		case op == 8 && len(sharers) < 24:
			r := randomRequest(rng, w)
			if rng.IntN(3) > 0 {
				r.AsOf = nil
			}
			for range 1 + rng.IntN(4) {
				sharers = append(sharers, newSharer(t, w.tail, r, format.Layout(rng.IntN(3))))
			}
		case len(sharers) > 0:
			sharers[rng.IntN(len(sharers))].read(t, 1+rng.IntN(4))
		}
	}
	for i, sh := range sharers {
		sh.read(t, -1)
		calm := New(Options{Shards: w.shards})
		for _, e := range history {
			calm.Apply(e, nil)
		}
		got, want := dataIn(sh.sent, sh.r.Progress), dataIn(sh.alone(t, calm), sh.r.Progress)
		if !bytes.Equal(got, want) {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			from := max(0, at-200)
			t.Fatalf("sharer %d (%+v), %d frames: from byte %d of %d and %d on\ngot  %q\nwant %q", i, sh.r, sh.frames, at, len(got), len(want),
				got[from:min(len(got), at+100)], want[from:min(len(want), at+100)])
		}
		sh.s.Close()
	}
	if n := w.tail.Frames().Kept; n != 0 {
		t.Fatalf("%d bytes of frames are kept when nobody reads", n)
	}
	if n := len(w.tail.departures); n != 0 {
		t.Fatalf("%d snapshots are held when nobody reads", n)
	}
}

// TestAStormReadsOnce: subscribers who come while nothing changes share one time, one hold, and each piece of the snapshot; then each frame of a change. One
// who comes after a change has a later time.
func TestAStormReadsOnce(t *testing.T) {
	w := newSmall(t, 1, nil)
	w.insert(0, 0, 1000, 64)
	w.tail.pieces = 250
	const riders = 40
	request := func() Request {
		return Request{Table: w.tables[0], Now: w.tail.Newest(), Snapshot: true}
	}
	var all []*sharer
	for range riders {
		all = append(all, newSharer(t, w.tail, request(), format.CopyText))
		w.apply(nil) // time passes
	}
	for _, sh := range all {
		sh.read(t, -1)
	}
	w.insert(0, 1000, 3, 64)
	late := newSharer(t, w.tail, request(), format.CopyText)
	if late.s.asOf == all[0].s.asOf {
		t.Fatalf("the late one reads as of %d, before the last change", late.s.asOf)
	}
	for _, sh := range all {
		sh.read(t, -1)
		if !bytes.Equal(sh.sent, all[0].sent) {
			t.Fatal("two riders did not send the same bytes")
		}
	}
	if n := bytes.Count(all[0].sent, []byte{'\n'}); n != 1003 {
		t.Fatalf("%d rows, want 1003", n)
	}
	got := w.tail.Frames()
	if got.Made != 5 || got.Shared != 5*(riders-1) || got.Buses != 1 || got.Riders != riders-1 {
		t.Fatalf("%+v, want 5 frames made, %d shared, 1 bus, %d riders", got, 5*(riders-1), riders-1)
	}
	for _, sh := range append(all, late) {
		sh.s.Close()
	}
	if used := w.node.Share(budget.Frames).Usage().Used; used != 0 {
		t.Fatalf("%d bytes of frames are taken when nobody reads", used)
	}
}

// TestWhoComesBesideWritesDepartsTogether: who comes after a change, while a snapshot before it is still being read, waits a little; all who do get one later time.
func TestWhoComesBesideWritesDepartsTogether(t *testing.T) {
	w := newSmall(t, 1, nil)
	w.insert(0, 0, 100, 64)
	first := newSharer(t, w.tail, Request{Table: w.tables[0], Now: w.tail.Newest(), Snapshot: true}, format.CopyText)
	defer first.s.Close()
	const late = 5
	times, came := make([]tailrace.Time, late), make([]tailrace.Time, late)
	for i := range late {
		w.insert(0, 100+i, 1, 64)
		came[i] = w.tail.Newest()
	}
	var all sync.WaitGroup
	for i := range late {
		all.Go(func() {
			s, err := w.tail.Subscribe(context.Background(), Request{Table: w.tables[0], Now: came[i], Snapshot: true})
			if err != nil {
				t.Error(err)
				return
			}
			times[i] = s.asOf
			t.Cleanup(func() { s.Close() })
		})
	}
	first.read(t, -1)
	all.Wait()
	for i, at := range times {
		if at != times[0] || at < came[i] {
			t.Fatalf("subscriber %d, who came at %d, reads as of %d, the first as of %d; want one time, not before any came", i, came[i], at, times[0])
		}
	}
}

// TestARiderThatStopsHoldsUpNobody: one is cancelled while it has the turn to read, and one stops after its first piece; the others get all rows.
func TestARiderThatStopsHoldsUpNobody(t *testing.T) {
	w := newSmall(t, 1, nil)
	w.insert(0, 0, 1000, 64)
	w.tail.pieces = 100
	r := Request{Table: w.tables[0], Now: w.tail.Newest(), Snapshot: true}
	stopped := newSharer(t, w.tail, r, format.DataRow)
	stopped.read(t, 1)
	cancelled := newSharer(t, w.tail, r, format.DataRow)
	cancelled.read(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := cancelled.s.NextEncoded(ctx); err == nil {
		t.Fatal("a cancelled delivery came")
	}
	cancelled.s.Close()
	fast := newSharer(t, w.tail, r, format.DataRow)
	fast.read(t, -1)
	w.tail.cache.clear()
	stopped.read(t, -1)
	if len(fast.sent) == 0 || !bytes.Equal(fast.sent, stopped.sent) {
		t.Fatalf("the fast one sent %d bytes, the one that stopped %d", len(fast.sent), len(stopped.sent))
	}
}

// TestSettingsMakeAnotherWire: subscribers with different settings that change text do not share.
func TestSettingsMakeAnotherWire(t *testing.T) {
	w := newSmall(t, 1, nil)
	r := Request{Table: w.tables[0], Now: w.tail.Newest()}
	a := newSharer(t, w.tail, r, format.DataRow)
	b := newSharer(t, w.tail, r, format.DataRow)
	if a.s.wire != b.s.wire {
		t.Fatal("the same shape and settings are two wires")
	}
	for name, change := range map[string]func(*format.Settings){
		"TimeZone":           func(s *format.Settings) { s.Location = time.FixedZone("x", 3600) },
		"DateStyle":          func(s *format.Settings) { s.DateStyle = format.StyleGerman },
		"IntervalStyle":      func(s *format.Settings) { s.IntervalStyle = format.IntervalISO },
		"bytea_output":       func(s *format.Settings) { s.ByteaHex = false },
		"extra_float_digits": func(s *format.Settings) { s.ExtraFloatDigits = 0 },
	} {
		s, err := w.tail.Subscribe(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		e := encoderOf(s, format.DataRow)
		e.Settings = format.Default()
		change(e.Settings)
		if !s.Encode(e) || s.wire == a.s.wire {
			t.Errorf("with another %s it is the same wire", name)
		}
		s.Close()
	}
}

// TestManyReadAtOnce: subscribers read from goroutines of their own, some leave early, while transactions commit and frames are let go. All who stay send the same
// bytes.
func TestManyReadAtOnce(t *testing.T) {
	w := newSmall(t, 1, nil)
	w.insert(0, 0, 500, 64)
	w.tail.pieces = 100
	const readers, changes = 24, 200
	upTo := w.tail.Newest() + changes + 1
	asOf := w.tail.Newest()
	sent := make([][]byte, readers)
	var all sync.WaitGroup
	for i := range readers {
		sh := newSharer(t, w.tail, Request{Table: w.tables[0], Now: asOf, AsOf: &asOf, UpTo: &upTo, Snapshot: true}, format.CopyText)
		all.Go(func() {
			defer sh.s.Close()
			for {
				d, err := sh.s.NextEncoded(context.Background())
				if err != nil {
					if !errors.Is(err, io.EOF) {
						t.Error(err)
					}
					return
				}
				for _, m := range d.Messages {
					sent[i] = append(sent[i], m...)
				}
				sent[i] = sh.encoder.AppendBatch(sent[i], d.Rows, 0, d.Rows.N)
				if i%6 == 5 && len(sent[i]) > i*2000 {
					return
				}
			}
		})
	}
	for k := range changes {
		w.insert(0, 1000+k, 1, 64)
		if k%20 == 0 {
			w.tail.cache.clear()
		}
	}
	w.apply(nil)
	all.Wait()
	for i := range readers {
		switch {
		case i%6 == 5 && !bytes.HasPrefix(sent[0], sent[i]):
			t.Fatalf("reader %d, who left, did not send what reader 0 began with", i)
		case i%6 != 5 && !bytes.Equal(sent[i], sent[0]):
			t.Fatalf("reader %d sent %d bytes, reader 0 other %d", i, len(sent[i]), len(sent[0]))
		}
	}
	if n := bytes.Count(sent[0], []byte{'\n'}); n != 500+changes {
		t.Fatalf("%d rows, want %d", n, 500+changes)
	}
	if used := w.node.Share(budget.Frames).Usage().Used; used != 0 {
		t.Fatalf("%d bytes of frames are taken when nobody reads", used)
	}
}

// TestWhoCatchesUpTakesBlocks: of many changes in the window those in whole blocks are a frame each, made once for all; the rest is read change by change.
func TestWhoCatchesUpTakesBlocks(t *testing.T) {
	w := newSmall(t, 1, nil)
	asOf := w.tail.Newest()
	const whole, readers = 3, 5
	for k := range whole*blockItems + 2 {
		w.insert(0, k, 1, 64)
	}
	w.apply(nil)
	upTo := w.tail.Newest()
	made := w.tail.Frames().Made
	var first []byte
	for i := range readers {
		sh := newSharer(t, w.tail, Request{Table: w.tables[0], Now: upTo, AsOf: &asOf, UpTo: &upTo}, format.CopyText)
		defer sh.s.Close()
		sh.read(t, -1)
		if i == 0 {
			first = sh.sent
		}
		if n := bytes.Count(sh.sent, []byte{'\n'}); n != whole*blockItems+2 || !bytes.Equal(sh.sent, first) {
			t.Fatalf("reader %d: %d rows, want %d, the same as reader 0", i, n, whole*blockItems+2)
		}
	}
	if n := w.tail.Frames().Made - made; n != whole+2 {
		t.Fatalf("%d frames were made, want %d", n, whole+2)
	}
}

// TestFramesThatAreGoneAreForgotten: subscribers with ever other settings leave nothing at an item.
func TestFramesThatAreGoneAreForgotten(t *testing.T) {
	c, it := newFrames(budget.NewShare("frames", 1<<20)), &item{}
	for i := range 100 {
		w := &wire{}
		f, found := it.find(c, w, 0)
		if found {
			t.Fatalf("wire %d: found a frame that nobody made", i)
		}
		if !c.keep(f, []byte("rows"), 1) {
			t.Fatalf("wire %d: no room", i)
		}
		f.drop()
		if again, found := it.find(c, w, 0); !found || again != f {
			t.Fatalf("wire %d: got another frame", i)
		}
		f.drop()
		c.forget(func(x *frame) bool { return x.wire == w })
	}
	if n := len(it.frames); n != 1 {
		t.Errorf("got %d frames at the item, want the last alone", n)
	}
}

// TestTheFirstRowsComeAtOnce: the first delivery of a snapshot is small and each next one larger, whether encoded or fetched; who comes when they are there gets
// them together.
func TestTheFirstRowsComeAtOnce(t *testing.T) {
	w := newSmall(t, 1, nil)
	w.insert(0, 0, 3000, 64)
	r := Request{Table: w.tables[0], Now: w.tail.Newest(), Snapshot: true}
	first := newSharer(t, w.tail, r, format.DataRow)
	var sizes []int
	for rows := 0; rows < 3000; {
		d, err := first.s.NextEncoded(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rows += d.N
		sizes = append(sizes, d.N)
	}
	if got, want := fmt.Sprint(sizes), "[1024 1976]"; got != want {
		t.Errorf("encoded: got deliveries of %s rows, want %s", got, want)
	}
	late := newSharer(t, w.tail, r, format.DataRow)
	if d, err := late.s.NextEncoded(t.Context()); err != nil || d.N != 3000 {
		t.Errorf("the late one: got %d rows at once, %v, want 3000", d.N, err)
	}
	fetching := w.subscribe(0, r)
	if b, err := fetching.Next(t.Context()); err != nil || b.N != 1024 {
		t.Errorf("fetched: got %d rows first, %v, want 1024", b.N, err)
	}
}

// TestASnapshotIsNotHeldForEver: who stops in the middle of a snapshot keeps its time for an hour; when it goes on later than that, and the time is gone, it is
// told 53200.
func TestASnapshotIsNotHeldForEver(t *testing.T) {
	w := newSmall(t, 1, nil)
	w.insert(0, 0, 3000, 64)
	s := w.subscribe(0, Request{Snapshot: true})
	if _, err := s.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	released, release := false, s.departure.release
	s.departure.release = func() { released = true; release() }
	w.now += SnapshotHold - 2*beat
	if w.apply(nil); released {
		t.Error("the time is no longer held before an hour is over")
	}
	w.now += 4 * beat
	if w.apply(nil); !released {
		t.Error("the time is held for more than an hour")
	}
	s.stopReading() // as when others need the memory
	w.apply([]log.Record{shard.SinceRecord(w.tables[0].ID, w.now)})
	_, err := s.Next(t.Context())
	var e *tailrace.Error
	if !errors.As(err, &e) || e.Code != "53200" || !strings.Contains(e.Message, "fell behind") {
		t.Errorf("got %v, want 53200", err)
	}
}
