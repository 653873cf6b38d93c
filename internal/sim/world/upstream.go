package world

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"tailrace"
	"tailrace/log"
)

// upstream is the database that a source follows, outside of all that fails here: a list of transactions, of which the position is a number. It remembers what
// was confirmed, and forgets its transactions up to there.
type upstream struct {
	world *World

	mu        sync.Mutex
	rng       *rand.Rand
	txns      []upTxn // transaction n is txns[n-1]
	state     model   // after all of them
	confirmed int
	grew      chan struct{}
}

// upTxn is a transaction of the upstream; none of its changes when it touches tables that nobody follows.
type upTxn []upChange

// upChange is a change of a row: old and new are rows as text, "" when there is none.
type upChange struct{ table, old, new string }

// fold does to m what the transaction does.
func (t upTxn) fold(m model) error {
	for _, c := range t {
		if c.old == "" && c.new == "" {
			m[c.table].clear()
			continue
		}
		if c.old != "" {
			if err := m[c.table].add(c.old, -1); err != nil {
				return err
			}
		}
		if c.new != "" {
			if err := m[c.table].add(c.new, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

func newUpstream(w *World) *upstream {
	u := &upstream{world: w, rng: w.rand("upstream"), state: newModel(), grew: make(chan struct{})}
	for range 40 {
		u.commit()
	}
	return u
}

// write commits transactions at the upstream until ctx is done.
func (u *upstream) write(ctx context.Context) {
	for ctx.Err() == nil {
		u.mu.Lock()
		u.commit()
		pause := upTo(u.rng, 600*time.Millisecond)
		u.mu.Unlock()
		sleep(ctx, pause)
	}
}

// commit makes up a transaction. The caller holds mu, or nobody else knows u.
func (u *upstream) commit() {
	mark := fmt.Sprintf("u.%d", len(u.txns)+1)
	var t upTxn
	add := func(c upChange) {
		if err := (upTxn{c}).fold(u.state); err != nil {
			panic("the upstream contradicts itself: " + err.Error())
		}
		t = append(t, c)
	}
	if u.rng.IntN(8) > 0 {
		for range 1 + u.rng.IntN(4) {
			add(u.change(mark))
		}
		add(upChange{upBag, "", row(u.rng.IntN(10), mark)})
	}
	if u.rng.IntN(50) == 0 {
		add(upChange{table: upKeyed})
	}
	u.txns = append(u.txns, t)
	close(u.grew)
	u.grew = make(chan struct{})
}

// change makes up a change of the keyed table: an insert, an update that may move the row to another key, or a delete.
func (u *upstream) change(mark string) upChange {
	id := u.rng.IntN(30)
	t := u.state[upKeyed]
	was := t.byKey[strconv.Itoa(id)]
	big := mark + "/" + strconv.Itoa(u.rng.IntN(1000))
	if was == "" {
		return upChange{upKeyed, "", row(id, u.rng.IntN(100), mark, big)}
	}
	switch u.rng.IntN(4) {
	case 0:
		return upChange{upKeyed, was, ""}
	case 1:
		if to := u.rng.IntN(30); t.byKey[strconv.Itoa(to)] == "" {
			id = to
		}
	}
	if u.rng.IntN(2) == 0 {
		big = columns(was)[3] // as it was: the upstream does not send it
	}
	return upChange{upKeyed, was, row(id, u.rng.IntN(100), mark, big)}
}

// length is how many transactions there are.
func (u *upstream) length() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.txns)
}

// position is the place after transaction n.
func position(n int) []byte { return fmt.Appendf(nil, "upstream position %012d", n) }

// placeOf is the opposite of position; false when raw is none.
func placeOf(raw []byte) (int, bool) {
	var n int
	_, err := fmt.Sscanf(string(raw), "upstream position %d", &n)
	return n, err == nil
}

// described are the tables as the source describes them.
var described = func() [2]*tailrace.SourceTable {
	column := func(num int, name string, k tailrace.Kind) tailrace.SourceColumn {
		t := tailrace.TypeOf(k)
		return tailrace.SourceColumn{Num: num, Name: name, TypeID: t.OID(), Mod: -1, Type: t}
	}
	id, w := column(1, "id", tailrace.KindInt4), column(3, "w", tailrace.KindText)
	return [2]*tailrace.SourceTable{
		{Rel: 1, Schema: "public", Name: upKeyed, Key: []int{0}, Rows: -1, Columns: []tailrace.SourceColumn{id, column(2, "v", tailrace.KindInt4), w, column(4, "big", tailrace.KindText)}},
		{Rel: 2, Schema: "public", Name: upBag, Rows: -1, Columns: []tailrace.SourceColumn{id, w}},
	}
}()

// adapter is the upstream as one life of a node sees it: a tailrace.Source.
type adapter struct {
	*upstream
	life   *life
	chance *rand.Rand // guarded by mu, as the upstream is
}

func (u *upstream) open(l *life) tailrace.Source {
	l.adapters++
	return &adapter{u, l, u.world.rand(fmt.Sprint("adapter ", l.name, l.adapters))}
}

var errUpstream = errors.New("the upstream closed the connection")

// pass waits while the node is stopped and fails when it is dead.
func (a *adapter) pass(ctx context.Context) error {
	sleep(ctx, a.latency())
	if err := a.life.pass("upstream"); err != nil {
		return err
	}
	return ctx.Err()
}

func (a *adapter) latency() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return upTo(a.chance, 3*time.Millisecond)
}

// breaks tells whether the connection breaks now.
func (a *adapter) breaks(of int) bool {
	if a.world.calm() {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.world.weather() == sluggish {
		of = 8
	}
	return a.chance.IntN(of) == 0
}

// Tables implements tailrace.Source.
func (a *adapter) Tables(ctx context.Context, _ tailrace.Selection) ([]*tailrace.SourceTable, error) {
	if err := a.pass(ctx); err != nil {
		return nil, err
	}
	return described[:], nil
}

// Snapshot implements tailrace.Source.
func (a *adapter) Snapshot(ctx context.Context, tables []*tailrace.SourceTable, to tailrace.SnapshotTo) error {
	if err := a.pass(ctx); err != nil {
		return err
	}
	a.mu.Lock()
	at := len(a.txns)
	if at < a.confirmed {
		a.world.fail("source: a snapshot at %d after %d was confirmed", at, a.confirmed)
	}
	rows := [2][]string{a.state[upKeyed].sorted(), a.state[upBag].sorted()}
	a.mu.Unlock()
	if err := to.Begin(position(at)); err != nil {
		return err
	}
	for i, t := range tables {
		for from := 0; from < len(rows[i]); from += 7 {
			if err := a.pass(ctx); err != nil {
				return err
			}
			if a.breaks(15) {
				return errUpstream
			}
			b := rowsOf(t)
			for _, r := range rows[i][from:min(from+7, len(rows[i]))] {
				appendRow(b, t, r, nil)
			}
			if err := to.Rows(ctx, i, 0, b); err != nil {
				return err
			}
		}
		if err := to.Done(ctx, i, nil); err != nil {
			return err
		}
	}
	return nil
}

// Read implements tailrace.Source.
func (a *adapter) Read(ctx context.Context, from []byte, _ []*tailrace.SourceTable, deliver func(*tailrace.SourcePiece) error) error {
	at, ok := placeOf(from)
	if !ok {
		a.world.fail("source: asked to read from %q", from)
	}
	if err := a.pass(ctx); err != nil {
		return err
	}
	a.mu.Lock()
	isGone := at < a.confirmed
	a.mu.Unlock()
	switch {
	case isGone && a.life.slept.Load(): // it was stopped before it asked; another node follows now
		return errUpstream
	case isGone:
		a.world.fail("source: asked to read from %d, of which more was confirmed", at)
	}
	if err := deliver(&tailrace.SourcePiece{Position: from}); err != nil {
		return err
	}
	for {
		a.mu.Lock()
		grew := a.grew
		news := a.txns[at:]
		a.mu.Unlock()
		for _, t := range news {
			at++
			if err := a.pass(ctx); err != nil {
				return err
			}
			if a.breaks(60) {
				return errUpstream
			}
			for _, p := range a.pieces(at, t) {
				if err := deliver(p); err != nil {
					return err
				}
			}
		}
		select {
		case <-grew:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pieces is transaction n in one piece or, if it is long, in two.
func (a *adapter) pieces(n int, t upTxn) []*tailrace.SourcePiece {
	last := &tailrace.SourcePiece{Changes: changesOf(t), End: true, Position: position(n), Bytes: 200}
	if len(t) < 5 {
		return []*tailrace.SourcePiece{last}
	}
	first := &tailrace.SourcePiece{Changes: changesOf(t[:3]), Bytes: 100}
	last.Changes = changesOf(t[3:])
	return []*tailrace.SourcePiece{first, last}
}

// Confirm implements tailrace.Source. What is confirmed must be in the log.
func (a *adapter) Confirm(at []byte) {
	n, _ := placeOf(at)
	if !a.world.disk.has(log.KindPosition, at) {
		a.world.fail("source: position %d is confirmed and is not in the log", n)
	}
	if a.life.dead.Load() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.confirmed = max(a.confirmed, n)
}

// Drop implements tailrace.Source.
func (a *adapter) Drop(context.Context) error { return nil }

// rowsOf is an empty batch with the table's columns.
func rowsOf(t *tailrace.SourceTable) *tailrace.Batch {
	b := &tailrace.Batch{Cols: make([]tailrace.Column, len(t.Columns))}
	for i, c := range t.Columns {
		b.Cols[i] = tailrace.MakeColumn(c.Type.Kind, 8)
	}
	return b
}

// appendRow adds a row, with NULL in the columns of omit.
func appendRow(b *tailrace.Batch, t *tailrace.SourceTable, text string, omit []int) {
	for i, v := range columns(text) {
		isOmitted := false
		for _, o := range omit {
			isOmitted = isOmitted || o == i
		}
		switch {
		case isOmitted:
			b.Cols[i].AppendNull()
		case t.Columns[i].Type.Kind == tailrace.KindText:
			b.Cols[i].AppendString(v)
		default:
			n, err := strconv.ParseInt(v, 10, 32)
			if err != nil {
				panic("a row of the upstream is not one: " + text)
			}
			b.Cols[i].Append(binary.LittleEndian.AppendUint32(nil, uint32(n)))
		}
	}
	b.N++
}

// changesOf is a transaction as the source tells it: of an old row of the keyed table only the key, and not a value that an update left as it was.
func changesOf(t upTxn) []*tailrace.SourceChanges {
	var out []*tailrace.SourceChanges
	for i, name := range [2]string{upKeyed, upBag} {
		d := described[i]
		c := &tailrace.SourceChanges{Table: d, New: rowsOf(d), Old: rowsOf(d)}
		for _, change := range t {
			if change.table == name {
				c.List = append(c.List, changeOf(c, change))
			}
		}
		if len(c.List) > 0 {
			out = append(out, c)
		}
	}
	return out
}

func changeOf(c *tailrace.SourceChanges, u upChange) tailrace.SourceChange {
	out := tailrace.SourceChange{New: -1, Old: -1}
	var omit []int
	switch {
	case u.old == "" && u.new == "":
		out.Kind = tailrace.ChangeTruncate
		return out
	case u.old == "":
		out.Kind = tailrace.ChangeInsert
	case u.new == "":
		out.Kind = tailrace.ChangeDelete
	default:
		out.Kind = tailrace.ChangeUpdate
		if columns(u.old)[3] == columns(u.new)[3] {
			omit = []int{3}
			c.Unchanged = append(c.Unchanged, tailrace.SourceCell{Row: int32(c.New.N), Col: 3})
		}
	}
	if u.new != "" {
		out.New = int32(c.New.N)
		appendRow(c.New, c.Table, u.new, omit)
	}
	if u.old != "" && (u.new == "" || keyOf(u.old) != keyOf(u.new)) {
		out.Old = int32(c.Old.N)
		appendRow(c.Old, c.Table, u.old, []int{1, 2, 3})
	}
	return out
}

// isHere says whether the log has all that happened upstream.
func (u *upstream) isHere() bool {
	u.mu.Lock()
	n := len(u.txns)
	for n > 0 && len(u.txns[n-1]) == 0 {
		n--
	}
	u.mu.Unlock()
	return u.world.disk.place() >= n
}
