package redo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tailrace"
	"tailrace/format"
	"tailrace/internal/mytest"
	"tailrace/internal/pgtest"
	"tailrace/internal/sim"
	"tailrace/mysql"
	"tailrace/postgres"
)

// database is a real target.
type database struct {
	name  string
	open  func() (tailrace.Sink, error)
	exec  func(t testing.TB, sql string)
	query func(t testing.TB, sql string) [][]string
	// counter is statements that make a trigger count rows of a table in another.
	counter func(table, event, change string) []string
}

func databases(t *testing.T) []database {
	settings := format.Default()
	o := tailrace.SinkOptions{
		Text: func(dst []byte, t tailrace.Type, c *tailrace.Column, i int) []byte {
			return format.AppendText(dst, t, c, i, settings)
		},
		Parse: func(c *tailrace.Column, t tailrace.Type, text string) error {
			return format.ParseText(c, t, text, settings)
		},
	}
	my, pg := mytest.Shared(t), pgtest.Shared(t)
	return []database{
		{
			"mariadb", func() (tailrace.Sink, error) { return mysql.OpenSink(my.URL(), o) }, my.Exec, my.Query,
			func(table, event, change string) []string {
				return []string{fmt.Sprintf("CREATE TRIGGER %s_%s AFTER %s ON %s FOR EACH ROW UPDATE counted SET n = n %s WHERE name = '%s'", table, event, event, table, change, table)}
			},
		},
		{
			"postgresql", func() (tailrace.Sink, error) { return postgres.OpenSink(pg.URL(), o) }, pg.Exec, pg.Query,
			func(table, event, change string) []string {
				f := fmt.Sprintf("CREATE OR REPLACE FUNCTION %s_%s() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE public.counted SET n = n %s WHERE name = '%s'; RETURN NULL; END $$", table, event, change, table)
				return []string{f, fmt.Sprintf("CREATE TRIGGER %[1]s_%[2]s AFTER %[2]s ON %[1]s FOR EACH ROW EXECUTE FUNCTION %[1]s_%[2]s()", table, event)}
			},
		},
	}
}

// The spans of a shop: people have unique mails, bag has equal rows, log only grows, item is changed itself, visit has what one transaction cannot hold.
const (
	people tailrace.CollectionID = 7 + iota
	bag
	visits
	item
)

// shop makes up updates of several tables and keeps what they lead to.
type shop struct {
	r      *rand.Rand
	tables map[tailrace.CollectionID]*tailrace.SinkTable
	rows   map[tailrace.CollectionID]map[string]int
	sent   map[tailrace.CollectionID][]Piece
	states []map[string]map[string]int // by time: the rows of each table
	now    int
}

func newShop(seed uint64) *shop {
	s := &shop{
		r: rand.New(rand.NewPCG(seed, 5)), rows: map[tailrace.CollectionID]map[string]int{}, sent: map[tailrace.CollectionID][]Piece{},
		tables: map[tailrace.CollectionID]*tailrace.SinkTable{
			people: tableOf(people, "people", 1, "id:int mail:code n:int"), bag: tableOf(bag, "bag", 0, "n:int name:text"),
			visits: tableOf(visits, "visits", 0, "n:int"), item: tableOf(item, "item", 1, "id:int name:text"),
		},
	}
	for span := range s.tables {
		s.rows[span] = map[string]int{}
	}
	return s
}

// spans are in order.
func (s *shop) spans() []tailrace.CollectionID { return slices.Sorted(maps.Keys(s.rows)) }

// keep notes the state at the next time.
func (s *shop) keep() {
	state := map[string]map[string]int{}
	for span, rows := range s.rows {
		if t := s.tables[span]; t != nil {
			state[t.Name] = maps.Clone(rows)
		}
	}
	s.states = append(s.states, state)
	s.now++
}

// snapshot sends what is there, in two or three pieces. There are no times before it but 0.
func (s *shop) snapshot() {
	s.keep() // time 0
	for _, span := range s.spans() {
		for i := range 20 {
			row := map[tailrace.CollectionID]string{people: fmt.Sprintf("%d|mail%d|0", i, i), bag: "1|x", visits: "0", item: fmt.Sprintf("%d|NULL", i)}[span]
			s.rows[span][row]++
		}
	}
	for _, span := range s.spans() {
		s.sendSnapshot(span)
	}
	s.keep()
}

func (s *shop) sendSnapshot(span tailrace.CollectionID) {
	var rows []update
	for _, row := range slices.Sorted(maps.Keys(s.rows[span])) {
		rows = append(rows, update{tailrace.Time(s.now), tailrace.Diff(s.rows[span][row]), row})
	}
	at := Position{Time: tailrace.Time(s.now)}
	s.sent[span] = append(s.sent[span], Piece{Kind: Snapshot, Table: s.tables[span], To: Position{at.Time, 1}})
	for i := 0; i < len(rows); i += 7 {
		part := rows[i:min(i+7, len(rows))]
		at.Ordinal = uint64(i + len(part))
		if i+len(part) == len(rows) {
			at.Ordinal = 0
		}
		s.sent[span] = append(s.sent[span], Piece{Kind: Snapshot, Table: s.tables[span], Rows: batchOf(s.tables[span], part), To: at})
	}
	if len(rows) == 0 {
		s.sent[span][len(s.sent[span])-1].To = at
	}
}

// transaction changes up to most rows of some tables.
func (s *shop) transaction(most int) {
	for _, span := range s.spans() {
		if s.tables[span] == nil || s.r.IntN(3) == 0 {
			continue
		}
		var updates []update
		if len(s.tables[span].Columns.Key) > 0 {
			updates = s.keyed(span, most)
		} else {
			updates = s.multiset(span, most)
		}
		for i := 0; i < len(updates); {
			n := min(len(updates)-i, 2*(1+s.r.IntN(4))) // -old and +new stay together
			to := Position{tailrace.Time(s.now), uint64(i + n)}
			if i+n == len(updates) {
				to.Ordinal = 0
			}
			s.sent[span] = append(s.sent[span], Piece{Kind: Changes, Table: s.tables[span], Rows: batchOf(s.tables[span], updates[i:i+n]), To: to})
			i += n
		}
	}
	s.keep()
}

// keyed changes rows of a table with a key. Those that change hand mails on to each other.
func (s *shop) keyed(span tailrace.CollectionID, most int) (updates []update) {
	rows := s.rows[span]
	old := map[string]string{}
	for row := range rows {
		id, _, _ := strings.Cut(row, "|")
		old[id] = row
	}
	ids := map[string]bool{}
	var mails []string
	for range 1 + s.r.IntN(most) {
		id := fmt.Sprint(s.r.IntN(10 + most))
		if !ids[id] {
			ids[id] = true
			mails = append(mails, "mail"+id)
		}
	}
	if span == people {
		mails = mails[:0]
		for _, id := range slices.Sorted(maps.Keys(ids)) {
			if row, ok := old[id]; ok {
				mails = append(mails, strings.Split(row, "|")[1])
			} else {
				mails = append(mails, fmt.Sprintf("new%d-%s", s.now, id))
			}
		}
		s.r.Shuffle(len(mails), func(i, j int) { mails[i], mails[j] = mails[j], mails[i] })
	}
	for i, id := range slices.Sorted(maps.Keys(ids)) {
		if row, ok := old[id]; ok {
			updates = append(updates, update{tailrace.Time(s.now), -1, row})
			delete(rows, row)
		} else {
			updates = append(updates, update{}) // keeps pairs together, and goes below
		}
		row := fmt.Sprintf("%s|%s|%d", id, mails[i], s.r.IntN(100))
		if span == item {
			row = fmt.Sprintf("%s|name%d", id, s.now) + strings.Repeat("|7", len(s.tables[item].Columns.Fields)-2)
		}
		if s.r.IntN(5) > 0 {
			updates = append(updates, update{tailrace.Time(s.now), 1, row})
			rows[row] = 1
		}
	}
	return slices.DeleteFunc(updates, func(u update) bool { return u.diff == 0 })
}

func (s *shop) multiset(span tailrace.CollectionID, most int) (updates []update) {
	rows := s.rows[span]
	for range 1 + s.r.IntN(most) {
		row, diff := fmt.Sprint(s.now), 1+s.r.IntN(2)
		if span == bag {
			row = []string{"1|x", "1|y", "NULL|x", "2|NULL", fmt.Sprintf("%d|z", s.now)}[s.r.IntN(5)]
			if rows[row] > 0 && s.r.IntN(2) == 0 {
				diff = -1 - s.r.IntN(rows[row])
			}
		}
		updates = append(updates, update{tailrace.Time(s.now), tailrace.Diff(diff), row})
		if rows[row] += diff; rows[row] == 0 {
			delete(rows, row)
		}
	}
	return updates
}

// alter changes item, whose rows become what change makes of them.
func (s *shop) alter(kind tailrace.SinkAlterKind, after *tailrace.SinkTable, column tailrace.ColumnID, change func(row string) string) {
	a := &tailrace.SinkAlter{Kind: kind, Before: s.tables[item], After: after, Column: column}
	s.sent[item] = append(s.sent[item], Piece{Kind: Alter, Alter: a, To: Position{Time: tailrace.Time(s.now)}})
	rows := map[string]int{}
	for row := range s.rows[item] {
		if row = change(row); row != "" {
			rows[row] = 1
		}
	}
	s.rows[item], s.tables[item] = rows, after
	s.keep()
}

// story is a life of the shop.
func story(seed uint64) *shop {
	s := newShop(seed)
	s.snapshot()
	for range 12 {
		s.transaction(4)
	}
	wide := tableOf(item, "item", 1, "id:int name:text n:int")
	s.alter(tailrace.SinkAddColumn, wide, 3, func(row string) string { return row + "|NULL" })
	s.transaction(60)
	s.transaction(4)
	renamed := tableOf(item, "thing", 1, "id:int name:text n:int")
	s.alter(tailrace.SinkRenameTable, renamed, 0, func(row string) string { return row })
	for range 6 {
		s.transaction(4)
	}
	s.alter(tailrace.SinkTruncate, renamed, 0, func(string) string { return "" })
	for range 3 {
		s.transaction(4)
	}
	s.sendSnapshot(bag) // a resync
	s.keep()
	for range 6 {
		s.transaction(4)
	}
	return s
}

// write sends the whole story into a log, with some spans further than others.
func (s *shop) write(t *testing.T, blob tailrace.Blob) {
	t.Helper()
	w, stop := open(t, blob, Options{Epoch: 1, FlushBytes: 2000})
	left := maps.Clone(s.sent)
	for len(left) > 0 {
		for _, span := range s.spans() {
			n := min(len(left[span]), s.r.IntN(10))
			for _, p := range left[span][:n] {
				add(t, w, span, p)
			}
			if left[span] = left[span][n:]; len(left[span]) == 0 {
				delete(left, span)
			}
		}
	}
	end := tailrace.Time(s.now)
	for i, span := range s.spans() {
		w.Resolved(span, end+tailrace.Time(i))
	}
	settled(t, w)
	_ = stop()
}

// prepare makes the tables that the target has before.
func (d *database) prepare(t *testing.T) {
	t.Helper()
	for _, name := range []string{"people", "bag", "visits", "item", "thing", "counted"} {
		d.exec(t, "DROP TABLE IF EXISTS "+name)
	}
	d.exec(t, "CREATE TABLE people (id int PRIMARY KEY, mail varchar(50), n int, UNIQUE (mail))")
	d.exec(t, "CREATE TABLE bag (n int, name text)")
	d.exec(t, "CREATE TABLE visits (n int)")
	d.exec(t, "CREATE TABLE counted (name varchar(50) PRIMARY KEY, n int)")
	d.exec(t, "INSERT INTO counted VALUES ('visits', 0)")
	for _, sql := range append(d.counter("visits", "insert", "+ 1"), d.counter("visits", "delete", "- 1000000")...) {
		d.exec(t, sql)
	}
	sink, err := d.open()
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	if err := sink.Forget(context.Background(), SinkFeed("f")); err != nil {
		t.Fatal(err)
	}
}

// rows are a table's, as the shop has them.
func (d *database) rows(t *testing.T, table string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, r := range d.query(t, "SELECT * FROM "+table) {
		out[strings.Join(r, "|")]++
	}
	return out
}

// want compares the target with a state.
func (d *database) want(t *testing.T, what string, state map[string]map[string]int) {
	t.Helper()
	for table, want := range state {
		if got := d.rows(t, table); !maps.Equal(got, want) {
			t.Errorf("%s: %s, table %s:\n got %v\nwant %v", d.name, what, table, got, want)
		}
	}
	visited := 0
	for _, n := range state["visits"] {
		visited += n
	}
	if got := d.query(t, "SELECT n FROM counted WHERE name = 'visits'")[0][0]; got != fmt.Sprint(visited) {
		t.Errorf("%s: %s: the trigger counted %s, want %d", d.name, what, got, visited)
	}
}

func (d *database) apply(t *testing.T, blob tailrace.Blob, at int, done bool, o ApplyOptions) (Progress, error) {
	t.Helper()
	sink, err := d.open()
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	if at > 0 {
		sink = &dyingSink{Sink: sink, left: at, done: done}
	}
	return Apply(context.Background(), blob, "f", sink, o)
}

// dyingSink answers an error to the left-th call of its connections, and to all after it.
type dyingSink struct {
	tailrace.Sink
	left int
	done bool // the call is done that it dies at
}

func (s *dyingSink) Connect(ctx context.Context) (tailrace.SinkConn, error) {
	conn, err := s.Sink.Connect(ctx)
	return &dyingConn{conn, s}, err
}

type dyingConn struct {
	tailrace.SinkConn
	s *dyingSink
}

func (c *dyingConn) call(do func() error) error {
	c.s.left--
	switch {
	case c.s.left > 0:
		return do()
	case c.s.left == 0 && c.s.done:
		_ = do()
	}
	return errDied
}

func (c *dyingConn) Apply(ctx context.Context, txn *tailrace.SinkTxn) error {
	return c.call(func() error { return c.SinkConn.Apply(ctx, txn) })
}

func (c *dyingConn) Begin(ctx context.Context) error {
	return c.call(func() error { return c.SinkConn.Begin(ctx) })
}

func (c *dyingConn) Add(ctx context.Context, step *tailrace.SinkStep) error {
	return c.call(func() error { return c.SinkConn.Add(ctx, step) })
}

func (c *dyingConn) Commit(ctx context.Context, progress []tailrace.SinkProgress) error {
	return c.call(func() error { return c.SinkConn.Commit(ctx, progress) })
}

func (c *dyingConn) Load(ctx context.Context, t *tailrace.SinkTarget, rows *tailrace.Batch, progress []tailrace.SinkProgress) error {
	return c.call(func() error { return c.SinkConn.Load(ctx, t, rows, progress) })
}

func (c *dyingConn) Alter(ctx context.Context, change *tailrace.SinkAlter) error {
	return c.call(func() error { return c.SinkConn.Alter(ctx, change) })
}

func TestApplyGivesTheExactState(t *testing.T) {
	for _, d := range databases(t) {
		for seed := range uint64(3) {
			s, blob := story(seed), sim.NewBlob()
			s.write(t, blob)
			d.prepare(t)
			p, err := d.apply(t, blob, 0, false, ApplyOptions{TransactionBytes: []int{0, 200, 2000}[seed]})
			if err != nil {
				t.Fatalf("%s, seed %d: %v", d.name, seed, err)
			}
			d.want(t, fmt.Sprintf("seed %d", seed), s.states[len(s.states)-1])
			if p.Frontier != tailrace.Time(s.now) {
				t.Errorf("frontier: got %d, want %d", p.Frontier, s.now)
			}
			again, err := d.apply(t, blob, 0, false, ApplyOptions{})
			if err != nil || again.Rows != 0 {
				t.Errorf("%s, seed %d: a second run applied %d rows (%v), want none", d.name, seed, again.Rows, err)
			}
			d.want(t, "a second run", s.states[len(s.states)-1])
		}
	}
}

func TestApplyThatDiesGoesOn(t *testing.T) {
	for _, d := range databases(t) {
		for seed := uint64(10); seed < 12; seed++ {
			s, blob := story(seed), sim.NewBlob()
			s.write(t, blob)
			d.prepare(t)
			for runs := 0; ; runs++ {
				at, size := 1+s.r.IntN(1<<s.r.IntN(8)), 50+s.r.IntN(300)
				if runs < 8 { // in the middle of the snapshot
					at, size = 2, 50
				}
				_, err := d.apply(t, blob, at, s.r.IntN(2) == 0, ApplyOptions{TransactionBytes: size})
				if err == nil {
					break
				}
				if !errors.Is(err, errDied) || runs > 500 {
					t.Fatalf("%s, seed %d, run %d: %v", d.name, seed, runs, err)
				}
			}
			d.want(t, fmt.Sprintf("seed %d, killed again and again", seed), s.states[len(s.states)-1])
		}
	}
}

// TestApplyStopsAtTheRedoFrontier has one span behind, and then catch up.
func TestApplyStopsAtTheRedoFrontier(t *testing.T) {
	for _, d := range databases(t) {
		s, blob := newShop(20), sim.NewBlob()
		s.snapshot()
		for range 20 {
			s.transaction(4)
		}
		w, stop := open(t, blob, Options{Epoch: 1, FlushBytes: 500})
		const behind = 10
		var later []Piece
		for span, all := range s.sent {
			for _, p := range all {
				if span == bag && p.To.Time > behind {
					later = append(later, p)
				} else {
					add(t, w, span, p)
				}
			}
			if span != bag {
				w.Resolved(span, tailrace.Time(s.now))
			}
		}
		w.Resolved(bag, behind)
		settled(t, w)
		d.prepare(t)
		if p, err := d.apply(t, blob, 0, false, ApplyOptions{}); err != nil || p.Frontier != behind {
			t.Fatalf("%s: got %+v, %v, want the frontier %d", d.name, p, err, behind)
		}
		d.want(t, "at the frontier", s.states[behind])
		for _, p := range later {
			add(t, w, bag, p)
		}
		w.Resolved(bag, tailrace.Time(s.now))
		settled(t, w)
		_ = stop()
		if _, err := d.apply(t, blob, 0, false, ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
		d.want(t, "later", s.states[len(s.states)-1])
	}
}

func TestTableWithRowsIsNotOverwrittenUnasked(t *testing.T) {
	for _, d := range databases(t) {
		s, blob := newShop(21), sim.NewBlob()
		s.snapshot()
		s.write(t, blob)
		d.prepare(t)
		d.exec(t, "INSERT INTO people VALUES (1000, 'mine', 1)")
		_, err := d.apply(t, blob, 0, false, ApplyOptions{})
		if own := (*tailrace.Error)(nil); !errors.As(err, &own) || !strings.Contains(own.Hint, "--overwrite") || !strings.Contains(err.Error(), "people") {
			t.Errorf("%s: got %v, want an error that names the table and --overwrite", d.name, err)
		}
		if _, err := d.apply(t, blob, 0, false, ApplyOptions{Overwrite: true}); err != nil {
			t.Fatal(err)
		}
		d.want(t, "overwritten", s.states[len(s.states)-1])
	}
}

// TestParentThatGoesAfterItsChildMoved is refused when both times are one transaction and the parent has another unique key, and so is done by halves.
func TestParentThatGoesAfterItsChildMoved(t *testing.T) {
	for _, d := range databases(t) {
		d.prepare(t)
		d.exec(t, "DROP TABLE IF EXISTS child")
		d.exec(t, "DROP TABLE IF EXISTS parent")
		d.exec(t, "CREATE TABLE parent (id int NOT NULL PRIMARY KEY, code int, UNIQUE (code))")
		d.exec(t, "CREATE TABLE child (id int NOT NULL PRIMARY KEY, parent int, FOREIGN KEY (parent) REFERENCES parent (id))")
		parent, child := tableOf(30, "parent", 1, "id:int code:int"), tableOf(31, "child", 1, "id:int parent:int")
		blob := sim.NewBlob()
		w, _ := open(t, blob, Options{Epoch: 1})
		apply := func(rows int64) {
			t.Helper()
			settled(t, w)
			if p, err := d.apply(t, blob, 0, false, ApplyOptions{}); err != nil || p.Rows != rows {
				t.Errorf("%s: got %d rows, %v, want %d", d.name, p.Rows, err, rows)
			}
		}
		add(t, w, 30, changes(parent, update{5, 1, "1|1"}, update{5, 1, "2|2"}))
		add(t, w, 31, changes(child, update{5, 1, "10|1"}))
		apply(3)
		add(t, w, 30, Piece{Kind: Changes, Rows: batchOf(parent, []update{{9, -1, "1|1"}}), To: Position{Time: 9}})
		add(t, w, 31, changes(child, update{7, -1, "10|1"}, update{7, 1, "10|2"}, update{9, 1, "11|2"}))
		settled(t, w)
		if _, err := d.apply(t, blob, 3, false, ApplyOptions{}); !errors.Is(err, errDied) { // between the halves
			t.Errorf("%s: got %v, want that it died", d.name, err)
		}
		apply(2)
		if got := fmt.Sprint(d.rows(t, "parent"), d.rows(t, "child")); got != "map[2|2:1] map[10|2:1 11|2:1]" {
			t.Errorf("%s: got %s", d.name, got)
		}
	}
}

// TestDamagedTimeHidesNothing damages the time of a record so that it seems to be after the redo frontier.
func TestDamagedTimeHidesNothing(t *testing.T) {
	d := databases(t)[0]
	d.prepare(t)
	whole := sim.NewBlob()
	w, stop := open(t, whole, Options{Epoch: 1})
	add(t, w, visits, changes(tableOf(visits, "visits", 0, "n:int"), update{5, 1, "1"}))
	settled(t, w)
	_ = stop()
	key := keys(t, whole)[2]
	raw, err := whole.Get(context.Background(), key, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	raw[segmentHead+recordLength(raw[segmentHead:])+20]++
	if _, err := d.apply(t, copyOf(t, whole, key, raw), 0, false, ApplyOptions{}); !errors.Is(err, tailrace.ErrCorrupt) || !strings.Contains(err.Error(), key) {
		t.Errorf("got %v, want ErrCorrupt with the name of the segment", err)
	}
}

// countingSink counts the transactions, and those that are streamed.
type countingSink struct {
	tailrace.Sink
	applied, committed int
}

func (s *countingSink) Connect(ctx context.Context) (tailrace.SinkConn, error) {
	conn, err := s.Sink.Connect(ctx)
	return &countingConn{conn, s}, err
}

type countingConn struct {
	tailrace.SinkConn
	s *countingSink
}

func (c *countingConn) Apply(ctx context.Context, txn *tailrace.SinkTxn) error {
	c.s.applied++
	return c.SinkConn.Apply(ctx, txn)
}

func (c *countingConn) Commit(ctx context.Context, progress []tailrace.SinkProgress) error {
	c.s.committed++
	return c.SinkConn.Commit(ctx, progress)
}

// TestTimeLargerThanATransaction has parents and children come and go, and unique values rotate, in times that are streamed.
func TestTimeLargerThanATransaction(t *testing.T) {
	for _, d := range databases(t) {
		d.prepare(t)
		d.exec(t, "DROP TABLE IF EXISTS child")
		d.exec(t, "DROP TABLE IF EXISTS parent")
		d.exec(t, "CREATE TABLE parent (id int NOT NULL PRIMARY KEY)")
		d.exec(t, "CREATE TABLE child (id int NOT NULL PRIMARY KEY, parent int, FOREIGN KEY (parent) REFERENCES parent (id))")
		child, parent, owner := tableOf(30, "child", 1, "id:int parent:int"), tableOf(31, "parent", 1, "id:int"), tableOf(people, "people", 1, "id:int mail:code n:int")
		var children, parents, owners []update
		const n = 200
		for i := range n {
			children, parents = append(children, update{5, 1, fmt.Sprintf("%d|%d", i, n-1-i)}), append(parents, update{5, 1, fmt.Sprint(i)})
			owners = append(owners, update{5, 1, fmt.Sprintf("%d|m%d|0", i, i)})
		}
		for i := range n {
			children, parents = append(children, update{6, -1, fmt.Sprintf("%d|%d", i, n-1-i)}), append(parents, update{6, -1, fmt.Sprint(i)})
			owners = append(owners, update{6, -1, fmt.Sprintf("%d|m%d|0", i, i)}, update{6, 1, fmt.Sprintf("%d|m%d|0", i, (i+1)%n)})
		}
		blob := sim.NewBlob()
		w, stop := open(t, blob, Options{Epoch: 1})
		add(t, w, 30, changes(child, children...))
		add(t, w, 31, changes(parent, parents...))
		add(t, w, people, changes(owner, owners...))
		settled(t, w)
		_ = stop()
		sink, err := d.open()
		if err != nil {
			t.Fatal(err)
		}
		counting := &countingSink{Sink: sink}
		p, err := Apply(context.Background(), blob, "f", counting, ApplyOptions{TransactionBytes: 500})
		_ = sink.Close()
		if err != nil || p.Rows != int64(len(children)+len(parents)+len(owners)) {
			t.Fatalf("%s: got %d rows, %v", d.name, p.Rows, err)
		}
		if counting.applied != 0 || counting.committed != 2 {
			t.Errorf("%s: got %d transactions and %d streamed ones, want 0 and 2", d.name, counting.applied, counting.committed)
		}
		if got := d.rows(t, "people"); len(got) != n || got["7|m8|0"] != 1 || len(d.rows(t, "parent"))+len(d.rows(t, "child")) != 0 {
			t.Errorf("%s: got people %v, parents and children %v %v, want %d people with other mails and no others", d.name, got, d.rows(t, "parent"), d.rows(t, "child"), n)
		}
	}
}
